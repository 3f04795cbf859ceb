import type { TurnEvent } from "../protocol/index.ts";

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
