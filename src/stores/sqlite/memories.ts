import { sql } from "kysely";
import { type Memory, type MemoryId, type NewMemory, type Scope, untrusted } from "../../protocol/index.ts";
import { memoryDigest, ownerWord } from "../digests.ts";
import { toMemory } from "../rows.ts";
import type { MemoryHit } from "../store.ts";
import type { Row } from "../tables.ts";
import { indexFragments, searchTerms } from "../words.ts";
import type { Connection } from "./connection.ts";
import { scopeKey } from "./pieces.ts";
import { atMost, ownerOrAgent } from "./scope.ts";
import { insert, query, written } from "./statement.ts";

/** Saves a memory outside any turn. */
export function saveMemory(db: Connection, scope: Scope, id: MemoryId, memory: NewMemory): void {
  db.write(() => addMemory(db, scope, { id, memory }));
}

/** Adds a memory; the word index follows by trigger. Part of a write transaction. */
export function addMemory(
  db: Connection,
  scope: Scope,
  added: { readonly id: MemoryId; readonly memory: NewMemory },
): void {
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

/**
 * The scope stands in the query twice: as a word in the index, so that only the scope's own rows are walked, and as
 * columns, so that nothing else can come back whatever the index holds.
 */
export function searchMemories(db: Connection, scope: Scope, text: string, limit: number): readonly MemoryHit[] {
  const terms = searchTerms(text);
  if (terms.length === 0) return [];
  const whose = ownerOrAgent(scope);
  const match = `owner:"${ownerWord(whose)}" AND {content tags fragments}:(${terms.map((term) => `"${term}"`).join(" OR ")})`;
  const found = sql<Row<"memory"> & { score: number }>`
    select memory.*, bm25(memory_words, 0, 1, 1, 1) as score
    from memory_words join memory on memory.row = memory_words.rowid
    where memory_words match ${match}
      and memory.org = ${whose.org} and memory.agent = ${whose.agent} and memory.contact = ${whose.contact}
    order by score, memory.at desc, memory.id desc
    limit ${atMost(limit)}`;
  return db.all(written(found)).map((row) => ({ ...toMemory(row), score: row.score }));
}

/** Newest first. */
export function memories(db: Connection, scope: Scope, limit: number): readonly Memory[] {
  const whose = ownerOrAgent(scope);
  const newest = query
    .selectFrom("memory")
    .selectAll()
    .where((eb) => eb.and(whose))
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(atMost(limit));
  return db.all(newest).map(toMemory);
}

/** Removes a memory and its words; no when the scope has none of that id. */
export function forgetMemory(db: Connection, scope: Scope, id: MemoryId): boolean {
  const wanted = { ...ownerOrAgent(scope), id };
  return db.write(() => db.run(query.deleteFrom("memory").where((eb) => eb.and(wanted))) > 0);
}
