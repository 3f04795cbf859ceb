import type { MemoryId } from "../protocol/index.ts";
import { type Ranked, speaks } from "./ranked.ts";

/** A memory that a vector was near to. */
export interface Near {
  readonly memory: MemoryId;
  readonly place: number;
  /** How far along the way from what is usual in the scope to the very same it lies, at most 1. */
  readonly way: number;
  /** It was saved on purpose, and not said in a talk. */
  readonly isSaved: boolean;
}

/** What lies near a question, as one model sees it. */
export interface Nearby {
  /** Each once, the nearest first. */
  readonly memories: readonly Near[];
  /** Memories by their first part, so that a long one has no more chances than a short one; the nearest first. */
  readonly order: readonly MemoryId[];
  /** How many memories have a vector at all. */
  readonly size: number;
}

/**
 * What lying at the very same adds to a memory's score, where the vectors are trusted in full. In talk the words know more: who
 * speaks, when, and beside what.
 */
const GAIN = { saved: 3, said: 0.25 };
/** Vectors are trusted from so many standard deviations on, by which the words' best lie nearer than chance would have it, and in full from so many. */
const TRUSTED = { from: 2, fully: 4 };
/** With less agreement what lies near is no evidence of anything. */
const TELLS = 1;
/** So far along the way being near says something. What is usual differs from model to model: some have all texts half alike. */
const TELLING = 0.25;
/** The words' best, by which the vectors are judged, and how few of them tell nothing. */
const BEST = 10;
const FEW = 3;
/** What only the vectors found comes after all that the words found, by so much. */
const BEHIND = 1;
/** The standard deviation of one place chosen at random, as a share of all. */
const CHANCE = Math.sqrt(1 / 12);

/**
 * One list of two. The words rank; a vector adds to a score as far as this model's vectors agree with the words on this question,
 * and brings what the words did not find after the rest. So a weak model harms nothing. The newest first on ties.
 */
export function fuse(ranked: readonly Ranked[], { memories, order, size }: Nearby): readonly Ranked[] {
  // Neighbours of what was found are ranked with it, also those that say nothing.
  const lexical = ranked.filter(speaks);
  const agreed = agreement(lexical, order, size);
  const trust = Math.min(1, Math.max(0, ((agreed ?? 0) - TRUSTED.from) / (TRUSTED.fully - TRUSTED.from)));
  const tells = agreed === undefined || agreed >= TELLS;
  const last = Math.min(0, ...lexical.map(({ score }) => score)) - BEHIND;
  const fused = new Map(lexical.map((one) => [one.memory, one]));
  for (const { memory, place, way, isSaved } of memories) {
    const known = fused.get(memory);
    // Also behind the rest the nearer comes first.
    const vector =
      known === undefined ? (way * BEHIND) / 2 : Math.max(0, way) * trust * GAIN[isSaved ? "saved" : "said"];
    fused.set(memory, {
      memory,
      place: known?.place ?? place,
      score: (known?.score ?? last) + vector,
      evidence: Math.max(known?.evidence ?? 0, tells && way >= TELLING ? way : 0),
      features: { ...(known?.features ?? { behind: last, vector }), ...(vector > 0 && { vector }) },
    });
  }
  return [...fused.values()].sort((a, b) => b.score - a.score || b.place - a.place);
}

/** How much nearer the words' best lie than chance would have it, in standard deviations; nothing where that cannot be told. */
function agreement(lexical: readonly Ranked[], order: readonly MemoryId[], size: number): number | undefined {
  const best = lexical.slice(0, BEST);
  if (best.length < FEW || size === 0) return undefined;
  const at = new Map(order.map((memory, place) => [memory, place]));
  // Those that are not among the nearest lie in the middle of the others.
  const beyond = (order.length + size) / 2;
  const share = best.reduce((sum, { memory }) => sum + 1 - (at.get(memory) ?? beyond) / size, 0) / best.length;
  return (share - 0.5) / (CHANCE / Math.sqrt(best.length));
}
