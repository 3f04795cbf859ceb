import type { MemoryId } from "../protocol/index.ts";

/** What a score consists of, by the names that `strata memory why` shows. A feature that added nothing is left out. */
export type Features = Readonly<Record<string, number>>;

/** A memory that was found, by its best unit. */
export interface Ranked {
  readonly memory: MemoryId;
  /** The place of its best unit. */
  readonly place: number;
  /** Higher is better. */
  readonly score: number;
  /** How far the words alone speak for it, from 0: this decides if anything is worth showing. */
  readonly evidence: number;
  readonly features: Features;
}

/** Features by which a memory can be found that shares no word with the question. */
const WITHOUT_WORDS = ["vector", "kind", "date", "rule", "wishHelps"];

/** Whether anything speaks for the memory itself. Otherwise it is only a neighbour that was read along. */
export function speaks({ evidence, features }: Pick<Ranked, "evidence" | "features">): boolean {
  return evidence > 0 || WITHOUT_WORDS.some((name) => name in features);
}
