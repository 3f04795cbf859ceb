import { gateValues, isSaid, sureness } from "./gate.ts";
import { type Measured, measure, type Shortlist } from "./measure.ts";
import { bestOf, inOrder, type Ranked, type Scored, weighed } from "./ranked.ts";
import { FEATURE_NAMES, SPREAD, WEIGHTS } from "./weights.ts";

interface Spread extends Scored {
  /** What `spread` took off the score. */
  readonly spread?: number;
}

/** Ranks the shortlist: one entry per memory, by its best unit; on ties the newest comes first; at most `limit`. Pure. */
export function rerank(shortlist: Shortlist, limit: number): readonly Ranked[] {
  const all = measure(shortlist);
  const ranked = bestOf(all, weighed);
  const evidence = evidenceOf(shortlist, all);
  return (shortlist.asked.asksCourse ? spread(ranked) : ranked)
    .slice(0, Math.max(0, Math.floor(limit)))
    .map((scored) => explained(scored, evidence(scored.measured)));
}

/**
 * How far the words speak for each result. Of what was said, the best result has the likelihood that anything answers at all, and the
 * others less, in proportion to their own evidence. What was saved (it has no speaker) has its own evidence.
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
