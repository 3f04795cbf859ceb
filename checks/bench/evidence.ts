// `npm run bench -- evidence`: what a conversation costs, and how much of what later questions need stands in their requests.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { openApp } from "../../src/app.ts";
import { tokenCounter } from "../../src/models/index.ts";
import { count as counted } from "../../src/print/index.ts";
import { type CountTokens, type Request, untrusted } from "../../src/protocol/index.ts";
import { type CacheRules, cardOf, rulesOf, simulate } from "../../src/wire/index.ts";
import { ROOT } from "../files.ts";
import { scatter } from "./chart.ts";
import { airline, leaves, measured as measuredTools } from "./defer.ts";
import { agentWith } from "./results.ts";
import { table } from "./table.ts";
import { dumped, strata } from "./wire-threads.ts";

const MODEL = "anthropic:claude-sonnet-4-5";
/** A model whose provider caches by itself. */
const AUTOMATIC = "openai:gpt-5.4";
/** Questions are asked after this share of a conversation: at its end alone, what is cut late looks better than it is. */
const POINTS = [0.25, 0.5, 0.75, 1];
/** A passage with fewer characters may stand there by chance. */
const TELLS = 40;
const GAP = 45_000;

const LINE = z.object({ thread: z.string(), from: z.string(), text: z.string() }).loose();
const QUERY = z.object({ conv: z.string(), question: z.string(), relevant_audited: z.array(z.string()) });
const MEMORY = z.object({ id: z.string(), conv: z.string(), seq: z.number() });

/** A conversation with questions about it, each with the numbers of the messages that answer it. */
interface Talk {
  readonly name: string;
  readonly lines: readonly z.output<typeof LINE>[];
  readonly questions: readonly { readonly question: string; readonly answers: readonly number[] }[];
}

/** Of all questions that can be asked at a point: the mean share of their answering messages that stands in the request, and where. */
interface Evidence {
  readonly at: number;
  readonly questions: number;
  readonly stands: number;
  readonly transcript: number;
  readonly recall: number;
}

export interface EvidenceRow {
  readonly talk: string;
  /** How many conversations it sums up, if not one. */
  readonly talks?: number;
  /** `default`, or `budgets.keep`. */
  readonly setting: string;
  readonly requests: number;
  /** Input tokens, each weighted with its price by the model's card and the cache simulator. */
  readonly weighted: number;
  /** The same requests where a read costs 0.025, and where the provider caches by itself; not counted for tools. */
  readonly cheapReads?: number;
  readonly automatic?: number;
  readonly evidence: readonly Evidence[];
}

export interface EvidenceReport {
  readonly bench: "evidence";
  readonly model: string;
  readonly rows: readonly EvidenceRow[];
}

/** Where the questions and the conversations of each kind stand in the shared data: of a person with an assistant, and of two people. */
const KINDS = { assistant: ["beam-dev", "threads/beam"], people: ["locomo-dev", "threads/locomo"] } as const;

export interface EvidenceWishes {
  /** A folder in the form of `data/beam-dev`, with the conversations as threads in `threads/`; left out, the shared data. */
  readonly data?: string;
  /** Which conversations of the shared data. Default: `assistant`. */
  readonly talks?: string;
  readonly settings: readonly string[];
  /** At most so many conversations. */
  readonly most: number;
  /** Where the curve is drawn. Left out: nowhere. */
  readonly out?: string;
  /** Only the first lines of each, to show that it runs. */
  readonly quick?: boolean;
}

export async function evidenceBench(
  { data, talks: kind, settings, most, out, quick }: EvidenceWishes,
  tell: (what: string) => void,
): Promise<EvidenceReport> {
  if (kind === "tools")
    return { bench: "evidence", model: MODEL, rows: await toolLoops(settings, quick === true, tell) };
  const whole = talksIn(data, kind).slice(0, most);
  const talks = quick ? whole.map((talk) => ({ ...talk, lines: talk.lines.slice(0, 40) })) : whole;
  const count = await tokenCounter({ factor: cardOf(MODEL).tokenFactor ?? 1 });
  const rows: EvidenceRow[] = [];
  for (const talk of talks)
    for (const setting of settings) {
      tell(`${talk.name}: ${setting}`);
      rows.push(await measured(talk, setting, count));
    }
  const report: EvidenceReport = { bench: "evidence", model: MODEL, rows };
  if (out !== undefined) writeFileSync(out, evidenceChart(report));
  return report;
}

/**
 * The conversations of the benchmark `defer`, with all tools sent. Nobody has questions about them: what is needed are the arguments of their
 * calls, which must stand in the last request that shows the call.
 */
async function toolLoops(
  settings: readonly string[],
  quick: boolean,
  tell: (what: string) => void,
): Promise<readonly EvidenceRow[]> {
  const { lines, tools } = airline(quick);
  const all = lines.flatMap(({ calls = [] }) => calls.flatMap(({ input }) => leaves(input, ""))).length;
  const rows: EvidenceRow[] = [];
  for (const setting of settings) {
    tell(`airline: ${setting}`);
    const agent = agentWith(setting === "default" ? {} : { keep: Number(setting) }, []);
    const { requests, quiet, grounded } = await measuredTools(lines, tools, agent);
    const stands = Math.round((1_000 * grounded) / Math.max(all, 1)) / 1_000;
    const evidence = [{ at: 1, questions: all, stands, transcript: stands, recall: 0 }];
    const talks = new Set(lines.map(({ thread }) => thread)).size;
    rows.push({ talk: "airline", talks, setting, requests, weighted: quiet, evidence });
  }
  return rows;
}

/** @throws Error where there is nothing to read */
function talksIn(data: string | undefined, kind = "assistant"): readonly Talk[] {
  if (kind !== "assistant" && kind !== "people")
    throw new Error(`--talks takes assistant, people or tools, not ${kind}`);
  const [folder, threads] =
    data === undefined ? KINDS[kind].map((name) => join(ROOT, "../shared/data", name)) : [data, join(data, "threads")];
  if (folder === undefined || threads === undefined) return [];
  for (const needed of [folder, threads])
    if (!existsSync(needed)) throw new Error(`${needed} is not there; give a folder like data/beam-dev with --data`);
  const memories = linesOf(join(folder, "memories.jsonl"), MEMORY);
  const place = new Map(memories.map(({ id, seq }) => [id, seq]));
  const queries = linesOf(join(folder, "queries.jsonl"), QUERY);
  const files = readdirSync(threads).filter((file) => file.endsWith(".jsonl"));
  for (const { question, conv, relevant_audited: ids } of queries) {
    const unknown = ids.find((id) => !place.has(id));
    if (!files.includes(`${conv}.jsonl`))
      throw new Error(`"${question}" is about ${conv}: ${threads} has no ${conv}.jsonl`);
    if (unknown !== undefined)
      throw new Error(`"${question}" is answered by ${unknown}: memories.jsonl has no such id`);
  }
  return files.sort().map((file) => {
    const name = file.slice(0, -".jsonl".length);
    const questions = queries
      .filter(({ conv }) => conv === name)
      .map((one) => ({ question: one.question, answers: one.relevant_audited.map((id) => place.get(id) ?? -1) }));
    return { name, lines: linesOf(join(threads, file), LINE), questions };
  });
}

/** @throws Error with the file and the line that cannot be read */
function linesOf<T>(file: string, shape: z.ZodType<T>): readonly T[] {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line, i) => {
    try {
      return shape.parse(JSON.parse(line));
    } catch (thrown) {
      throw new Error(`${file}:${i + 1}: ${thrown instanceof z.ZodError ? z.prettifyError(thrown) : thrown}`);
    }
  });
}

async function measured(talk: Talk, setting: string, count: CountTokens): Promise<EvidenceRow> {
  const evidence: Evidence[] = [];
  let bill: Bill = { requests: 0, weighted: 0 };
  for (const at of POINTS) {
    const cwd = mkdtempSync(join(tmpdir(), "strata-evidence-"));
    try {
      const said = talk.lines.slice(0, Math.ceil(talk.lines.length * at));
      await lived(said, setting, cwd);
      evidence.push({ at, ...(await asked(talk, said.length, cwd)) });
      if (at === 1) bill = await billed(join(cwd, "dump.jsonl"), count);
    } finally {
      rmSync(cwd, { recursive: true, force: true });
    }
  }
  return { talk: talk.name, setting, ...bill, evidence };
}

/** The conversation through the whole way, with the recorded replies. */
async function lived(said: Talk["lines"], setting: string, cwd: string): Promise<void> {
  await strata(["init", "companion"], cwd);
  const file = join(cwd, "strata.yaml");
  const keep = setting === "default" ? "" : `    budgets: {keep: ${setting}}\n`;
  writeFileSync(file, readFileSync(file, "utf8").replace(/^ {4}layers:/m, `    model: ${MODEL}\n${keep}    layers:`));
  await strata(["lock"], cwd);
  writeFileSync(
    join(cwd, "talk.jsonl"),
    said.map((line) => `${JSON.stringify({ ...line, contact: "ann" })}\n`).join(""),
  );
  const how = ["--agent", "companion", "--replies", "recorded", "--model", MODEL, "--dump", "dump.jsonl"];
  await strata(["replay", "talk.jsonl", ...how], cwd);
}

type Bill = Pick<EvidenceRow, "requests" | "weighted" | "cheapReads" | "automatic">;

/** What the requests cost, each so long after the one before. */
async function billed(file: string, count: CountTokens): Promise<Bill> {
  const rules = rulesOf(cardOf(MODEL));
  const [thread = []] = await dumped(file, count, GAP);
  const under = (one: CacheRules): number => {
    const { multipliers } = one;
    const sum = simulate(thread, one).reduce(
      (all, { read, write5m, write1h, input }) =>
        all + read * multipliers.read + write5m * multipliers.write5m + write1h * multipliers.write1h + input,
      0,
    );
    return Math.round(sum);
  };
  const cheap = { ...rules, multipliers: { ...rules.multipliers, read: 0.025 } };
  return {
    requests: thread.length,
    weighted: under(rules),
    cheapReads: under(cheap),
    automatic: under(rulesOf(cardOf(AUTOMATIC))),
  };
}

/** Asks each question whose answers have been said by then, and looks for them in what would be sent. */
async function asked(talk: Talk, said: number, cwd: string): Promise<Omit<Evidence, "at">> {
  const questions = talk.questions.filter(
    ({ answers }) => answers.length > 0 && answers.every((n) => n >= 0 && n < said),
  );
  const sums = { stands: 0, transcript: 0, recall: 0 };
  const app = await openApp({ folder: cwd, data: join(cwd, ".strata"), env: { ANTHROPIC_API_KEY: "none" } });
  try {
    const [agent] = app.projects.flatMap(({ agents }) => [...agents.values()]);
    if (agent === undefined) throw new Error("the folder has no agent");
    const [thread] = await app.runtime.threads(app.operator, { org: agent.org, agent: agent.name, contact: null }, 1);
    if (thread === undefined) throw new Error("the conversation was not kept");
    const { channel, key, scope } = thread;
    for (const { question, answers } of questions) {
      const conversation = { agent: agent.name, contact: scope.contact, channel, key };
      const { request } = await app.runtime.compose(app.operator, conversation, untrusted(question));
      const [transcript, recall] = textsOf(request);
      const found = answers.map((n) => {
        const text = talk.lines[n]?.text ?? "";
        const inTranscript = share(text, transcript) > 0.5;
        return { inTranscript, inRecall: !inTranscript && share(text, recall) > 0 };
      });
      sums.transcript += found.filter((one) => one.inTranscript).length / found.length;
      sums.recall += found.filter((one) => one.inRecall).length / found.length;
    }
  } finally {
    await app.close();
  }
  const mean = (sum: number): number => Math.round((1_000 * sum) / Math.max(questions.length, 1)) / 1_000;
  const stands = mean(sums.transcript + sums.recall);
  return { questions: questions.length, stands, transcript: mean(sums.transcript), recall: mean(sums.recall) };
}

/** The texts of the conversation, and of the live layers. */
function textsOf({ messages, tail }: Request): readonly [string, string] {
  const texts = messages.flatMap(({ parts }) => parts.flatMap((part) => ("text" in part ? [part.text] : [])));
  return [texts.join("\n"), tail.map(({ text }) => text).join("\n")];
}

/** Which share of a message's passages stands in a text: of all of it in a transcript, of one in what is recalled. */
function share(text: string, sent: string): number {
  const lines = text.split("\n").map((line) => line.trim().slice(0, 2 * TELLS));
  const telling = lines.filter((line) => line.length >= TELLS);
  const passages = telling.length > 0 ? telling : lines.filter((line) => line !== "");
  return passages.filter((line) => sent.includes(line)).length / Math.max(passages.length, 1);
}

/** The curve: what each setting costs, in percent of the first, and how much of what was asked for stands in its requests. */
function evidenceChart(report: EvidenceReport): string {
  const sums = sumsOf(report);
  const [first] = sums;
  const dots = sums.map(({ setting, weighted, mean }) => ({
    name: setting,
    x: weighted / (first?.weighted ?? 1),
    y: mean,
  }));
  return scatter(
    { title: "What a cut saves, and what it keeps", x: "bill, of the first setting's", y: "evidence" },
    dots,
  );
}

/** Over all conversations, by setting. */
const sumsOf = ({ rows }: EvidenceReport) =>
  [...new Set(rows.map(({ setting }) => setting))].map((setting) => {
    const of = rows.filter((row) => row.setting === setting);
    const all = of.flatMap(({ evidence }) => evidence);
    const sum = (bill: "weighted" | "cheapReads" | "automatic"): number =>
      of.reduce((total, row) => total + (row[bill] ?? Number.NaN), 0);
    return {
      setting,
      talks: of.reduce((all, { talks = 1 }) => all + talks, 0),
      weighted: sum("weighted"),
      cheapReads: sum("cheapReads"),
      automatic: sum("automatic"),
      at: POINTS.map((point) => meanOf(all.filter((one) => one.at === point))),
      mean: meanOf(all),
      transcript: meanOf(all, "transcript"),
      recall: meanOf(all, "recall"),
    };
  });

export function evidenceText(report: EvidenceReport): string {
  const sums = sumsOf(report);
  const [first] = sums;
  const share = (n: number, all = n): string => (Number.isNaN(n) ? "–" : `${Math.round((100 * n) / Math.max(all, 1))}`);
  const lines = sums.map(({ setting, weighted, cheapReads, automatic, at, mean, transcript, recall }) => [
    setting,
    weighted.toLocaleString("en"),
    share(weighted, first?.weighted),
    share(cheapReads, first?.cheapReads),
    share(automatic, first?.automatic),
    ...[...at, mean, transcript, recall].map((n) => (Number.isNaN(n) ? "–" : n.toFixed(2))),
  ]);
  const bills = ["weighted", "%", "% at reads of 0.025", "% with an automatic cache"];
  const head = [
    "kept whole",
    ...bills,
    ...POINTS.map((point) => `at ${100 * point} %`),
    "mean",
    "transcript",
    "recall",
  ];
  const talks = `${counted(first?.talks ?? 0, "conversation")}, input weighted by the prices of ${report.model} and the cache simulator`;
  const message =
    "Evidence: the mean share of answering messages that stand in the request, over all that had been said.";
  return `${talks}\n${message}\n\n${table(head, lines)}`;
}

/** Not a number where nothing was asked. */
const meanOf = (found: readonly Evidence[], where: "stands" | "transcript" | "recall" = "stands"): number => {
  const all = found.reduce((sum, { questions }) => sum + questions, 0);
  return found.reduce((sum, one) => sum + one[where] * one.questions, 0) / all;
};
