import { type Asked, type AskedText, readAsked } from "./asked.ts";
import { isSpaceless } from "./fold.ts";
import type { IndexSize, LexicalIndex, PlacedUnit, WeightedTerm } from "./lexical-index.ts";
import type { Ranked } from "./ranked.ts";
import { isRepairable, oneEditFrom } from "./repair.ts";
import { rerank, type Shortlist } from "./rerank.ts";
import { AFTER, BEFORE } from "./weights.ts";

/** What the index is asked for at most: terms, units that have them, candidates. */
const MOST_TERMS = 32;
const MOST_POSTINGS = 20_000;
const MOST_CANDIDATES = 100;
const MOST_REPAIRS = 3;
/** A repaired word may be another word. */
const REPAIRED = 0.7;

/** What a search looks for: a `MemoryQuery` is one. */
export interface Search {
  /** The newest and heaviest first. */
  readonly texts: readonly AskedText[];
  readonly asker?: string;
  readonly limit: number;
  readonly signal?: AbortSignal;
}

/**
 * Finds what answers, best first. Any text is a valid search.
 * @throws the signal's reason where it was aborted
 */
export async function search(index: LexicalIndex, { texts, asker, limit, signal }: Search): Promise<readonly Ranked[]> {
  const shortlist = await shortlistOf(index, {
    texts,
    limit,
    ...(asker === undefined ? {} : { asker }),
    ...(signal === undefined ? {} : { signal }),
  });
  return shortlist === undefined || limit < 1 ? [] : rerank(shortlist).slice(0, Math.floor(limit));
}

/** All that ranking looks at, and nothing where no word of the search stands in the index. */
export async function shortlistOf(
  index: LexicalIndex,
  { texts, asker, signal }: Search,
): Promise<Shortlist | undefined> {
  signal?.throwIfAborted();
  const [size, speakers] = await Promise.all([index.size(), index.speakers()]);
  signal?.throwIfAborted();
  const asked = readAsked(texts, asker, speakers);
  const known = await knownTerms(index, asked, signal);
  const tells = tellingOf(known, size);
  if (tells.size === 0) return undefined;
  const candidates = await index.candidates(affordable(tells, known), MOST_CANDIDATES);
  signal?.throwIfAborted();
  const rows: readonly PlacedUnit[] = await index.rows(withNeighbours(candidates.map(({ place }) => place)));
  signal?.throwIfAborted();
  return { asked, tells, size, rows, ...worthOf(asked, known, size) };
}

/** Among few memories no word is rare: what a word is worth as evidence is judged as if there were so many. */
const FEWEST_UNITS = 100;
/** Of a word without spaces around it each pair of signs is looked for: those that stand nowhere are mostly no words. */
const UNKNOWN_PAIR = 0.3;
/** What a word that stands in all memories is worth all the same, of what the rarest is: a question may have no others. */
const COMMON = 0.05;

/** What of the question the index has is worth, term by term, and what all of it would be. */
function worthOf(
  { terms }: Asked,
  known: ReadonlyMap<string, Known>,
  size: IndexSize,
): Pick<Shortlist, "worth" | "all"> {
  const units = Math.max(size.units, FEWEST_UNITS);
  const rarest = rarity(0, units);
  const worth = new Map(
    [...known].map(([term, { frequency, weight }]) => [
      term,
      weight * Math.max(rarity(frequency, units), COMMON * rarest),
    ]),
  );
  let all = [...worth.values()].reduce((sum, one) => sum + one, 0);
  for (const [term, weight] of terms) {
    if (!known.has(term)) all += weight * rarest * (isSpaceless(term) ? UNKNOWN_PAIR : 1);
  }
  return { worth, all };
}

interface Known {
  readonly frequency: number;
  readonly weight: number;
}

/** The terms that the index has, with those that stand in for one that it has not. */
async function knownTerms(
  index: LexicalIndex,
  { terms }: Asked,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, Known>> {
  const frequencies = await index.frequencies([...terms.keys()]);
  signal?.throwIfAborted();
  const known = new Map<string, Known>();
  const unknown: string[] = [];
  for (const [term, weight] of terms) {
    const frequency = frequencies.get(term) ?? 0;
    if (frequency > 0) known.set(term, { frequency, weight });
    else if (isRepairable(term)) unknown.push(term);
  }
  for (const term of unknown.slice(0, MOST_REPAIRS)) {
    const repaired = await repair(index, term);
    signal?.throwIfAborted();
    if (repaired === undefined || known.has(repaired.term)) continue;
    known.set(repaired.term, { frequency: repaired.frequency, weight: REPAIRED * (terms.get(term) ?? 1) });
  }
  return known;
}

/** The commonest term of the index that is one slip away. */
async function repair(index: LexicalIndex, term: string): Promise<{ term: string; frequency: number } | undefined> {
  const frequencies = await index.frequencies(oneEditFrom(term));
  const [best] = [...frequencies].filter(([, frequency]) => frequency > 0).sort(byFrequency);
  return best === undefined ? undefined : { term: best[0], frequency: best[1] };
}

function byFrequency([a, ofA]: readonly [string, number], [b, ofB]: readonly [string, number]): number {
  return ofB - ofA || (a < b ? -1 : 1);
}

/** The rarest of the terms, the rarest first, each with its rarity times its weight. */
function tellingOf(known: ReadonlyMap<string, Known>, { units }: IndexSize): ReadonlyMap<string, number> {
  const rarest = [...known]
    .sort(([a, ofA], [b, ofB]) => ofA.frequency - ofB.frequency || (a < b ? -1 : 1))
    .slice(0, MOST_TERMS);
  return new Map(rarest.map(([term, { frequency, weight }]) => [term, weight * rarity(frequency, units)]));
}

function rarity(frequency: number, units: number): number {
  return Math.log(1 + (Math.max(units, frequency) - frequency + 0.5) / (frequency + 0.5));
}

/** The rarest terms whose units together are few enough to be read, and always one. */
function affordable(tells: ReadonlyMap<string, number>, known: ReadonlyMap<string, Known>): readonly WeightedTerm[] {
  const chosen: WeightedTerm[] = [];
  let postings = 0;
  for (const [term, weight] of tells) {
    postings += known.get(term)?.frequency ?? 0;
    if (chosen.length > 0 && postings > MOST_POSTINGS) break;
    chosen.push({ term, weight });
  }
  return chosen;
}

function withNeighbours(places: readonly number[]): readonly number[] {
  const all = new Set<number>();
  for (const place of places) {
    for (let near = Math.max(0, place - BEFORE); near <= place + AFTER; near += 1) all.add(near);
  }
  return [...all].sort((a, b) => a - b);
}
