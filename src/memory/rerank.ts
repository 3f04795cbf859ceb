import type { MemoryId } from "../protocol/index.ts";
import { type Measured, measure, type Shortlist } from "./measure.ts";
import type { Ranked } from "./ranked.ts";
import { FEATURE_NAMES, WEIGHTS } from "./weights.ts";

/** Ranks what is on the shortlist. Pure; one entry a memory, by its best unit; the newest first on ties. */
export function rerank(shortlist: Shortlist): readonly Ranked[] {
  const best = new Map<MemoryId, Ranked>();
  for (const measured of measure(shortlist)) {
    const ranked = rankedBy(measured);
    const known = best.get(ranked.memory);
    if (known === undefined || isBefore(ranked, known)) best.set(ranked.memory, ranked);
  }
  return [...best.values()].sort((a, b) => (isBefore(a, b) ? -1 : 1));
}

function isBefore(a: Ranked, b: Ranked): boolean {
  return a.score === b.score ? a.place > b.place : a.score > b.score;
}

function rankedBy({ unit, values, evidence }: Measured): Ranked {
  const features: Record<string, number> = {};
  let score = 0;
  for (const name of FEATURE_NAMES) {
    const given = WEIGHTS[name] * values[name];
    if (given === 0) continue;
    features[name] = given;
    score += given;
  }
  return { memory: unit.memory, place: unit.place, score, evidence, features };
}
