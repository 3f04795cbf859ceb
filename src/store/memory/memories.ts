import { topicsOf } from "../../memory/index.ts";
import { isValidAt, type Memory, type MemoryId, type Scope } from "../../protocol/index.ts";
import type { MemoryHit, MemoryListing, MemoryStats, MemoryTopic, SeenMemories, TopicWish } from "../memory-store.ts";
import { toMemory } from "../rows.ts";
import { atMost } from "../statement.ts";
import { inOrder, type Tx } from "../tx.ts";
import { conditionOf, isOfKept, KEPT, memoryRows, NOT_SAID } from "./memory-rows.ts";
import { countsOf, type MemoryScope, memoryScope, memoryScopes } from "./memory-scope.ts";

/** Newest first; of the same instant, the one that was stored last. */
export async function memories(
  tx: Tx,
  scope: Scope,
  limit: number,
  filter?: MemoryListing,
): Promise<readonly Memory[]> {
  const own = await memoryScope(tx, scope);
  return own ? newestOf(tx, own, limit, filter) : [];
}

async function newestOf(
  tx: Tx,
  own: MemoryScope,
  limit: number,
  { superseded, after, ...filter }: MemoryListing = {},
): Promise<readonly Memory[]> {
  const wanted = { kinds: NOT_SAID, ...filter };
  const condition = conditionOf(wanted);
  const holds = [
    ...(isOfKept(wanted) ? [KEPT] : []),
    ...(superseded ? [] : ["memory.superseded_by is null"]),
    ...(condition ? [condition.sql] : []),
    ...(after ? [BEYOND] : []),
  ];
  const newest = `${holds.join(" and ")} order by memory.at desc, memory.row desc limit ?`;
  return (
    await memoryRows(
      tx,
      own,
      newest,
      ...(condition?.parameters ?? []),
      ...(after ? [after.at, after.at, after.id, own.number] : []),
      atMost(limit),
    )
  ).map(toMemory);
}

/** If the memory at the position is forgotten by now, it is unknown which others of the same time follow it: they are listed again. */
const BEYOND = `(memory.at < ? or (memory.at = ? and memory.row <
  coalesce((select last.row from memory as last where last.id = ? and last.scope = ?), 9007199254740991)))`;

/** One memory of the scope, even a superseded one. */
export async function memory(tx: Tx, scope: Scope, id: MemoryId): Promise<Memory | undefined> {
  const own = await memoryScope(tx, scope);
  const row = own && (await memoryRows(tx, own, `memory.id = ?`, id))[0];
  return row && toMemory(row);
}

/** This many frequently saved memories are read beside the newest. */
const MOST_SUPPORTED = 100;

/** The deliberately saved memories of these scopes, scope by scope; of very many, the newest and those that were saved again most often. */
export async function savedMemories(
  tx: Tx,
  scopes: readonly Scope[],
  most: number,
): Promise<{ readonly saved: readonly Memory[]; readonly more: number }> {
  const lists = await inOrder(await memoryScopes(tx, scopes), async (own) => {
    // The scope's row also counts superseded memories; this count does not.
    const counts = own === undefined || own.saved === 0 ? [] : await countsOf(tx, own.number);
    const there = counts.reduce((sum, { kind, memories }) => sum + (kind === "message" ? 0 : memories), 0);
    if (own === undefined || there === 0) return { saved: [], more: 0 };
    const newest = await newestOf(tx, own, most);
    const known = new Set(newest.map(({ id }) => id));
    const supported = there > most ? (await mostSupported(tx, own)).filter(({ id }) => !known.has(id)) : [];
    const saved = [...newest, ...supported];
    return { saved, more: Math.max(0, there - saved.length) };
  });
  return { saved: lists.flatMap(({ saved }) => saved), more: lists.reduce((sum, { more }) => sum + more, 0) };
}

/** Memories that a search could find, beside those that are seen anyway. */
export async function memoriesBeside(
  tx: Tx,
  scopes: readonly Scope[],
  { turns, memories: ids }: SeenMemories,
  most: number,
): Promise<readonly (Memory & Pick<MemoryHit, "scope">)[]> {
  const seen = [JSON.stringify(ids), JSON.stringify(turns)];
  const found: (Memory & Pick<MemoryHit, "scope">)[] = [];
  const known = await memoryScopes(tx, scopes);
  for (const [i, scope] of scopes.entries()) {
    const [own, limit] = [known[i], atMost(most) - found.length];
    if (own === undefined || limit <= 0) continue;
    for (const row of await memoryRows(tx, own, BESIDE, ...seen, limit)) found.push({ ...toMemory(row), scope });
  }
  return found;
}

const BESIDE = `memory.first is not null and not (memory.id in (select value from json_each(?)))
  and (memory.turn is null or not (memory.turn in (select value from json_each(?)))) limit ?`;

async function mostSupported(tx: Tx, own: MemoryScope): Promise<readonly Memory[]> {
  const best = `${KEPT} and memory.superseded_by is null and memory.support > 1
    order by memory.support desc, memory.at desc limit ${MOST_SUPPORTED}`;
  return (await memoryRows(tx, own, best)).map(toMemory);
}

/** As the counts are stored: every message reads them. */
export async function memoryStats(tx: Tx, scope: Scope): Promise<readonly MemoryStats[]> {
  const own = await memoryScope(tx, scope);
  return own ? await countsOf(tx, own.number) : [];
}

/** The most memories that are examined for topics: a server is blocked in the meantime. */
const MOST_FOR_TOPICS = 5_000;

/** The subjects of the newest memories. */
export async function memoryTopics(
  tx: Tx,
  scope: Scope,
  { least, validAt, except, ...filter }: TopicWish,
): Promise<readonly MemoryTopic[]> {
  const newest = await memories(tx, scope, MOST_FOR_TOPICS + except.size, filter);
  const wanted = newest.filter((memory) => !except.has(memory.id) && isValidAt(memory, validAt));
  const texts = wanted.slice(0, MOST_FOR_TOPICS).toReversed();
  const named = new Set(texts.flatMap(({ speaker }) => speaker ?? []));
  const speakers = [...named, scope.agent, ...(scope.contact === null ? [] : [scope.contact])];
  return topicsOf(texts, { least, speakers }).map(({ name, of }) => ({
    topic: name,
    memories: of.flatMap((place) => texts[place] ?? []),
  }));
}
