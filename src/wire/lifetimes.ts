import type { Breakpoint } from "../protocol/index.ts";
import type { Multipliers } from "./cache/seen.ts";
import type { ModelCard } from "./cards.ts";

type Lifetime = Breakpoint["lifetime"];

/** How long a request's beginnings should be kept: the part that other threads send, too, and the thread's own. */
export interface PlannedLifetimes {
  readonly shared: Lifetime;
  readonly thread: Lifetime;
}

export const SHORT: PlannedLifetimes = { shared: "5m", thread: "5m" };

export const longer = (a: Lifetime, b: Lifetime): Lifetime => (a === "1h" ? a : b);

/** Which share of the pauses between the starts of two requests outlasts the short lifetime, and which the long one. */
export interface Pace {
  readonly short: number;
  readonly long: number;
}

/**
 * The assumed pace of a thread before it has shown its own: one pause in twenty outlasts the short lifetime, and most of those the long
 * one, too, because people come back the next day. It counts as much as ten observed pauses.
 */
export const USUAL_PACE: Pace = { short: 0.05, long: 0.04 };
const BELIEVED = 10;

/** The pace of requests by when they started, in milliseconds and in any order. The pauses of each list count, and the prior. */
export function paceOf(
  lists: readonly (readonly number[])[],
  { short, long = short }: ModelCard["lifetimes"],
  prior: Pace = USUAL_PACE,
): Pace {
  const gaps = lists.flatMap((starts) => {
    const inTime = starts.toSorted((a, b) => a - b);
    return inTime.slice(1).map((at, n) => at - (inTime[n] ?? at));
  });
  const share = (seconds: number, believed: number): number =>
    (gaps.filter((gap) => gap >= seconds * 1_000).length + BELIEVED * believed) / (gaps.length + BELIEVED);
  return { short: share(short, prior.short), long: share(long, prior.long) };
}

/** A request's size before its tail, in tokens, and how much of it is new to the cache. */
export interface Beginning {
  readonly prefix: number;
  readonly fresh: number;
}

/**
 * The cost, in tokens of plain input, of writing the new part and having the whole beginning again in the next request: it is read, or
 * after too long a pause written again.
 */
export function keepingCost(
  lifetime: Lifetime,
  { prefix, fresh }: Beginning,
  { pace, multipliers }: { readonly pace: Pace; readonly multipliers: Multipliers },
): number {
  const { read, write5m, write1h } = multipliers;
  const [write, gone] = lifetime === "1h" ? [write1h, pace.long] : [write5m, pace.short];
  return write * fresh + (1 - gone) * read * prefix + gone * write * prefix;
}

/**
 * For which lifetime the thread's own beginning is written: the one that costs less up to the next request. After a pause all
 * of it is new, and the dearer write seldom pays at once; the next request then writes only what is new to it.
 */
export function threadLifetime(
  beginning: Beginning,
  known: { readonly pace: Pace; readonly multipliers: Multipliers },
): Lifetime {
  return keepingCost("1h", beginning, known) < keepingCost("5m", beginning, known) ? "1h" : "5m";
}

/**
 * For which lifetime the end is written that all threads share, by the pace of all the agent's requests. A part that is read there is not
 * written again, so the choice lasts from one pause that outlasts both lifetimes to the next: in between, the short one is written again
 * after each pause that outlasts it, the long one is not.
 */
export function sharedLifetime({ short, long }: Pace, { read, write5m, write1h }: Multipliers): Lifetime {
  return long * (write1h - read) < short * (write5m - read) ? "1h" : "5m";
}

/** Whether a model's breakpoints have a lifetime: its card has two lifetimes. */
export const hasLifetimes = ({ cache, lifetimes }: Pick<ModelCard, "cache" | "lifetimes">): boolean =>
  (cache === "lookback" || cache === "exact") && lifetimes.long !== undefined;
