import { sql } from "kysely";
import { SELF, type TurnId } from "../../protocol/index.ts";
import type { AgentOwner, MailStore, WaitingMessage } from "../agent-store.ts";
import { textOf } from "../record/pieces.ts";
import type { Paging } from "../records.ts";
import { toEvent } from "../rows.ts";
import { atMost, KEPT_ENDINGS, plain, query } from "../statement.ts";
import type { Tx } from "../tx.ts";

/** What waits for the agent on all its threads, the oldest first. */
export async function inbox(
  tx: Tx,
  of: AgentOwner,
  { now, limit, after }: Paging & { readonly now: number },
): Promise<readonly WaitingMessage[]> {
  const all = waitingEvents(of)
    .innerJoin("thread", (join) => join.onRef("thread.org", "=", "event.org").onRef("thread.id", "=", "event.thread"))
    .selectAll("event")
    .select([textOf("event").as("text"), "thread.holder", "thread.lease_until"])
    .orderBy("event.at")
    .orderBy("event.id")
    .limit(atMost(limit));
  const rows = after ? all.where(sql<boolean>`(event.at, event.id) > (${after.at}, ${after.id})`) : all;
  return (await tx.all(rows)).map(({ holder, lease_until: until, ...row }) => {
    return { contact: row.contact, event: toEvent(row), isRunning: holder !== null && (until ?? 0) > now };
  });
}

function waitingEvents({ org, agent }: AgentOwner) {
  return (
    query
      .selectFrom("event")
      .where("event.org", "=", org)
      .where("event.agent", "=", agent)
      // Written in, as the index of what waits has it.
      .where("event.status", "=", sql.lit("pending"))
      .where("event.contact", "!=", SELF)
  );
}

/** How much waits. */
export async function inboxCount(tx: Tx, of: AgentOwner): Promise<number> {
  const waiting = waitingEvents(of).select((eb) => eb.fn.countAll<number>().as("count"));
  return (await tx.first(waiting))?.count ?? 0;
}

/** Turns that ended well and said nothing to their sender, though no step withheld what they said, and after which nothing was said on their thread. */
export async function unanswered(
  tx: Tx,
  { org, agent }: AgentOwner,
  { since, except, limit }: Parameters<MailStore["unanswered"]>[1],
): Promise<readonly TurnId[]> {
  const left = except.map(() => "?").join(", ");
  const found = `select turn.id from turn join thread on thread.org = turn.org and thread.id = turn.thread
    where turn.org = ? and turn.agent = ? and turn.status = 'done' and turn.words is null and turn.ended_at >= ?
      and turn.contact not in ('${SELF}', '~inbox') and substr(turn.contact, 1, 7) != '~inbox:'
      and (turn.steps is null or turn.steps not like '%"did":"withheld"%')
      and thread.erased_link is null and thread.channel not in (${left})
      and not exists (select 1 from turn as later where later.org = turn.org and later.agent = turn.agent
        and later.contact = turn.contact and later.thread = turn.thread and later.seq > turn.seq and later.status ${KEPT_ENDINGS})
    order by turn.ended_at desc, turn.id desc limit ${atMost(limit)}`;
  return tx.column(plain<TurnId>(found, org, agent, since, ...except));
}
