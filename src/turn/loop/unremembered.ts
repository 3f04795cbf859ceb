import type { Compilation } from "../../compiler/index.ts";
import { findSecrets, REMOVED } from "../../guard/index.ts";
import {
  type EventId,
  framesOf,
  isMedia,
  type OutboxId,
  partText,
  repeats,
  type StoredEvent,
  saidInPart,
} from "../../protocol/index.ts";
import type { Parts } from "../parts.ts";
import { meantBy } from "../tools/index.ts";

interface Reply {
  readonly id: OutboxId;
  readonly text: string | null;
}

/** The texts that the model had before it. */
interface SentTexts {
  readonly parts: Pick<Parts, "tools">;
  readonly sent: Compilation | undefined;
}

/**
 * What of a turn stays in the thread's record alone: messages and replies that hold a secret, and a reply that repeats memories
 * which were shown to the model. It would be found instead of what it repeats, and be repeated in its turn (law 12).
 */
export function unremembered(
  events: readonly StoredEvent[],
  reply: Reply,
  shown: SentTexts,
): readonly (EventId | OutboxId)[] {
  const secret = events.filter((event) => holdsSecret(searchableText(event)));
  const said = reply.text ?? "";
  // The reply filter has already replaced a key with a mark: the text around it must not become a memory either.
  const isKept = !holdsSecret(said) && !REMOVED.test(said) && !repeats(said, shownAsMemory(shown));
  return [...secret.map(({ id }) => id), ...(isKept ? [] : [reply.id])];
}

const holdsSecret = (text: string): boolean => findSecrets(text).length > 0;

const searchableText = ({ name, content }: StoredEvent): string =>
  [name ?? "", ...content.flatMap((part) => (isMedia(part) ? [] : [...saidInPart(part), partText(part)]))].join("\n");

/** The memories that the model has seen: recalled, frozen at the start, shown earlier in the conversation, or found by a tool. */
function shownAsMemory({ parts: { tools }, sent }: SentTexts): readonly string[] {
  if (sent === undefined) return [];
  const { epoch, own, tail } = sent;
  const messages = [...epoch.transcript, ...own].map(({ message }) => message);
  const texts = messages.flatMap((message) =>
    message.role === "user" ? message.parts.flatMap((part) => (part.type === "text" ? [part] : [])) : [],
  );
  // A tool that was called through another one is meant by the call alone.
  const called = new Map(
    messages.flatMap((message) =>
      message.role === "assistant"
        ? message.parts.flatMap((part) => (part.type === "call" ? [[part.id, meantBy(tools, part).tool] as const] : []))
        : [],
    ),
  );
  const found = messages.flatMap((message) =>
    message.role === "tool"
      ? message.parts.filter(({ id, tool }) => tools.get(called.get(id) ?? tool)?.returnsMemories)
      : [],
  );
  const frames = [...texts, ...tail].flatMap(framesOf);
  return [...frames.filter(({ kind }) => kind === "memory"), ...found].map(({ text }) => text);
}
