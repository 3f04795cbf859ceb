import { cleanName } from "../../../guard/index.ts";
import { untrusted } from "../../../protocol/index.ts";
import { type DraftReading, type MemoryDraft, timeOf } from "./draft.ts";

/** One message of a conversation, from any source. */
interface SaidMessage {
  readonly where: string;
  readonly from: "contact" | "agent";
  readonly text: string;
  /** The speaker's name in the file; by default the contact's or the agent's. */
  readonly speaker?: string;
  readonly session: string;
  readonly source: string;
  readonly at: number | undefined;
}

/** Turns a message into a memory of kind message, with the speaker's trust. */
export function messageDraft(
  { where, from, text, speaker, session, source, at }: SaidMessage,
  reading: DraftReading,
): MemoryDraft {
  return {
    where,
    memory: {
      kind: "message",
      content: untrusted(text),
      tags: [],
      trust: from,
      by: from,
      speaker: speaker ?? (from === "contact" ? reading.contact : reading.agent),
      session,
      sources: [source],
      ...(at !== undefined && { at }),
    },
  };
}

/** The speaker for a role name; `undefined` for instructions and tool results, which are not kept. */
export function speakerOf(role: unknown): "contact" | "agent" | undefined {
  if (role === "user" || role === "human") return "contact";
  return role === "assistant" ? "agent" : undefined;
}

/** The texts of a content: a text, or parts of which some are texts. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content.trim();
  if (!Array.isArray(content)) return "";
  const texts = content.map((part: unknown) => {
    if (typeof part === "string") return part;
    return typeof part === "object" && part !== null && "text" in part && typeof part.text === "string"
      ? part.text
      : "";
  });
  return texts
    .filter((text) => text.trim() !== "")
    .join("\n")
    .trim();
}

interface Talk {
  readonly messages: readonly unknown[];
  readonly id?: unknown;
}

/** A conversation in the form of OpenAI's API: `{messages: [{role, content}]}`. */
export const isTalk = (fields: Readonly<Record<string, unknown>>): fields is Readonly<Record<string, unknown>> & Talk =>
  Array.isArray(fields["messages"]);

export function talkDrafts({ messages, id }: Talk, where: string, reading: DraftReading): readonly MemoryDraft[] {
  const talk = typeof id === "string" && id !== "" ? id : [reading.file, where].filter((part) => part !== "").join(" ");
  const session = `talk:${talk}`;
  return messages.flatMap((value, n) => {
    const { role, name, content, created_at, create_time, timestamp } = Object.fromEntries(Object.entries(value ?? {}));
    const from = speakerOf(role);
    const text = textOf(content);
    if (from === undefined || text === "") return [];
    const at = [created_at, create_time, timestamp].map(timeOf).find((one) => one !== undefined);
    const place = [where, `message ${n + 1}`].filter((part) => part !== "").join(", ");
    const speaker = typeof name === "string" ? cleanName(untrusted(name)) : "";
    const said = { where: place, from, text, session, source: `${session}#${n + 1}`, at };
    return [messageDraft({ ...said, ...(speaker !== "" && { speaker }) }, reading)];
  });
}
