import type { MemoryHit } from "../stores/index.ts";

/**
 * How much of what was asked a memory must say to be worth showing, by `evidence`. Measured on the development set
 * (docs/decisions/0019): 0.35 lets 97 of 100 questions through that something answers, and half of the talk about something else. What was saved on purpose is short and
 * says little of a question in its own words: it needs less. What a vector was much nearer to than is usual has evidence by that.
 */
const SAID = 0.35;
const SAVED = 0.1;

/** Below this a message says too little by itself: what was written before it is searched for along with it. */
export const SPEAKS_FOR_ITSELF = 0.45;

/** Of the best hit's score: what comes after it fits by accident. Scores that were fused say no more than ranks: there, of its evidence. */
const FLOOR = 0.6;

/**
 * The hits that are worth showing, the best first; nothing where nothing fits. `judged` are the hits for what was just written
 * alone: only they open the gate, for what was written before is found in any case. What was said and what was saved have
 * scores of two kinds (nobody speaks in a fact): each is ranked by itself, and they take turns.
 */
export function worthShowing(hits: readonly MemoryHit[], judged: readonly MemoryHit[]): readonly MemoryHit[] {
  const said = judged.some((hit) => isSaid(hit) && fits(hit)) ? hits.filter(isSaid) : [];
  const saved = judged.some((hit) => !isSaid(hit) && fits(hit)) ? hits.filter((hit) => !isSaid(hit) && fits(hit)) : [];
  const lists = [saved, said].map(nearTheBest);
  const longest = Math.max(...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list[i] ?? [])).flat();
}

const isSaid = ({ kind }: MemoryHit): boolean => kind === "message";

function nearTheBest(hits: readonly MemoryHit[]): readonly MemoryHit[] {
  const isFused = hits.some(({ features }) => "vector" in features);
  const worth = ({ score, evidence }: MemoryHit): number => (isFused ? evidence : score);
  const best = Math.max(...hits.map(worth));
  return hits.filter((hit) => worth(hit) >= FLOOR * best);
}

const fits = (hit: MemoryHit): boolean => hit.evidence >= (isSaid(hit) ? SAID : SAVED);
