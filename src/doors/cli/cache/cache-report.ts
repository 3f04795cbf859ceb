import { LAYOUT_SAYS, type Layout } from "../../../app/doors/costs.ts";
import { count, number, printable, type Style } from "../shell/style.ts";
import { table } from "../shell/table.ts";
import { type Comparison, inSteps, seriesOf } from "./cache-compare.ts";

/** A layout's sums. Costs in tokens of plain input. */
interface LayoutSum {
  readonly layout: Layout;
  readonly cost: number;
  readonly toOptimum: number;
  readonly toNone: number;
  readonly readShare: number;
  readonly input: number;
  readonly read: number;
  readonly write5m: number;
  readonly write1h: number;
  /** Requests that the provider would refuse. */
  readonly refused: number;
  readonly problems: readonly string[];
}

const COLUMNS = [
  { head: "layout" },
  { head: "cost", right: true },
  { head: "× optimum", right: true },
  { head: "× no caching", right: true },
  { head: "read", right: true },
  { head: "", least: 20, wraps: true },
] as const;

/** The comparison for a person: a table, then a plot. */
export function comparisonTable(what: string, comparison: Comparison, style: Style): readonly string[] {
  const { requests, threads, models } = comparison;
  const { tokens, optimum } = totals(comparison);
  const sums = sumsOf(comparison);
  const rows = [
    [
      "optimum",
      number(Math.round(optimum)),
      "1.00",
      ratio(optimum / tokens),
      "",
      "the least that this content can cost",
    ],
    ...sums.filter(({ layout }) => layout !== "none").map(row),
    ["none", number(tokens), ratio(tokens / optimum), "1.00", "0.0%", LAYOUT_SAYS.none],
  ];
  return [
    style.bold(`${printable(what)}: ${count(requests.length, "request")} in ${count(threads, "thread")}`),
    style.dim(`by the rules of ${printable(models.join(", "))}; costs in tokens of plain input`),
    "",
    ...table(COLUMNS, rows, style),
    ...refusals(sums, style),
    "",
    ...plot(comparison, style),
  ];
}

function row({ layout, cost, toOptimum, toNone, readShare }: LayoutSum): readonly string[] {
  const share = `${(readShare * 100).toFixed(1)}%`;
  return [layout, number(Math.round(cost)), ratio(toOptimum), ratio(toNone), share, LAYOUT_SAYS[layout]];
}

const ratio = (value: number): string => (Number.isFinite(value) ? value.toFixed(2) : "");

function refusals(sums: readonly LayoutSum[], style: Style): readonly string[] {
  return sums.flatMap(({ layout, refused, problems }) =>
    refused === 0 ? [] : [style.yellow(`${layout}: ${count(refused, "request")} refused: ${problems.join("; ")}`)],
  );
}

const BARS = "▁▂▃▄▅▆▇█";
const WIDTH = 48;

/** One line a layout, all on one scale. */
function plot(comparison: Comparison, style: Style): readonly string[] {
  const series = seriesOf(comparison).map(({ name, costs }) => ({ name, steps: inSteps(costs, WIDTH) }));
  const top = Math.max(1, ...series.flatMap(({ steps }) => steps));
  const rows = series.map(({ name, steps }) => [
    name,
    steps.map((cost) => bar(cost / top)).join(""),
    number(Math.round(steps.at(-1) ?? 0)),
  ]);
  const last = Math.max(...comparison.requests.map(({ n }) => n));
  return [
    style.dim(
      `cost of a thread's requests 1 to ${number(last)}, the last on the right; █ is ${number(Math.round(top))}`,
    ),
    ...table([{ head: "" }, { head: "" }, { head: "", right: true }], rows, style),
  ];
}

const bar = (share: number): string => BARS[Math.min(BARS.length - 1, Math.floor(share * BARS.length))] ?? "";

function totals({ requests }: Comparison): { readonly tokens: number; readonly optimum: number } {
  return {
    tokens: requests.reduce((sum, { tokens }) => sum + tokens, 0),
    optimum: requests.reduce((sum, { optimum }) => sum + optimum, 0),
  };
}

function sumsOf(comparison: Comparison): readonly LayoutSum[] {
  const all = totals(comparison);
  return comparison.layouts.map((layout) => {
    const optimum = comparison.optima.get(layout) ?? all.optimum;
    const bills = comparison.requests.flatMap((request) => request.bills.get(layout) ?? []);
    const sum = (part: "input" | "read" | "write5m" | "write1h" | "cost"): number =>
      bills.reduce((total, bill) => total + bill[part], 0);
    const cost = sum("cost");
    // What this layout itself sends: one that keeps the turns' context sends more than the requests did, a window less.
    const tokens = sum("input") + sum("read") + sum("write5m") + sum("write1h");
    return {
      layout,
      cost,
      toOptimum: cost / optimum,
      toNone: cost / tokens,
      readShare: sum("read") / tokens,
      input: sum("input"),
      read: sum("read"),
      write5m: sum("write5m"),
      write1h: sum("write1h"),
      refused: bills.filter(({ problems }) => problems.length > 0).length,
      problems: [...new Set(bills.flatMap(({ problems }) => problems))],
    };
  });
}

/** The same for programs, with every request. */
export function comparisonJson(what: string, comparison: Comparison) {
  const { models, threads, requests } = comparison;
  return {
    source: what,
    models,
    threads,
    ...totals(comparison),
    layouts: sumsOf(comparison),
    requests: requests.map(({ bills, at, ...request }) => ({
      ...request,
      at: new Date(at).toISOString(),
      layouts: Object.fromEntries(bills),
    })),
  };
}
