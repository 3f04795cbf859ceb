import { type AskedText, type ParsedQuery, readAsked } from "./asked.ts";
import { dayTerms } from "./dates.ts";
import { gateValues, isSaid, sureness } from "./gate.ts";
import type { Candidate, LexicalIndex, UnitHead, WeightedTerm } from "./lexical-index.ts";
import { type Measured, measure, type Shortlist, scaleOf, speakerOf } from "./measure.ts";
import { bestOf, inOrder, type Ranked, type Scored, weighed } from "./ranked.ts";
import { STANDING } from "./standing.ts";
import { type Vocabulary, vocabularyOf } from "./vocabulary.ts";
import { AFTER, BEFORE, FEATURE_NAMES, SPREAD, WEIGHTS } from "./weights.ts";

/** How many units may contain the terms that the index is asked for, and how many those that only belong to a kind. */
const MOST_POSTINGS = 20_000;
const MOST_OF_KINDS = 5_000;
/** The weight of a member of a kind, compared with a term that is asked for itself. */
const KIND_SHARE = 0.5;
/**
 * The index returns at most `MOST_CANDIDATES` units. The best `MOST_PARTS` units of each of `MOST_READ` memories are read, with their
 * neighbours.
 */
const MOST_CANDIDATES = 600;
const MOST_READ = 120;
const MOST_PARTS = 2;
/** How far away a candidate still supports another, and which share of its score it lends at distance 0. */
const REACH = 4;
const LENT = 0.15;
/** A term's usual contribution to the score of words in a unit of the usual length, in the unit and its window together. */
const USUAL_GAIN = 1.5;

/** The target of a search; a `MemoryQuery` is one. */
export interface Search {
  /** The newest comes first and has the greatest weight. */
  readonly texts: readonly AskedText[];
  /** The asker, and the agent they talk to, by their names as speakers. */
  readonly asker?: string;
  readonly agent?: string;
  /** When it is asked, in milliseconds since 1970: what "last week" means. */
  readonly at?: number;
  readonly limit: number;
  readonly signal?: AbortSignal;
}

/**
 * Finds the memories that answer a question, the best first. Any text is a valid search.
 * @throws the reason of the signal if it was aborted
 */
export async function search(index: LexicalIndex, asked: Search): Promise<readonly Ranked[]> {
  const shortlist = await shortlistOf(index, asked);
  return shortlist === undefined ? [] : rerank(shortlist, asked.limit);
}

/** Everything that the ranking looks at; undefined if no word of the search is in the index. */
export async function shortlistOf(
  index: LexicalIndex,
  { texts, asker, agent, at, signal }: Search,
): Promise<Shortlist | undefined> {
  signal?.throwIfAborted();
  const [size, speakers] = await Promise.all([index.size(), index.speakers()]);
  signal?.throwIfAborted();
  const asked = readAsked(texts, { speakers, asker, agent, at });
  const vocabulary = await vocabularyOf(index, asked, size);
  signal?.throwIfAborted();
  const { tells, kinds, worth, all } = vocabulary;
  const factor = USUAL_GAIN * WEIGHTS.turn * scaleOf([...tells.values()].reduce((sum, one) => sum + one, 0));
  const terms = [...affordable(vocabulary), ...standing(asked, factor), ...ofThatTime(asked, factor)];
  if (terms.length === 0) return undefined;
  const candidates = await index.candidates(terms, MOST_CANDIDATES);
  signal?.throwIfAborted();
  const heads = await index.heads(candidates.map(({ place }) => place));
  signal?.throwIfAborted();
  const places = withNeighbours(choose(asked, candidates, { heads, factor }));
  const rows = await index.rows(places, new Set([...tells.keys(), ...kinds.keys()]));
  signal?.throwIfAborted();
  return { asked, tells, kinds, worth, all, size, rows };
}

/** Looks for lasting instructions and preferences by their marks, if the question has words or asks for help. */
function standing({ asksHelp, asksNow, terms }: ParsedQuery, factor: number): readonly WeightedTerm[] {
  const unit = factor === 0 ? 1 : factor;
  const rule = { term: STANDING.rule, weight: WEIGHTS.rule / unit };
  const wish = { term: STANDING.wish, weight: WEIGHTS.wishHelps / unit };
  if (!asksNow || terms.size === 0) return [];
  return asksHelp ? [rule, wish] : factor === 0 ? [] : [rule];
}

/** Looks for what was said at the time that is asked for, whatever its words. */
function ofThatTime({ dates, at }: ParsedQuery, factor: number): readonly WeightedTerm[] {
  const terms = new Set(dates.flatMap((date) => dayTerms(date, at)));
  return [...terms].map((term) => ({ term, weight: WEIGHTS.date / (factor === 0 ? 1 : factor) }));
}

/** The rarest terms that are in few enough units to read them all, and always at least one. */
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

interface Choosing {
  readonly heads: readonly UnitHead[];
  /** Converts a candidate's score to the scale of the other features. */
  readonly factor: number;
}

/**
 * The places that are worth reading: of the memories whose units look best, judged by their words, by the speaker, and by candidates near
 * them.
 */
function choose(asked: ParsedQuery, candidates: readonly Candidate[], { heads, factor }: Choosing): readonly number[] {
  const byPlace = new Map(heads.map((head) => [head.place, head]));
  const scores = new Map(candidates.map(({ place, score }) => [place, score]));
  const lentTo = ({ place, session, whole }: UnitHead): number => {
    let lent = 0;
    for (let away = -REACH; away <= REACH; away += 1) {
      const near = byPlace.get(place + away);
      if (near === undefined || near.whole === whole || near.session !== session) continue;
      lent += (scores.get(near.place) ?? 0) * (1 - Math.abs(away) / (REACH + 1));
    }
    return LENT * lent;
  };
  const judged = heads.map((head) => {
    const words = factor * ((scores.get(head.place) ?? 0) + lentTo(head));
    return { head, score: words + weighed(speakerOf(asked.who, head)) };
  });
  const best = judged.sort((a, b) => b.score - a.score || b.head.place - a.head.place);
  const parts = new Map<number, number>();
  return best.flatMap(({ head: { place, whole } }) => {
    const taken = parts.get(whole) ?? 0;
    if (taken === MOST_PARTS || (taken === 0 && parts.size === MOST_READ)) return [];
    parts.set(whole, taken + 1);
    return [place];
  });
}

function withNeighbours(places: readonly number[]): readonly number[] {
  const all = new Set<number>();
  for (const place of places) {
    for (let near = Math.max(0, place - BEFORE); near <= place + AFTER; near += 1) all.add(near);
  }
  return [...all].sort((a, b) => a - b);
}

interface Spread extends Scored {
  /** What `spread` took off the score. */
  readonly spread?: number;
}

/** Ranks the shortlist: one entry per memory, by its best unit; on ties the newest comes first; at most `limit`. Pure. */
function rerank(shortlist: Shortlist, limit: number): readonly Ranked[] {
  const all = measure(shortlist);
  const ranked = bestOf(all, weighed);
  const evidence = evidenceOf(shortlist, all);
  return (shortlist.asked.asksCourse ? spread(ranked) : ranked)
    .slice(0, Math.max(0, Math.floor(limit)))
    .map((scored) => explained(scored, evidence(scored.measured)));
}

/**
 * How far the words speak for each result. Among messages, the best result has the likelihood that anything answers at all, and the others
 * less, in proportion to their own evidence. Saved memories (which have no speaker) have their own evidence.
 */
function evidenceOf(shortlist: Shortlist, all: readonly Measured[]): (of: Measured) => number {
  const values = gateValues(shortlist, all);
  const sure = values === undefined ? 0 : sureness(values);
  const most = Math.max(0, ...all.filter(isSaid).map(({ evidence }) => evidence));
  return (one) => (isSaid(one) && most > 0 ? (sure * one.evidence) / most : one.evidence);
}

/** A course of events is shown by some results of each session, not by all of one. */
function spread(ranked: readonly Scored[]): readonly Spread[] {
  const taken = new Map<number, number>();
  return inOrder(
    ranked.map(({ measured, score }) => {
      const before = taken.get(measured.unit.session) ?? 0;
      taken.set(measured.unit.session, before + 1);
      const spreads = -SPREAD * Math.log(1 + before);
      return { measured, score: score + spreads, spread: spreads };
    }),
  );
}

function explained({ measured: { unit, values }, score, spread: spreads = 0 }: Spread, evidence: number): Ranked {
  const given = FEATURE_NAMES.map((name) => [name, WEIGHTS[name] * values[name]] as const);
  const features = Object.fromEntries([...given, ["spread", spreads] as const].filter(([, value]) => value !== 0));
  return { memory: unit.memory, place: unit.place, score, evidence, features };
}
