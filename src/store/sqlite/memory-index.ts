import type { IdRange, MemoryIndex, StoredVector, WantedVectors } from "../memory/memory-index.ts";
import { plain } from "../statement.ts";
import type { Connection } from "./connection.ts";

/** Words by FTS5, whose ids must be whole numbers, hence the casts. Vectors by sqlite-vec if it is loaded. */
export function sqliteMemoryIndex(inUse: () => Connection): MemoryIndex {
  return {
    unitsWith: async (terms, { from, to }) => {
      const asked = JSON.stringify(terms.map((term) => `"${term}"`));
      const found = terms.length === 0 ? [] : inUse().column(plain<string | null>(UNITS_WITH, from, to, asked));
      return new Map(terms.map((term, i) => [term, found[i] ? found[i].split(",").map(Number) : []]));
    },
    addWords: async (units) =>
      void inUse().run(plain(ADD, JSON.stringify(units.map(({ id, terms }) => ({ id, terms }))))),
    removeWords: async (unit, terms) => void inUse().run(plain(REMOVE, unit, terms)),
    removeRange: async ({ from, to }) => void inUse().run(plain(REMOVE_RANGE, from, to)),
    clear: async () => void inUse().run(plain(`insert into unit_words (unit_words) values ('delete-all')`)),
    nearest: async (range, wanted) => {
      const db = inUse();
      return db.hasVectors() ? nearest(db, range, wanted) : undefined;
    },
  };
}

/** One row per term, in order, with the ids as one text, because a row for each id would take longer. */
const UNITS_WITH = `select (select group_concat(rowid) from unit_words
    where unit_words match wanted.value and rowid >= cast(? as integer) and rowid < cast(? as integer))
  from json_each(?) as wanted order by wanted.key`;
const ADD = `insert into unit_words (rowid, terms)
  select cast(value ->> 'id' as integer), value ->> 'terms' from json_each(?) order by 1`;
const REMOVE = `insert into unit_words (unit_words, rowid, terms) values ('delete', cast(? as integer), ?)`;
const REMOVE_RANGE = `insert into unit_words (unit_words, rowid, terms)
  select 'delete', id, terms from unit where id >= ? and id < ?`;

/** For vectors of equal length, the nearest by distance are the nearest by angle, and SQLite computes the distance faster. */
function nearest(db: Connection, { from, to }: IdRange, { values, limit, condition }: WantedVectors): StoredVector[] {
  const held = condition === undefined ? "" : `cross join memory on memory.row = vector.memory and ${condition.sql}`;
  const near = `select vector.id, vec_distance_L2(vector.value, ?) as distance from vector ${held}
    where vector.id >= ? and vector.id < ? order by distance, vector.memory desc limit ?`;
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return db.all(
    plain<StoredVector>(
      `select memory, part, value from (${near}) as near join vector using (id)`,
      ...[bytes, ...(condition?.parameters ?? []), from, to, limit],
    ),
  );
}
