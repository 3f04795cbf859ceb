import {
  type Approval,
  type ApprovalId,
  type ContactScope,
  type NewApproval,
  type Scope,
  StrataError,
  type TurnId,
} from "../../protocol/index.ts";
import type { ApprovalFilter, Decision, Finish } from "../decision.ts";
import { toApproval } from "../rows.ts";
import { fixed, insert, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { applyWrites } from "./apply-writes.ts";
import type { Connection } from "./connection.ts";
import { addEvents } from "./events.ts";
import { keepOwn, ownText, scopeKey } from "./pieces.ts";
import { atMost, owner, within } from "./scope.ts";
import type { Settling } from "./settling.ts";
import { openRow } from "./threads.ts";

/** Keeps the calls that wait from now on. Part of the turn's commit. */
export function keepApprovals(db: Connection, at: Settling, asked: readonly NewApproval[], when: number): void {
  for (const [position, { id, call, tool, input, schema, taint }] of asked.entries()) {
    const row: Row<"approval"> = {
      ...owner(at.scope),
      id,
      thread: at.thread,
      turn: at.turn,
      position,
      call,
      tool,
      input: keepOwn(db, at.scope, at.key, JSON.stringify(input)),
      taint,
      status: "waiting",
      asked_at: when,
      decided_at: null,
      decided_by: null,
      note: null,
      outcome: null,
      schema: schema ?? null,
    };
    db.run(insert("approval", row));
  }
}

/** Newest first. */
export function approvals(
  db: Connection,
  scope: Scope,
  { status, thread }: ApprovalFilter,
  limit: number,
): readonly Approval[] {
  const wanted = { ...within(scope), ...(status && { status }), ...(thread && { thread }) };
  const newest = query
    .selectFrom("approval")
    .selectAll()
    .where((eb) => eb.and(wanted))
    .orderBy("asked_at", "desc")
    .orderBy("id", "desc")
    .limit(atMost(limit));
  return db.read(() => db.all(newest).map((row) => read(db, row)));
}

/** An approval in scope. */
export function approval(db: Connection, scope: Scope, id: ApprovalId): Approval | undefined {
  return db.read(() => {
    const row = findApproval(db, scope, id);
    return row && read(db, row);
  });
}

function findApproval(db: Connection, scope: Scope, id: ApprovalId): Row<"approval"> | undefined {
  const wanted = { ...within(scope), id };
  return db.first(
    query
      .selectFrom("approval")
      .selectAll()
      .where((eb) => eb.and(wanted)),
  );
}

function read(db: Connection, row: Row<"approval">): Approval {
  const text = (piece: typeof row.note) => (piece === null ? null : ownText(db, row, piece));
  return toApproval(row, { input: text(row.input), note: text(row.note), outcome: text(row.outcome) });
}

/** From waiting to what the person says, in one step: of two people the second is told that it is decided. */
export function decideApproval(
  db: Connection,
  scope: ContactScope,
  id: ApprovalId,
  { verdict, by, note, at, event }: Decision,
): Approval {
  return db.write(() => {
    const row = inState(db, scope, id, "waiting");
    openRow(db, scope, row.thread);
    const piece = note === undefined ? null : keepOwn(db, scope, scopeKey(db, scope), JSON.stringify(note));
    change(db, row, { status: verdict, decided_at: at, decided_by: by, note: piece });
    if (event) addEvents(db, scope, row.thread, [event]);
    return changed(db, scope, id);
  });
}

/** What came of an approved call: its result, its writes and the event that tells of it land together. */
export function finishApproval(db: Connection, scope: ContactScope, id: ApprovalId, finish: Finish): Approval {
  return db.write(() => {
    const row = inState(db, scope, id, "approved");
    openRow(db, scope, row.thread);
    const outcome = keepOwn(db, scope, scopeKey(db, scope), JSON.stringify(finish.outcome));
    change(db, row, { status: "done", outcome });
    applyWrites(db, scope, finish, `approval ${id}`);
    addEvents(db, scope, row.thread, [finish.event]);
    return changed(db, scope, id);
  });
}

/** @throws StrataError `approval_not_found`, `approval_decided` */
function inState(db: Connection, scope: ContactScope, id: ApprovalId, state: "waiting" | "approved"): Row<"approval"> {
  const row = findApproval(db, scope, id);
  if (!row) {
    throw new StrataError("approval_not_found", `approval ${id} is not in reach: list those that wait`, {
      approval: id,
    });
  }
  if (row.status === state) return row;
  throw new StrataError(
    "approval_decided",
    `approval ${id} is ${row.status} and not ${state}, so nothing was changed: list those that wait`,
    { approval: id, status: row.status },
  );
}

type Change = Partial<Pick<Row<"approval">, "status" | "decided_at" | "decided_by" | "note" | "outcome">>;

function change(db: Connection, row: Row<"approval">, columns: Change): void {
  db.run(
    query
      .updateTable("approval")
      .set(columns)
      .where((eb) => eb.and({ ...owner(row), id: row.id })),
  );
}

function changed(db: Connection, scope: ContactScope, id: ApprovalId): Approval {
  const row = findApproval(db, scope, id);
  if (row) return read(db, row);
  throw new StrataError("unexpected", `approval ${id} vanished inside its own transaction: please report it`);
}

/** Nobody decides any more about what an erased contact's turns asked for. Part of the erasure. */
export function closeApprovals(
  db: Connection,
  scope: ContactScope,
  by: Row<"approval">["decided_by"],
  at: number,
): void {
  db.run(
    query
      .updateTable("approval")
      .set({ status: "denied", decided_at: at, decided_by: by })
      .where((eb) => eb.and(owner(scope)))
      .where("status", "in", ["waiting", "approved"]),
  );
}

/** What a turn asked for, in order. */
export function approvalsOfTurn(db: Connection, scope: ContactScope, turn: TurnId): readonly Row<"approval">[] {
  return db.all(askedByTurn({ ...owner(scope), turn })).sort((a, b) => a.position - b.position);
}

const askedByTurn = fixed((at: ContactScope & { readonly turn: TurnId }) =>
  query
    .selectFrom("approval")
    .selectAll()
    .where((eb) => eb.and({ ...owner(at), turn: at.turn })),
);
