import { frame } from "../guard/index.ts";
import {
  type CountTokens,
  type LedgerEntry,
  lowestTrust,
  type StoredEvent,
  type TextPart,
  type TranscriptMessage,
  trusted,
  type UserPart,
  untrusted,
} from "../protocol/index.ts";
import { beginningWithin, countMessage } from "./tokens.ts";

/** Fewer tokens than this tell nobody anything. */
const LEAST = 64;

/**
 * The waiting events as this turn's user message: one frame per text, in the order received. Cut to the first of `rooms`
 * (tokens) that holds at least a beginning of each; whole where none does: then the caller has to say no.
 */
export function eventsMessage(
  events: readonly StoredEvent[],
  rooms: readonly number[],
  count: CountTokens,
): { message: TranscriptMessage; entry: LedgerEntry } {
  const parts = events.flatMap((event) => frameEvent(event));
  const whole = stamp(events, parts, count);
  const base = { piece: "message", place: "message", trust: whole.trust, wanted: whole.tokens } as const;
  for (const room of rooms) {
    if (whole.tokens <= room) break;
    const cut = cutEvents(events, room, count);
    if (cut === undefined) continue;
    const message = stamp(events, cut, count);
    const because = `the message may take ${room} tokens`;
    return { message, entry: { ...base, tokens: message.tokens, fate: "truncated", because } };
  }
  return { message: whole, entry: { ...base, tokens: whole.tokens, fate: "kept" } };
}

function stamp(events: readonly StoredEvent[], parts: readonly UserPart[], count: CountTokens): TranscriptMessage {
  const message = { role: "user", parts } as const;
  return {
    message,
    trust: lowestTrust(events.map((event) => event.trust)),
    tokens: countMessage(message, count),
    turn: events[0]?.turn ?? null,
  };
}

function frameEvent(event: StoredEvent, cut?: (text: string) => string): UserPart[] {
  return event.content.flatMap((part): UserPart[] => {
    if (part.type !== "text") return [part];
    const text = cut === undefined ? part.text : untrusted(cut(part.text));
    const framed: TextPart = {
      type: "text",
      text: frame({ kind: event.kind, trust: event.trust, at: event.at }, text, event.name),
    };
    if (text.length === part.text.length) return [framed];
    const mark = trusted(
      `(The ${event.kind} above was cut: its first ${text.length} of ${part.text.length} characters are shown.)`,
    );
    return [framed, { type: "text", text: mark }];
  });
}

/**
 * Every event gets an equal share of the room; what one does not need goes to the ones after it, the shortest first served.
 * Undefined where a share is too small for a beginning.
 */
function cutEvents(events: readonly StoredEvent[], room: number, count: CountTokens): UserPart[] | undefined {
  const size = new Map(events.map((event) => [event.id, stamp([event], frameEvent(event), count).tokens]));
  const smallestFirst = events.toSorted((a, b) => (size.get(a.id) ?? 0) - (size.get(b.id) ?? 0));
  const parts = new Map<string, UserPart[]>();
  let left = room;
  for (const [i, event] of smallestFirst.entries()) {
    const share = Math.floor(left / (smallestFirst.length - i));
    const cut = cutEvent(event, share, count);
    if (cut === undefined) return undefined;
    parts.set(event.id, cut);
    left -= stamp([event], cut, count).tokens;
  }
  return events.flatMap((event) => parts.get(event.id) ?? []);
}

function cutEvent(event: StoredEvent, share: number, count: CountTokens): UserPart[] | undefined {
  const whole = frameEvent(event);
  if (stamp([event], whole, count).tokens <= share) return whole;
  const texts = event.content.filter((part) => part.type === "text").length;
  // Frames, names and the mark cost tokens too, and cleaning may lengthen a text: shrink until the whole fits.
  for (let each = Math.floor(share / Math.max(texts, 1)) - LEAST; each >= LEAST; each = Math.floor(each * 0.8)) {
    const parts = frameEvent(event, (text) => beginningWithin(text, each, count));
    if (stamp([event], parts, count).tokens <= share) return parts;
  }
  return undefined;
}
