import { sql } from "kysely";
import { type ContactId, type OutboxId, SELF } from "../../../protocol/index.ts";
import type { AgentOwner, DeliveryTry, MailWish, WaitingMessage } from "../../agent-store.ts";
import type { OutboxMessage } from "../../outbox-message.ts";
import { toEvent, toOutbox } from "../../rows.ts";
import type { Row } from "../../tables.ts";
import type { Connection } from "../connection.ts";
import { replies } from "../reports.ts";
import { atMost } from "../scope.ts";
import { query } from "../statement.ts";

/** A reply and to whom. */
type Mail = OutboxMessage & { readonly contact: ContactId };

/** What waits for the agent on all its threads, the oldest first. */
export function inbox(
  db: Connection,
  of: AgentOwner,
  { now, limit }: { readonly now: number; readonly limit: number },
): readonly WaitingMessage[] {
  const rows = waitingEvents(of)
    .innerJoin("thread", (join) => join.onRef("thread.org", "=", "event.org").onRef("thread.id", "=", "event.thread"))
    .selectAll("event")
    .select(["piece.text", "thread.holder", "thread.lease_until"])
    .orderBy("event.at")
    .orderBy("event.id")
    .limit(atMost(limit));
  return db.all(rows).map(({ holder, lease_until: until, ...row }) => {
    return { contact: row.contact, event: toEvent(row), staged: holder !== null && (until ?? 0) > now };
  });
}

function waitingEvents({ org, agent }: AgentOwner) {
  return (
    query
      .selectFrom("event")
      .innerJoin("piece", (join) =>
        join
          .onRef("piece.org", "=", "event.org")
          .onRef("piece.agent", "=", "event.agent")
          .onRef("piece.contact", "=", "event.contact")
          .onRef("piece.digest", "=", "event.piece"),
      )
      .where("event.org", "=", org)
      .where("event.agent", "=", agent)
      // Written in, as the index of what waits has it.
      .where("event.status", "=", sql.lit("pending"))
      .where("event.contact", "!=", SELF)
  );
}

/** What the agent said, the newest first. */
export function mail(db: Connection, of: AgentOwner, { status, limit, ...rest }: MailWish): readonly Mail[] {
  let wanted = sent(of).orderBy("outbox.at", "desc").orderBy("outbox.id", "desc").limit(atMost(limit));
  if (status !== undefined) wanted = wanted.where("outbox.status", "=", sql.lit(status));
  for (const column of ["contact", "thread", "turn"] as const) {
    const value = rest[column];
    if (value !== undefined) wanted = wanted.where(`outbox.${column}`, "=", value);
  }
  return db.all(wanted).map(toMail);
}

const toMail = (row: Row<"outbox"> & { readonly text: string | null }): Mail => ({
  ...toOutbox(row, row.text ?? '""'),
  contact: row.contact,
});

/** What is for others: not what the agent said to itself. */
const sent = (of: AgentOwner) => replies(of).where("outbox.contact", "!=", SELF);

/** How much waits. */
export function mailCounts(
  db: Connection,
  of: AgentOwner,
): { readonly inbox: number; readonly outbox: number; readonly undeliverable: number } {
  return db.read(() => {
    const waiting = waitingEvents(of).select((eb) => eb.fn.countAll<number>().as("count"));
    return {
      inbox: db.first(waiting)?.count ?? 0,
      outbox: countOf(db, of, "waiting"),
      undeliverable: countOf(db, of, "undeliverable"),
    };
  });
}

function countOf(db: Connection, of: AgentOwner, status: OutboxMessage["status"]): number {
  const counted = sent(of)
    .where("outbox.status", "=", sql.lit(status))
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as("count"));
  return db.first(counted)?.count ?? 0;
}

/** Looks and leases in one write transaction: of two that ask, one is given a message. */
export function dueDeliveries(
  db: Connection,
  of: AgentOwner,
  lease: { readonly holder: string; readonly now: number; readonly until: number; readonly limit: number },
): readonly (Mail & { readonly tries: number })[] {
  const { holder, now, until, limit } = lease;
  return db.write(() => {
    const due = sent(of)
      .where("outbox.status", "=", sql.lit("waiting"))
      .where((eb) => eb.or([eb("outbox.due", "is", null), eb("outbox.due", "<=", now)]))
      .where("outbox.thread", "not in", waitingThreads(of).where("lease_until", ">", now))
      .where(({ not, exists }) => not(exists(earlier(of, now))))
      .orderBy((eb) => eb("outbox.thread", "in", waitingThreads(of).where("tries", ">", 0)))
      .orderBy("outbox.at")
      .orderBy("outbox.id")
      .limit(atMost(limit));
    const rows = db.all(due);
    for (const { id } of rows) changeWaiting(db, of, id, { holder, lease_until: until });
    return rows.map((row) => ({ ...toMail(row), tries: row.tries }));
  });
}

/** An older reply of the same thread that was never tried and is not due yet: who listened to it may still take it. */
const earlier = ({ org, agent }: AgentOwner, now: number) =>
  query
    .selectFrom("outbox as early")
    .select("early.id")
    .where("early.org", "=", org)
    .where("early.agent", "=", agent)
    .where("early.status", "=", sql.lit("waiting"))
    .where("early.tries", "=", 0)
    .where("early.due", ">", now)
    .where(sql<boolean>`early.thread = outbox.thread and (early.at, early.id) < (outbox.at, outbox.id)`);

const waitingThreads = ({ org, agent }: AgentOwner) =>
  query
    .selectFrom("outbox")
    .select("thread")
    .where((eb) => eb.and({ org, agent }))
    .where("status", "=", sql.lit("waiting"));

/** What came of a try, by whoever was given the message last. */
export function noteDelivery(db: Connection, of: AgentOwner, holder: string, tried: DeliveryTry): boolean {
  const { outbox: id, failed = null, again = null, at } = tried;
  return db.write(() => {
    const wanted = { org: of.org, agent: of.agent, id, holder, status: "waiting" } as const;
    const held = query
      .selectFrom("outbox")
      .select("tries")
      .where((eb) => eb.and(wanted));
    const row = db.first(held);
    if (!row) return false;
    const lost: Change = again === null ? { status: "undeliverable" } : { due: again };
    const came: Change = failed === null ? { status: "delivered", delivered_at: at } : lost;
    changeWaiting(db, of, id, { ...came, holder: null, lease_until: null, tries: row.tries + 1, failed });
    return true;
  });
}

type Change = Partial<Omit<Row<"outbox">, "org" | "agent" | "contact" | "id">>;

function changeWaiting(db: Connection, { org, agent }: AgentOwner, id: OutboxId, change: Change): void {
  const wanted = { org, agent, id, status: "waiting" } as const;
  db.run(
    query
      .updateTable("outbox")
      .set(change)
      .where((eb) => eb.and(wanted)),
  );
}
