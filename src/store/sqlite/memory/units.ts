import { foldName, type Unit, unitsOf } from "../../../memory/index.ts";
import type { Memory } from "../../../protocol/index.ts";
import { plain } from "../../statement.ts";
import type { Row } from "../../tables.ts";
import type { Connection } from "../connection.ts";
import { countChange, type MemoryScope, rangeOf } from "./memory-scope.ts";
import { countUnits, type OpenScope, talkNamed } from "./open-scope.ts";

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

/** A unit of a memory as it will be put into the index. */
export interface NewUnit extends UnitColumns {
  /** What `terms` holds, one by one. */
  readonly all: readonly string[];
}

/** What the units of a memory are, wherever they stand. */
export function unitColumns({
  content,
  tags,
  speaker,
  at,
}: Pick<Findable, "content" | "tags" | "speaker" | "at">): NewUnit[] {
  const folded = speaker === undefined ? "" : foldName(speaker);
  return unitsOf(content, tags, at).map(({ flags, terms }: Unit) => ({
    speaker: folded,
    flags,
    terms: terms.join(" "),
    all: terms,
  }));
}

/** The terms of a unit's row. */
export const termsOf = (terms: string): string[] => (terms === "" ? [] : terms.split(" "));

/** Where the units of a memory stand, as its row has it. */
export type Place = Pick<Row<"memory">, "first" | "units">;

/** The place of what is not to be found. */
export const NOWHERE: Place = { first: null, units: 0 };

/** At the end of the scope's range. Without room a memory is kept and not found. */
export function placeFor(db: Connection, open: OpenScope, { length }: readonly UnitColumns[]): Place {
  if (open.next + length > db.limits.range) return NOWHERE;
  return { first: rangeOf(open).from + open.next, units: length };
}

/** Puts the units of a memory where its row says that they stand. */
export function putUnits(
  db: Connection,
  open: OpenScope,
  memory: Pick<Findable, "row" | "talk" | "at"> & Pick<Place, "first">,
  units: readonly NewUnit[],
): void {
  if (memory.first === null) return;
  const session = sessionOf(db, open, memory);
  for (const [i, { speaker, flags, terms, all }] of units.entries()) {
    const id = memory.first + i;
    db.run(plain(`insert into unit values (?, ?, ?, ?, ?, ?)`, id, memory.row, session, speaker, flags, terms));
    // The full-text index takes a number for an id only where it is surely whole.
    db.run(plain(`insert into unit_words (rowid, terms) values (cast(? as integer), ?)`, id, terms));
    countUnit(open, { speaker, all }, 1);
  }
  open.next += units.length;
}

/** Puts a memory that has a row already into the index. */
export function indexMemory(db: Connection, open: OpenScope, memory: Findable): void {
  const units = unitColumns(memory);
  const place = placeFor(db, open, units);
  db.run(plain(`update memory set first = ?, units = ? where row = ?`, place.first, place.units, memory.row));
  putUnits(db, open, { ...memory, first: place.first }, units);
}

/** Takes a memory out of the index: its words are gone from the file, its place stays empty. */
export function unindexMemory(db: Connection, open: OpenScope, row: number): void {
  const units = db.all(
    plain<UnitColumns & { readonly id: number }>(
      `select unit.id, unit.speaker, unit.flags, unit.terms from memory
       join unit on unit.id >= memory.first and unit.id < memory.first + memory.units where memory.row = ?`,
      row,
    ),
  );
  for (const { id, ...unit } of units) {
    db.run(
      plain(
        `insert into unit_words (unit_words, rowid, terms) values ('delete', cast(? as integer), ?)`,
        ...[id, unit.terms],
      ),
    );
    db.run(plain(`delete from unit where id = ?`, id));
    countUnit(open, { speaker: unit.speaker, all: termsOf(unit.terms) }, -1);
  }
  db.run(plain(`update memory set first = null, units = 0 where row = ?`, row));
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

function countUnit(open: OpenScope, { speaker, all }: Pick<NewUnit, "speaker" | "all">, by: 1 | -1): void {
  for (const term of new Set(all)) countUnits(open.ofTerm, term, by);
  countUnits(open.ofSpeaker, speaker, by);
  open.units += by;
  open.terms += by * all.length;
}

/** The stretch of talk that a memory goes on, or the one it begins: that has the number of its place. */
function sessionOf(db: Connection, open: OpenScope, { talk, at }: Pick<Findable, "talk" | "at">): number {
  if (talk === undefined) return open.next;
  const known = talkNamed(db, open, talk.name);
  const session = known !== undefined && Math.abs(at - known.at) <= talk.gap ? known.session : open.next;
  open.talks.set(talk.name, { session, at });
  return session;
}
