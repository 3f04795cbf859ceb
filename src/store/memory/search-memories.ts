import { setImmediate } from "node:timers/promises";
import { fuse, type LexicalIndex, listIndex, type Nearby, type Ranked, search, speaks } from "../../memory/index.ts";
import { isValidAt, type Memory, type MemoryId, type MemoryQuery, type Scope } from "../../protocol/index.ts";
import type { FoundBefore, MemoryHit } from "../memory-store.ts";
import { atMost, plain } from "../statement.ts";
import { inOrder, type Transactions, type Tx } from "../tx.ts";
import { type PlaceOf, type Sieve, scopeIndex } from "./lexical-index.ts";
import { conditionOf, isOfKept, KEPT } from "./memory-rows.ts";
import { type MemoryScope, memoryScope, memoryScopes, rangeOf } from "./memory-scope.ts";
import { allOfFew, type KeptUnit, type MemoryAt, type Opened, openScopeReads, readTexts } from "./scope-reads.ts";
import { termsOf } from "./units.ts";
import { type NearVector, vectorIndex } from "./vector-index.ts";
import { servingModel } from "./vectors.ts";

type ReadTransaction = Transactions["read"];

/**
 * Searches each scope separately, so that no scope reveals anything about another, and returns the best of all. The ranked data is one
 * snapshot, and so are the first texts; the remaining texts are others, because they may be long.
 */
export async function searchMemories(
  read: ReadTransaction,
  scopes: readonly Scope[],
  { foundBefore, reads = openScopeReads(), ...query }: MemoryQuery & Before,
): Promise<readonly MemoryHit[]> {
  const limit = atMost(query.limit);
  if (limit === 0) return [];
  const { validAt: _, ...asked } = { ...query, limit };
  const { kept, rankings } = await read(async (tx) => {
    const known = await memoryScopes(tx, scopes);
    const kept = foundBefore?.(known.map((own) => own?.revision ?? 0));
    if (kept !== undefined) return { kept, rankings: [] };
    const rank = (scope: Scope, i: number) => rankScope(tx, openScope(scope, known[i], reads), asked);
    return { kept, rankings: await inOrder(scopes, rank) };
  });
  if (kept !== undefined) return kept;
  const found: MemoryHit[] = [];
  for (const first of rankings) if (first) found.push(...(await searchValid(read, first, { ...query, limit, reads })));
  return found.sort((a, b) => b.score - a.score || b.at - a.at || b.place - a.place).slice(0, limit);
}

/** The cached data of earlier searches. */
interface Before {
  readonly foundBefore?: FoundBefore | undefined;
  readonly reads?: ReturnType<typeof openScopeReads>;
}

const openScope = (scope: Scope, own: MemoryScope | undefined, reads: Required<Before>["reads"]): Opened | undefined =>
  own && { scope, own, reads: reads(own) };

/** Few memories end: only where one is among the best, more than are asked for are looked at. */
async function searchValid(
  read: ReadTransaction,
  first: Ranking,
  { validAt, reads, ...query }: MemoryQuery & Required<Pick<Before, "reads">>,
): Promise<readonly MemoryHit[]> {
  const { scope } = first;
  let ranking: Ranking | undefined = first;
  for (let { limit } = query; ranking !== undefined; ) {
    const found = await hits(read, ranking);
    const valid = validAt === undefined ? found : found.filter((one) => isValidAt(one, validAt));
    const isAll = found.length < limit || valid.length === found.length;
    if (isAll || valid.length >= query.limit) return valid.slice(0, query.limit);
    limit *= 4;
    const more = { ...query, limit };
    ranking = await read(async (tx) => rankScope(tx, openScope(scope, await memoryScope(tx, scope), reads), more));
  }
  return [];
}

/** The best results in a scope, with their positions, and the first of the texts. */
interface Ranking extends Opened {
  readonly ranked: readonly Ranked[];
  readonly places: ReadonlyMap<number, PlaceOf>;
  readonly texts: ReadonlyMap<MemoryId, Memory>;
}

async function rankScope(tx: Tx, of: Opened | undefined, query: MemoryQuery): Promise<Ranking | undefined> {
  if (of === undefined) return undefined;
  const { scope, own, reads } = of;
  const seen = new Map<number, PlaceOf>();
  const found = await rankWords(tx, { own, reads, seen }, { ...query, agent: scope.agent });
  const ranked = (await fused(tx, own, query, found)).slice(0, query.limit);
  const places = await placesOf(tx, own, ranked, seen);
  const [first = []] = portionsOf(ranked.filter(speaks), places);
  return { ...of, ranked, places, texts: await readTexts(tx, of, first) };
}

async function rankWords(
  tx: Tx,
  { own, reads, seen }: Pick<Opened, "own" | "reads"> & { readonly seen: Map<number, PlaceOf> },
  query: MemoryQuery & Pick<Scope, "agent">,
): Promise<readonly Ranked[]> {
  const condition = conditionOf(query);
  const few = condition === undefined ? await allOfFew(tx, { own, reads }, seen) : await keptUnits(tx, own, query);
  // More than are asked for, where they are yet to be fused with what vectors find.
  const wanted = query.vectors === undefined ? query.limit : Math.max(query.limit, FUSED);
  if (few) return search(few, { ...query, limit: wanted });
  const sieve = condition && sieveOf(tx, own, condition);
  // Neighbours are ranked too, and a filter may not let them pass.
  const limit = sieve ? Number.MAX_SAFE_INTEGER : wanted;
  const ranked = await search(scopeIndex(tx, own, { sieve, seen }), { ...query, limit });
  const { from } = rangeOf(own);
  const passing = await sieve?.(ranked.map(({ place }) => from + place));
  return passing ? ranked.filter(({ place }) => passing.has(from + place)) : ranked;
}

/** This many units are read and searched without the index: a filter that lets little pass would leave nothing of its candidates. */
const FEW = 4_000;

/** All that a filter lets pass of what was saved on purpose; nothing where that is too much to read. */
async function keptUnits(tx: Tx, own: MemoryScope, query: MemoryQuery): Promise<LexicalIndex | undefined> {
  if (!isOfKept(query)) return undefined;
  const condition = conditionOf(query);
  const { from } = rangeOf(own);
  const rows = await tx.all(
    plain<KeptUnit>(
      `select unit.id, unit.session, unit.speaker, unit.flags, unit.terms, memory.id as memory, memory.at from memory
       join unit on unit.id >= memory.first and unit.id < memory.first + memory.units
       where memory.scope = ? and ${KEPT} and ${condition?.sql ?? "true"} limit ${FEW + 1}`,
      ...[own.number, ...(condition?.parameters ?? [])],
    ),
  );
  if (rows.length > FEW) return undefined;
  return listIndex(rows.map(({ id, terms, ...unit }) => ({ ...unit, place: id - from, terms: termsOf(terms) })));
}

function sieveOf(tx: Tx, own: MemoryScope, condition: NonNullable<ReturnType<typeof conditionOf>>): Sieve {
  const asked = `select unit.id from json_each(?) as wanted cross join unit on unit.id = cast(wanted.value as bigint)
    cross join memory on memory.row = unit.memory where memory.scope = ? and ${condition.sql}`;
  return async (ids) =>
    new Set(await tx.column(plain<number>(asked, JSON.stringify(ids), own.number, ...condition.parameters)));
}

/** Memories are read at once up to this many, or up to this many units together: other work waits in the meantime. */
const AT_ONCE = 8;
const UNITS_AT_ONCE = 128;

/** The ranked memories with their texts, without those that were forgotten in the meantime. */
async function hits(
  read: ReadTransaction,
  { scope, own, reads, ranked, places, texts }: Ranking,
): Promise<readonly MemoryHit[]> {
  const telling = ranked.filter(speaks);
  const known = new Map(texts);
  for (const portion of portionsOf(telling, places).slice(1)) {
    await setImmediate();
    for (const [id, one] of await read((tx) => readTexts(tx, { own, reads }, portion))) known.set(id, one);
  }
  return telling.flatMap(({ memory, ...why }) => {
    const [found, at] = [known.get(memory), places.get(why.place)];
    return found && at ? [{ ...found, ...why, scope, session: at.session }] : [];
  });
}

/** The rows of what was ranked, in portions. */
function portionsOf(ranked: readonly Ranked[], places: ReadonlyMap<number, PlaceOf>): readonly MemoryAt[][] {
  const portions: MemoryAt[][] = [];
  let units = 0;
  for (const { place, memory: id } of ranked) {
    const at = places.get(place);
    if (at === undefined) continue;
    const open = portions.at(-1);
    units += at.parts;
    if (open !== undefined && (open.length < AT_ONCE || units <= UNITS_AT_ONCE)) open.push({ id, row: at.row });
    else {
      portions.push([{ id, row: at.row }]);
      units = at.parts;
    }
  }
  return portions;
}

/** Most were read when they were ranked; what only vectors found was not. */
async function placesOf(
  tx: Tx,
  own: MemoryScope,
  ranked: readonly Ranked[],
  seen: ReadonlyMap<number, PlaceOf>,
): Promise<ReadonlyMap<number, PlaceOf>> {
  const others = ranked.filter(({ place }) => !seen.has(place));
  if (others.length === 0) return seen;
  const { from } = rangeOf(own);
  const ids = JSON.stringify(others.map(({ place }) => from + place));
  const rows = await tx.all(
    plain<{ readonly id: number; readonly session: number; readonly row: number; readonly parts: number }>(PLACES, ids),
  );
  const found = rows.map(({ id, session, ...at }): [number, PlaceOf] => [id - from, { ...at, session: `#${session}` }]);
  return new Map([...seen, ...found]);
}

const PLACES = `select unit.id, unit.session, memory.row, memory.units as parts from json_each(?) as wanted
  cross join unit on unit.id = cast(wanted.value as bigint) cross join memory on memory.row = unit.memory`;

/** How many of each list are fused. */
const FUSED = 100;

/** A long memory may be near by several of its parts. */
const PARTS = 2 * FUSED;

/** So few vectors tell nothing of what is usual. */
const FEW_VECTORS = 8;

/** The lexical results, fused with the nearest neighbours of the query's vectors. */
async function fused(
  tx: Tx,
  own: MemoryScope,
  query: MemoryQuery,
  ranked: readonly Ranked[],
): Promise<readonly Ranked[]> {
  const near = await nearMemories(tx, own, query);
  return near === undefined ? ranked : fuse(ranked, near);
}

/** The memories nearest to what is asked, each by its nearest part. Only vectors of one model are compared with each other. */
async function nearMemories(tx: Tx, own: MemoryScope, query: MemoryQuery): Promise<Nearby | undefined> {
  if (query.vectors === undefined || query.vectors.length === 0) return undefined;
  const serving = await servingModel(tx, own);
  const asked = query.vectors.find(({ model }) => model === serving?.model);
  if (serving === undefined || asked === undefined) return undefined;
  const condition = conditionOf(query);
  const index = vectorIndex(tx);
  const found = await index.knn(serving, { values: asked.values, limit: PARTS, condition });
  const usual = found.length < FEW_VECTORS ? 0 : await index.usual(serving, asked.values);
  const known = await memoriesOf(tx, own, found);
  const { from } = rangeOf(own);
  const nearest = new Map(found.toReversed().map((near) => [near.memory, near.likeness]));
  const rows = [...new Set(found.map(({ memory }) => memory))].slice(0, FUSED);
  const order = found.flatMap(({ memory, part }) => (part === 0 ? (known.get(memory)?.id ?? []) : []));
  return {
    memories: rows.flatMap((row) => {
      const one = known.get(row);
      if (one === undefined) return [];
      const way = ((nearest.get(row) ?? 0) - usual) / Math.max(1 - usual, Number.EPSILON);
      return [{ memory: one.id, place: one.first - from, way, isSaved: one.isSaved === 1 }];
    }),
    order,
    size: found.length < PARTS ? order.length : await index.memories(serving, condition),
  };
}

interface MemoryHead {
  readonly row: number;
  readonly id: MemoryId;
  readonly first: number;
  readonly isSaved: number;
}

async function memoriesOf(
  tx: Tx,
  own: MemoryScope,
  found: readonly NearVector[],
): Promise<ReadonlyMap<number, MemoryHead>> {
  const rows = [...new Set(found.map(({ memory }) => memory))];
  const known = await tx.all(
    plain<MemoryHead>(
      `select row, id, first, (${KEPT}) as "isSaved" from memory where scope = ? and row in (select cast(value as bigint) from json_each(?)) and first is not null`,
      ...[own.number, JSON.stringify(rows)],
    ),
  );
  return new Map(known.map((one) => [one.row, one]));
}
