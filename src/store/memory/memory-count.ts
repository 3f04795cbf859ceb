import type { Memory, MemoryKind } from "../../protocol/index.ts";
import type { MemoryStats } from "../memory-store.ts";
import { plain } from "../statement.ts";
import type { Tx } from "../tx.ts";

/** What is counted of a memory. */
export type Countable = Pick<Memory, "kind" | "at"> & { readonly characters: number };

/** The change in the number of memories of a kind, and the newest time of the kind. */
export interface KindChange {
  readonly memories: number;
  readonly characters: number;
  readonly newest?: number;
  readonly gone?: number;
}

/** Stores the change for one kind. If one was removed, another may be the newest of its kind. */
export async function writeKind(tx: Tx, scope: number, kind: MemoryKind, change: KindChange): Promise<void> {
  const { memories, characters, newest, gone } = change;
  await tx.run(plain(MORE, scope, kind, memories, characters, newest ?? gone));
  if (gone === undefined) return;
  await tx.run(plain(`delete from memory_count where scope = ? and kind = ? and memories = 0`, scope, kind));
  await tx.run(plain(NEWEST, scope, kind, scope, kind, gone));
}

const MORE = `insert into memory_count values (?, ?, ?, ?, ?) on conflict (scope, kind) do update
  set memories = memory_count.memories + excluded.memories, characters = memory_count.characters + excluded.characters,
    newest = case when excluded.newest > memory_count.newest then excluded.newest else memory_count.newest end`;
const NEWEST = `update memory_count set newest = (select max(at) from memory
    where memory.scope = ? and memory.kind = ? and memory.superseded_by is null)
  where scope = ? and kind = ? and newest = ?`;

/** The counts of a scope, by kind. */
export async function countsOf(tx: Tx, scope: number): Promise<readonly MemoryStats[]> {
  return tx.all(
    plain<MemoryStats>(
      `select kind, memories, characters, newest from memory_count where scope = ? order by kind`,
      scope,
    ),
  );
}
