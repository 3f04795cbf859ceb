import { foldName, type Unit, unitsOf } from "../../../memory/index.ts";
import type { Memory } from "../../../protocol/index.ts";
import type { Connection } from "../connection.ts";
import { plain } from "../statement.ts";
import { countChange, type MemoryScope, rangeOf } from "./memory-scope.ts";

/** The index over the memories of a scope: its units, their words, and what is counted of them. All part of write transactions. */

/** A memory that shall be found. */
export interface Findable extends Pick<Memory, "content" | "tags" | "speaker" | "at"> {
  readonly row: number;
  /** What shares it is one stretch of talk, at most `gap` milliseconds apart. Left out, the memory stands alone. */
  readonly talk?: { readonly name: string; readonly gap: number };
}

/** What an index row says of a unit. */
export interface UnitColumns {
  readonly speaker: string;
  readonly flags: number;
  readonly terms: string;
}

/** What the units of a memory are, wherever they stand. */
export function unitColumns({ content, tags, speaker }: Pick<Memory, "content" | "tags" | "speaker">): UnitColumns[] {
  const folded = speaker === undefined ? "" : foldName(speaker);
  return unitsOf(content, tags).map((unit: Unit) => ({
    speaker: folded,
    flags: unit.flags,
    terms: unit.terms.join(" "),
  }));
}

/** The terms of a unit's row. */
export const termsOf = (terms: string): string[] => (terms === "" ? [] : terms.split(" "));

/** Whether so many more units have room in the scope's range. */
export const hasRoom = (db: Connection, { next }: MemoryScope, units: number): boolean =>
  next + units <= db.limits.range;

/** Puts a memory at the end of its scope's range. Without room it is kept and not found. */
export function indexMemory(db: Connection, scope: MemoryScope, memory: Findable): MemoryScope {
  const units = unitColumns(memory);
  if (!hasRoom(db, scope, units.length)) return scope;
  const first = rangeOf(scope).from + scope.next;
  const session = sessionOf(db, scope, memory);
  let count = 0;
  for (const [i, unit] of units.entries()) {
    putUnit(db, first + i, { ...unit, memory: memory.row, session });
    count += countTerms(db, scope.number, unit, 1);
  }
  db.run(plain(`update memory set first = ?, units = ? where row = ?`, first, units.length, memory.row));
  countChange(db, scope, { next: units.length, units: units.length, terms: count });
  const { next, units: all, terms, revision } = scope;
  return {
    ...scope,
    next: next + units.length,
    units: all + units.length,
    terms: terms + count,
    revision: revision + 1,
  };
}

interface Placed extends UnitColumns {
  readonly memory: number;
  readonly session: number;
}

function putUnit(db: Connection, id: number, { memory, session, speaker, flags, terms }: Placed): void {
  db.run(plain(`insert into unit values (?, ?, ?, ?, ?, ?)`, id, memory, session, speaker, flags, terms));
  // The full-text index takes a number for an id only where it is surely whole.
  db.run(plain(`insert into unit_words (rowid, terms) values (cast(? as integer), ?)`, id, terms));
}

/** Takes a memory out of the index: its words are gone from the file, its place stays empty. */
export function unindexMemory(db: Connection, scope: MemoryScope, row: number): void {
  const units = db.all(
    plain<UnitColumns & { readonly id: number }>(
      `select unit.id, unit.speaker, unit.flags, unit.terms from memory
       join unit on unit.id >= memory.first and unit.id < memory.first + memory.units where memory.row = ?`,
      row,
    ),
  );
  let count = 0;
  for (const { id, ...unit } of units) {
    db.run(
      plain(
        `insert into unit_words (unit_words, rowid, terms) values ('delete', cast(? as integer), ?)`,
        ...[id, unit.terms],
      ),
    );
    db.run(plain(`delete from unit where id = ?`, id));
    count += countTerms(db, scope.number, unit, -1);
  }
  db.run(plain(`update memory set first = null, units = 0 where row = ?`, row));
  countChange(db, scope, { units: -units.length, terms: -count });
}

/** Empties a scope's whole range. */
export function unindexScope(db: Connection, scope: MemoryScope): void {
  const { from, to } = rangeOf(scope);
  db.run(
    plain(
      `insert into unit_words (unit_words, rowid, terms) select 'delete', id, terms from unit where id >= ? and id < ?`,
      ...[from, to],
    ),
  );
  db.run(plain(`delete from unit where id >= ? and id < ?`, from, to));
  for (const table of ["unit_term", "unit_speaker", "talk", "memory_count"]) {
    db.run(plain(`delete from ${table} where scope = ?`, scope.number));
  }
  db.run(plain(`update memory set first = null, units = 0 where scope = ? and first is not null`, scope.number));
  countChange(db, scope, { units: -scope.units, terms: -scope.terms });
}

/** Counts a unit's terms and speaker up or down. Gives how many terms it has. */
function countTerms(db: Connection, scope: number, { speaker, terms }: UnitColumns, by: 1 | -1): number {
  const all = termsOf(terms);
  const distinct = JSON.stringify([...new Set(all)]);
  if (by === 1) {
    db.run(plain(MORE_TERMS, scope, distinct));
    db.run(plain(MORE_OF_SPEAKER, scope, speaker));
  } else {
    db.run(plain(`update unit_term set units = units - 1 where scope = ? and term in ${LISTED}`, scope, distinct));
    db.run(plain(`delete from unit_term where scope = ? and term in ${LISTED} and units = 0`, scope, distinct));
    db.run(plain(`update unit_speaker set units = units - 1 where scope = ? and speaker = ?`, scope, speaker));
    db.run(plain(`delete from unit_speaker where scope = ? and speaker = ? and units = 0`, scope, speaker));
  }
  return all.length;
}

const LISTED = `(select value from json_each(?))`;
const MORE_TERMS = `insert into unit_term select ?, value, 1 from json_each(?) where true
  on conflict do update set units = units + 1`;
const MORE_OF_SPEAKER = `insert into unit_speaker values (?, ?, 1) on conflict do update set units = units + 1`;

/** The stretch of talk that a memory goes on, or the one it begins: that has the number of its place. */
function sessionOf(db: Connection, { number, next }: MemoryScope, { talk, at }: Findable): number {
  if (talk === undefined) return next;
  const known = db.first(
    plain<{ readonly session: number; readonly at: number }>(
      `select session, at from talk where scope = ? and name = ?`,
      ...[number, talk.name],
    ),
  );
  const session = known !== undefined && Math.abs(at - known.at) <= talk.gap ? known.session : next;
  db.run(
    plain(
      `insert into talk values (?, ?, ?, ?) on conflict do update set session = excluded.session, at = excluded.at`,
      ...[number, talk.name, session, at],
    ),
  );
  return session;
}
