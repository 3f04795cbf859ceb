// `npm run bench -- sovereign`: what a day of the sovereign costs, and what the same day costs with another checkout's requests.
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { tokenCounter } from "../../src/models/index.ts";
import {
  agentName,
  type ContactId,
  type CountTokens,
  contactId,
  type Model,
  type TurnEvent,
  untrusted,
} from "../../src/protocol/index.ts";
import { cardOf, rulesOf, type SeenRequest, seenOfBody, simulate } from "../../src/wire/index.ts";
import { ROOT } from "../files.ts";
import { percent, table } from "./table.ts";

const MODEL = "anthropic:claude-sonnet-4-5";
const SOVEREIGN = agentName("sovereign");
const DAY = join(import.meta.dirname, "sovereign/threads/day.jsonl");
/** Where the agent's own turns are in the recording. */
const OWN = "self";
/** Between the requests of one turn, in milliseconds. */
const ROUND = 10_000;
/** Between the turns: at the times of the recording, or one a minute. */
const PACES = ["recorded", "busy"] as const;
type Pace = (typeof PACES)[number];
const BUSY = 60_000;

const CALL = z.object({ id: z.string(), tool: z.string(), input: z.record(z.string(), z.json()) });
const LINE = z.object({
  thread: z.string(),
  at: z.iso.datetime(),
  from: z.enum(["contact", "agent"]),
  text: z.string(),
  calls: z.array(CALL).optional(),
});
type Line = z.output<typeof LINE>;

/** What arrives before a turn, and what the agent then says; the tools answer for themselves. */
interface DayTurn {
  readonly thread: string;
  readonly at: number;
  readonly messages: readonly Line[];
  readonly replies: readonly Line[];
}

export interface SovereignRow {
  /** `this`, or the other checkout's folder. */
  readonly version: string;
  readonly pace: Pace;
  readonly turns: number;
  readonly requests: number;
  /** Tokens of all requests. */
  readonly sent: number;
  /** Input tokens, each weighted with its price by the model's card and the cache simulator. */
  readonly weighted: number;
}

export interface SovereignReport {
  readonly bench: "sovereign";
  readonly model: string;
  readonly rows: readonly SovereignRow[];
}

export interface SovereignWishes {
  /** Another checkout, to compare with. */
  readonly root?: string;
  /** Only the first turns, to show that it runs. */
  readonly quick: boolean;
}

export async function sovereignBench(
  { root, quick }: SovereignWishes,
  tell: (what: string) => void,
): Promise<SovereignReport> {
  const day = turnsOf(readFileSync(DAY, "utf8")).slice(0, quick ? 6 : undefined);
  const count = await tokenCounter({ factor: cardOf(MODEL).tokenFactor ?? 1 });
  const rows: SovereignRow[] = [];
  for (const pace of PACES)
    for (const [version, folder] of [["this", ROOT] as const, ...(root === undefined ? [] : [[root, root] as const])]) {
      tell(`${version}, ${pace}: ${day.length} turns`);
      rows.push({ version, pace, turns: day.length, ...billed(await lived(folder, paced(day, pace), count)) });
    }
  return { bench: "sovereign", model: MODEL, rows };
}

function turnsOf(text: string): readonly DayTurn[] {
  const turns: DayTurn[] = [];
  let messages: Line[] = [];
  let replies: Line[] = [];
  for (const written of text.trim().split("\n")) {
    const line = LINE.parse(JSON.parse(written));
    if (line.from === "contact") messages.push(line);
    else replies.push(line);
    if (line.from === "contact" || line.calls !== undefined) continue;
    turns.push({ thread: line.thread, at: Date.parse(line.at), messages, replies });
    [messages, replies] = [[], []];
  }
  return turns;
}

/** Where turns follow each other faster than in the recording, each message arrives with its turn. */
const paced = (day: readonly DayTurn[], pace: Pace): readonly DayTurn[] =>
  pace === "recorded" ? day : day.map((turn, n) => ({ ...turn, at: (day[0]?.at ?? 0) + n * BUSY }));

/** The day in a folder of its own, with the code and the blueprint of a checkout. */
async function lived(root: string, day: readonly DayTurn[], count: CountTokens): Promise<readonly SeenRequest[]> {
  const { openApp, LIFE_API, scripted, wireBody } = await partsOf(root);
  const folder = mkdtempSync(join(tmpdir(), "strata-sovereign-"));
  cpSync(join(root, "blueprints/sovereign"), folder, { recursive: true });
  const app = await openApp({ folder, data: join(folder, ".strata"), env: {} });
  try {
    const { runtime, operator } = app;
    app.setClock(day[0]?.at ?? 0);
    await runtime.use(LIFE_API).topUp(operator, SOVEREIGN, { dollars: 50, note: untrusted("for the day") });
    const opened = (contact: ContactId) =>
      runtime.open(operator, { agent: SOVEREIGN, contact, channel: "inbox", key: "main" });
    const run = async (turn: DayTurn, model: Model): Promise<AsyncIterable<TurnEvent>> => {
      if (turn.thread === OWN) return runtime.use(LIFE_API).tick(operator, SOVEREIGN, { model });
      const thread = await opened(contactId(turn.thread));
      for (const [n, { text }] of turn.messages.entries()) {
        const content = [{ type: "text", text: untrusted(text) }] as const;
        const event = { kind: "message", trust: "contact", channel: "inbox", content, at: turn.at } as const;
        await runtime.post(operator, thread, [{ ...event, externalId: `m-${turn.at}-${n}` }]);
      }
      return runtime.run(operator, thread, { model });
    };
    const seen: SeenRequest[] = [];
    for (const turn of day) {
      app.setClock(turn.at);
      const { model, sent } = scripted(turn.replies.map(scriptOf), MODEL);
      const ends: string[] = [];
      for await (const event of await run(turn, { ...model, ref: MODEL })) ends.push(event.type);
      if (ends.at(-1) !== "done")
        throw new Error(`the turn at ${new Date(turn.at).toISOString()} ended with ${ends.at(-1)}`);
      for (const [n, request] of sent.entries())
        seen.push(seenOfBody(JSON.parse(await wireBody(request, MODEL)), count, { at: turn.at + n * ROUND }));
    }
    return seen;
  } finally {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What the bench needs of a checkout, which has this one's types. */
async function partsOf(root: string) {
  const from = (file: string): string => pathToFileURL(join(root, "src", file)).href;
  const { openApp }: typeof import("../../src/app.ts") = await import(from("app.ts"));
  const { LIFE_API }: typeof import("../../src/features/life/index.ts") = await import(from("features/life/index.ts"));
  const { scripted, wireBody }: typeof import("../../src/models/index.ts") = await import(from("models/index.ts"));
  return { openApp, LIFE_API, scripted, wireBody };
}

const scriptOf = ({ text, calls = [] }: Line) => ({
  parts: [...(text === "" ? [] : [{ text }]), ...calls.map(({ id, tool, input }) => ({ call: tool, id, input }))],
});

function billed(requests: readonly SeenRequest[]): Omit<SovereignRow, "version" | "pace" | "turns"> {
  const blocks = requests.flatMap((request) => request.blocks);
  const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);
  return {
    requests: requests.length,
    sent: sum(blocks.map(({ tokens }) => tokens)),
    weighted: Math.round(sum(simulate(requests, rulesOf(cardOf(MODEL))).map(({ cost }) => cost))),
  };
}

export function sovereignText({ model, rows }: SovereignReport): string {
  const lines = rows.map(({ version, pace, turns, requests, sent, weighted }) => {
    const other =
      rows.find((row) => row.pace === pace && row.version !== "this") ?? rows.find((row) => row.pace === pace);
    return [
      `${version}, ${pace}`,
      ...[turns, requests, sent, weighted].map((n) => n.toLocaleString("en")),
      percent(weighted / (other?.weighted ?? weighted)),
    ];
  });
  const head = ["requests of", "turns", "requests", "tokens sent", "weighted", "of the other checkout"];
  return `Input weighted by the prices of ${model} and the cache simulator.\n\n${table(head, lines)}`;
}
