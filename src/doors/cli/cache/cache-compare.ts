import { setImmediate } from "node:timers/promises";
import { type Bill, type Layout, layoutBills, layoutContent, optimum } from "../../../app/doors/costs.ts";
import { StrataError } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { showProgress } from "../shell/progress.ts";
import type { SeenThread } from "./cache-threads.ts";

/** One request of a comparison. */
export interface ComparedRequest {
  readonly thread: string;
  /** 1 for the thread's first. */
  readonly n: number;
  readonly at: number;
  readonly tokens: number;
  readonly optimum: number;
  readonly bills: ReadonlyMap<Layout, Bill>;
}

/** What the same requests cost under each layout. */
export interface Comparison {
  readonly models: readonly string[];
  readonly threads: number;
  readonly layouts: readonly Layout[];
  readonly requests: readonly ComparedRequest[];
  /** The least that layouts which show a part of the content could cost; the others are measured by the requests themselves. */
  readonly optima: ReadonlyMap<Layout, number>;
}

interface Job {
  readonly threads: readonly SeenThread[];
  readonly layouts: readonly Layout[];
}

/** Bills every thread under every layout. @throws StrataError `turn_cancelled` */
export async function compareLayouts(context: Context, what: string, { threads, layouts }: Job): Promise<Comparison> {
  const progress = showProgress(context, what);
  const requests: ComparedRequest[] = [];
  try {
    for (const [n, thread] of threads.entries()) {
      const bills = new Map<Layout, readonly Bill[]>();
      for (const [at, layout] of layouts.entries()) {
        await setImmediate();
        if (context.terminal.signal.aborted) throw stopped();
        bills.set(layout, layoutBills(thread.requests, layout, thread.rules));
        const share = (n + (at + 1) / layouts.length) / threads.length;
        progress.show(`thread ${n + 1} of ${threads.length} as ${layout}`, share);
      }
      requests.push(...compared(thread, bills));
    }
  } finally {
    progress.end();
  }
  const models = [...new Set(threads.map(({ model }) => model))];
  return { models, threads: threads.length, layouts, requests, optima: optimaOf({ threads, layouts }) };
}

function optimaOf({ threads, layouts }: Job): ReadonlyMap<Layout, number> {
  const optima = new Map<Layout, number>();
  for (const layout of layouts) {
    for (const { requests, rules } of threads) {
      const content = layoutContent(requests, layout);
      if (content === requests) continue;
      const best = optimum(content, ratesOf(rules)).reduce((sum, cost) => sum + cost, 0);
      optima.set(layout, (optima.get(layout) ?? 0) + best);
    }
  }
  return optima;
}

const ratesOf = ({ multipliers }: SeenThread["rules"]) => ({ r: multipliers.read, w: multipliers.write5m });

const stopped = (): StrataError => new StrataError("turn_cancelled", "stopped before all layouts were compared");

function compared(
  { thread, requests, rules }: SeenThread,
  bills: ReadonlyMap<Layout, readonly Bill[]>,
): readonly ComparedRequest[] {
  const best = optimum(requests, ratesOf(rules));
  return requests.map(({ at, blocks }, n) => ({
    thread,
    n: n + 1,
    at,
    tokens: blocks.reduce((sum, { tokens }) => sum + tokens, 0),
    optimum: best[n] ?? 0,
    bills: new Map(
      [...bills].flatMap(([layout, all]): readonly (readonly [Layout, Bill])[] => {
        const bill = all[n];
        return bill === undefined ? [] : [[layout, bill]];
      }),
    ),
  }));
}

/** A line of a plot: what the n-th request of a thread costs, the mean over all threads that have one. */
export interface Series {
  readonly name: string;
  readonly costs: readonly number[];
}

/** The optimum first, then the layouts. */
export function seriesOf({ requests, layouts }: Comparison): readonly Series[] {
  const length = Math.max(...requests.map(({ n }) => n));
  const places = Array.from({ length }, (_, at) => requests.filter(({ n }) => n === at + 1));
  const line = (name: string, costOf: (request: ComparedRequest) => number): Series => ({
    name,
    costs: places.map((here) => here.reduce((sum, request) => sum + costOf(request), 0) / here.length),
  });
  return [
    line("optimum", (request) => request.optimum),
    ...layouts.map((layout) => line(layout, ({ bills }) => bills.get(layout)?.cost ?? 0)),
  ];
}

/** The costs in so many steps at most: each the mean of the requests that fall into it. */
export function inSteps(costs: readonly number[], most: number): readonly number[] {
  const steps = Math.min(most, costs.length);
  return Array.from({ length: steps }, (_, step) => {
    const from = Math.floor((step * costs.length) / steps);
    const to = Math.floor(((step + 1) * costs.length) / steps);
    return costs.slice(from, to).reduce((sum, cost) => sum + cost, 0) / (to - from);
  });
}
