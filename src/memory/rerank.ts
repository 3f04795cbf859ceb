import type { MemoryId } from "../protocol/index.ts";
import type { Asked } from "./asked.ts";
import { isIn } from "./dates.ts";
import type { IndexSize, PlacedUnit } from "./lexical-index.ts";
import type { Ranked } from "./ranked.ts";
import { FLAGS } from "./units.ts";
import {
  AFTER,
  BEFORE,
  EVIDENCE,
  FEATURE_NAMES,
  type FeatureName,
  LENGTH_PENALTY,
  SATURATION,
  SHARE,
  WEIGHTS,
} from "./weights.ts";

/** All that ranking looks at. */
export interface Shortlist {
  readonly asked: Asked;
  /** The terms looked for, each with how much it tells: its rarity in the scope times its weight in the question. */
  readonly tells: ReadonlyMap<string, number>;
  /** What each of them is worth as evidence, and what all that is asked for would be, with what the index has not. */
  readonly worth: ReadonlyMap<string, number>;
  readonly all: number;
  readonly size: IndexSize;
  /** The candidates and their neighbours. */
  readonly rows: readonly PlacedUnit[];
}

export type Values = Readonly<Record<FeatureName, number>>;

/** A unit with what was measured of it. */
export interface Measured {
  readonly unit: PlacedUnit;
  readonly values: Values;
  /** How much of what is asked for the unit and its neighbours say. */
  readonly evidence: number;
}

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

/** What there is to know of each unit, before it is weighed. */
export function measure({ asked, tells, worth, all, size, rows }: Shortlist): readonly Measured[] {
  const units = rows.toSorted((a, b) => a.place - b.place);
  const terms = [...tells.keys()];
  const weights = [...tells.values()];
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return [];
  const scale = Math.sqrt(10 / total);
  const worths = terms.map((term) => (worth.get(term) ?? 0) / all ** SHARE);
  const usual = Math.max(1, size.terms / Math.max(1, size.units));
  const counts = units.map((unit) => countsOf(unit, terms));
  const sessions = sessionsOf(units, counts, weights);
  return units.map((unit, at) => {
    const around = windowOf(units, at);
    const window = sumOf(counts, around);
    const length = around.reduce((sum, near) => sum + (units[near]?.terms.length ?? 0), 0);
    const previous = units[at - 1];
    const isSpeaker = asked.speaker !== "" && unit.speaker === asked.speaker;
    const near = length / usual / around.length;
    const own = counts[at] ?? [];
    const follows = previous !== undefined && isNear(previous, unit, 1);
    return {
      unit,
      evidence:
        EVIDENCE.turn * bm25(own, worths, unit.terms.length / usual) + EVIDENCE.window * bm25(window, worths, near),
      values: {
        turn: scale * bm25(own, weights, unit.terms.length / usual),
        window: scale * bm25(window, weights, near),
        session: scale * (sessions.get(unit.session) ?? 0),
        speaker: Number(isSpeaker),
        ownWords: Number(isSpeaker && has(unit, FLAGS.firstPerson)),
        when: Number(asked.asksWhen && has(unit, FLAGS.time)),
        howMany: Number(asked.asksHowMany && has(unit, FLAGS.number)),
        answers: Number(follows && has(previous, FLAGS.question)),
        date: Number(asked.dates.some((date) => isIn(unit.at, date))),
      },
    };
  });
}

function has(unit: PlacedUnit, flag: number): boolean {
  return (unit.flags & flag) !== 0;
}

function countsOf(unit: PlacedUnit, terms: readonly string[]): readonly number[] {
  const counts = new Map<string, number>();
  for (const term of unit.terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return terms.map((term) => counts.get(term) ?? 0);
}

/** How well the counted terms answer; `length` in units of the usual. */
function bm25(counts: readonly number[], weights: readonly number[], length: number): number {
  const norm = SATURATION * (1 - LENGTH_PENALTY + LENGTH_PENALTY * length);
  return counts.reduce(
    (sum, count, at) => (count === 0 ? sum : sum + ((weights[at] ?? 0) * count * (SATURATION + 1)) / (count + norm)),
    0,
  );
}

function isNear(a: PlacedUnit, b: PlacedUnit, distance: number): boolean {
  return a.session === b.session && Math.abs(a.place - b.place) <= distance;
}

/** Where the unit and its neighbours stand in the list. */
function windowOf(units: readonly PlacedUnit[], at: number): readonly number[] {
  const own = units[at];
  const around: number[] = [];
  for (let near = Math.max(0, at - BEFORE); near <= at + AFTER; near += 1) {
    const unit = units[near];
    if (own === undefined || unit === undefined) continue;
    if (isNear(own, unit, near < at ? BEFORE : AFTER)) around.push(near);
  }
  return around;
}

function sumOf(counts: readonly (readonly number[])[], which: readonly number[]): readonly number[] {
  return (counts[0] ?? []).map((_, term) => which.reduce((sum, at) => sum + (counts[at]?.[term] ?? 0), 0));
}

/** How much of what is looked for stands anywhere in each stretch of talk. */
function sessionsOf(
  units: readonly PlacedUnit[],
  counts: readonly (readonly number[])[],
  weights: readonly number[],
): ReadonlyMap<number, number> {
  const seen = new Map<number, Set<number>>();
  units.forEach((unit, at) => {
    const terms = seen.get(unit.session) ?? new Set();
    counts[at]?.forEach((count, term) => {
      if (count > 0) terms.add(term);
    });
    seen.set(unit.session, terms);
  });
  return new Map(
    [...seen].map(([session, terms]) => [session, [...terms].reduce((sum, term) => sum + (weights[term] ?? 0), 0)]),
  );
}
