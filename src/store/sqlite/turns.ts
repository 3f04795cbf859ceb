import { sql } from "kysely";
import {
  type ContactScope,
  isBatch,
  type Scope,
  StrataError,
  type ThreadId,
  type TurnId,
} from "../../protocol/index.ts";
import { toEnd, toEvent, toTotals } from "../rows.ts";
import { fixed, query } from "../statement.ts";
import type { ChainHead, TurnRecord } from "../store.ts";
import type { Row } from "../tables.ts";
import { editsOfTurn } from "./agent/texts.ts";
import type { Connection } from "./connection.ts";
import { eventsOfTurn } from "./events.ts";
import { ownText } from "./pieces.ts";
import { readRequest, requestRows } from "./requests.ts";
import { owner, within } from "./scope.ts";
import { sendersOf, stagedIn } from "./staged.ts";

/** A turn in scope, as recorded. */
export function turn(db: Connection, scope: Scope, id: TurnId): TurnRecord | undefined {
  return db.read(() => {
    const row = findTurn(db, scope, id);
    return row && toTurn(db, row);
  });
}

/** A thread's turns, oldest first. */
export function turns(db: Connection, scope: Scope, thread: ThreadId): readonly TurnRecord[] {
  return db.read(() => {
    const wanted = { ...within(scope), thread };
    const rows = db.all(
      query
        .selectFrom("turn")
        .selectAll()
        .where((eb) => eb.and(wanted))
        .orderBy("seq"),
    );
    return rows.map((row) => toTurn(db, row));
  });
}

/** The row of a turn in scope. */
export function findTurn(db: Connection, scope: Scope, id: TurnId): Row<"turn"> | undefined {
  const { contact } = scope;
  if (contact !== null) return db.first(turnOf({ ...scope, contact, id }));
  const wanted = { ...within(scope), id };
  return db.first(
    query
      .selectFrom("turn")
      .selectAll()
      .where((eb) => eb.and(wanted)),
  );
}

const turnOf = fixed((at: ContactScope & { readonly id: TurnId }) =>
  query
    .selectFrom("turn")
    .selectAll()
    .where((eb) => eb.and({ ...owner(at), id: at.id })),
);

/** The status is written into the query: as a value SQLite could not see that the index of running turns serves it. */
export const runningTurn = fixed((at: ContactScope & { readonly thread: ThreadId }) =>
  query
    .selectFrom("turn")
    .select(["id", "attempt"])
    .where((eb) => eb.and({ ...owner(at), thread: at.thread }))
    .where("status", "=", sql.lit("running")),
);

/** The row of a turn in scope. @throws StrataError `turn_not_found` */
export function foundTurn(db: Connection, scope: Scope, id: TurnId): Row<"turn"> {
  const row = findTurn(db, scope, id);
  if (row) return row;
  throw new StrataError("turn_not_found", `turn ${id} is not in reach: list the turns of its thread`, { turn: id });
}

function toTurn(db: Connection, row: Row<"turn">): TurnRecord {
  const { id, thread, seq, status, attempt, version, model, wire, mode } = row;
  const end = toEnd(row, row.words === null ? null : ownText(db, row, row.words));
  const staged = stagedIn(db, row, id);
  const edits = editsOfTurn(db, row.org, id);
  const link = row.link === null ? undefined : linkAt(db, row, row.link);
  return {
    id,
    thread,
    scope: { org: row.org, agent: row.agent, contact: row.contact },
    seq,
    status,
    attempt,
    ...(end && { end }),
    version,
    ...(model !== null && { model }),
    ...(wire !== null && { wire }),
    ...(mode !== null && { mode }),
    startedAt: row.started_at,
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
    ...(row.totals !== null && { totals: toTotals(row.totals) }),
    requests: requestRows(db, row, id).map((request) => readRequest(db, request)),
    events: eventsOfTurn(db, row, id).map(toEvent),
    ...(edits.length > 0 && { edits }),
    ...(staged && { batch: staged.batch }),
    ...(isBatch(row) && { senders: sendersOf(db, row) }),
    ...(link && { link }),
  };
}

function linkAt(db: Connection, scope: ContactScope, seq: number): ChainHead | undefined {
  const wanted = { org: scope.org, seq };
  return db.first(
    query
      .selectFrom("chain")
      .select(["org", "seq", "hash"])
      .where((eb) => eb.and(wanted)),
  );
}
