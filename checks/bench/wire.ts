import { tokenCounter } from "../../src/models/index.ts";
import type { CountTokens } from "../../src/protocol/index.ts";
import {
  anthropicRules,
  LAYOUT_SAYS,
  LAYOUTS,
  type Layout,
  layoutBills,
  layoutContent,
  optimum,
  type SeenRequest,
} from "../../src/wire/index.ts";
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
  readonly from: Readonly<Record<string, string>>;
  readonly cells: readonly WireCell[];
}

/** As the judge counts: what a cached read and a write cost, and how much a cache keeps at the least. */
const RULES = anthropicRules({ minimum: 1_024, read: 0.1 });
const READ_WRITE = { r: 0.1, w: 1.25 };

const LENGTHS = [10, 50, 200, 1_000];

interface Wishes {
  readonly quick: boolean;
  readonly dumps: readonly string[];
}

export async function wireBench({ quick, dumps }: Wishes, tell: (what: string) => void): Promise<WireReport> {
  const count = await tokenCounter({ factor: 1 });
  const lengths = quick ? [4] : LENGTHS;
  const from: Record<string, string> = {};
  const cells: WireCell[] = [];
  for (const { name, source, threads } of await gathered(dumps, { count, most: Math.max(...lengths) }, tell)) {
    from[name] = source;
    const longest = Math.max(...threads.map(({ length }) => length));
    // A user's own threads are also shown whole.
    const shown = dumps.length === 0 ? lengths : [...lengths.filter((length) => length < longest), longest];
    for (const requests of shown) {
      tell(`${name}: ${requests} requests`);
      cells.push(...cellsOf(name, threads, requests));
    }
  }
  return { bench: "wire", from, cells };
}

interface Group {
  readonly name: string;
  readonly source: string;
  readonly threads: readonly Seen[];
}

async function gathered(
  dumps: readonly string[],
  { count, most }: { readonly count: CountTokens; readonly most: number },
  tell: (what: string) => void,
): Promise<readonly Group[]> {
  const groups: Group[] = [];
  for (const file of dumps) {
    const threads = await dumped(file, count);
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
function cellsOf(name: string, threads: readonly Seen[], requests: number): readonly WireCell[] {
  const cut = threads.filter(({ length }) => length >= requests).map((thread) => thread.slice(0, requests));
  return LAYOUTS.map((layout) => {
    const all = cut.flatMap((thread) => layoutBills(thread, layout, RULES));
    const content = cut.map((thread) => layoutContent(thread, layout));
    const cost = sum(all.map((bill) => bill.cost));
    return {
      threads: name,
      layout,
      requests,
      toOptimum: cost / sum(content.flatMap((thread) => optimum(thread, READ_WRITE))),
      toNone: cost / sum(content.flat(2).map(tokensOf)),
      read:
        sum(all.map(({ read }) => read)) /
        sum(all.map(({ input, read, write5m, write1h }) => input + read + write5m + write1h)),
    };
  });
}

const tokensOf = ({ blocks }: SeenRequest): number => sum(blocks.map(({ tokens }) => tokens));

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export function wireText({ from, cells }: WireReport): string {
  return [
    "Cost divided by the optimum; in brackets divided by no caching, and the share of tokens read. Anthropic's rules, minimum 1,024, read 0.1, write 1.25, 45 s between requests.",
    ...Object.entries(from).map(
      ([name, source]) => `${name} (${source})\n\n${groupTable(cells.filter(({ threads }) => threads === name))}`,
    ),
    LAYOUTS.map((layout) => `${layout}: ${LAYOUT_SAYS[layout]}`).join("\n"),
  ].join("\n\n");
}

function groupTable(cells: readonly WireCell[]): string {
  const lengths = [...new Set(cells.map(({ requests }) => requests))];
  const rows = LAYOUTS.map((layout) => [
    layout,
    ...lengths.map((length) => {
      const cell = cells.find((one) => one.layout === layout && one.requests === length);
      if (cell === undefined) return "–";
      return `${cell.toOptimum.toFixed(2)} (${cell.toNone.toFixed(2)}, ${percent(cell.read)})`;
    }),
  ]);
  return table(["layout", ...lengths.map((length) => `${length} requests`)], rows);
}
