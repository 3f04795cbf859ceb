import type { ModelRef } from "../protocol/index.ts";

/** What models report corrects what Strata counts. Lives as long as the program; holds numbers and nothing else. */
export interface Calibration {
  /**
   * A request has `counted` tokens by o200k, all of it counted anew and with no factor, and the provider reported `reported` for
   * the whole of its prompt, what was cached included. Estimates are no measure here: they add up pieces that were counted at
   * other times with other factors, and a factor learned from them would feed itself. Zero and nonsense are passed over.
   */
  readonly observe: (wire: ModelRef, counted: number, reported: number) => void;
  /** What o200k's counts are multiplied by: `start`, the card's, until three calls have told better. */
  readonly factorOf: (wire: ModelRef, start: number) => number;
}

/** Observations that count, and how many of them it takes to move. */
const KEPT = 50;
const ENOUGH = 3;

/** Most calls must fit: nine of ten needed no more than this. The highest of all is never taken, so one outlier moves nothing. */
const SHARE = 0.9;

const LOWEST = 0.6;
const HIGHEST = 2.5;

/** A factor per step, so that counters and what they have counted can be kept for a while. */
const STEPS_IN_ONE = 50;

/** No tokenizer is that far away: such figures count something else, as only what was not cached. */
const SENSIBLE = { from: 0.3, to: 5 };

/** A calibration that has seen nothing yet. Pure but for its memory. */
export function calibration(): Calibration {
  const wires = new Map<ModelRef, readonly number[]>();
  return {
    observe: (wire, counted, reported) => {
      const right = reported / counted;
      if (!(counted > 0 && right >= SENSIBLE.from && right <= SENSIBLE.to)) return;
      wires.set(wire, [...(wires.get(wire) ?? []), right].slice(-KEPT));
    },
    factorOf: (wire, start) => {
      const seen = wires.get(wire) ?? [];
      return seen.length < ENOUGH ? start : stepped(share(seen));
    },
  };
}

function share(seen: readonly number[]): number {
  const rising = seen.toSorted((a, b) => a - b);
  return rising[Math.floor(SHARE * (rising.length - 1))] ?? HIGHEST;
}

/** Rounded up to a step, but not for a floating point's sake: 1.2 stays 1.2. */
function stepped(factor: number): number {
  const step = Math.ceil(factor * STEPS_IN_ONE - 1e-6) / STEPS_IN_ONE;
  return Math.min(Math.max(step, LOWEST), HIGHEST);
}
