import type { MemoryId } from "../protocol/index.ts";
import { type Measured, measure, type Shortlist } from "./measure.ts";
import type { Ranked } from "./ranked.ts";
import { FEATURE_NAMES, WEIGHTS } from "./weights.ts";

interface Scored {
  readonly measured: Measured;
  readonly score: number;
}

/** Ranks what is on the shortlist. Pure; one entry a memory, by its best unit; the newest first on ties; at most so many. */
export function rerank(shortlist: Shortlist, limit: number): readonly Ranked[] {
  const best = new Map<MemoryId, Scored>();
  for (const measured of measure(shortlist)) {
    const scored = { measured, score: scoreOf(measured) };
    const known = best.get(measured.unit.memory);
    if (known === undefined || isBefore(scored, known)) best.set(measured.unit.memory, scored);
  }
  return [...best.values()]
    .sort((a, b) => (isBefore(a, b) ? -1 : 1))
    .slice(0, Math.max(0, Math.floor(limit)))
    .map(explained);
}

function isBefore(a: Scored, b: Scored): boolean {
  return a.score === b.score ? a.measured.unit.place > b.measured.unit.place : a.score > b.score;
}

function scoreOf({ values }: Measured): number {
  let score = 0;
  for (const name of FEATURE_NAMES) score += WEIGHTS[name] * values[name];
  return score;
}

function explained({ measured: { unit, values, evidence }, score }: Scored): Ranked {
  const given = FEATURE_NAMES.map((name) => [name, WEIGHTS[name] * values[name]] as const);
  const features = Object.fromEntries(given.filter(([, value]) => value !== 0));
  return { memory: unit.memory, place: unit.place, score, evidence, features };
}
