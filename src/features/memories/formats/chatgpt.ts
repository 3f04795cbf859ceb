import { z } from "zod";
import { untrusted } from "../../../protocol/index.ts";
import { type DraftReading, type MemoryDraft, timeOf } from "./draft.ts";
import { messageDraft, speakerOf, textOf } from "./talk.ts";

const MESSAGE = z.looseObject({
  id: z.string().optional(),
  author: z.looseObject({ role: z.string() }),
  create_time: z.number().nullish(),
  content: z.looseObject({ content_type: z.string().optional(), parts: z.array(z.unknown()).optional() }),
  recipient: z.string().nullish(),
  weight: z.number().nullish(),
  metadata: z.looseObject({ is_visually_hidden_from_conversation: z.boolean().optional() }).nullish(),
});
type Message = z.infer<typeof MESSAGE>;

const NODE = z.looseObject({
  parent: z.string().nullish(),
  children: z.array(z.string()).optional(),
  message: z.unknown(),
});

interface Conversation {
  readonly mapping: Readonly<Record<string, unknown>>;
  readonly current_node?: unknown;
  readonly id?: unknown;
  readonly conversation_id?: unknown;
  readonly create_time?: unknown;
}

/** A conversation of ChatGPT's `conversations.json`: a tree of messages by id, of which one branch was shown last. */
export const isConversation = (
  fields: Readonly<Record<string, unknown>>,
): fields is Readonly<Record<string, unknown>> & Conversation =>
  typeof fields["mapping"] === "object" && fields["mapping"] !== null;

/** The messages of the branch that was shown last, and the memories saved in it (messages to `bio`). */
export function conversationDrafts(talk: Conversation, where: string, reading: DraftReading): readonly MemoryDraft[] {
  const name = [talk.conversation_id, talk.id].find((one) => typeof one === "string") ?? `${reading.file} ${where}`;
  const session = `chatgpt:${name}`;
  return branch(talk).flatMap((message, n): readonly MemoryDraft[] => {
    const from = speakerOf(message.author.role);
    const text = textOf(message.content.parts);
    if (from === undefined || text === "" || isUnseen(message)) return [];
    const place = {
      where: `${where}, message ${n + 1}`.replace(/^, /, ""),
      source: `${session}/${message.id ?? n + 1}`,
    };
    const at = timeOf(message.create_time) ?? timeOf(talk.create_time);
    if (message.recipient === "bio") return [savedFact(text, place, at)];
    const isToAll = message.recipient === undefined || message.recipient === null || message.recipient === "all";
    return isToAll ? [messageDraft({ ...place, from, text, session, at }, reading)] : [];
  });
}

/** Thoughts, executed code and text inserted by the platform are not part of the conversation. */
function isUnseen({ content: { content_type: type = "text" }, weight, metadata }: Message): boolean {
  if (weight === 0 || metadata?.is_visually_hidden_from_conversation === true) return true;
  return type !== "text" && type !== "multimodal_text";
}

/** From the newest message up to the first; a circular mapping ends where it began. */
function branch({ mapping, current_node }: Conversation): readonly Message[] {
  const nodes = new Map(Object.entries(mapping).map(([id, node]) => [id, NODE.safeParse(node).data]));
  const said: Message[] = [];
  const seen = new Set<string>();
  let id = typeof current_node === "string" && nodes.has(current_node) ? current_node : lastMessage(nodes);
  while (id !== undefined && !seen.has(id)) {
    seen.add(id);
    const node = nodes.get(id);
    const message = MESSAGE.safeParse(node?.message).data;
    if (message !== undefined) said.push(message);
    id = node?.parent ?? undefined;
  }
  return said.reverse();
}

/** The last of the messages that nothing follows. */
function lastMessage(nodes: ReadonlyMap<string, z.infer<typeof NODE> | undefined>): string | undefined {
  const ends = [...nodes].filter(([, node]) => (node?.children ?? []).length === 0);
  return ends.at(-1)?.[0];
}

function savedFact(
  text: string,
  { where, source }: { readonly where: string; readonly source: string },
  at?: number,
): MemoryDraft {
  const memory = { content: untrusted(text), tags: [], trust: "agent", by: "agent", sources: [source] } as const;
  return { where, memory: { ...memory, ...(at !== undefined && { at }) } };
}

const CONTEXT = z.looseObject({ content_type: z.literal("model_editable_context"), model_set_context: z.string() });

/** What ChatGPT had remembered when it was last shown to the model: `1. [2024-05-12]. …`, an entry after the other. */
export function savedContext(talks: readonly Conversation[], where: string): readonly MemoryDraft[] {
  let latest: { readonly at: number; readonly text: string } | undefined;
  for (const { mapping } of talks) {
    for (const node of Object.values(mapping)) {
      const message = MESSAGE.safeParse(NODE.safeParse(node).data?.message).data;
      const context = CONTEXT.safeParse(message?.content).data;
      const at = message?.create_time ?? 0;
      if (context !== undefined && at >= (latest?.at ?? 0)) latest = { at, text: context.model_set_context };
    }
  }
  const entries = (latest?.text ?? "").split(/\n+(?=\d+\. \[\d{4}-\d\d-\d\d\])/);
  return entries.flatMap((entry, n) => {
    const [, day, text = ""] = /^\s*\d+\. \[(\d{4}-\d\d-\d\d)\]\.?\s*([\s\S]*)$/.exec(entry) ?? [];
    const place = {
      where: [where, `saved memory ${n + 1}`].filter((part) => part !== "").join(", "),
      source: "chatgpt:memory",
    };
    return day === undefined || text.trim() === "" ? [] : [savedFact(text.trim(), place, timeOf(day))];
  });
}
