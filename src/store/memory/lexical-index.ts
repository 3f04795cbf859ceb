import type { LexicalIndex, UnitHead, WeightedTerm } from "../../memory/index.ts";
import type { MemoryId } from "../../protocol/index.ts";
import { plain, type Sql } from "../statement.ts";
import type { Tx } from "../tx.ts";
import { type MemoryScope, rangeOf } from "./memory-scope.ts";
import type { UnitColumns } from "./units.ts";

/** Which units may be candidates. */
export type Sieve = (ids: readonly number[]) => Promise<ReadonlySet<number>>;

/** The conversation and the memory of a unit, and how many units that memory has. */
export interface PlaceOf {
  readonly session: string;
  readonly row: number;
  readonly parts: number;
}

interface Indexing {
  readonly sieve?: Sieve | undefined;
  /** Collects the position of each unit that was read. */
  readonly seen?: Map<number, PlaceOf>;
}

/**
 * The index of one scope, whose row was read in the same transaction. Every query names its range, so nothing of another scope is even
 * looked at (law 5).
 */
export function scopeIndex(tx: Tx, scope: MemoryScope, { sieve, seen }: Indexing = {}): LexicalIndex {
  const { from } = rangeOf(scope);
  return {
    size: async () => ({ units: scope.units, terms: scope.terms }),
    frequencies: async (terms) => frequencies(tx, scope, terms),
    speakers: async () =>
      tx.column(plain<string>(`select speaker from unit_speaker where scope = ? order by speaker`, scope.number)),
    candidates: async (terms, limit) => {
      const most = Math.max(0, Math.floor(limit));
      const chosen = await bestOf(tx, scope, terms, sieve === undefined ? most : Number.MAX_SAFE_INTEGER);
      const passing = sieve === undefined ? chosen : await sieved(chosen, sieve, most);
      return passing.map(({ id, score }) => ({ place: id - from, score }));
    },
    heads: async (places) => heads(tx, scope, places),
    rows: async (places, terms) => {
      const read = await rows(tx, scope, places, terms);
      for (const { place, session, row, parts } of read) seen?.set(place, { session: `#${session}`, row, parts });
      return read;
    },
  };
}

interface Frequency {
  readonly term: string;
  readonly units: number;
}

async function frequencies(
  tx: Tx,
  { number }: MemoryScope,
  terms: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const found = await tx.all(plain<Frequency>(FREQUENCIES, number, JSON.stringify(terms.filter(isTerm))));
  return new Map(found.map(({ term, units }) => [term, units]));
}

/** In PostgreSQL, each term is looked up by the whole key; otherwise it would compare each term of the scope with the whole list. */
const FREQUENCIES: Sql = {
  sqlite: `select term, units from unit_term where scope = ? and term in (select value from json_each(?))`,
  postgres: `select had.term, had.units from (select ?::bigint as scope) as own, json_array_elements_text(?::json) as wanted(value)
    cross join lateral (select term, units from unit_term where scope = own.scope and term = wanted.value limit 1) as had`,
};

/** A term in the form that texts have: nothing else is in the index, so nothing else is looked up. */
const isTerm = (term: string): boolean =>
  term.isWellFormed() && /^[^\u0000-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007f]+$/.test(term);

interface Scored {
  readonly id: number;
  readonly score: number;
}

/**
 * The best units by the sum of the weights of their terms. All are read before they are added up, because all searches share one list for
 * the sums.
 */
async function bestOf(
  tx: Tx,
  scope: MemoryScope,
  terms: readonly WeightedTerm[],
  limit: number,
): Promise<readonly Scored[]> {
  const range = rangeOf(scope);
  const wanted = terms.filter(({ term, weight }) => isTerm(term) && weight > 0);
  const postings = await tx.index.unitsWith(
    wanted.map(({ term }) => term),
    range,
  );
  const sums = scope.next <= MOST_LISTED ? listedSums(range.from, scope.next) : mappedSums();
  try {
    for (const { term, weight } of wanted) for (const id of postings.get(term) ?? []) sums.add(id, weight);
    return best(sums, Math.min(limit, sums.size));
  } finally {
    sums.clear();
  }
}

/** Sums by unit id. */
interface Sums {
  readonly size: number;
  add(id: number, weight: number): void;
  each(take: (id: number, score: number) => void): void;
  /** Empties it for the next search. */
  clear(): void;
}

/** Scopes of up to this many places use a list with one entry per place: several times as fast as a map. */
const MOST_LISTED = 2 ** 21;

/** The list, empty between two searches: creating and clearing one for each would take longer than filling it. */
let scratch = new Float64Array(0);

function listedSums(from: number, places: number): Sums {
  if (scratch.length < places) scratch = new Float64Array(Math.min(MOST_LISTED, 2 * places));
  const sums = scratch;
  const touched: number[] = [];
  return {
    get size() {
      return touched.length;
    },
    add: (id, weight) => {
      const place = id - from;
      const sum = sums[place] ?? 0;
      if (sum === 0) touched.push(place);
      sums[place] = sum + weight;
    },
    each: (take) => {
      for (const place of touched) take(from + place, sums[place] ?? 0);
    },
    clear: () => {
      for (const place of touched) sums[place] = 0;
    },
  };
}

function mappedSums(): Sums {
  const sums = new Map<number, number>();
  return {
    get size() {
      return sums.size;
    },
    add: (id, weight) => void sums.set(id, (sums.get(id) ?? 0) + weight),
    each: (take) => {
      for (const [id, score] of sums) take(id, score);
    },
    clear: () => sums.clear(),
  };
}

/** How many candidates may wait to be sorted. */
const HEAP = 1_000;

/** Best first; on ties the newest first. Candidates that cannot be among the best are not sorted. */
function best(sums: Sums, limit: number): readonly Scored[] {
  let kept: Scored[] = [];
  let least = 0;
  const cut = () => {
    kept = kept.sort((a, b) => b.score - a.score || b.id - a.id).slice(0, limit);
    if (kept.length === limit) least = kept.at(-1)?.score ?? 0;
  };
  sums.each((id, score) => {
    if (score < least) return;
    kept.push({ id, score });
    if (kept.length >= limit + HEAP) cut();
  });
  cut();
  return kept;
}

/** How many units are checked at once. */
const STEP = 500;

/** The best units that pass, up to `limit`, however many do not. */
async function sieved(ranked: readonly Scored[], sieve: Sieve, limit: number): Promise<readonly Scored[]> {
  const chosen: Scored[] = [];
  for (let at = 0; at < ranked.length && chosen.length < limit; at += STEP) {
    const some = ranked.slice(at, at + STEP);
    const passing = await sieve(some.map(({ id }) => id));
    chosen.push(...some.filter(({ id }) => passing.has(id)));
  }
  return chosen.slice(0, limit);
}

interface HeadRow extends Pick<UnitColumns, "speaker" | "flags"> {
  readonly id: number;
  readonly whole: number;
  readonly session: number;
}

async function heads(tx: Tx, scope: MemoryScope, places: readonly number[]): Promise<readonly UnitHead[]> {
  const { from } = rangeOf(scope);
  return (await tx.all(plain<HeadRow>(HEADS, JSON.stringify(idsOf(scope, places))))).map(({ id, ...unit }) => ({
    ...unit,
    place: id - from,
  }));
}

const HEADS = `select unit.id, unit.memory as whole, unit.session, unit.speaker, unit.flags
  from json_each(?) as wanted cross join unit on unit.id = cast(wanted.value as bigint)`;

function idsOf(scope: MemoryScope, places: readonly number[]): readonly number[] {
  const { from, to } = rangeOf(scope);
  return places.map((place) => from + place).filter((id) => id >= from && id < to);
}

interface UnitRow extends UnitColumns {
  readonly id: number;
  readonly memory: MemoryId;
  readonly at: number;
  readonly session: number;
  readonly row: number;
  readonly parts: number;
}

type ReadUnits = Awaited<ReturnType<LexicalIndex["rows"]>>;
type ReadRows = readonly (ReadUnits[number] & Pick<PlaceOf, "row">)[];

async function rows(
  tx: Tx,
  scope: MemoryScope,
  places: readonly number[],
  wanted: ReadonlySet<string>,
): Promise<ReadRows> {
  const { from } = rangeOf(scope);
  const read = readerOf(wanted);
  const found = await tx.all(plain<UnitRow>(ROWS, JSON.stringify(idsOf(scope, places))));
  return found.map(({ id, terms, ...unit }) => ({ ...unit, place: id - from, ...read(terms) }));
}

const ROWS = `select unit.id, unit.session, unit.speaker, unit.flags, unit.terms, memory.id as memory, memory.row, memory.at, memory.units as parts
  from json_each(?) as wanted cross join unit on unit.id = cast(wanted.value as bigint) cross join memory on memory.row = unit.memory`;

const SPACE = 32;

/** Reads a unit's terms from its row. Most are not wanted, which their length and first character show, so they are not even cut out. */
function readerOf(wanted: ReadonlySet<string>): (terms: string) => Pick<ReadUnits[number], "has" | "length"> {
  const lengths = new Uint32Array(128);
  for (const term of wanted) lengths[sign(term, 0)] = (lengths[sign(term, 0)] ?? 0) | (1 << (term.length & 31));
  return (terms) => {
    const has: string[] = [];
    let length = 0;
    for (let from = 0, at = 0; at <= terms.length; at++) {
      if (at < terms.length && terms.charCodeAt(at) !== SPACE) continue;
      if (at > from) length++;
      const isLikely = at > from && (((lengths[sign(terms, from)] ?? 0) >>> ((at - from) & 31)) & 1) === 1;
      const term = isLikely ? terms.slice(from, at) : undefined;
      if (term !== undefined && wanted.has(term)) has.push(term);
      from = at + 1;
    }
    return { has, length };
  };
}

const sign = (text: string, at: number): number => text.charCodeAt(at) & 127;
