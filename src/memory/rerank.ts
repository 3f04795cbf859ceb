import type { MemoryId } from "../protocol/index.ts";
import { gateValues, sureness } from "./gate.ts";
import { type Measured, measure, type Shortlist, type Values } from "./measure.ts";
import type { Ranked } from "./ranked.ts";
import { FEATURE_NAMES, SPREAD, WEIGHTS } from "./weights.ts";

interface Scored {
  readonly measured: Measured;
  readonly score: number;
  /** What `spread` took off the score. */
  readonly spread?: number;
}

/** Ranks the shortlist: one entry per memory, by its best unit; on ties the newest comes first; at most `limit`. Pure. */
export function rerank(shortlist: Shortlist, limit: number): readonly Ranked[] {
  const best = new Map<MemoryId, Scored>();
  const all = measure(shortlist);
  for (const measured of all) {
    const scored = { measured, score: weighed(measured.values) };
    const known = best.get(measured.unit.memory);
    if (known === undefined || isBefore(scored, known)) best.set(measured.unit.memory, scored);
  }
  const ranked = inOrder([...best.values()]);
  const evidence = evidenceOf(shortlist, all, ranked);
  return (shortlist.asked.asksCourse ? spread(ranked) : ranked)
    .slice(0, Math.max(0, Math.floor(limit)))
    .map((scored) => explained(scored, evidence(scored.measured)));
}

/**
 * How far the words speak for each result. Of what was said, the best result has the likelihood that anything answers at all, and the
 * others less, in proportion to their own evidence. What was saved (it has no speaker) has its own evidence.
 */
function evidenceOf(
  shortlist: Shortlist,
  all: readonly Measured[],
  ranked: readonly Scored[],
): (of: Measured) => number {
  const isSaid = ({ unit }: Measured): boolean => unit.speaker !== "";
  const [best, ...others] = ranked.filter(({ measured }) => isSaid(measured));
  const sure = best === undefined ? 0 : sureness(gateValues(shortlist, all, [best, ...others]));
  const most = Math.max(...all.filter(isSaid).map(({ evidence }) => evidence));
  return (one) => (isSaid(one) && most > 0 ? (sure * one.evidence) / most : one.evidence);
}

const inOrder = <T extends Scored>(all: readonly T[]): readonly T[] =>
  all.toSorted((a, b) => (isBefore(a, b) ? -1 : 1));

function isBefore(a: Scored, b: Scored): boolean {
  return a.score === b.score ? a.measured.unit.place > b.measured.unit.place : a.score > b.score;
}

/** The sum of the weighted values. */
export function weighed(values: Partial<Values>): number {
  let score = 0;
  for (const name of FEATURE_NAMES) score += WEIGHTS[name] * (values[name] ?? 0);
  return score;
}

/** A course of events is shown by some results of each session, not by all of one. */
function spread(ranked: readonly Scored[]): readonly Scored[] {
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

function explained({ measured: { unit, values }, score, spread: spreads = 0 }: Scored, evidence: number): Ranked {
  const given = FEATURE_NAMES.map((name) => [name, WEIGHTS[name] * values[name]] as const);
  const features = Object.fromEntries([...given, ["spread", spreads] as const].filter(([, value]) => value !== 0));
  return { memory: unit.memory, place: unit.place, score, evidence, features };
}
