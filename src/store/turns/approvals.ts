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
import { keepOwn, keepText, ownText, scopeKey } from "../record/pieces.ts";
import { toApproval } from "../rows.ts";
import { atMost, owner, within } from "../scope.ts";
import { fixed, insert, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { addEvents } from "../threads/events.ts";
import { openRow } from "../threads/threads.ts";
import { inOrder, type Tx } from "../tx.ts";
import { applyWrites } from "./apply-writes.ts";
import type { Settling } from "./settling.ts";

/** Keeps the calls that wait from now on. Part of the turn's commit. */
export async function keepApprovals(tx: Tx, at: Settling, asked: readonly NewApproval[], when: number): Promise<void> {
  for (const [position, { id, call, tool, input, schema, taint }] of asked.entries()) {
    const row: Row<"approval"> = {
      ...owner(at.scope),
      id,
      thread: at.thread,
      turn: at.turn,
      position,
      call,
      tool,
      input: await keepText(tx, at, JSON.stringify(input)),
      taint,
      status: "waiting",
      asked_at: when,
      decided_at: null,
      decided_by: null,
      note: null,
      outcome: null,
      schema: schema ?? null,
    };
    await tx.run(insert("approval", row));
  }
}

/** Newest first. */
export async function approvals(
  tx: Tx,
  scope: Scope,
  { status, thread }: ApprovalFilter,
  limit: number,
): Promise<readonly Approval[]> {
  const wanted = { ...within(scope), ...(status && { status }), ...(thread && { thread }) };
  const newest = query
    .selectFrom("approval")
    .selectAll()
    .where((eb) => eb.and(wanted))
    .orderBy("asked_at", "desc")
    .orderBy("id", "desc")
    .limit(atMost(limit));
  return inOrder(await tx.all(newest), (row) => read(tx, row));
}

/** An approval in scope. */
export async function approval(tx: Tx, scope: Scope, id: ApprovalId): Promise<Approval | undefined> {
  const row = await findApproval(tx, scope, id);
  return row && (await read(tx, row));
}

async function findApproval(tx: Tx, scope: Scope, id: ApprovalId): Promise<Row<"approval"> | undefined> {
  const wanted = { ...within(scope), id };
  return tx.first(
    query
      .selectFrom("approval")
      .selectAll()
      .where((eb) => eb.and(wanted)),
  );
}

async function read(tx: Tx, row: Row<"approval">): Promise<Approval> {
  const text = async (piece: typeof row.note) => (piece === null ? null : await ownText(tx, row, piece));
  return toApproval(row, {
    input: await text(row.input),
    note: await text(row.note),
    outcome: await text(row.outcome),
  });
}

/** From waiting to what the person says, in one step: of two people the second is told that it is decided. */
export async function decideApproval(
  tx: Tx,
  scope: ContactScope,
  id: ApprovalId,
  { verdict, by, note, at, event }: Decision,
): Promise<Approval> {
  const row = await inState(tx, scope, id, "waiting");
  await openRow(tx, scope, row.thread);
  const piece = note === undefined ? null : await keepOwn(tx, scope, await scopeKey(tx, scope), JSON.stringify(note));
  await change(tx, row, { status: verdict, decided_at: at, decided_by: by, note: piece });
  if (event) await addEvents(tx, scope, row.thread, [event]);
  return changed(tx, scope, id);
}

/** What came of an approved call: its result, its writes and the event that tells of it land together. */
export async function finishApproval(tx: Tx, scope: ContactScope, id: ApprovalId, finish: Finish): Promise<Approval> {
  const row = await inState(tx, scope, id, "approved");
  await openRow(tx, scope, row.thread);
  const outcome = await keepOwn(tx, scope, await scopeKey(tx, scope), JSON.stringify(finish.outcome));
  await change(tx, row, { status: "done", outcome });
  await applyWrites(tx, scope, finish, `approval ${id}`);
  await addEvents(tx, scope, row.thread, [finish.event]);
  return changed(tx, scope, id);
}

/** @throws StrataError `approval_not_found`, `approval_decided` */
async function inState(
  tx: Tx,
  scope: ContactScope,
  id: ApprovalId,
  state: "waiting" | "approved",
): Promise<Row<"approval">> {
  const row = await findApproval(tx, scope, id);
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

async function change(tx: Tx, row: Row<"approval">, columns: Change): Promise<void> {
  await tx.run(
    query
      .updateTable("approval")
      .set(columns)
      .where((eb) => eb.and({ ...owner(row), id: row.id })),
  );
}

async function changed(tx: Tx, scope: ContactScope, id: ApprovalId): Promise<Approval> {
  const row = await findApproval(tx, scope, id);
  if (row) return read(tx, row);
  throw new StrataError("unexpected", `approval ${id} vanished inside its own transaction: please report it`);
}

/** Nobody decides any more about what an erased contact's turns asked for. Part of the erasure. */
export async function closeApprovals(
  tx: Tx,
  scope: ContactScope,
  by: Row<"approval">["decided_by"],
  at: number,
): Promise<void> {
  await tx.run(
    query
      .updateTable("approval")
      .set({ status: "denied", decided_at: at, decided_by: by })
      .where((eb) => eb.and(owner(scope)))
      .where("status", "in", ["waiting", "approved"]),
  );
}

/** What a turn asked for, in order. */
export async function approvalsOfTurn(tx: Tx, scope: ContactScope, turn: TurnId): Promise<readonly Row<"approval">[]> {
  return (await tx.all(askedByTurn({ ...owner(scope), turn }))).sort((a, b) => a.position - b.position);
}

const askedByTurn = fixed((at: ContactScope & { readonly turn: TurnId }) =>
  query
    .selectFrom("approval")
    .selectAll()
    .where((eb) => eb.and({ ...owner(at), turn: at.turn })),
);
