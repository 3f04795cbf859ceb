import type { MemoryId } from "../protocol/index.ts";
import { type Ranked, speaks } from "./ranked.ts";

/** A memory that lies near to a query. */
export interface Near {
  readonly memory: MemoryId;
  readonly place: number;
  /** How near it lies: 0 is as usual for the scope, 1 is an identical text. */
  readonly way: number;
  /** It was saved on purpose, not said in a conversation. */
  readonly isSaved: boolean;
}

/** What lies near a question according to one embedding model. */
export interface Nearby {
  /** Each once, the nearest first. */
  readonly memories: readonly Near[];
  /** Memories by their first part, so that a long one has no advantage over a short one; the nearest first. */
  readonly order: readonly MemoryId[];
  /** How many memories have a vector at all. */
  readonly size: number;
}

/**
 * The score that an identical vector adds to a memory if the vectors are fully trusted. In conversations the words know more: who speaks,
 * when, and next to what.
 */
const GAIN = { saved: 3, said: 0.25 };
/**
 * By how many standard deviations the best results of the words must lie nearer than chance, for the vectors to be trusted at all, and
 * fully.
 */
const TRUSTED = { from: 2, fully: 4 };
/** With less agreement, lying near is not evidence. */
const TELLS = 1;
/** From here on, lying near is evidence. The usual distance differs between models: with some, all texts are half alike. */
const TELLING = 0.25;
/** How many of the words' best results judge the vectors, and how many are too few for that. */
const BEST = 10;
const FEW = 3;
/** Results that only the vectors found come this far behind all that the words found. */
const BEHIND = 1;
/** The standard deviation of a random position, as a share of all positions. */
const CHANCE = Math.sqrt(1 / 12);

/**
 * Merges two lists. The words decide the ranking. A vector adds to a score as far as the vectors of this model agree with the words on this
 * question, and results that the words did not find come last. So a weak model does no harm. On ties the newest comes first.
 */
export function fuse(ranked: readonly Ranked[], { memories, order, size }: Nearby): readonly Ranked[] {
  // Neighbours of what was found are ranked with it, even if nothing speaks for them.
  const lexical = ranked.filter(speaks);
  const agreed = agreement(lexical, order, size);
  const trust = Math.min(1, Math.max(0, ((agreed ?? 0) - TRUSTED.from) / (TRUSTED.fully - TRUSTED.from)));
  const tells = agreed === undefined || agreed >= TELLS;
  const last = Math.min(0, ...lexical.map(({ score }) => score)) - BEHIND;
  const fused = new Map(lexical.map((one) => [one.memory, one]));
  for (const { memory, place, way, isSaved } of memories) {
    const known = fused.get(memory);
    // Among the last ones, too, the nearer comes first.
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

/** By how many standard deviations the words' best results lie nearer than chance; undefined if there are too few to tell. */
function agreement(lexical: readonly Ranked[], order: readonly MemoryId[], size: number): number | undefined {
  const best = lexical.slice(0, BEST);
  if (best.length < FEW || size === 0) return undefined;
  const at = new Map(order.map((memory, place) => [memory, place]));
  // Those that are not among the nearest are assumed to lie in the middle of the others.
  const beyond = (order.length + size) / 2;
  const share = best.reduce((sum, { memory }) => sum + 1 - (at.get(memory) ?? beyond) / size, 0) / best.length;
  return (share - 0.5) / (CHANCE / Math.sqrt(best.length));
}
