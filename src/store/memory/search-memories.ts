import { setImmediate } from "node:timers/promises";
import { listIndex, type PlacedUnit, type Ranked, search, speaks } from "../../memory/index.ts";
import { isValidAt, type Memory, type MemoryId, type MemoryQuery, type Scope } from "../../protocol/index.ts";
import type { MemoryHit } from "../memory-store.ts";
import { toMemory } from "../rows.ts";
import { atMost } from "../scope.ts";
import { plain } from "../statement.ts";
import type { Transactions, Tx } from "../tx.ts";
import { type Sieve, scopeIndex } from "./lexical-index.ts";
import { conditionOf, isOfKept, KEPT, memoryRows } from "./memory-rows.ts";
import { type MemoryScope, memoryScope, rangeOf } from "./memory-scope.ts";
import { FUSED, fused } from "./near-memories.ts";
import { termsOf, type UnitColumns } from "./units.ts";

type Reading = Transactions["read"];

/**
 * Finds in each scope by itself, so that nothing of one tells of another, and gives the best of all. What is ranked is one snapshot;
 * the texts of what was found are others, for they may be long.
 */
export async function searchMemories(
  read: Reading,
  scopes: readonly Scope[],
  query: MemoryQuery,
): Promise<readonly MemoryHit[]> {
  const limit = atMost(query.limit);
  if (limit === 0) return [];
  const found: MemoryHit[] = [];
  for (const scope of scopes) found.push(...(await searchValid(read, scope, { ...query, limit })));
  return found.sort((a, b) => b.score - a.score || b.at - a.at || b.place - a.place).slice(0, limit);
}

/** Few memories end: only where one is among the best, more than are asked for are looked at. */
async function searchValid(
  read: Reading,
  scope: Scope,
  { validAt, ...query }: MemoryQuery,
): Promise<readonly MemoryHit[]> {
  for (let { limit } = query; ; limit *= 4) {
    const ranking = await read((tx) => rankScope(tx, scope, { ...query, limit }));
    if (ranking === undefined) return [];
    const found = await hits(read, scope, ranking);
    const valid = validAt === undefined ? found : found.filter((one) => isValidAt(one, validAt));
    const isAll = found.length < limit || valid.length === found.length;
    if (isAll || valid.length >= query.limit) return valid.slice(0, query.limit);
  }
}

/** What is best in a scope, and to which stretch of talk each place belongs. */
interface Ranking {
  readonly own: MemoryScope;
  readonly ranked: readonly Ranked[];
  readonly sessions: ReadonlyMap<number, string>;
}

async function rankScope(tx: Tx, scope: Scope, query: MemoryQuery): Promise<Ranking | undefined> {
  const own = await memoryScope(tx, scope);
  if (own === undefined) return undefined;
  const found = await rankWords(tx, own, { ...query, agent: scope.agent });
  const ranked = (await fused(tx, own, query, found)).slice(0, query.limit);
  return { own, ranked, sessions: await sessionsOf(tx, own, ranked) };
}

async function rankWords(
  tx: Tx,
  own: MemoryScope,
  query: MemoryQuery & Pick<Scope, "agent">,
): Promise<readonly Ranked[]> {
  const condition = conditionOf(query);
  const few = condition && isOfKept(query) ? await keptUnits(tx, own, query) : undefined;
  // More than are asked for, where they are yet to be fused with what vectors find.
  const wanted = query.vectors === undefined ? query.limit : Math.max(query.limit, FUSED);
  if (few) return search(listIndex(few), { ...query, limit: wanted });
  const sieve = condition && sieveOf(tx, own, condition);
  // Neighbours are ranked too, and a filter may not let them pass.
  const limit = sieve ? Number.MAX_SAFE_INTEGER : wanted;
  const ranked = await search(scopeIndex(tx, own, sieve), { ...query, limit });
  const { from } = rangeOf(own);
  const passing = await sieve?.(ranked.map(({ place }) => from + place));
  return passing ? ranked.filter(({ place }) => passing.has(from + place)) : ranked;
}

/** So many units are read and searched without the index: a filter that lets little pass would leave nothing of its candidates. */
const FEW = 4_000;

interface KeptUnit extends UnitColumns {
  readonly id: number;
  readonly memory: MemoryId;
  readonly session: number;
  readonly at: number;
}

/** All that a filter lets pass of what was saved on purpose; nothing where that is too much to read. */
async function keptUnits(tx: Tx, own: MemoryScope, query: MemoryQuery): Promise<readonly PlacedUnit[] | undefined> {
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
  return rows.map(({ id, terms, ...unit }) => ({ ...unit, place: id - from, terms: termsOf(terms) }));
}

function sieveOf(tx: Tx, own: MemoryScope, condition: NonNullable<ReturnType<typeof conditionOf>>): Sieve {
  const asked = `select unit.id from json_each(?) as wanted cross join unit on unit.id = cast(wanted.value as bigint)
    cross join memory on memory.row = unit.memory where memory.scope = ? and ${condition.sql}`;
  return async (ids) =>
    new Set(await tx.column(plain<number>(asked, JSON.stringify(ids), own.number, ...condition.parameters)));
}

/** Memories read at once: their texts may be long, and nobody else gets a turn meanwhile. */
const AT_ONCE = 8;

/** What was ranked, with its text. What was forgotten meanwhile is left out. */
async function hits(read: Reading, scope: Scope, { own, ranked, sessions }: Ranking): Promise<readonly MemoryHit[]> {
  const holds = `memory.id in (select value from json_each(?)) and memory.first is not null`;
  const known = new Map<MemoryId, Memory>();
  for (let from = 0; from < ranked.length; from += AT_ONCE) {
    if (from > 0) await setImmediate();
    const ids = JSON.stringify(ranked.slice(from, from + AT_ONCE).map(({ memory }) => memory));
    for (const row of await read((tx) => memoryRows(tx, own, holds, ids))) known.set(row.id, toMemory(row));
  }
  return ranked.flatMap(({ memory, ...why }) => {
    if (!speaks(why)) return [];
    const found: Memory | undefined = known.get(memory);
    const session = sessions.get(why.place);
    return found && session !== undefined ? [{ ...found, ...why, scope, session }] : [];
  });
}

async function sessionsOf(tx: Tx, own: MemoryScope, ranked: readonly Ranked[]): Promise<ReadonlyMap<number, string>> {
  const { from } = rangeOf(own);
  const ids = JSON.stringify(ranked.map(({ place }) => from + place));
  const rows = await tx.all(
    plain<{ readonly id: number; readonly session: number }>(
      `select unit.id, unit.session from json_each(?) as wanted join unit on unit.id = cast(wanted.value as bigint)`,
      ids,
    ),
  );
  return new Map(rows.map(({ id, session }) => [id - from, `#${session}`]));
}
