import { AGREES } from "./agreement.ts";
import { type AttributedRequest, type Caused, efficiency } from "./attribute.ts";
import { dearestFirst, isAvoidable } from "./causes.ts";

/** One cause of a thread, at one section. */
export interface CauseTotal extends Pick<Caused, "cause" | "tokens" | "cost" | "dollars"> {
  readonly section: string;
  readonly requests: number;
}

/** A thread's sums. Costs in tokens of plain input. */
export interface AttributionTotals {
  readonly requests: number;
  /** How many of them the provider reported a bill for; the sums are of these, else of all. */
  readonly billed: number;
  readonly tokens: number;
  readonly optimum: number;
  readonly cost: number;
  readonly dollars: number;
  readonly efficiency: number;
  readonly readShare: number;
  /** None without a bill. */
  readonly agreement?: number;
  /** The avoidable cost of the causes. */
  readonly avoidable: Pick<Caused, "tokens" | "cost" | "dollars">;
  /** The dearest first; what could not be avoided last. */
  readonly causes: readonly CauseTotal[];
  /** Against no caching at all: only where prediction and bill agree. */
  readonly saved?: { readonly cost: number; readonly share: number; readonly dollars: number };
}

/** Sums up requests: those that were billed, or all if none was. */
export function attributionTotals(all: readonly AttributedRequest[]): AttributionTotals {
  const billed = all.filter((request) => request.billed !== undefined);
  const requests = billed.length > 0 ? billed : all;
  const sum = (of: (request: AttributedRequest) => number): number =>
    requests.reduce((total, one) => total + of(one), 0);
  const [tokens, optimum, cost] = [sum((one) => one.tokens), sum((one) => one.optimum), sum((one) => one.cost)];
  const share = (part: number): number => (tokens === 0 ? 0 : part / tokens);
  const off = sum(({ predicted, billed: bill }) => (bill === undefined ? 0 : Math.abs(predicted.read - bill.read)));
  const agreement = 1 - share(off);
  const causes = causeTotals(requests);
  // A request's own price: models may differ.
  const dollars = sum((one) => (one.cost === 0 ? 0 : one.dollars * (one.tokens / one.cost - 1)));
  const saved = { cost: tokens - cost, share: share(tokens - cost), dollars };
  return {
    requests: all.length,
    billed: billed.length,
    tokens,
    optimum,
    cost,
    dollars: sum((one) => one.dollars),
    efficiency: efficiency(optimum, cost),
    readShare: share(sum((one) => (one.billed ?? one.predicted).read)),
    ...(billed.length > 0 && { agreement }),
    avoidable: causes.filter(({ cause }) => isAvoidable(cause)).reduce(added, { tokens: 0, cost: 0, dollars: 0 }),
    causes,
    ...(billed.length > 0 && agreement >= AGREES && { saved }),
  };
}

type Sums = Pick<Caused, "tokens" | "cost" | "dollars">;

const added = (a: Sums, b: Sums): Sums => ({
  tokens: a.tokens + b.tokens,
  cost: a.cost + b.cost,
  dollars: a.dollars + b.dollars,
});

function causeTotals(requests: readonly AttributedRequest[]): readonly CauseTotal[] {
  const found = new Map<string, CauseTotal>();
  for (const { cause, begins, ...sums } of requests.flatMap(({ causes }) => causes)) {
    // Only a fixable cause has a place.
    const section = isAvoidable(cause) && cause !== "unknown" ? begins.section : "";
    const key = `${cause} ${section}`;
    const before = found.get(key) ?? { cause, section, requests: 0, tokens: 0, cost: 0, dollars: 0 };
    found.set(key, { ...before, ...added(before, sums), requests: before.requests + 1 });
  }
  return [...found.values()].toSorted(dearestFirst);
}
