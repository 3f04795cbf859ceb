import { existsSync } from "node:fs";
import { extname, resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { LAYOUTS, type Layout } from "../../../app/doors/costs.ts";
import { StrataError, suggestion } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { writeOutput } from "../shell/files.ts";
import { readShared, seconds } from "../shell/options.ts";
import { inRecord } from "../shell/session.ts";
import { htmlChart, svgChart } from "./cache-chart.ts";
import { type Comparison, compareLayouts } from "./cache-compare.ts";
import { declareCacheExplain } from "./cache-explain.ts";
import { comparisonJson, comparisonTable } from "./cache-report.ts";
import { dumpedThreads, recordedThreads, type SeenThread } from "./cache-threads.ts";

interface Options {
  readonly as: readonly Layout[];
  readonly model?: string;
  readonly gap?: number;
  readonly out?: string;
  readonly force?: true;
}

/** `strata cache …`: what a provider's cache does with requests. */
export function declareCache(program: Command, context: Context): void {
  const cache = program
    .command("cache")
    .description(
      "compare what caching saves under several layouts of the same requests, and explain what a thread cost",
    )
    .addHelpText("after", "\nExample:\n  $ strata cache replay requests.jsonl");
  declareReplay(cache, context);
  declareCacheExplain(cache, context);
}

function declareReplay(cache: Command, context: Context): void {
  cache
    .command("replay")
    .description(
      "bill requests that were made, or the same ones laid out in other ways, by the rules that providers document",
    )
    .argument("<what>", "a file made by `strata replay --dump`, an agent, or a thread (thr_…)")
    .addOption(
      new Option("--as <layouts>", `which layouts, with commas between: ${LAYOUTS.join(", ")}`)
        .argParser(layouts)
        .default(USUAL, USUAL.join(",")),
    )
    .option("--model <provider:name>", "by the rules and prices of this model (default: the one that was asked)", model)
    .option("--gap <seconds>", "time between requests (default: as it was)", seconds)
    .option("--out <file>", "draw the costs into an .svg, or an .html page that holds it", chartName)
    .option("--force", "let --out take the place of a file that exists")
    .addHelpText(
      "after",
      "\nExamples:\n  $ strata cache replay companion\n  $ strata cache replay requests.jsonl --as seed004,plan --gap 45 --out costs.svg",
    )
    .action(async (what: string, options: Options, command: Command) => {
      const { json } = readShared(command, context.terminal);
      checkOut(what, options, context.terminal.cwd);
      const threads = await threadsOf(what, options, { context, command });
      const comparison = await compareLayouts(context, what, { threads, layouts: options.as });
      if (options.out !== undefined) await draw(options.out, what, { comparison, cwd: context.terminal.cwd });
      if (json) context.json(comparisonJson(what, comparison));
      else context.say(...comparisonTable(what, comparison, context.style));
    });
}

/** What the seeds do, the fix that is usually proposed, and what was sent. */
const USUAL: readonly Layout[] = ["seed000", "seed004", "last-message", "plan"];

function layouts(text: string): readonly Layout[] {
  return [...new Set(text.split(",").map((name) => layout(name.trim())))];
}

function layout(name: string): Layout {
  const found = LAYOUTS.find((one) => one === name);
  if (found !== undefined) return found;
  throw new InvalidArgumentError(`There is no layout ${JSON.stringify(name)}${suggestion(name, LAYOUTS)}.`);
}

function model(ref: string): string {
  if (/^[^:\s]+:\S+$/.test(ref)) return ref;
  throw new InvalidArgumentError("It must be a provider and a name, such as anthropic:claude-sonnet-4-5.");
}

function chartName(name: string): string {
  if (/\.(svg|html)$/.test(name)) return name;
  throw new InvalidArgumentError("The file's name must end in .svg or .html.");
}

interface Around {
  readonly context: Context;
  readonly command: Command;
}

/** A name with a dot or a slash is a file's: no agent and no thread has one. */
async function threadsOf(what: string, options: Options, { context, command }: Around): Promise<readonly SeenThread[]> {
  const isFile = /[./\\]/.test(what);
  if (isFile) {
    const { folder, named } = readShared(command, context.terminal);
    const { cardsWhere } = await import("../../../app/doors/dumps.ts");
    const cardOf = cardsWhere({ folder, mustDeclare: named, env: context.terminal.env });
    return dumpedThreads(context, what, { ...options, cardOf });
  }
  let threads: readonly SeenThread[] = [];
  await inRecord(context, command, async ({ app }) => {
    threads = await recordedThreads(context, what, { app, ...options });
  });
  return threads;
}

/** @throws StrataError `invalid_input` for a file that would be lost */
function checkOut(what: string, { out, force }: Options, cwd: string): void {
  if (out === undefined) return;
  const path = resolve(cwd, out);
  const refuse = (message: string) => new StrataError("invalid_input", message, { file: out });
  if (resolve(cwd, what) === path) throw refuse(`--out would overwrite ${out}, which is read; name another file`);
  if (force !== true && existsSync(path))
    throw refuse(`${out} exists already; name another file, or add --force to replace it`);
}

interface Drawing {
  readonly comparison: Comparison;
  readonly cwd: string;
}

async function draw(name: string, what: string, { comparison, cwd }: Drawing): Promise<void> {
  const chart = extname(name) === ".html" ? htmlChart(what, comparison) : svgChart(what, comparison);
  await writeOutput(name, cwd, [chart]);
}
