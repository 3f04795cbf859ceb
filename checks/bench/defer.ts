// `npm run bench -- defer`: what an agent's tools cost where some are deferred, and whether each call could still be written.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { FEATURE } from "../../src/features/defer/index.ts";
import { tokenCounter } from "../../src/models/index.ts";
import { canonicalJson, type Json, type JsonObject, type ToolContext, toolName } from "../../src/protocol/index.ts";
import { cardOf, rulesOf, type SeenRequest, simulate } from "../../src/wire/index.ts";
import { THREADS } from "./lines.ts";
import { percent, table } from "./table.ts";
import { dumped, strata } from "./wire-threads.ts";

export const MODEL = "anthropic:claude-sonnet-4-5";
const GAP = 45_000;
/** Milliseconds between the beginnings of two conversations: so far apart that no cache lasts, or overlapping. */
const PACES = { quiet: 86_400_000, busy: 60_000 } as const;

/** Tools that a smaller share of conversations calls are deferred, as `strata lint` proposes. */
const RARE = 0.2;

const INPUT = z.custom<JsonObject>((value) => value !== null && typeof value === "object" && !Array.isArray(value));
const CALL = z.object({ id: z.string(), tool: z.string(), input: INPUT });
const LINE = z.looseObject({
  thread: z.string(),
  from: z.string(),
  text: z.string().optional(),
  id: z.string().optional(),
  calls: z.array(CALL).optional(),
});
const TOOL = z.object({ name: z.string(), description: z.string(), parameters: INPUT });
const BLOCK = z.looseObject({ type: z.string(), name: z.string().optional(), input: z.json().optional() });
const BODY = z.looseObject({
  messages: z.array(z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(BLOCK)]) })),
});
const DUMPED = z.object({
  thread: z.string(),
  body: z.union([z.string().transform((text): unknown => JSON.parse(text)), z.unknown()]).pipe(BODY),
});

export type Line = z.output<typeof LINE>;
export type ToolEntry = z.output<typeof TOOL>;

export interface DeferRow {
  readonly tools: "all sent" | "deferred" | "unused left out";
  readonly deferred: number;
  readonly requests: number;
  /** Input tokens weighted with their prices, one conversation at a time and many at once. */
  readonly quiet: number;
  readonly busy: number;
  /** Arguments of calls, and those whose name and value stand in the request before the call. */
  readonly arguments: number;
  readonly grounded: number;
}

export interface DeferReport {
  readonly bench: "defer";
  readonly model: string;
  readonly rows: readonly DeferRow[];
}

export async function deferBench(quick: boolean, tell: (what: string) => void): Promise<DeferReport> {
  const { lines, tools } = airline(quick);
  const used = usedIn(lines);
  const threads = new Set(lines.map(({ thread }) => thread)).size;
  const rare = tools.filter(({ name }) => (used.get(name)?.size ?? 0) < RARE * threads);
  const rows: DeferRow[] = [];
  tell("all tools sent");
  rows.push({ tools: "all sent", deferred: 0, ...(await measured(lines, tools)) });
  tell(`${rare.length} of ${tools.length} tools deferred`);
  const kept = tools.filter((tool) => !rare.includes(tool));
  const finder = finderOf(rare);
  rows.push({
    tools: "deferred",
    deferred: rare.length,
    ...(await measured(await withFinder(lines, rare), [...kept, finder])),
  });
  tell("unused tools left out");
  const called = tools.filter(({ name }) => used.has(name));
  rows.push({ tools: "unused left out", deferred: 0, ...(await measured(lines, called)) });
  return { bench: "defer", model: MODEL, rows };
}

/** The recorded conversations of tau-bench, or the first of them, and their tools. */
export function airline(quick: boolean): { readonly lines: readonly Line[]; readonly tools: readonly ToolEntry[] } {
  const all = readFileSync(join(THREADS, "airline/threads.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((text) => LINE.parse(JSON.parse(text)));
  const tools = z.array(TOOL).parse(JSON.parse(readFileSync(join(THREADS, "airline/tools.json"), "utf8")));
  return { lines: quick ? all.slice(0, 60) : all, tools };
}

function usedIn(lines: readonly Line[]): ReadonlyMap<string, ReadonlySet<string>> {
  const used = new Map<string, Set<string>>();
  for (const { thread, calls = [] } of lines)
    for (const { tool } of calls) used.set(tool, (used.get(tool) ?? new Set()).add(thread));
  return used;
}

function moreTools() {
  const [tool] = FEATURE.tools?.(Object.create(null)) ?? [];
  if (tool === undefined) throw new Error("the feature has no tool");
  return tool;
}

/** The tool that finds the others, as the agent's request shows it. */
function finderOf(rare: readonly ToolEntry[]): ToolEntry {
  const tool = moreTools();
  const schema = tool.schemaFor?.({ layers: [], defer: rare.map(({ name }) => name) }) ?? tool.schema;
  return { name: schema.name, description: schema.description, parameters: schema.input };
}

/** The same conversations, with a search before the first call of each deferred tool, in a request of its own. */
async function withFinder(lines: readonly Line[], rare: readonly ToolEntry[]): Promise<readonly Line[]> {
  const tool = moreTools();
  const deferred = rare.map(({ name, description, parameters }) => ({
    name: toolName(name),
    description,
    input: JSON.parse(canonicalJson(parameters)),
  }));
  const names = new Set(rare.map(({ name }) => name));
  const loaded = new Set<string>();
  const out: Line[] = [];
  for (const line of lines) {
    const calls = line.calls ?? [];
    const wanted = [
      ...new Set(
        calls.flatMap(({ tool: name }) => (names.has(name) && !loaded.has(`${line.thread} ${name}`) ? [name] : [])),
      ),
    ];
    if (wanted.length > 0) {
      for (const name of wanted) loaded.add(`${line.thread} ${name}`);
      const id = `find-${out.length}`;
      const input = { find: wanted.join(" ") };
      const context: Pick<ToolContext, "deferred"> = { deferred };
      const { text } = await tool.run(input, Object.assign(Object.create(null), context));
      out.push({ ...line, text: "", calls: [{ id, tool: tool.schema.name, input }] });
      out.push({ thread: line.thread, from: "tool", id, name: tool.schema.name, text });
    }
    const through = calls.map((call) =>
      names.has(call.tool)
        ? { ...call, tool: tool.schema.name as string, input: { call: call.tool, input: call.input } }
        : call,
    );
    out.push(line.calls === undefined ? line : { ...line, calls: through });
  }
  return out;
}

/** `yaml`: the project with the agent, which is called companion; left out, the blueprint. */
export async function measured(
  lines: readonly Line[],
  tools: readonly ToolEntry[],
  yaml?: string,
): Promise<Omit<DeferRow, "tools" | "deferred">> {
  const cwd = mkdtempSync(join(tmpdir(), "strata-defer-"));
  try {
    writeFileSync(join(cwd, "talk.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    writeFileSync(join(cwd, "tools.json"), JSON.stringify(tools));
    if (yaml !== undefined) {
      writeFileSync(join(cwd, "strata.yaml"), yaml);
      await strata(["lock"], cwd);
    }
    const how = ["--agent", "companion", "--replies", "recorded", "--model", MODEL, "--tools", "tools.json"];
    await strata(["replay", "talk.jsonl", ...how, "--dump", "dump.jsonl"], cwd);
    const file = join(cwd, "dump.jsonl");
    const count = await tokenCounter({ factor: cardOf(MODEL).tokenFactor ?? 1 });
    const threads = await dumped(file, count, GAP);
    const quiet = weighted(threads, PACES.quiet);
    const busy = weighted(threads, PACES.busy);
    return { requests: threads.flat().length, quiet, busy, ...groundedIn(file) };
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

function weighted(threads: readonly (readonly SeenRequest[])[], apart: number): number {
  const rules = rulesOf(cardOf(MODEL));
  const { multipliers } = rules;
  const requests = threads.flatMap((thread, n) =>
    thread.map((request) => ({ ...request, at: request.at + n * apart })),
  );
  const bills = simulate(requests, rules);
  const sum = bills.reduce(
    (all, { read, write5m, write1h, input }) =>
      all + read * multipliers.read + write5m * multipliers.write5m + write1h * multipliers.write1h + input,
    0,
  );
  return Math.round(sum);
}

/** Each call of the last request of a conversation, and whether what stands before it holds its arguments. */
function groundedIn(file: string): Pick<DeferRow, "arguments" | "grounded"> {
  const last = new Map<string, z.output<typeof BODY>>();
  for (const text of readFileSync(file, "utf8").trim().split("\n")) {
    const { thread, body } = DUMPED.parse(JSON.parse(text));
    last.set(thread, body);
  }
  let [all, grounded] = [0, 0];
  for (const { messages, ...prefix } of last.values()) {
    let before = JSON.stringify(prefix);
    for (const { content } of messages) {
      for (const block of typeof content === "string" ? [] : content) {
        if (block.type !== "tool_use") continue;
        for (const [name, value] of argumentsOf(block)) {
          all++;
          if (stands(name, before) && stands(value, before)) grounded++;
        }
      }
      before += JSON.stringify(content);
    }
  }
  return { arguments: all, grounded };
}

/** Words are compared without the marks around them, which JSON writes differently at each depth. */
const plain = (text: string): string => text.replaceAll(/[\\"]/g, "");
const stands = (text: string, before: string): boolean => plain(before).includes(plain(text));

/** The names and values that a call says, at whatever depth; a call through the finder says those of the call that is meant. */
function argumentsOf({ name, input }: z.output<typeof BLOCK>): readonly (readonly [string, string])[] {
  const through = z.object({ call: z.string(), input: INPUT }).safeParse(input);
  // Of what is searched, nothing has to stand in the request.
  if (name === "read_result" || (name === "more_tools" && !through.success)) return [];
  return leaves(through.success && name === "more_tools" ? through.data.input : (input ?? null), "");
}

export function leaves(value: Json, name: string): readonly (readonly [string, string])[] {
  if (Array.isArray(value)) return value.flatMap((one) => leaves(one, name));
  if (value !== null && typeof value === "object")
    return Object.entries(value).flatMap(([key, one]) => leaves(one, key));
  return [[name, String(value)]];
}

export function deferText({ model, rows }: DeferReport): string {
  const [first] = rows;
  const of = (n: number, all: number | undefined): string => `${n.toLocaleString("en")} (${percent(n / (all ?? n))})`;
  const lines = rows.map((row) => [
    row.deferred === 0 ? row.tools : `${row.deferred} ${row.tools}`,
    row.requests.toLocaleString("en"),
    of(row.quiet, first?.quiet),
    of(row.busy, first?.busy),
    of(row.grounded, first?.grounded),
  ]);
  return `Input weighted by the prices of ${model} and the cache simulator.\n\n${table(["tools", "requests", "quiet", "busy", "grounded arguments"], lines)}`;
}
