import { type AskedText, readAsked } from "./asked.ts";
import type { Candidate, LexicalIndex, WeightedTerm } from "./lexical-index.ts";
import type { Shortlist } from "./measure.ts";
import type { Ranked } from "./ranked.ts";
import { rerank } from "./rerank.ts";
import { type Vocabulary, vocabularyOf } from "./vocabulary.ts";
import { AFTER, BEFORE } from "./weights.ts";

/** How many units may have the terms that the index is asked for, and those that are only of a kind. */
const MOST_POSTINGS = 20_000;
const MOST_OF_KINDS = 5_000;
/** What is of a kind that is asked for, beside what is asked for itself. */
const KIND_SHARE = 0.5;
/** The index gives so many, of which those that stand together are read with their neighbours. */
const MOST_CANDIDATES = 1_000;
const MOST_READ = 120;
/** How far away a candidate still speaks for another, and how much of its score it lends at no distance. */
const REACH = 4;
const LENT = 0.4;

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
export async function search(index: LexicalIndex, asked: Search): Promise<readonly Ranked[]> {
  const shortlist = await shortlistOf(index, asked);
  return shortlist === undefined ? [] : rerank(shortlist, asked.limit);
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
  const vocabulary = await vocabularyOf(index, asked, size);
  signal?.throwIfAborted();
  const terms = affordable(vocabulary);
  if (terms.length === 0) return undefined;
  const candidates = await index.candidates(terms, MOST_CANDIDATES);
  signal?.throwIfAborted();
  const { tells, kinds, worth, all } = vocabulary;
  const places = withNeighbours(together(candidates).slice(0, MOST_READ));
  const rows = await index.rows(places, new Set([...tells.keys(), ...kinds.keys()]));
  signal?.throwIfAborted();
  return { asked, tells, kinds, worth, all, size, rows };
}

/** The rarest terms whose units together are few enough to be read, and always one. */
function affordable({ tells, kinds, known }: Vocabulary): readonly WeightedTerm[] {
  const chosen: WeightedTerm[] = [];
  let postings = 0;
  for (const [term, weight] of tells) {
    const own = known.get(term)?.postings ?? 0;
    if (own === 0) continue;
    postings += own;
    if (chosen.length > 0 && postings > MOST_POSTINGS) break;
    chosen.push({ term, weight });
  }
  let ofKinds = 0;
  for (const [term, { tells: weight, postings: own }] of kinds) {
    ofKinds += own;
    if (chosen.length > 0 && ofKinds > MOST_OF_KINDS) break;
    chosen.push({ term, weight: KIND_SHARE * weight });
  }
  return chosen;
}

/** The places of the candidates, those first that stand well and near others: what is asked for is often said in two breaths. */
function together(candidates: readonly Candidate[]): readonly number[] {
  const scores = new Map(candidates.map(({ place, score }) => [place, score]));
  const lentTo = (place: number): number => {
    let lent = 0;
    for (let away = 1; away <= REACH; away += 1) {
      const near = (scores.get(place - away) ?? 0) + (scores.get(place + away) ?? 0);
      lent += near * (1 - away / (REACH + 1));
    }
    return LENT * lent;
  };
  return candidates
    .map(({ place, score }) => ({ place, score: score + lentTo(place) }))
    .sort((a, b) => b.score - a.score || b.place - a.place)
    .map(({ place }) => place);
}

function withNeighbours(places: readonly number[]): readonly number[] {
  const all = new Set<number>();
  for (const place of places) {
    for (let near = Math.max(0, place - BEFORE); near <= place + AFTER; near += 1) all.add(near);
  }
  return [...all].sort((a, b) => a - b);
}
