import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { tokenCounter } from "../../src/models/index.ts";
import { BARE, CASES, type Case, type Timing, timeAll } from "./compile-times.ts";
import { budgets, type Fill, fillAll } from "./fill.ts";
import { hostile, realLines, records } from "./lines.ts";
import { figure, percent, table, times } from "./table.ts";

/** How much is measured: all of it, or as little as shows that it runs. */
export interface Sizes {
  readonly histories: readonly number[];
  readonly rounds: number;
  readonly budgets: number;
}

const ALL: Sizes = { histories: [200, 800, 3_200, 12_800], rounds: 9, budgets: 61 };
const QUICK: Sizes = { histories: [8], rounds: 1, budgets: 2 };

/** What the bench gives as JSON. Milliseconds. */
export interface CompileReport {
  readonly bench: "compile";
  readonly lines: string;
  readonly timings: readonly Timing[];
  readonly fills: readonly Fill[];
}

/** Room for everything, and room for the layers and some of the history. */
const LIMITS = [Number.POSITIVE_INFINITY, 24_000];

export async function compileBench(quick: boolean, tell: (what: string) => void): Promise<CompileReport> {
  const sizes = quick ? QUICK : ALL;
  const plain = { disallowedSpecial: new Set<string>() };
  // `own` remembers what it has counted, as it is shipped; `raw` is the same tokenizer without a memory.
  const counters = { own: await tokenCounter({ factor: 1 }), raw: (text: string) => countTokens(text, plain) };
  const lines = realLines();
  const plan = { histories: sizes.histories, limits: LIMITS, rounds: sizes.rounds, patience: 1_000 };
  const timings = await timeAll(lines, plan, counters, tell);
  tell(`fill: ${sizes.budgets} budgets`);
  const texts = [lines, records, hostile];
  const fills = await fillAll({ texts, budgets: budgets(sizes.budgets), history: 200 }, counters.own);
  return { bench: "compile", lines: lines.from, timings, fills };
}

export function compileText({ lines, timings, fills }: CompileReport): string {
  const settings = [...new Set(timings.map(({ limit }) => limit))].flatMap((limit) =>
    [...new Set(timings.map(({ history }) => history))].map((history) => ({ limit, history })),
  );
  return [
    `Lines: ${lines}. Milliseconds, medians; in brackets the time divided by the bare limit and by Strata's.`,
    "The limit of cold: join everything and tokenize it once. Of warm: join. Of last (only the newest message is new): join, and tokenize that message.",
    ...settings.map(({ limit, history }) => {
      const here = timings.filter((one) => one.limit === limit && one.history === history);
      return `${history} messages of history, ${Number.isFinite(limit) ? `at most ${limit} tokens` : "all of it sent"}\n\n${settingTable(here)}`;
    }),
    `Fill of 6,000 to 36,000 tokens: share of the budget that is used\n\n${fillTable(fills)}`,
  ].join("\n\n");
}

const LIMIT_OF: Readonly<Record<Case, string>> = { cold: BARE[1], warm: BARE[0], last: BARE[2] };

function settingTable(here: readonly Timing[]): string {
  const timeOf = (engine: string, one: Case) =>
    here.find((timing) => timing.engine === engine)?.times?.[one] ?? Number.NaN;
  const rows = here.map(({ engine }) => [
    engine,
    ...CASES.map((one) => {
      const time = timeOf(engine, one);
      if (Number.isNaN(time)) return "too slow";
      return `${figure(time)} (${times(time / timeOf(LIMIT_OF[one], one))}, ${times(time / timeOf("strata", one))})`;
    }),
  ]);
  return table(["engine", ...CASES.map((one) => `${one} ms (/limit, /strata)`)], rows);
}

function fillTable(fills: readonly Fill[]): string {
  const head = ["engine", "made", "over", "message lost", "refused", "median", "p10", "least"];
  const rows = fills.map(({ engine, made, asked, over, lost, refused, ...share }) => [
    engine,
    `${made} of ${asked}`,
    ...[over, lost, refused].map(String),
    ...[share.median, share.p10, share.least].map(percent),
  ]);
  return table(head, rows);
}
