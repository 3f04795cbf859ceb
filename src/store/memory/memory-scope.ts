import type { Memory, MemoryKind, Scope } from "../../protocol/index.ts";
import type { MemoryStats } from "../memory-store.ts";
import { ownerOrAgent, plain } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Tx } from "../tx.ts";

/** The row of a scope: where its memories are and how many. Every write of them changes it. */
export type MemoryScope = Row<"memory_scope">;

/** The width of a scope's range in the index, larger than any that is filled. Numbers stay exact up to 2^27 scopes. */
const WIDTH = 2 ** 26;

/** The first id of a scope's units, and the first one of the next scope. */
export function rangeOf({ number }: Pick<MemoryScope, "number">): { readonly from: number; readonly to: number } {
  return { from: number * WIDTH, to: (number + 1) * WIDTH };
}

/** A scope that has, or had, memories. */
export async function memoryScope(tx: Tx, scope: Scope): Promise<MemoryScope | undefined> {
  const { org, agent, contact } = ownerOrAgent(scope);
  return tx.first(
    plain<MemoryScope>(`select * from memory_scope where org = ? and agent = ? and contact = ?`, org, agent, contact),
  );
}

/** The same for several scopes, with one query for all of an agent's. */
export async function memoryScopes(tx: Tx, scopes: readonly Scope[]): Promise<readonly (MemoryScope | undefined)[]> {
  const owners = scopes.map(ownerOrAgent);
  const keyOf = ({ org, agent, contact }: (typeof owners)[number]): string => JSON.stringify([org, agent, contact]);
  const found = new Map<string, MemoryScope>();
  for (const same of Map.groupBy(owners, ({ org, agent }) => JSON.stringify([org, agent])).values()) {
    const contacts = JSON.stringify(same.map(({ contact }) => contact));
    const asked = plain<MemoryScope>(SCOPES, same[0]?.org, same[0]?.agent, contacts);
    for (const row of await tx.all(asked)) found.set(keyOf(row), row);
  }
  return owners.map((one) => found.get(keyOf(one)));
}

const SCOPES = `select * from memory_scope where org = ? and agent = ? and contact in (select value from json_each(?))`;

/** The same for writing: it is created if it does not exist. */
export async function ownMemoryScope(tx: Tx, scope: Scope): Promise<MemoryScope> {
  const known = await memoryScope(tx, scope);
  if (known) return known;
  const { org, agent, contact } = ownerOrAgent(scope);
  const fresh = { next: 0, units: 0, terms: 0, saved: 0, characters: 0 };
  const made = plain<Pick<MemoryScope, "number">>(
    `insert into memory_scope (org, agent, contact, next, units, terms, saved, characters, revision)
     values (?, ?, ?, 0, 0, 0, 0, 0, 0) returning number`,
    ...[org, agent, contact],
  );
  const { number = 0 } = (await tx.first(made)) ?? {};
  // A contact who was erased and returns has a new number, so no revision occurs twice; otherwise a cache would return what is gone.
  const revision = number * WIDTH;
  await tx.run(plain(`update memory_scope set revision = ? where number = ?`, revision, number));
  return { number, org, agent, contact, ...fresh, revision };
}

/** The changes of a write to a scope. */
export type Change = Partial<Pick<MemoryScope, "next" | "units" | "terms" | "saved" | "characters">>;

/** Adds a change, which makes a new revision. */
export async function countChange(tx: Tx, { number }: Pick<MemoryScope, "number">, change: Change): Promise<void> {
  const { next = 0, units = 0, terms = 0, saved = 0, characters = 0 } = change;
  await tx.run(
    plain(
      `update memory_scope set next = next + ?, units = units + ?, terms = terms + ?, saved = saved + ?,
       characters = characters + ?, revision = revision + 1 where number = ?`,
      ...[next, units, terms, saved, characters, number],
    ),
  );
}

/** A conversation: the number of the place where it began, and the time of its last message. */
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
  /** As they were before, where they have been read. */
  readonly talksBefore: Map<string, Talk | undefined>;
}

/** Opens a scope for work that changes it, then writes the counts. Part of a write transaction; one at a time. */
export async function changeScope<T>(tx: Tx, scope: MemoryScope, work: (open: OpenScope) => T): Promise<T> {
  const { number, next, units, terms, saved, characters } = scope;
  const counts = {
    ofTerm: new Map(),
    ofSpeaker: new Map(),
    ofKind: new Map(),
    talks: new Map(),
    talksBefore: new Map(),
  };
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
export async function talkNamed(tx: Tx, open: OpenScope, name: string): Promise<Talk | undefined> {
  const { talks, talksBefore } = open;
  return talks.get(name) ?? (talksBefore.has(name) ? talksBefore.get(name) : await readTalk(tx, open, name));
}

/** Reads it, and keeps it for `talkNamed`. */
export async function readTalk(tx: Tx, { number, talksBefore }: OpenScope, name: string): Promise<Talk | undefined> {
  const found = await tx.first(plain<Talk>(`select session, at from talk where scope = ? and name = ?`, number, name));
  talksBefore.set(name, found);
  return found;
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

/** The counted values of a memory. */
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
