import type { Memory, MemoryFilter, MemoryId, Scope } from "../../../protocol/index.ts";
import type { MemoryStats } from "../../memory-store.ts";
import { toMemory } from "../../rows.ts";
import type { Connection } from "../connection.ts";
import { atMost } from "../scope.ts";
import { countsOf } from "./memory-count.ts";
import { conditionOf, isOfKept, KEPT, memoryRows, NOT_SAID } from "./memory-rows.ts";
import { memoryScope } from "./memory-scope.ts";

/** Newest first; of one instant, what was kept last. */
export function memories(
  db: Connection,
  scope: Scope,
  limit: number,
  { superseded, ...filter }: MemoryFilter & { readonly superseded?: true } = {},
): readonly Memory[] {
  const own = memoryScope(db, scope);
  if (!own) return [];
  const wanted = { kinds: NOT_SAID, ...filter };
  const condition = conditionOf(wanted);
  const holds = [
    ...(isOfKept(wanted) ? [KEPT] : []),
    ...(superseded ? [] : ["memory.superseded_by is null"]),
    ...(condition ? [condition.sql] : []),
  ];
  const newest = `${holds.join(" and ")} order by memory.at desc, memory.row desc limit ?`;
  return memoryRows(db, own, newest, ...(condition?.parameters ?? []), atMost(limit)).map(toMemory);
}

/** One memory of the scope, also one that was superseded. */
export function memory(db: Connection, scope: Scope, id: MemoryId): Memory | undefined {
  const own = memoryScope(db, scope);
  const row = own && memoryRows(db, own, `memory.id = ?`, id)[0];
  return row && toMemory(row);
}

/** 0 where nothing was ever remembered. */
export function memoryRevision(db: Connection, scope: Scope): number {
  return memoryScope(db, scope)?.revision ?? 0;
}

/** As they are kept: every message asks for them. */
export function memoryStats(db: Connection, scope: Scope): readonly MemoryStats[] {
  const own = memoryScope(db, scope);
  return own ? countsOf(db, own.number) : [];
}
