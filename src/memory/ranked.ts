import type { MemoryId } from "../protocol/index.ts";

/** What a score is made of, by the names that `strata memory why` shows. A feature that gave nothing is left out. */
export type Features = Readonly<Record<string, number>>;

/** A memory that was found, by its best unit. */
export interface Ranked {
  readonly memory: MemoryId;
  /** Of its best unit. */
  readonly place: number;
  /** Higher is better. */
  readonly score: number;
  /** How far the words alone speak for it, 0 for nothing: what decides whether anything is worth showing. */
  readonly evidence: number;
  readonly features: Features;
}

/** What a memory may be found by that shares no word. */
const WITHOUT_WORDS = ["vector", "kind", "date", "rule", "wishHelps"];

/** Whether anything speaks for it itself: else it is a neighbour of another stretch of talk, read along and of no account. */
export function speaks({ evidence, features }: Pick<Ranked, "evidence" | "features">): boolean {
  return evidence > 0 || WITHOUT_WORDS.some((name) => name in features);
}
