import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type Command, Option } from "commander";
import type { App, Exchange, ReplayedTurn } from "../../../app.ts";
import { count, duration, number, type Style, table } from "../../../print/index.ts";
import { type Agent, asStrataError, contactId, StrataError, trusted } from "../../../protocol/index.ts";
import type { Context } from "../shell/context.ts";
import { readInput, readJson } from "../shell/files.ts";
import { seconds } from "../shell/options.ts";
import { showProgress } from "../shell/progress.ts";
import { agentNamed, inSession } from "../shell/session.ts";
import { beginDump, type Dump } from "./dump.ts";
import { newTally, type SectionTally, type Tally, tallyTurn } from "./tally.ts";

/** What the end of a replay reports besides the tally. */
interface ReplayReport {
  readonly file: string;
  readonly agent: string;
  /** Lines with something in them. */
  readonly lines: number;
  /** Exchanges of the file: each is to become a turn. */
  readonly exchanges: number;
  readonly milliseconds: number;
  readonly tally: Tally;
}

/** The end of a replay for a person: counts, then what each section cost. */
function replayTable(report: ReplayReport, style: Style): readonly string[] {
  const { file, agent, tally, milliseconds } = report;
  const sections = [...tally.sections.values()].sort(byPlace).map((section) => sectionRow(section, tally));
  return [
    style.bold(`${file} through ${agent}`),
    ...table([{ head: "" }, { head: "", right: true }, { head: "" }], counts(report), style),
    "",
    ...table(COLUMNS, sections, style),
    "",
    `${duration(milliseconds)}${tally.turns.fresh === 0 ? "" : `, ${duration(milliseconds / tally.turns.fresh)} a fresh turn`}`,
  ];
}

function counts({ tally, lines, exchanges }: ReplayReport): readonly (readonly string[])[] {
  const { turns, requests, messages, calls, tokens, epochs, recall, sections } = tally;
  const done = turns.fresh + turns.before + turns.failed;
  const cut = [...sections.values()].reduce((sum, section) => sum + section.cut, 0);
  const begun = Object.entries(epochs).map(([reason, times]) => `${number(times)} ${reason}`);
  return [
    [
      "turns",
      number(done),
      `of ${number(exchanges)}: ${number(turns.fresh)} fresh, ${number(turns.before)} done before, ${number(turns.failed)} failed`,
    ],
    [
      "messages",
      number(lines),
      `lines in the file; received ${number(messages.received)}, said ${number(messages.said)}`,
    ],
    ["requests", number(requests), ""],
    ["tool calls", number(calls), ""],
    ["tokens", number(tokens), requests === 0 ? "" : `${number(Math.round(tokens / requests))} a request`],
    ["sections cut", number(cut), cut === 0 ? "" : "in all requests together"],
    ["epochs", number(Object.values(epochs).reduce((sum, times) => sum + times, 0)), begun.join(", ")],
    ["recall", number(recall.turns), `turns with hits, ${count(recall.items, "item")} shown`],
  ];
}

const COLUMNS = [
  { head: "place" },
  { head: "section" },
  { head: "tokens", right: true },
  { head: "mean a request", right: true },
  { head: "in requests", right: true },
  { head: "cut", right: true },
] as const;

const PLACES = ["tools", "system", "transcript", "message", "tail"];

/** In the order of a request; sections of one place stay as they were first met. */
const byPlace = (a: SectionTally, b: SectionTally): number => PLACES.indexOf(a.place) - PLACES.indexOf(b.place);

function sectionRow({ place, section, tokens, requests, cut }: SectionTally, tally: Tally): readonly string[] {
  const mean = tally.requests === 0 ? 0 : tokens / tally.requests;
  return [place, section, number(tokens), number(Math.round(mean)), number(requests), cut === 0 ? "" : number(cut)];
}

/** The same for programs. */
function replayJson({ tally: { sections, ...tally }, ...report }: ReplayReport) {
  return { ...report, ...tally, sections: [...sections.values()].sort(byPlace) };
}

interface ReplayOptions {
  readonly agent: string;
  readonly replies?: string;
  readonly tools?: string;
  readonly dump?: string;
  readonly model?: string;
  readonly gap: number;
}

/** A recording as read, and what to do with it. */
interface Job {
  readonly file: string;
  readonly path: string;
  readonly lines: number;
  readonly digest: string;
  readonly exchanges: readonly Exchange[];
  readonly options: ReplayOptions;
}

/** `strata replay FILE`: feeds a recorded conversation through the whole way. */
export function declareReplay(program: Command, context: Context): void {
  program
    .command("replay")
    .description("replay a recorded conversation turn by turn; run again, it continues where it stopped")
    .argument(
      "<file>",
      "JSON lines {thread, contact?, at?, from, name?, text, calls?: [{id, tool, input}], id?}; `from` is contact, agent or tool; a thread without `contact` gets a contact of its own, and lines without `at` get dates from 2024-01-01 on",
    )
    .requiredOption("--agent <name>", "the agent that gets the conversation")
    .option("--replies <who>", "`recorded`: the replies and tool results come from the recording")
    .option("--tools <file>", "JSON Schemas of the recording's tools, whose results come from the recording")
    .option("--dump <file>", "write each provider request as the HTTP body that would be sent, one JSON line each")
    .option("--model <provider:name>", "the model whose request format is recorded and dumped")
    .addOption(
      new Option("--gap <seconds>", "time between lines without a time")
        .argParser(seconds)
        .default(45_000, "45 seconds"),
    )
    .addHelpText(
      "after",
      "\nExample:\n  $ strata replay talk.jsonl --agent companion --replies recorded --dump requests.jsonl",
    )
    .action(async (file: string, options: ReplayOptions, command: Command) => {
      const job = await readJob(file, options, context.terminal.cwd);
      const recordedTools = options.tools === undefined ? undefined : readJson(options.tools, context.terminal.cwd);
      const wishes = {
        ...(recordedTools === undefined ? {} : { recordedTools }),
        ...(options.model === undefined ? {} : { wire: options.model }),
      };
      return inSession(context, command, ({ app, json }) => runReplay(context, app, job, json), wishes);
    });
}

/** Reads all that can be wrong before anything is done. */
async function readJob(name: string, options: ReplayOptions, cwd: string): Promise<Job> {
  if (options.replies !== undefined && options.replies !== "recorded") {
    const message = `--replies ${JSON.stringify(options.replies)} is not known; it can be recorded, or left out so that the agent's model answers`;
    throw new StrataError("invalid_input", message, { replies: options.replies });
  }
  const { path, bytes, text } = readInput(name, cwd);
  const digest = createHash("sha256").update(bytes).digest("hex");
  const { readRecording } = await import("../../../app/entry/recordings.ts");
  const exchanges = readRecording(text, { file: name, digest, gap: options.gap });
  if (exchanges.length === 0)
    throw new StrataError("invalid_input", `${name} holds no message; there is nothing to replay`);
  for (const { thread } of exchanges) checkThread(thread, name);
  const lines = text.split("\n").filter((line) => line.trim() !== "").length;
  return { file: name, path, lines, digest, exchanges, options };
}

/** Each thread of the recording becomes a contact. */
function checkThread(thread: string, file: string): void {
  try {
    contactId(thread);
  } catch (thrown) {
    const message = `${file}: a thread names a contact, and ${asStrataError(thrown).message}`;
    throw new StrataError("invalid_line", message, { file, thread }, thrown);
  }
}

async function runReplay(context: Context, app: App, job: Job, json: boolean): Promise<void> {
  const { options, path } = job;
  const agent = agentNamed(app, options.agent);
  await checkWire(app, agent, options);
  const { cwd, signal } = context.terminal;
  const inputs = options.tools === undefined ? [path] : [path, resolve(cwd, options.tools)];
  const dump = options.dump === undefined ? undefined : beginDump(app, options.dump, { cwd, inputs });
  const began = Date.now();
  const tally = newTally();
  try {
    await replayTurns(context, app, { job, agent, tally, dump });
  } finally {
    dump?.end();
  }
  if (signal.aborted) return reportStopped(context, job, tally);
  const report = {
    ...job,
    agent: agent.name,
    exchanges: job.exchanges.length,
    milliseconds: Date.now() - began,
    tally,
  };
  if (json) context.json(replayJson(report));
  else context.say(...replayTable(report, context.style));
}

/** An unknown model is reported now and not after the first turns. */
async function checkWire(app: App, agent: Agent, { model, dump, replies }: ReplayOptions): Promise<void> {
  if (model === undefined && dump === undefined) return;
  const { wire } = replies === undefined ? await app.modelOf(agent) : app.speaker(agent, []);
  const hello = { role: "user", parts: [{ type: "text", text: trusted("Hello.") }] } as const;
  const request = {
    prefix: { tools: [], system: [] },
    messages: [hello],
    tail: [],
    breakpoints: [],
    parameters: { maxTokens: 1 },
  };
  await app.bodyOf(request, wire);
}

interface ReplayRun {
  readonly job: Job;
  readonly agent: Agent;
  readonly tally: Tally;
  readonly dump: Dump | undefined;
}

async function replayTurns(context: Context, app: App, { job, agent, tally, dump }: ReplayRun): Promise<void> {
  const { replay } = await import("../../../app/entry/recordings.ts");
  const { signal } = context.terminal;
  const progress = showProgress(context, job.file);
  const speaker = job.options.replies === undefined ? {} : { speaker: app.speaker.bind(undefined, agent) };
  const { digest, exchanges } = job;
  const plan = {
    actor: app.operator,
    agent: agent.name,
    digest,
    exchanges,
    setClock: app.setClock,
    wait: setTimeout,
    signal,
    ...speaker,
  };
  let done = 0;
  try {
    for await (const replayed of replay(app.runtime, plan)) {
      if (signal.aborted && replayed.end?.type === "failed") break;
      const turn = await app.runtime.turn(app.operator, replayed.turn);
      tallyTurn(tally, replayed, turn);
      await dump?.add(turn);
      if (replayed.end?.type === "failed") context.fail(replayFailure(replayed, turn.scope.contact));
      done++;
      progress.show(`${number(done)} of ${number(exchanges.length)} turns`, done / exchanges.length);
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  } finally {
    progress.end();
  }
}

function replayFailure({ turn, end }: ReplayedTurn, thread: string): StrataError {
  const { traits, message, details } = asStrataError(end?.type === "failed" ? end.error : undefined);
  return new StrataError(
    traits,
    `turn ${turn} of ${thread} failed: ${message}; the rest of this thread was skipped`,
    details,
  );
}

function reportStopped({ fail }: Context, { exchanges }: Job, { turns: { fresh, before } }: Tally): void {
  fail(
    new StrataError(
      "turn_cancelled",
      `stopped after ${number(fresh + before)} of ${number(exchanges.length)} turns; run the same command again to continue`,
    ),
  );
}
