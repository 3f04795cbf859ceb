import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough, Readable } from "node:stream";
import { run } from "../../src/doors/cli/index.ts";
import type { CountTokens } from "../../src/protocol/index.ts";
import { type SeenRequest, seenOfBody } from "../../src/wire/index.ts";
import { realLines, records, THREADS } from "./lines.ts";

/** Milliseconds between two requests, where nothing else is said. */
const GAP = 45_000;

/** The requests of one thread, as a provider's cache sees them. */
export type Seen = readonly SeenRequest[];

/** A recording: what is said in it, the tools it answers, and where it is from. */
interface Recording {
  readonly from: string;
  readonly lines: readonly object[];
  readonly tools: readonly unknown[];
}

/** A conversation of two people, so many turns long, in one thread. */
export function chat(turns: number): Recording {
  const { from, at } = realLines();
  const lines = Array.from({ length: 2 * turns }, (_, n) => ({
    thread: "bench",
    from: n % 2 === 0 ? "contact" : "agent",
    name: n % 2 === 0 ? "Caroline" : "Melanie",
    text: at(n, 0),
  }));
  return { from, lines, tools: [] };
}

/** Customers of an airline one after the other in one thread, with at least so many requests; generated where there is no data. */
export function loops(requests: number): Recording {
  const file = join(THREADS, "airline/threads.jsonl");
  if (!existsSync(file)) return generatedLoops(requests);
  const lines: object[] = [];
  let said = 0;
  for (const text of readFileSync(file, "utf8").trim().split("\n")) {
    const line: unknown = JSON.parse(text);
    if (line === null || typeof line !== "object") continue;
    if (said >= requests && Reflect.get(line, "from") === "contact") break;
    if (Reflect.get(line, "from") === "agent") said++;
    lines.push({ ...line, thread: "bench" });
  }
  const tools: unknown = JSON.parse(readFileSync(join(THREADS, "airline/tools.json"), "utf8"));
  return { from: "real agent runs (tau-bench, airline)", lines, tools: Array.isArray(tools) ? tools : [] };
}

function generatedLoops(requests: number): Recording {
  const lines = Array.from({ length: Math.ceil(requests / 2) }, (_, n) => {
    const id = `call-${n}`;
    return [
      { thread: "bench", from: "contact", name: "customer", text: `Is seat ${n} free?` },
      { thread: "bench", from: "agent", name: "agent", text: "", calls: [{ id, tool: "look_up", input: { seat: n } }] },
      { thread: "bench", from: "tool", id, name: "look_up", text: records.at(n, 0) },
      { thread: "bench", from: "agent", name: "agent", text: `Seat ${n} is free.` },
    ];
  }).flat();
  const input = { type: "object", properties: { seat: { type: "integer" } } };
  const tools = [{ name: "look_up", description: "Looks up a seat.", input }];
  return { from: "GENERATED agent runs (../shared/data/threads/airline is not there)", lines, tools };
}

/** The recording through the whole way: `strata replay --dump` with the companion, in a folder of its own. */
export async function replayed({ lines, tools }: Recording, count: CountTokens): Promise<Seen> {
  const cwd = mkdtempSync(join(tmpdir(), "strata-bench-"));
  try {
    writeFileSync(join(cwd, "talk.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    writeFileSync(join(cwd, "tools.json"), JSON.stringify(tools));
    const withTools = tools.length === 0 ? [] : ["--tools", "tools.json"];
    const how = ["--agent", "companion", "--replies", "recorded", "--model", "anthropic:claude-sonnet-4-5"];
    await strata(["replay", "talk.jsonl", ...how, ...withTools, "--dump", "dump.jsonl"], cwd);
    const [thread] = await dumped(join(cwd, "dump.jsonl"), count, GAP);
    return thread ?? [];
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

export async function strata(argv: readonly string[], cwd: string): Promise<void> {
  const [stdout, stderr] = [new PassThrough().resume(), new PassThrough()];
  let said = "";
  stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString("utf8");
  });
  const { signal } = new AbortController();
  const code = await run(argv, { stdin: Readable.from([]), stdout, stderr, env: {}, cwd, signal });
  if (code !== 0) throw new Error(`strata ${argv.join(" ")} ended with ${code}: ${said}`);
}

/** The threads of a dump that `strata replay --dump` wrote, so far apart or at their own times. A line at a time: dumps are large. */
export async function dumped(file: string, count: CountTokens, gap: number | undefined): Promise<readonly Seen[]> {
  const threads = new Map<string, SeenRequest[]>();
  for await (const line of createInterface({ input: createReadStream(file, "utf8") })) {
    if (line.trim() === "") continue;
    const { thread, body, at } = fieldsOf(JSON.parse(line), file);
    const requests = threads.get(thread) ?? [];
    threads.set(thread, requests);
    requests.push(seenOfBody(body, count, { at: gap === undefined ? at : requests.length * gap }));
  }
  return [...threads.values()];
}

function fieldsOf(
  line: unknown,
  file: string,
): { readonly thread: string; readonly body: unknown; readonly at: number } {
  if (line === null || typeof line !== "object" || !("body" in line))
    throw new Error(`${file} holds a line without a body; \`strata replay … --dump FILE\` writes such files`);
  const { body } = line;
  const thread = "thread" in line && typeof line.thread === "string" ? line.thread : "";
  const at = "at" in line && typeof line.at === "string" ? Date.parse(line.at) || 0 : 0;
  return { thread, body: typeof body === "string" ? JSON.parse(body) : body, at };
}
