// `npm run bench -- results`: what a conversation with tools costs where its longer results are shown in part, and read where they are needed.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { frameResult } from "../../src/compiler/index.ts";
import { FEATURE } from "../../src/features/results/index.ts";
import { tokenCounter } from "../../src/models/index.ts";
import { canonicalJson, type KeptResult, type ToolContext, toolName, untrusted } from "../../src/protocol/index.ts";
import { cardOf } from "../../src/wire/index.ts";
import { ROOT } from "../files.ts";
import { airline, type DeferRow, type Line, leaves, MODEL, measured, type ToolEntry } from "./defer.ts";
import { percent, table } from "./table.ts";

/** Tokens of one result. The results of an airline are short: half of the default holds each of them. */
const AIRLINE = [4_000, 400] as const;
/** A page as a whole, the default, and less. */
const PAGES = [50_000, 4_000, 1_000] as const;

export interface ResultsRow extends Omit<DeferRow, "tools" | "deferred"> {
  readonly talk: "airline" | "pages";
  readonly bound: number;
  readonly results: "cut" | "kept";
  /** Searches for something that a call or reply needs and the request does not show. */
  readonly reads: number;
}

export interface ResultsReport {
  readonly bench: "results";
  readonly model: string;
  readonly rows: readonly ResultsRow[];
}

export async function resultsBench(quick: boolean, tell: (what: string) => void): Promise<ResultsReport> {
  const talks = [
    { talk: "airline", bounds: AIRLINE, ...airline(quick) },
    { talk: "pages", bounds: PAGES, ...pages(quick) },
  ] as const;
  const reader = readResult();
  const { name, description, input: parameters } = reader.schema;
  const rows: ResultsRow[] = [];
  for (const { talk, bounds, lines, tools } of talks) {
    for (const bound of bounds) {
      tell(`${talk}, ${bound} tokens`);
      const at = { talk, bound } as const;
      rows.push({
        ...at,
        results: "cut",
        reads: 0,
        ...(await measured(lines, tools, agentWith({ result: bound }, []))),
      });
      const read = await withReads(lines, bound);
      const all = [...tools, { name, description, parameters }] satisfies readonly ToolEntry[];
      const bill = await measured(read.lines, all, agentWith({ result: bound }, [name]));
      rows.push({ ...at, results: "kept", reads: read.reads, ...bill });
    }
  }
  return { bench: "results", model: MODEL, rows };
}

/** One conversation about the pages of this project: for each a question, the page as a tool's result, and a call with a line from its middle. */
function pages(quick: boolean): { readonly lines: readonly Line[]; readonly tools: readonly ToolEntry[] } {
  const folder = join(ROOT, "docs");
  const texts = readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => ({ name, text: readFileSync(join(folder, name), "utf8").slice(0, 60_000) }))
    .filter(({ text }) => text.length > 20_000)
    .slice(0, quick ? 2 : 12);
  const thread = "pages";
  const lines = texts.flatMap(({ name, text }, n): Line[] => {
    const prose = text.split("\n").filter((line) => line.length > 80 && /^[A-Z]/.test(line));
    const line = prose[Math.floor(prose.length / 2)] ?? "";
    const [page, note] = [`page-${n}`, `note-${n}`];
    return [
      { thread, from: "contact", name: "ann", text: `Note what ${name} says of "${line.slice(0, 40)}".` },
      {
        thread,
        from: "agent",
        name: "agent",
        text: "",
        calls: [{ id: page, tool: "read_page", input: { page: name } }],
      },
      { thread, from: "tool", id: page, name: "read_page", text },
      { thread, from: "agent", name: "agent", text: "", calls: [{ id: note, tool: "note", input: { text: line } }] },
      { thread, from: "tool", id: note, name: "note", text: "Noted." },
      { thread, from: "agent", name: "agent", text: "It is noted." },
    ];
  });
  const takes = (key: string) => ({ type: "object", properties: { [key]: { type: "string" } }, required: [key] });
  const tools = [
    { name: "read_page", description: "Reads a page.", parameters: takes("page") },
    { name: "note", description: "Notes a line.", parameters: takes("text") },
  ];
  return { lines, tools };
}

export const agentWith = (budgets: Readonly<Record<string, number>>, tools: readonly string[]): string =>
  JSON.stringify({
    organization: "bench",
    agents: {
      companion: {
        description: "Answers customers of an airline.",
        layers: [{ id: "airline", rank: 10, text: "You answer customers of an airline." }],
        tools,
        budgets,
      },
    },
  });

function readResult() {
  const [tool] = FEATURE.tools?.(Object.create(null)) ?? [];
  if (tool === undefined) throw new Error("the feature has no tool");
  return tool;
}

/** The same conversations, with a search before each call and reply that says something which only the part that is not shown has. */
async function withReads(lines: readonly Line[], bound: number): Promise<{ lines: readonly Line[]; reads: number }> {
  const tool = readResult();
  const count = await tokenCounter({ factor: cardOf(MODEL).tokenFactor ?? 1 });
  const out: Line[] = [];
  let [thread, shown, kept, reads] = ["", "", [] as KeptResult[], 0];
  for (const line of lines) {
    if (line.thread !== thread) [thread, shown, kept] = [line.thread, "", []];
    const { from, text = "", calls = [], id = "" } = line;
    if (from === "agent") {
      const said = text.match(/[\p{L}\d-]*\d[\p{L}\d-]+/gu) ?? [];
      const given = calls.flatMap(({ input }) => leaves(input, "").map(([, value]) => value));
      for (const find of new Set([...given, ...said])) {
        const result =
          find.length < 3 || shown.includes(find) ? undefined : kept.find((one) => one.text.includes(find));
        if (result === undefined) continue;
        const call = {
          id: `read-${reads++}`,
          tool: tool.schema.name,
          input: { result: result.n, find: find.slice(0, 40) },
        };
        const context: Pick<ToolContext, "kept"> = {
          kept: { results: kept, fits: (some) => count(some) <= bound - 40 },
        };
        const answer = await tool.run(call.input, Object.assign(Object.create(null), context));
        out.push({ thread, from, name: line.name, text: "", calls: [call] });
        out.push({ thread, from: "tool", id: call.id, name: call.tool, text: answer.text });
        shown += answer.text;
      }
    }
    out.push(line);
    if (from !== "tool") shown += `${text} ${canonicalJson(calls)}`;
    else {
      const keep = { n: kept.length + 1, reader: tool.schema.name, most: 200_000 };
      const answer = { text: untrusted(text), failed: false, trust: "contact", at: 0, keep } as const;
      const part = frameResult({ id, tool: toolName(String(line.name)) }, answer, bound, count);
      shown += part.text;
      if (part.kept !== undefined) kept.push(part.kept);
    }
  }
  return { lines: out, reads };
}

export function resultsText({ model, rows }: ResultsReport): string {
  const lines = rows.map((row) => {
    const first = rows.find(({ talk }) => talk === row.talk);
    const of = (n: number, all = n): string => `${n.toLocaleString("en")} (${percent(n / all)})`;
    return [
      `${row.talk}, ${row.bound.toLocaleString("en")} tokens, ${row.results}`,
      row.requests.toLocaleString("en"),
      row.reads.toLocaleString("en"),
      of(row.quiet, first?.quiet),
      of(row.busy, first?.busy),
      of(row.grounded, row.arguments),
    ];
  });
  const heads = ["results", "requests", "searches", "quiet", "busy", "grounded arguments"];
  return `Input weighted by the prices of ${model} and the cache simulator.\n\n${table(heads, lines)}`;
}
