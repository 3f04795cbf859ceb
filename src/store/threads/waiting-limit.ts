import { type ContactScope, StrataError } from "../../protocol/index.ts";

/** This many messages of a contact may wait for an agent: a sender of more waits, without delaying others. */
const MOST_WAITING = 1_000;

/** Counts only as far as needed to know that there is no room. */
export const COUNTED = MOST_WAITING + 1;

/** @throws StrataError `inbox_full` */
export function checkRoom({ agent, contact }: ContactScope, waiting: number): void {
  if (waiting <= MOST_WAITING) return;
  const message = `${MOST_WAITING.toLocaleString("en-US")} messages of ${contact} wait for ${agent} already, and nothing was stored`;
  throw new StrataError(
    "inbox_full",
    `${message}: send it again in some seconds, when the agent has answered some of them`,
    {
      contact,
      waiting: MOST_WAITING,
    },
  );
}
