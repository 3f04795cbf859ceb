import { foldName, type Unit, unitsOf } from "../../memory/index.ts";
import type { Memory } from "../../protocol/index.ts";
import { insertAll, plain } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Tx } from "../tx.ts";
import { countChange, countUnits, type MemoryScope, type OpenScope, rangeOf, talkNamed } from "./memory-scope.ts";

/** The index over the memories of a scope: its units, their words, and their counts. All functions are part of write transactions. */

/** A memory that is to be found. */
export interface Findable extends Pick<Memory, "content" | "tags" | "speaker" | "at"> {
  readonly row: number;
  /**
   * Memories with the same name are one conversation, if at most `gap` milliseconds lie between them. Default: the memory is on its own.
   */
  readonly talk?: { readonly name: string; readonly gap: number };
}

/** The columns of a unit that follow from its text. */
export interface UnitColumns {
  readonly speaker: string;
  readonly flags: number;
  readonly terms: string;
}

/** A unit of a memory before it is indexed. */
interface NewUnit extends UnitColumns {
  /** The terms of `terms`, one by one. */
  readonly all: readonly string[];
}

/** The units of a memory, without their places. */
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

/** The terms in a unit's row. */
export const termsOf = (terms: string): string[] => (terms === "" ? [] : terms.split(" "));

/** The place of a memory's units, as its row has it. */
export type Place = Pick<Row<"memory">, "first" | "units">;

/** The place of a memory that is not to be found. */
export const NOWHERE: Place = { first: null, units: 0 };

/** A place at the end of the scope's range. If there is no room, the memory is stored but not found. */
export function placeFor(tx: Tx, open: OpenScope, { length }: readonly UnitColumns[]): Place {
  if (open.next + length > tx.limits.range) return NOWHERE;
  return { first: rangeOf(open).from + open.next, units: length };
}

/** Adds the units of a memory at the place that its row names. */
export async function putUnits(tx: Tx, open: OpenScope, memory: Placed, units: readonly NewUnit[]): Promise<void> {
  await keepUnits(tx, await unitRows(tx, open, memory, units));
}

/** Adds units of one memory or several, with their words. */
export async function keepUnits(tx: Tx, rows: readonly Row<"unit">[]): Promise<void> {
  if (rows.length === 0) return;
  await insertAll(tx, "unit", rows);
  await tx.index.addWords(rows);
}

type Placed = Pick<Findable, "row" | "talk" | "at"> & Pick<Place, "first">;

/** The rows of a memory's units, which count in the scope from now on. */
export async function unitRows(
  tx: Tx,
  open: OpenScope,
  memory: Placed,
  units: readonly NewUnit[],
): Promise<readonly Row<"unit">[]> {
  if (memory.first === null) return [];
  const session = await sessionOf(tx, open, memory);
  const rows: Row<"unit">[] = [];
  for (const [i, { speaker, flags, terms, all }] of units.entries()) {
    rows.push({ id: memory.first + i, memory: memory.row, session, speaker, flags, terms });
    countUnit(open, { speaker, all }, 1);
  }
  open.next += units.length;
  return rows;
}

/** Indexes a memory that already has a row. */
export async function indexMemory(tx: Tx, open: OpenScope, memory: Findable): Promise<void> {
  const units = unitColumns(memory);
  const place = placeFor(tx, open, units);
  await tx.run(plain(`update memory set first = ?, units = ? where row = ?`, place.first, place.units, memory.row));
  await putUnits(tx, open, { ...memory, first: place.first }, units);
}

/** Removes a memory from the index: its words are removed from the file, and its place stays empty. */
export async function unindexMemory(tx: Tx, open: OpenScope, row: number): Promise<void> {
  const units = await tx.all(
    plain<UnitColumns & { readonly id: number }>(
      `select unit.id, unit.speaker, unit.flags, unit.terms from memory
       join unit on unit.id >= memory.first and unit.id < memory.first + memory.units where memory.row = ?`,
      row,
    ),
  );
  for (const { id, ...unit } of units) {
    await tx.index.removeWords(id, unit.terms);
    await tx.run(plain(`delete from unit where id = ?`, id));
    countUnit(open, { speaker: unit.speaker, all: termsOf(unit.terms) }, -1);
  }
  await tx.run(plain(`update memory set first = null, units = 0 where row = ?`, row));
}

/** Empties a scope's whole range. */
export async function unindexScope(tx: Tx, scope: MemoryScope): Promise<void> {
  const { from, to } = rangeOf(scope);
  await tx.index.removeRange({ from, to });
  await tx.run(plain(`delete from unit where id >= ? and id < ?`, from, to));
  for (const table of ["unit_term", "unit_speaker", "talk", "memory_count"]) {
    await tx.run(plain(`delete from ${table} where scope = ?`, scope.number));
  }
  await tx.run(plain(`update memory set first = null, units = 0 where scope = ? and first is not null`, scope.number));
  await countChange(tx, scope, { units: -scope.units, terms: -scope.terms });
}

function countUnit(open: OpenScope, { speaker, all }: Pick<NewUnit, "speaker" | "all">, by: 1 | -1): void {
  for (const term of new Set(all)) countUnits(open.ofTerm, term, by);
  countUnits(open.ofSpeaker, speaker, by);
  open.units += by;
  open.terms += by * all.length;
}

/** The conversation that a memory continues or begins; a new one has the number of the memory's place. */
async function sessionOf(tx: Tx, open: OpenScope, { talk, at }: Pick<Findable, "talk" | "at">): Promise<number> {
  if (talk === undefined) return open.next;
  const known = await talkNamed(tx, open, talk.name);
  const session = known !== undefined && Math.abs(at - known.at) <= talk.gap ? known.session : open.next;
  open.talks.set(talk.name, { session, at });
  return session;
}
