import type { ThreadId, TurnEvent, WaitsFor } from "../protocol/index.ts";
import { count } from "./style.ts";

export type Unanswered = Extract<TurnEvent, { type: "unanswered" }>;

/** Says how many senders got no reply, and what happens to their messages. */
export function unansweredSays({ senders, of, waits }: Unanswered): string {
  if (of === 1) return "unanswered: the agent said nothing; the message counts as handled";
  const next = waits ? "what they wrote keeps waiting" : "what they wrote counts as handled";
  return `unanswered: ${senders} of ${of} senders got no reply; ${next}`;
}

/** The same for an operator who did not watch the turn. */
export const unansweredLine = (event: Unanswered): string =>
  `${unansweredSays(event)} (the turn ended: ${event.because}): \`strata explain ${event.turn}\` shows more`;

/** Says what happens to messages that a failed turn left, and how to drop them. */
export const waitingMessagesSays = (messages: number, thread: ThreadId): string =>
  `${count(messages, "message")} without an answer will be sent with the next one; \`strata thread withdraw ${thread}\` drops what waits.`;

/** A call whose answer comes later, as far as the reader may know it. */
export type AwaitedCall = Extract<TurnEvent, { type: "waiting" }>["calls"][number];

/** Whose answer each is, and how it is given. */
const ANSWERS: Readonly<Record<WaitsFor, (id: string) => readonly [whose: string, how?: string]>> = {
  agent: () => ["another agent"],
  client: (id) => ["an answer from outside", `\`strata ask --answer ${id}=TEXT\` gives it`],
  // Whoever approved it may have gone before its end was stored: then there is nothing left to decide, but something to find out.
  person: () => [
    "a person",
    "`strata approval list` shows whether the call is still to be decided, or was approved and nobody knows how it ended",
  ],
};

/** Says what a conversation waits for, and what a reader can do about it. */
export function waitingSays(calls: readonly AwaitedCall[]): string {
  const each = calls.map(({ id, tool, waitsFor }) => {
    const [whose, how] = ANSWERS[waitsFor](id);
    return `${whose}${tool === undefined ? "" : ` (${tool})`}${how === undefined ? "" : `: ${how}`}`;
  });
  return `waiting for ${[...new Set(each)].join("; and for ")}`;
}

/** When it goes on. A person may have to decide or to look, and gives no answer. */
export const goesOnSays = (calls: readonly AwaitedCall[]): string =>
  `the conversation goes on when ${calls.every(({ waitsFor }) => waitsFor === "person") ? "that is done" : "the answer is there"}`;
