import type { MemoryIndex } from "../memory/memory-index.ts";
import { plain } from "../statement.ts";
import type { Tx } from "../tx.ts";

/** Which units have a word, as rows of a table: those of one scope are one range of its key. Vectors are compared in JavaScript. */
export function postgresMemoryIndex(tx: Pick<Tx, "all" | "run">): MemoryIndex {
  return {
    unitsWith: async (terms, { from, to }) => {
      const rows = terms.length === 0 ? [] : await tx.all(plain<Posting>(UNITS, terms.join(" "), from, to));
      return new Map(rows.map(({ term, units }) => [term, units.split(",").map(Number)]));
    },
    addWords: async (units) =>
      void (await tx.run(plain(ADD, JSON.stringify(units.map(({ id, terms }) => ({ id, terms })))))),
    removeWords: async (unit, terms) => void (await tx.run(plain(REMOVE, unit, terms))),
    removeRange: async ({ from, to }) => void (await tx.run(plain(REMOVE_RANGE, from, to))),
    clear: async () => void (await tx.run(plain(`delete from unit_word`))),
    nearest: async () => undefined,
  };
}

interface Posting {
  readonly term: string;
  readonly units: string;
}

/**
 * All terms in one query, because each query is a round trip to the server. The units of a term are one text, because a row for each would
 * take longer.
 */
const UNITS = `select term, string_agg(unit::text, ',') as units from unit_word
  where term = any (string_to_array(?, ' ')) and unit >= ? and unit < ? group by term`;
const ADD = `insert into unit_word (term, unit)
  select distinct term, added.id from json_to_recordset(?::json) as added(id bigint, terms text),
  unnest(string_to_array(added.terms, ' ')) as term`;
const REMOVE = `delete from unit_word where unit = ? and term = any (string_to_array(?, ' '))`;
/** Uses the words of the units, because the key begins with a word. */
const REMOVE_RANGE = `delete from unit_word using unit
  where unit.id >= ? and unit.id < ? and unit_word.unit = unit.id and unit_word.term = any (string_to_array(unit.terms, ' '))`;
