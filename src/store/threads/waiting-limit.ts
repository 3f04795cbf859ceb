import { type ContactScope, StrataError } from "../../protocol/index.ts";
import { plain } from "../statement.ts";
import type { Tx } from "../tx.ts";
import { UNTAKEN } from "./open-calls.ts";

/** So many messages of a contact may wait for an agent: whoever sends more waits, and nobody else. */
const MOST_WAITING = 1_000;

/** @throws StrataError `inbox_full` */
export async function checkRoom(tx: Tx, { org, agent, contact }: ContactScope): Promise<void> {
  const [waiting = 0] = await tx.column(plain<number>(WAITING_OF, org, agent, contact));
  if (waiting <= MOST_WAITING) return;
  const says = `${MOST_WAITING.toLocaleString("en-US")} messages of ${contact} wait for ${agent} already, and nothing was stored`;
  throw new StrataError(
    "inbox_full",
    `${says}: send it again in some seconds, when the agent has answered some of them`,
    {
      contact,
      waiting: MOST_WAITING,
    },
  );
}

const WAITING_OF = `select count(*) from (
  select 1 from event where org = ? and agent = ? and contact = ? and ${UNTAKEN} limit ${MOST_WAITING + 1}) as waiting`;
