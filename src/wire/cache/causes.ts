import { never } from "../../protocol/index.ts";
import { prefixNumbers } from "./cache-state.ts";
import type { Bill, CacheRules, SeenBlock, SeenRequest } from "./seen.ts";
import { simulate } from "./simulate.ts";

/** Why tokens were not read, the most usual first; the last ones were unavoidable. */
export const CAUSES = [
  "cold",
  "trim",
  "forgotten",
  "refused",
  "prefix edit",
  "reasoning",
  "tools",
  "lookback",
  "below minimum",
  "not written",
  "gateway",
  "unknown",
  "tail",
  "first",
] as const;
export type Cause = (typeof CAUSES)[number];

/** What each cause means, for people. */
export const CAUSE_SAYS: Readonly<Record<Cause, string>> = {
  cold: "it was kept, and its time was over",
  trim: "the conversation was cut, so the rest has moved",
  forgotten: "a memory that was shown was deleted, and the conversation continues without it",
  refused: "the provider rejected the model's reasoning, and the conversation continues without it",
  "prefix edit": "something before it was changed",
  reasoning: "the model was told to reason more or less, and messages are kept apart by that",
  tools: "a tool was changed, moved, added or taken away",
  lookback: "it was written, and every breakpoint stands too far from where",
  "below minimum": "the beginning that stays the same is shorter than the model keeps",
  "not written":
    "it was sent before, but no breakpoint stood where the two part, or it fills no whole step of the cache",
  gateway: "nothing was changed, and it was not read: a gateway took the breakpoints away, or asked another machine",
  unknown: "the rules do not tell why; a few tokens are only counted otherwise",
  tail: "the turn's own, which is not kept",
  first: "it was sent for the first time",
};

/** Whether another layout, pace or way could have saved it. */
export const isAvoidable = (cause: Cause): boolean => cause !== "first" && cause !== "tail";

interface Costly {
  readonly cause: Cause;
  readonly cost: number;
}

/** Avoidable causes come first, unknown ones next, unavoidable ones last; each group by cost. */
export const dearestFirst = (a: Costly, b: Costly): number => rankOf(a) - rankOf(b) || b.cost - a.cost;

function rankOf({ cause }: Costly): number {
  if (cause === "unknown") return 1;
  return isAvoidable(cause) ? 0 : 2;
}

/** How a request continues from an earlier one: the one with which it shares the longest beginning. */
export interface Base {
  /** Which of the requests. */
  readonly n: number;
  /** Blocks and tokens that are the same. */
  readonly blocks: number;
  readonly tokens: number;
  /** If it does not continue from it: the block of either that differs first. */
  readonly differs?: { readonly was: SeenBlock | undefined; readonly is: SeenBlock | undefined };
}

/** For each request the earlier one that it continues from; the first of all has none. In the order of time. */
export function basesOf(requests: readonly SeenRequest[]): readonly (Base | undefined)[] {
  const walkOf = prefixNumbers();
  const last = new Map<number, number>();
  return requests.map((request, n) => {
    const { ids, sums } = walkOf(request);
    const strange = ids.findIndex((id) => !last.has(id));
    const blocks = strange < 0 ? ids.length : strange;
    const from = last.get(ids[blocks - 1] ?? -1) ?? n - 1;
    for (const id of ids) last.set(id, n);
    const before = requests[from];
    if (before === undefined) return undefined;
    const base = { n: from, blocks, tokens: sums[blocks - 1] ?? 0 };
    const gone = before.blocks.findIndex(({ tail }) => tail === true);
    const kept = gone < 0 ? before.blocks.length : gone;
    return blocks >= kept ? base : { ...base, differs: { was: before.blocks[blocks], is: request.blocks[blocks] } };
  });
}

/** Tokens of a request that would be read, were one obstacle after the other away. */
export interface Reaches {
  readonly bill: Bill;
  /** Were nothing ever forgotten. */
  readonly alive: number;
  /** Were all that was written also found. */
  readonly found: number;
  /** Were all responses begun before the next request. */
  readonly ready: number;
}

/** How far each request would read. */
export function reachesOf(requests: readonly SeenRequest[], rules: CacheRules): readonly Reaches[] {
  const endless = withoutEnd(rules);
  const farther = withoutLookback(endless);
  const alive = simulate(requests, endless);
  const found = simulate(requests, farther);
  const ready = simulate(
    requests.map(({ took: _, ...request }) => request),
    farther,
  );
  return simulate(requests, rules).map((bill, n) => ({
    bill,
    alive: alive[n]?.read ?? 0,
    found: found[n]?.read ?? 0,
    ready: ready[n]?.read ?? 0,
  }));
}

const NEVER = Number.POSITIVE_INFINITY;

function withoutEnd(rules: CacheRules): CacheRules {
  if (rules.kind === "lookback") return { ...rules, lifetimes: { "5m": NEVER, "1h": NEVER } };
  return rules.kind === "exact" ? { ...rules, idle: NEVER, idleLong: NEVER } : { ...rules, idle: NEVER };
}

function withoutLookback(rules: CacheRules): CacheRules {
  switch (rules.kind) {
    case "lookback":
      return { ...rules, lookback: NEVER };
    case "exact":
      return { ...rules, reads: NEVER };
    case "longest":
      return rules;
    default:
      return never(rules);
  }
}

/** The cheapest way to pay for each block of a request: read, written because it comes again, or sent once. As in `optimum`. */
export type Least = "read" | "kept" | "once";

export function leastOf(requests: readonly SeenRequest[]): readonly (readonly Least[])[] {
  const before = new Set<string>();
  const kept = keptLater(requests);
  return requests.map(({ blocks }, n) => {
    const least = blocks.map(({ key }, at): Least => {
      if (before.has(key)) return "read";
      return kept[n]?.[at] === true ? "kept" : "once";
    });
    for (const { key } of blocks) before.add(key);
    return least;
  });
}

/** For each block of each request, whether a later one holds it as often. */
function keptLater(requests: readonly SeenRequest[]): readonly (readonly boolean[])[] {
  const later = new Map<string, number>();
  const backwards = requests.toReversed().map(({ blocks }) => {
    const times = new Map<string, number>();
    const kept = blocks.map(({ key }) => {
      const nth = (times.get(key) ?? 0) + 1;
      times.set(key, nth);
      return nth <= (later.get(key) ?? 0);
    });
    for (const [key, count] of times) later.set(key, Math.max(count, later.get(key) ?? 0));
    return kept;
  });
  return backwards.toReversed();
}
