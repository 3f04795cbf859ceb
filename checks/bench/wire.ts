import { existsSync, writeFileSync } from "node:fs";
import { tokenCounter } from "../../src/models/index.ts";
import type { CountTokens } from "../../src/protocol/index.ts";
import { anthropicRules, type CacheRules, cardOf, optimum, rulesOf, type SeenRequest } from "../../src/wire/index.ts";
import { chart, type Series } from "./chart.ts";
import { LAYOUT_SAYS, LAYOUTS, type Layout, layoutBills, layoutContent } from "./layouts.ts";
import { percent, table } from "./table.ts";
import { chat, dumped, loops, replayed, type Seen } from "./wire-threads.ts";

/** What a layout costs for the first so many requests of the threads. */
export interface WireCell {
  readonly threads: string;
  readonly layout: Layout;
  readonly requests: number;
  /** Cost, where the optimum is 1. */
  readonly toOptimum: number;
  /** Cost, where no caching is 1. */
  readonly toNone: number;
  /** Share of the tokens that were read from the cache. */
  readonly read: number;
}

export interface WireReport {
  readonly bench: "wire";
  /** By the rules of which model. */
  readonly rules: string;
  readonly layouts: readonly Layout[];
  readonly from: Readonly<Record<string, string>>;
  readonly cells: readonly WireCell[];
}

/** As the judge counts: what a cached read and a write cost, and how much a cache keeps at the least. */
const USUAL = "Anthropic's rules, minimum 1,024, read 0.1, write 1.25";

const LENGTHS = [10, 50, 200, 1_000];

export interface WireWishes {
  readonly quick: boolean;
  readonly dumps: readonly string[];
  /** Which layouts, with commas between; all where nothing is said. */
  readonly as?: string | undefined;
  /** By the rules of this model: `provider:name`. */
  readonly model?: string | undefined;
  /** Seconds between two requests, or `recorded` for those of the dump. */
  readonly gap?: string | undefined;
  /** Draws the costs into an .svg, or an .html page that holds it. */
  readonly out?: string | undefined;
}

export async function wireBench(wishes: WireWishes, tell: (what: string) => void): Promise<WireReport> {
  const { quick, dumps, model } = wishes;
  const layouts = layoutsNamed(wishes.as);
  const gap = gapOf(wishes.gap);
  if (wishes.out !== undefined) checkOut(wishes.out);
  const card = model === undefined ? undefined : cardOf(model);
  const rules = card === undefined ? anthropicRules({ minimum: 1_024, read: 0.1 }) : rulesOf(card);
  const count = await tokenCounter({ factor: card?.tokenFactor ?? 1 });
  const lengths = quick ? [4] : LENGTHS;
  const from: Record<string, string> = {};
  const cells: WireCell[] = [];
  const groups = await gathered(dumps, { count, most: Math.max(...lengths), gap }, tell);
  for (const { name, source, threads } of groups) {
    from[name] = source;
    const longest = Math.max(...threads.map(({ length }) => length));
    // A user's own threads are also shown whole.
    const shown = dumps.length === 0 ? lengths : [...lengths.filter((length) => length < longest), longest];
    for (const requests of shown) {
      tell(`${name}: ${requests} requests`);
      cells.push(...cellsOf(name, { threads, layouts, rules }, requests));
    }
  }
  const report: WireReport = { bench: "wire", rules: model ?? USUAL, layouts, from, cells };
  if (wishes.out !== undefined)
    draw(wishes.out, report, { threads: groups.flatMap((one) => one.threads), layouts, rules });
  return report;
}

function layoutsNamed(text: string | undefined): readonly Layout[] {
  if (text === undefined) return LAYOUTS;
  return [...new Set(text.split(","))].map((name) => {
    const found = LAYOUTS.find((one) => one === name.trim());
    if (found === undefined)
      throw new Error(`there is no layout ${JSON.stringify(name)}; there are ${LAYOUTS.join(", ")}`);
    return found;
  });
}

/** Milliseconds; nothing for the times of the dump. */
function gapOf(text = "45"): number | undefined {
  if (text === "recorded") return undefined;
  const seconds = Number(text);
  if (!(seconds >= 0))
    throw new Error(`--gap ${text} is no number of seconds; \`recorded\` keeps the times of the dump`);
  return seconds * 1_000;
}

function checkOut(file: string): void {
  if (!/\.(svg|html)$/.test(file)) throw new Error(`${file} must end in .svg or .html`);
  if (existsSync(file)) throw new Error(`${file} exists already; name another file`);
}

/** Threads, and how they are to be billed. */
interface Billed {
  readonly threads: readonly Seen[];
  readonly layouts: readonly Layout[];
  readonly rules: CacheRules;
}

function draw(file: string, { rules: what, from }: WireReport, billed: Billed): void {
  const drawn = { what: Object.keys(from).join(", "), rules: what, series: seriesOf(billed) };
  writeFileSync(file, chart(drawn, file));
}

/** The optimum first, then the layouts. */
function seriesOf({ threads, layouts, rules }: Billed): readonly Series[] {
  const longest = Math.max(...threads.map(({ length }) => length));
  const line = (name: string, costs: readonly (readonly number[])[]): Series => ({
    name,
    costs: Array.from({ length: longest }, (_, n) => {
      const here = costs.flatMap((one) => one[n] ?? []);
      return sum(here) / here.length;
    }),
  });
  return [
    line(
      "optimum",
      threads.map((thread) => optimum(thread, ratesOf(rules))),
    ),
    ...layouts.map((layout) =>
      line(
        layout,
        threads.map((thread) => layoutBills(thread, layout, rules).map(({ cost }) => cost)),
      ),
    ),
  ];
}

const ratesOf = ({ multipliers }: CacheRules) => ({ r: multipliers.read, w: multipliers.write5m });

interface Group {
  readonly name: string;
  readonly source: string;
  readonly threads: readonly Seen[];
}

async function gathered(
  dumps: readonly string[],
  { count, most, gap }: { readonly count: CountTokens; readonly most: number; readonly gap: number | undefined },
  tell: (what: string) => void,
): Promise<readonly Group[]> {
  const groups: Group[] = [];
  for (const file of dumps) {
    const threads = await dumped(file, count, gap);
    groups.push({ name: file, source: `${threads.length} threads`, threads });
  }
  if (dumps.length > 0) return groups;
  for (const [name, recording] of [["chat", chat(most)] as const, ["agent loops", loops(most)] as const]) {
    tell(`${name}: replaying ${recording.from}`);
    groups.push({ name, source: recording.from, threads: [await replayed(recording, count)] });
  }
  return groups;
}

/** The threads that are long enough, each cut to its first `requests`; each has the cache for itself. */
function cellsOf(name: string, { threads, layouts, rules }: Billed, requests: number): readonly WireCell[] {
  const cut = threads.filter(({ length }) => length >= requests).map((thread) => thread.slice(0, requests));
  return layouts.map((layout) => {
    const all = cut.flatMap((thread) => layoutBills(thread, layout, rules));
    const content = cut.map((thread) => layoutContent(thread, layout));
    const cost = sum(all.map((bill) => bill.cost));
    return {
      threads: name,
      layout,
      requests,
      toOptimum: cost / sum(content.flatMap((thread) => optimum(thread, ratesOf(rules)))),
      toNone: cost / sum(content.flat(2).map(tokensOf)),
      read:
        sum(all.map(({ read }) => read)) /
        sum(all.map(({ input, read, write5m, write1h }) => input + read + write5m + write1h)),
    };
  });
}

const tokensOf = ({ blocks }: SeenRequest): number => sum(blocks.map(({ tokens }) => tokens));

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export function wireText({ rules, layouts, from, cells }: WireReport): string {
  return [
    `Cost divided by the optimum; in brackets divided by no caching, and the share of tokens read. By the rules: ${rules}.`,
    ...Object.entries(from).map(
      ([name, source]) => `${name} (${source})\n\n${groupTable(cells.filter(({ threads }) => threads === name))}`,
    ),
    layouts.map((layout) => `${layout}: ${LAYOUT_SAYS[layout]}`).join("\n"),
  ].join("\n\n");
}

function groupTable(cells: readonly WireCell[]): string {
  const lengths = [...new Set(cells.map(({ requests }) => requests))];
  const rows = [...new Set(cells.map(({ layout }) => layout))].map((layout) => [
    layout,
    ...lengths.map((length) => {
      const cell = cells.find((one) => one.layout === layout && one.requests === length);
      if (cell === undefined) return "–";
      return `${cell.toOptimum.toFixed(2)} (${cell.toNone.toFixed(2)}, ${percent(cell.read)})`;
    }),
  ]);
  return table(["layout", ...lengths.map((length) => `${length} requests`)], rows);
}
