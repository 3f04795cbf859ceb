import type { MemoryId } from "../protocol/index.ts";
import type { Measured, Values } from "./measure.ts";
import { FEATURE_NAMES, WEIGHTS } from "./weights.ts";

/** The components of a score, by the names that `strata memory explain` shows. A feature that added nothing is left out. */
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

/** The sum of the weighted values. */
export function weighed(values: Partial<Values>): number {
  let score = 0;
  for (const name of FEATURE_NAMES) score += WEIGHTS[name] * (values[name] ?? 0);
  return score;
}

export interface Scored {
  readonly measured: Measured;
  readonly score: number;
}

/** Of each memory the best unit, the best first, the newest first on ties. */
export function bestOf(all: readonly Measured[], scoreOf: (values: Values) => number): readonly Scored[] {
  const best = new Map<MemoryId, Scored>();
  for (const measured of all) {
    const scored = { measured, score: scoreOf(measured.values) };
    const known = best.get(measured.unit.memory);
    if (known === undefined || isBefore(scored, known)) best.set(measured.unit.memory, scored);
  }
  return inOrder([...best.values()]);
}

export const inOrder = <T extends Scored>(all: readonly T[]): readonly T[] =>
  all.toSorted((a, b) => (isBefore(a, b) ? -1 : 1));

function isBefore(a: Scored, b: Scored): boolean {
  return a.score === b.score ? a.measured.unit.place > b.measured.unit.place : a.score > b.score;
}
