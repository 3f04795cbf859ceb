import { sql } from "kysely";
import { type ContactScope, isBatch, type Trust, type TurnId } from "../../protocol/index.ts";
import { fixed, insert, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Connection } from "./connection.ts";
import { requestRows } from "./requests.ts";
import { owner } from "./scope.ts";
import { findThread } from "./threads.ts";

/** Notes that a turn of several takes what waits on a sender's thread; as which of the sender's turns is known with its claim. */
export function keepStaged(db: Connection, batch: Row<"thread">, sender: Row<"thread">, turn: TurnId | null): void {
  const named = { thread: sender.id, turn, batch: batch.id, batch_contact: batch.contact };
  db.run(insert("staged", { ...owner(sender), ...named }));
}

/** The senders' threads, in the order in which they were staged; those that were erased since are none of them. */
export function members(db: Connection, batch: Row<"thread">): readonly Row<"thread">[] {
  const rows = stagedRows(db, batch);
  const threads = new Map(rows.map((row) => [row.thread, row]));
  return [...threads.values()].flatMap((row) => {
    const found = findThread(db, row, row.thread);
    return found && found.erased_link === null ? [found] : [];
  });
}

/** Notes as which of the sender's turns its messages are handled. */
export function noteStaged(db: Connection, batch: Row<"thread">, sender: Row<"thread">, turn: TurnId): void {
  const rows = stagedRows(db, batch).filter(({ thread }) => thread === sender.id);
  if (rows.some((row) => row.turn === turn)) return;
  const open = rows.find((row) => row.turn === null);
  if (open === undefined) {
    keepStaged(db, batch, sender, turn);
    return;
  }
  db.run(
    query
      .updateTable("staged")
      .set({ turn })
      .where((eb) => eb.and({ ...owner(sender), number: open.number })),
  );
}

/** All that a thread of several senders ever staged, in that order. */
export function stagedRows(db: Connection, { org, id }: Pick<Row<"thread">, "org" | "id">): readonly Row<"staged">[] {
  return db.all(rowsOf({ org, batch: id })).sort((a, b) => a.number - b.number);
}

const rowsOf = fixed((at: Pick<Row<"staged">, "org" | "batch">) =>
  query
    .selectFrom("staged")
    .selectAll()
    .where((eb) => eb.and({ org: at.org, batch: at.batch })),
);

const rowsOfTurn = fixed((at: ContactScope & { readonly turn: TurnId }) =>
  query
    .selectFrom("staged")
    .selectAll()
    .where((eb) => eb.and({ ...owner(at), turn: at.turn })),
);

/** The thread of several senders in whose turn this one's messages were staged. */
export function stagedIn(db: Connection, scope: ContactScope, turn: TurnId): Row<"staged"> | undefined {
  return db.all(rowsOfTurn({ ...owner(scope), turn })).sort((a, b) => b.number - a.number)[0];
}

/** The senders' turns in a turn of several. */
export const sendersOf = (db: Connection, { org, thread }: Pick<Row<"turn">, "org" | "thread">) =>
  stagedRows(db, { org, id: thread }).flatMap((row) =>
    row.turn === null ? [] : [{ thread: row.thread, turn: row.turn }],
  );

/** What a link says of it: a sender's turn names the thread, and a turn of several the senders' turns. Left out for all others. */
export function stagedFacts(db: Connection, turn: Row<"turn">): unknown {
  const isOf = isBatch(turn);
  const rows = isOf
    ? stagedRows(db, { org: turn.org, id: turn.thread })
    : db.all(rowsOfTurn({ ...owner(turn), turn: turn.id }));
  const staged = rows
    .filter((row) => row.turn !== null)
    .map(({ thread, turn, batch, batch_contact }) => (isOf ? { thread, turn } : { batch, batch_contact }));
  return staged.length === 0 ? undefined : staged;
}

/** How far what led to a turn's reply is trusted: by its requests, or those of a turn of several, where all senders wrote. */
export function taintsOf(db: Connection, scope: ContactScope, turn: TurnId): readonly Trust[] {
  const isStaged = stagedIn(db, scope, turn) !== undefined;
  return isStaged ? ["contact"] : requestRows(db, scope, turn).map(({ taint }) => taint);
}

/** The scopes of the turns of several in which the contact's messages were ever staged. */
export function batchesWith(db: Connection, scope: ContactScope): readonly ContactScope[] {
  const staged = query
    .selectFrom("staged")
    .select("batch_contact")
    .distinct()
    .where((eb) => eb.and(owner(scope)))
    .orderBy("batch_contact");
  return db.all(staged).map((row) => ({ ...owner(scope), contact: row.batch_contact }));
}

/** Frees the senders' threads of a turn that nobody can commit any more. */
export function freeMembers(db: Connection, batch: Row<"thread">): void {
  if (batch.holder === null) return;
  for (const { id, org, agent, contact } of members(db, batch)) {
    const held = { org, agent, contact, id, holder: batch.holder };
    db.run(
      query
        .updateTable("thread")
        .set({ holder: null, lease_until: null })
        .where((eb) => eb.and(held)),
    );
  }
}

/** Whether a turn is one sender's part of a turn of several, which made the requests. One that was run alone after all made its own. */
export const isPart = sql<boolean>`(
  exists (select 1 from staged where staged.org = turn.org and staged.turn = turn.id)
  and not exists (
    select 1 from request
    where request.org = turn.org and request.agent = turn.agent and request.contact = turn.contact and request.turn = turn.id))`;
