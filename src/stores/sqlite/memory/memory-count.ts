import type { Memory } from "../../../protocol/index.ts";
import type { MemoryStats } from "../../memory-store.ts";
import type { Connection } from "../connection.ts";
import { plain } from "../statement.ts";

/** What is counted of a memory. */
export type Countable = Pick<Memory, "kind" | "at"> & { readonly characters: number };

/** One more of its kind. */
export function countIn(db: Connection, scope: number, { kind, at, characters }: Countable): void {
  db.run(plain(ONE_MORE, scope, kind, characters, at));
}

const ONE_MORE = `insert into memory_count values (?, ?, 1, ?, ?) on conflict do update set
  memories = memories + 1, characters = characters + excluded.characters, newest = max(newest, excluded.newest)`;

/** One less, once it is gone or superseded: the newest of its kind may be another now. */
export function countOut(db: Connection, scope: number, { kind, at, characters }: Countable): void {
  const less = `update memory_count set memories = memories - 1, characters = characters - ? where scope = ? and kind = ?`;
  db.run(plain(less, characters, scope, kind));
  db.run(plain(`delete from memory_count where scope = ? and kind = ? and memories = 0`, scope, kind));
  db.run(
    plain(
      `update memory_count set newest = (select max(at) from memory
       where memory.scope = ? and memory.kind = ? and memory.superseded_by is null)
       where scope = ? and kind = ? and newest = ?`,
      ...[scope, kind, scope, kind, at],
    ),
  );
}

/** The counts of a scope, by kind. */
export function countsOf(db: Connection, scope: number): readonly MemoryStats[] {
  return db.all(
    plain<MemoryStats>(
      `select kind, memories, characters, newest from memory_count where scope = ? order by kind`,
      scope,
    ),
  );
}
