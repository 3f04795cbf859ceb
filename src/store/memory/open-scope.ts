import type { MemoryKind } from "../../protocol/index.ts";
import { plain } from "../statement.ts";
import type { Tx } from "../tx.ts";
import { type Countable, type KindChange, writeKind } from "./memory-count.ts";
import type { MemoryScope } from "./memory-scope.ts";

/** A conversation: the number of the place where it began, and when something was last said in it. */
export interface Talk {
  readonly session: number;
  readonly at: number;
}

/**
 * A scope in the transaction that writes to it, with its current size. Counts are collected here and written to the tables at the end: a
 * statement for each word of many memories would take most of the time.
 */
export interface OpenScope extends Pick<MemoryScope, "number"> {
  next: number;
  units: number;
  terms: number;
  saved: number;
  characters: number;
  /** By how many the units with a term or a speaker change. */
  readonly ofTerm: Map<string, number>;
  readonly ofSpeaker: Map<string, number>;
  readonly ofKind: Map<MemoryKind, KindChange>;
  /** The conversations that continued. */
  readonly talks: Map<string, Talk>;
}

/** Opens a scope for work that changes it, then writes the counts. Part of a write transaction; one at a time. */
export async function changeScope<T>(tx: Tx, scope: MemoryScope, work: (open: OpenScope) => T): Promise<T> {
  const { number, next, units, terms, saved, characters } = scope;
  const counts = { ofTerm: new Map(), ofSpeaker: new Map(), ofKind: new Map(), talks: new Map() };
  const open: OpenScope = { number, next, units, terms, saved, characters, ...counts };
  const made = await work(open);
  await writeDown(tx, open);
  return made;
}

/** Changes the number of units of a term or a speaker. */
export function countUnits(counts: Map<string, number>, name: string, by: 1 | -1): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}

/** Counts one more memory of its kind. */
export function countIn({ ofKind }: OpenScope, { kind, at, characters }: Countable): void {
  const known = ofKind.get(kind) ?? { memories: 0, characters: 0 };
  const newest = Math.max(known.newest ?? at, at);
  ofKind.set(kind, { ...known, memories: known.memories + 1, characters: known.characters + characters, newest });
}

/** Counts one less, because it is gone or superseded. */
export function countOut({ ofKind }: OpenScope, { kind, at, characters }: Countable): void {
  const known = ofKind.get(kind) ?? { memories: 0, characters: 0 };
  const gone = Math.max(known.gone ?? at, at);
  ofKind.set(kind, { ...known, memories: known.memories - 1, characters: known.characters - characters, gone });
}

/** The conversation of that name in its latest state. */
export async function talkNamed(tx: Tx, { number, talks }: OpenScope, name: string): Promise<Talk | undefined> {
  const known = `select session, at from talk where scope = ? and name = ?`;
  return talks.get(name) ?? (await tx.first(plain<Talk>(known, number, name)));
}

/** Writes the counts. Every change that could affect a search makes a new revision. */
async function writeDown(tx: Tx, open: OpenScope): Promise<void> {
  const { number, next, units, terms, saved, characters, ofTerm, ofSpeaker, ofKind, talks } = open;
  await tx.run(plain(SCOPE, next, units, terms, saved, characters, number));
  await writeCounts(tx, number, ofTerm, BY_TERM);
  await writeCounts(tx, number, ofSpeaker, BY_SPEAKER);
  for (const [kind, change] of ofKind) await writeKind(tx, number, kind, change);
  for (const [name, { session, at }] of talks) await tx.run(plain(TALK, number, name, session, at));
}

const SCOPE = `update memory_scope set next = ?, units = ?, terms = ?, saved = ?, characters = ?, revision = revision + 1
  where number = ?`;
const TALK = `insert into talk values (?, ?, ?, ?)
  on conflict (scope, name) do update set session = excluded.session, at = excluded.at`;

interface CountTable {
  readonly add: string;
  readonly clear: string;
}

const countTable = (table: string, name: string): CountTable => ({
  add: `insert into ${table} select ?, key, value from json_each(?) where true
    on conflict (scope, ${name}) do update set units = ${table}.units + excluded.units`,
  clear: `delete from ${table} where scope = ? and ${name} in (select value from json_each(?)) and units = 0`,
});
const BY_TERM = countTable("unit_term", "term");
const BY_SPEAKER = countTable("unit_speaker", "speaker");

/** A term or speaker without any unit loses its row. */
async function writeCounts(
  tx: Tx,
  scope: number,
  counts: ReadonlyMap<string, number>,
  { add, clear }: CountTable,
): Promise<void> {
  const changes = [...counts].filter(([, by]) => by !== 0);
  if (changes.length > 0) await tx.run(plain(add, scope, JSON.stringify(Object.fromEntries(changes))));
  const fewer = changes.flatMap(([name, by]) => (by < 0 ? [name] : []));
  if (fewer.length > 0) await tx.run(plain(clear, scope, JSON.stringify(fewer)));
}
