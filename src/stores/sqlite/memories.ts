import { sql } from "kysely";
import {
  type Memory,
  type MemoryFilter,
  type MemoryId,
  type MemoryQuery,
  type NewMemory,
  type Scope,
  untrusted,
} from "../../protocol/index.ts";
import { memoryDigest, ownerWord } from "../digests.ts";
import { toMemory } from "../rows.ts";
import type { MemoryHit, MemoryStats, SavedMemory } from "../store.ts";
import type { Row } from "../tables.ts";
import { indexFragments, searchTerms } from "../words.ts";
import type { Connection } from "./connection.ts";
import { scopeKey } from "./pieces.ts";
import { atMost, ownerOrAgent } from "./scope.ts";
import { insert, query, written } from "./statement.ts";

/** Saves a memory outside any turn. */
export function saveMemory(db: Connection, scope: Scope, id: MemoryId, memory: NewMemory): SavedMemory {
  db.write(() => addMemory(db, scope, { id, memory }));
  return { memory: { kind: "fact", ...wellFormed(memory), id, support: 1 }, merged: false, evicted: [] };
}

/** Saves many, all or none. */
export function saveMemories(db: Connection, scope: Scope, all: readonly Added[]): readonly SavedMemory[] {
  return db.write(() => all.map(({ id, memory }) => saveMemory(db, scope, id, memory)));
}

interface Added {
  readonly id: MemoryId;
  readonly memory: NewMemory;
}

/** Adds a memory; the word index follows by trigger. Part of a write transaction. */
export function addMemory(db: Connection, scope: Scope, added: Added): void {
  const memory = wellFormed(added.memory);
  const { content, tags, trust, turn, at } = memory;
  const whose = ownerOrAgent(scope);
  const row: Omit<Row<"memory">, "row"> = {
    ...whose,
    id: added.id,
    content,
    tags: JSON.stringify(tags),
    fragments: indexFragments([content, ...tags].join(" ")),
    owner: ownerWord(whose),
    trust,
    turn: turn ?? null,
    at,
    digest: memoryDigest(scopeKey(db, scope), added.id, memory),
  };
  db.run(insert("memory", row));
}

/** Half a sign cannot be stored as text: it would come back as another one, and the digest would not fit. */
function wellFormed(memory: NewMemory): NewMemory {
  const tags = memory.tags.map((tag) => tag.toWellFormed());
  return { ...memory, content: untrusted(memory.content.toWellFormed()), tags };
}

/** Of all scopes, each searched by itself; the best first. */
export function searchMemories(db: Connection, scopes: readonly Scope[], wanted: MemoryQuery): readonly MemoryHit[] {
  const { limit } = wanted;
  const text = wanted.texts.map((one) => one.text).join(" ");
  const hits = scopes.flatMap((scope) => searchScope(db, scope, text, limit));
  return hits.sort((a, b) => b.score - a.score || b.at - a.at).slice(0, atMost(limit));
}

/**
 * The scope stands in the query twice: as a word in the index, so that only the scope's own rows are walked, and as
 * columns, so that nothing else can come back whatever the index holds.
 */
function searchScope(db: Connection, scope: Scope, text: string, limit: number): readonly MemoryHit[] {
  const terms = searchTerms(text);
  if (terms.length === 0) return [];
  const whose = ownerOrAgent(scope);
  const match = `owner:"${ownerWord(whose)}" AND {content tags fragments}:(${terms.map((term) => `"${term}"`).join(" OR ")})`;
  const found = sql<Row<"memory"> & { score: number }>`
    select memory.*, -bm25(memory_words, 0, 1, 1, 1) as score
    from memory_words join memory on memory.row = memory_words.rowid
    where memory_words match ${match}
      and memory.org = ${whose.org} and memory.agent = ${whose.agent} and memory.contact = ${whose.contact}
    order by score desc, memory.at desc, memory.id desc
    limit ${atMost(limit)}`;
  return db.all(written(found)).map((row) => {
    const { score } = row;
    return { ...toMemory(row), scope, score, evidence: score, features: {}, session: String(row.row), place: row.row };
  });
}

/** Newest first. */
export function memories(db: Connection, scope: Scope, limit: number, filter: MemoryFilter = {}): readonly Memory[] {
  const { kinds, tags, since = 0, before = Number.MAX_SAFE_INTEGER } = filter;
  if (kinds && !kinds.includes("fact")) return [];
  const whose = ownerOrAgent(scope);
  const newest = query
    .selectFrom("memory")
    .selectAll()
    .where((eb) => eb.and(whose))
    .where("at", ">=", since)
    .where("at", "<", before)
    .orderBy("at", "desc")
    .orderBy("id", "desc");
  const found = db.all(newest).map(toMemory);
  return found.filter((one) => !tags || one.tags.some((tag) => tags.includes(tag))).slice(0, atMost(limit));
}

/** One memory of the scope. */
export function memory(db: Connection, scope: Scope, id: MemoryId): Memory | undefined {
  return memories(db, scope, Number.MAX_SAFE_INTEGER).find((one) => one.id === id);
}

/** Grows with every memory, and when one is forgotten. */
export function memoryRevision(db: Connection, scope: Scope): number {
  const { org, agent, contact } = ownerOrAgent(scope);
  const count = sql<{ n: number }>`select 2 * ifnull(max(row), 0) - count(*) as n from memory
    where org = ${org} and agent = ${agent} and contact = ${contact}`;
  return db.first(written(count))?.n ?? 0;
}

/** All of one kind. */
export function memoryStats(db: Connection, scope: Scope): readonly MemoryStats[] {
  const all = memories(db, scope, Number.MAX_SAFE_INTEGER);
  const [first] = all;
  if (!first) return [];
  const characters = all.reduce((sum, { content }) => sum + content.length, 0);
  return [{ kind: "fact", memories: all.length, characters, newest: first.at }];
}

/** Removes a memory and its words; no when the scope has none of that id. */
export function forgetMemory(db: Connection, scope: Scope, id: MemoryId): boolean {
  const wanted = { ...ownerOrAgent(scope), id };
  return db.write(() => db.run(query.deleteFrom("memory").where((eb) => eb.and(wanted))) > 0);
}
