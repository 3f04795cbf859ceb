import { clean, truncateText } from "../../guard/index.ts";
import { type Epoch, type MemoryQuery, readFrames, type StoredEvent, untrusted } from "../../protocol/index.ts";
import type { GatherContext } from "./context.ts";

/** How much of what was written is searched for; the best of a longer message is rarely past it. */
const LONGEST = 4_000;
const LONGEST_EARLIER = 1_000;

/** So many messages before this turn's are read along, each with this weight. */
const EARLIER = 3;
const EARLIER_WEIGHT = 0.6;

/** What a turn asks of its memories. */
export interface RecallQuery {
  /** What was just written; empty where nobody wrote anything. */
  readonly newest: string;
  /** What the same contact wrote before, the newest first, as far as it still stands. */
  readonly earlier: readonly string[];
  readonly asker: string;
}

/**
 * Law 12: only what was written as a message, by this turn's events and by the messages that stand in the transcript; what was
 * recalled before, reminders and the prompt never come near it.
 */
export function recallQuery({ scope, events, epoch }: Pick<GatherContext, "scope" | "events" | "epoch">): RecallQuery {
  const messages = events.filter(({ kind }) => kind === "message");
  const name = messages.findLast((one) => one.name !== undefined)?.name;
  return {
    newest: cleaned(textOf(messages), LONGEST),
    earlier: earlierOf(epoch).map((text) => cleaned(text, LONGEST_EARLIER)),
    asker: name ?? scope.contact,
  };
}

/** The search for what was just written, alone or with what was written before. */
export function searchOf({ newest, earlier, asker }: RecallQuery, withEarlier: boolean): Omit<MemoryQuery, "limit"> {
  const before = withEarlier ? earlier.map((text) => ({ text, weight: EARLIER_WEIGHT })) : [];
  return { texts: [{ text: newest, weight: 1 }, ...before], asker };
}

const textOf = (messages: readonly StoredEvent[]): string =>
  messages.flatMap(({ content }) => content.flatMap((part) => (part.type === "text" ? [part.text] : []))).join("\n");

// Cut first: what is cleaned is then never large.
const cleaned = (text: string, longest: number): string => clean(untrusted(truncateText(text, longest, ""))).trim();

function earlierOf(epoch: Epoch | undefined): readonly string[] {
  const found: string[] = [];
  for (const { message, turn } of epoch?.transcript.toReversed() ?? []) {
    if (turn === null || message.role !== "user") continue;
    const frames = message.parts.flatMap((part) => (part.type === "text" ? readFrames(part.text) : []));
    for (const { kind, text } of frames.toReversed()) {
      if (kind === "message" && text.trim() !== "" && found.push(text) === EARLIER) return found;
    }
  }
  return found;
}
