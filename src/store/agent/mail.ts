import { sql } from "kysely";
import { type ContactId, type OutboxId, SCHEDULE, SELF, type TurnId } from "../../protocol/index.ts";
import type { AgentOwner, DeliveryTry, MailStore, MailWish, WaitingMessage } from "../agent-store.ts";
import type { OutboxMessage } from "../outbox-message.ts";
import { TEXT_OF, textOf } from "../record/pieces.ts";
import { replies } from "../record/reports.ts";
import { toEvent, toOutbox } from "../rows.ts";
import { atMost } from "../scope.ts";
import { plain, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { inOrder, type Tx } from "../tx.ts";

/** A reply and to whom. */
type Mail = OutboxMessage & { readonly contact: ContactId };

/** What waits for the agent on all its threads, the oldest first. */
export async function inbox(
  tx: Tx,
  of: AgentOwner,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<readonly WaitingMessage[]> {
  const rows = waitingEvents(of)
    .innerJoin("thread", (join) => join.onRef("thread.org", "=", "event.org").onRef("thread.id", "=", "event.thread"))
    .selectAll("event")
    .select([textOf("event").as("text"), "thread.holder", "thread.lease_until"])
    .orderBy("event.at")
    .orderBy("event.id")
    .limit(atMost(limit));
  return (await tx.all(rows)).map(({ holder, lease_until: until, ...row }) => {
    return { contact: row.contact, event: toEvent(row), staged: holder !== null && (until ?? 0) > now };
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

/** What the agent said, the newest first unless it is asked otherwise. */
export async function mail(
  tx: Tx,
  of: AgentOwner,
  { status, oldest, limit, ...rest }: MailWish,
): Promise<readonly Mail[]> {
  const way = oldest ? "asc" : "desc";
  let wanted = sent(of).orderBy("outbox.at", way).orderBy("outbox.id", way).limit(atMost(limit));
  if (status !== undefined) wanted = wanted.where("outbox.status", "=", sql.lit(status));
  for (const column of ["contact", "thread", "turn"] as const) {
    const value = rest[column];
    if (value !== undefined) wanted = wanted.where(`outbox.${column}`, "=", value);
  }
  return (await tx.all(wanted)).map(toMail);
}

const toMail = (row: Row<"outbox"> & { readonly text: string | null }): Mail => ({
  ...toOutbox(row, row.text ?? '""'),
  contact: row.contact,
});

/** What is for others: not what the agent said to itself, unless it was told to by the clock. */
const FOR_OTHERS = `(outbox.contact != '${SELF}' or outbox.channel = '${SCHEDULE}')`;

const sent = (of: AgentOwner) => replies(of).where(sql<boolean>`${sql.raw(FOR_OTHERS)}`);

/** How much waits. */
export async function mailCounts(
  tx: Tx,
  of: AgentOwner,
): Promise<{ readonly inbox: number; readonly outbox: number; readonly undeliverable: number }> {
  const waiting = waitingEvents(of).select((eb) => eb.fn.countAll<number>().as("count"));
  return {
    inbox: (await tx.first(waiting))?.count ?? 0,
    outbox: await countOf(tx, of, "waiting"),
    undeliverable: await countOf(tx, of, "undeliverable"),
  };
}

async function countOf(tx: Tx, of: AgentOwner, status: OutboxMessage["status"]): Promise<number> {
  const counted = sent(of)
    .where("outbox.status", "=", sql.lit(status))
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as("count"));
  return (await tx.first(counted))?.count ?? 0;
}

/** Turns that ended well and said nothing to their sender, and after which nothing was said on their thread. */
export async function unanswered(
  tx: Tx,
  { org, agent }: AgentOwner,
  { since, except, limit }: Parameters<MailStore["unanswered"]>[1],
): Promise<readonly TurnId[]> {
  const left = except.map(() => "?").join(", ");
  const found = `select turn.id from turn join thread on thread.org = turn.org and thread.id = turn.thread
    where turn.org = ? and turn.agent = ? and turn.status = 'done' and turn.words is null and turn.ended_at >= ?
      and turn.contact not in ('${SELF}', '~inbox') and substr(turn.contact, 1, 7) != '~inbox:'
      and thread.erased_link is null and thread.channel not in (${left})
      and not exists (select 1 from turn as later where later.org = turn.org and later.agent = turn.agent
        and later.contact = turn.contact and later.thread = turn.thread and later.seq > turn.seq and later.status = 'done')
    order by turn.ended_at desc, turn.id desc limit ${atMost(limit)}`;
  return tx.column(plain<TurnId>(found, org, agent, since, ...except));
}

/** Who wants to deliver, until when, and how much. */
type DeliveryLease = Parameters<MailStore["dueDeliveries"]>[1];

/** Whether a look would find anything: it waits for no writer. */
export async function isDeliveryDue(tx: Tx, of: AgentOwner, { now }: DeliveryLease): Promise<boolean> {
  return (await dueIds(tx, of, { now, limit: 1 })).length > 0;
}

/** Looks and leases in one write transaction: of two that ask, one is given a message. */
export async function dueDeliveries(
  tx: Tx,
  of: AgentOwner,
  lease: DeliveryLease,
): Promise<readonly (Mail & { readonly tries: number })[]> {
  const { holder, until } = lease;
  const rows = (
    await inOrder(await dueIds(tx, of, lease), (id) => tx.all(sent(of).where("outbox.id", "=", id)))
  ).flat();
  for (const { id } of rows) await changeWaiting(tx, of, id, { holder, lease_until: until });
  return rows.map((row) => ({ ...toMail(row), tries: row.tries }));
}

/** How much is due now, and when the next falls due; a look that waits for no writer. */
export async function deliveriesDue(
  tx: Tx,
  of: AgentOwner,
  wish: Parameters<MailStore["deliveriesDue"]>[1],
): Promise<{ readonly due: number; readonly next?: number }> {
  const later = `select min(case when coalesce(due, 0) > coalesce(lease_until, 0) then due else lease_until end) from ${WAITING} and (due > ? or lease_until > ?)`;
  const [next] = await tx.column(plain<number | null>(later, of.org, of.agent, wish.now, wish.now));
  const due = (await dueIds(tx, of, wish)).length;
  return typeof next === "number" ? { due, next } : { due };
}

/** What is due, the oldest first; last that of threads where one could not be delivered. */
async function dueIds(
  tx: Tx,
  { org, agent }: AgentOwner,
  { now, limit }: Pick<DeliveryLease, "now" | "limit">,
): Promise<readonly OutboxId[]> {
  const whose = [org, agent];
  const found = async (isTried: boolean, most: number): Promise<readonly OutboxId[]> => {
    const given = [...whose, now, ...whose, now, ...whose, now, ...whose];
    return tx.column(plain<OutboxId>(dueAt(isTried, most), ...given));
  };
  const first = await found(false, limit);
  return first.length < limit ? [...first, ...(await found(true, limit - first.length))] : first;
}

/** By its index, which has a row for each reply that waits: in its order the first one is found without a look at the others' texts. */
const WAITING = "outbox indexed by outbox_waiting where org = ? and agent = ? and status = 'waiting'";

/** Of threads where a reply was tried in vain, or of the others. `early`: a listener may still take it, and what is later comes behind it. */
const dueAt = (isTried: boolean, limit: number): string => `
  with early as materialized (select thread, at, id from ${WAITING} and tries = 0 and due > ?)
  select id from ${WAITING} and ${FOR_OTHERS} and (due is null or due <= ?)
    and thread not in (select thread from ${WAITING} and lease_until > ?)
    and ${isTried ? "thread in" : "tries = 0 and thread not in"} (select thread from ${WAITING} and tries > 0)
    and not exists (
      select 1 from early where early.thread = outbox.thread and (early.at, early.id) < (outbox.at, outbox.id))
    and ${TEXT_OF("outbox")} is not null
  order by at, id limit ${atMost(limit)}`;

/** What came of a try, by whoever was given the message last. */
export async function noteDelivery(tx: Tx, of: AgentOwner, holder: string, tried: DeliveryTry): Promise<boolean> {
  const { outbox: id, failed = null, again = null, stopped = false, at } = tried;
  const wanted = { org: of.org, agent: of.agent, id, holder, status: "waiting" } as const;
  const held = query
    .selectFrom("outbox")
    .select("tries")
    .where((eb) => eb.and(wanted));
  const row = await tx.first(held);
  if (!row) return false;
  const lost: Change = again === null ? { status: "undeliverable" } : { due: again };
  const came: Change = failed === null ? { status: "delivered", delivered_at: at } : lost;
  const tries = stopped ? row.tries : row.tries + 1;
  await changeWaiting(tx, of, id, { ...came, holder: null, lease_until: null, tries, failed });
  return true;
}

type Change = Partial<Omit<Row<"outbox">, "org" | "agent" | "contact" | "id">>;

async function changeWaiting(tx: Tx, { org, agent }: AgentOwner, id: OutboxId, change: Change): Promise<void> {
  const wanted = { org, agent, id, status: "waiting" } as const;
  await tx.run(
    query
      .updateTable("outbox")
      .set(change)
      .where((eb) => eb.and(wanted)),
  );
}
