import { sql } from "kysely";
import { type ContactId, isBatch, isReserved } from "../../protocol/index.ts";
import type { AgentOwner } from "../agent-store.ts";
import type { BatchOpening } from "../batch.ts";
import { toThread } from "../rows.ts";
import type { Thread } from "../store.ts";
import type { Row } from "../tables.ts";
import type { Connection } from "./connection.ts";
import { pending } from "./events.ts";
import { lease } from "./leases.ts";
import { owner } from "./scope.ts";
import { keepStaged, members } from "./staged.ts";
import { fixed, insert, plain, query } from "./statement.ts";
import { stopTurn } from "./stop-turn.ts";
import { findThread, newThread } from "./threads.ts";

/** Looks and makes in one write transaction: of two workers that ask, the second finds what the first has made. */
export function openBatch(db: Connection, of: AgentOwner, opening: BatchOpening): Thread | undefined {
  return db.write(() => {
    const { now, alive, most } = opening;
    for (const row of openBatches(db, of)) {
      if (lease(row, { now, alive })) continue;
      if (members(db, row).some((member) => pending(db, member, member.id).length > 0)) return toThread(row);
      closeBatch(db, row, opening.at);
    }
    const all = waitingThreads(db, of, opening);
    const senders = apart(all, opening).slice(0, most);
    // Who cannot be told from others waits until it is their turn, and then has it alone.
    const [first] = all;
    if (first === undefined || senders[0] !== first || senders.length < 2) return first && toThread(first);
    return toThread(stage(db, of, senders, opening));
  });
}

/** The first of each name, without those who have none. */
function apart(all: readonly Row<"thread">[], { nameOf }: BatchOpening): readonly Row<"thread">[] {
  const named = new Map<string, Row<"thread">>();
  for (const row of all) {
    const name = nameOf(row.contact);
    if (name !== "" && !named.has(name)) named.set(name, row);
  }
  return [...named.values()];
}

/** Threads of several senders whose turn has not ended. */
function openBatches(db: Connection, { org, agent }: AgentOwner): readonly Row<"thread">[] {
  const unended = query
    .selectFrom("thread")
    .selectAll()
    .where((eb) => eb.and({ org, agent, turns: 0 }))
    .where("erased_link", "is", null)
    .where(sql<boolean>`contact >= '~inbox:' and contact < '~inbox;'`)
    .orderBy("id");
  return db.all(unended).filter(isBatch);
}

/** What waited has been handled otherwise: a turn that was interrupted ends here, and one that never began leaves nothing. */
function closeBatch(db: Connection, row: Row<"thread">, at: number): void {
  stopTurn(db, row, { at, says: "the turn was interrupted, and its messages were handled otherwise" });
  if (db.first(plain<object>("select id from turn where org = ? and thread = ?", row.org, row.id))) return;
  db.run(query.deleteFrom("staged").where((eb) => eb.and({ org: row.org, batch: row.id })));
  db.run(query.deleteFrom("thread").where((eb) => eb.and({ ...owner(row), id: row.id })));
}

/** Of each sender the thread on which something waits for longest, and of them those who wait longest first. */
function waitingThreads(db: Connection, of: AgentOwner, opening: BatchOpening): readonly Row<"thread">[] {
  const found = new Map<ContactId, Row<"thread">>();
  for (const { contact, thread } of db.all(waiting({ org: of.org, agent: of.agent }))) {
    if (found.has(contact) || isReserved(contact)) continue;
    const row = findThread(db, { ...of, contact }, thread);
    const isFree = row?.erased_link === null && row.channel !== opening.except && !lease(row, opening);
    if (row && isFree) found.set(contact, row);
  }
  return [...found.values()];
}

const waiting = fixed((of: AgentOwner) =>
  query
    .selectFrom("event")
    // Ids are issued in the order in which messages come; their times are the channel's word.
    .select((eb) => ["contact", "thread", eb.fn.min<string>("id").as("first")])
    .where("org", "=", of.org)
    .where("agent", "=", of.agent)
    // As the index has it, so that it serves.
    .where("status", "=", sql.lit("pending"))
    .groupBy(["contact", "thread"])
    .orderBy("first"),
);

function stage(
  db: Connection,
  of: AgentOwner,
  senders: readonly Row<"thread">[],
  { id, contact, channel, version, at }: BatchOpening,
): Row<"thread"> {
  const row = newThread({ org: of.org, agent: of.agent, contact }, { id, channel, key: id, version, at });
  db.run(insert("thread", row));
  for (const sender of senders) keepStaged(db, row, sender, null);
  return row;
}
