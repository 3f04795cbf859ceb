import type { CommitReport, ContactScope, PlannedWrite, TurnId } from "../protocol/index.ts";
import { EDIT_TEXT } from "./agent/edit-write.ts";
import { FORGET_MEMORY, SAVE_MEMORY } from "./memory/memory-writes.ts";
import { TELL_CALLER } from "./threads/tell-caller.ts";
import type { StorePart, Tx, WriteKind, Writes } from "./tx.ts";
import { writesOf } from "./write-kind.ts";

/** Of the tables that stay in the core (decision 0049); every feature may bring more. */
const CORE_WRITES: readonly WriteKind[] = [SAVE_MEMORY, FORGET_MEMORY, EDIT_TEXT, TELL_CALLER];

/** Every kind of write that a store with these parts can do. */
export const allWrites = (parts: readonly StorePart[]): Writes =>
  writesOf([...CORE_WRITES, ...parts.flatMap(({ writes = [] }) => writes)]);

/** Applies what was planned, in order. Part of a write transaction. */
export async function applyWrites(
  tx: Tx,
  scope: ContactScope,
  { writes, at, turn }: { readonly writes: readonly PlannedWrite[]; readonly at: number; readonly turn: TurnId },
): Promise<readonly CommitReport[]> {
  const all = allWrites(tx.parts);
  const reports: CommitReport[] = [];
  for (const { id, write } of writes) reports.push(...(await all.of(write).apply(tx, write, { scope, at, id, turn })));
  return reports;
}
