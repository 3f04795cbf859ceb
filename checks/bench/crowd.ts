import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Agent as Connections, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ROOT } from "../files.ts";

/** How many others write meanwhile. */
const OTHERS = 50;
/** A new connection asks for `/health` so often, which shows how long the event loop is held. Milliseconds. */
const LOOKS = 25;

/** What is measured against a server. */
export interface CrowdWish {
  /** Seconds for each hostile sender. */
  readonly seconds: number;
  /** Characters of its messages; 0 is no such sender. */
  readonly sizes: readonly number[];
  /** How long each of the others pauses between two messages, in seconds. 0: as many turns as the server can. */
  readonly thinks: number;
  /** The project whose server runs: another folder with the source, to compare with. */
  readonly root?: string;
}

/** Milliseconds. */
interface Waits {
  readonly n: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** What one hostile sender did to the others. */
export interface CrowdRow {
  readonly size: number;
  readonly text: string;
  /** Its messages that were answered or refused. */
  readonly sent: number;
  /** The answers that it got, by status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly others: Waits;
  /** Turns of the others, a second. */
  readonly perSecond: number;
  readonly health: Waits;
}

/** 50 connections that chat, one sender who sends as much as it can, and who looks after `/health` meanwhile. */
export async function crowdBench(wish: CrowdWish, tell: (what: string) => void): Promise<readonly CrowdRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "strata-crowd-"));
  const { server, port } = await serve(wish.root ?? ROOT, folder);
  try {
    const token = (await readFile(join(folder, ".strata", "operator.token"), "utf8")).trim();
    const rows: CrowdRow[] = [];
    for (const size of wish.sizes) {
      for (const [text, make] of size === 0 ? [["none", TEXTS[0][1]] as const] : TEXTS) {
        tell(`${size} characters, ${text}: ${wish.seconds} s …`);
        rows.push({ size, text, ...(await measure({ port, token, ...wish }, make(size))) });
      }
    }
    return rows;
  } finally {
    server.kill("SIGKILL");
    await once(server, "close");
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Texts that cost a tokenizer or an index the most. */
const TEXTS: readonly [Sample, ...Sample[]] = [
  ["base64", (size) => drawn("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", size)],
  ["new words", (size) => drawn("abcdefghijklmnopqrstuvwxyz   ", size)],
  [
    "rare letters",
    (size) => drawn(String.fromCharCode(...Array.from({ length: 3_000 }, (_, i) => 0x4e00 + 7 * i)), size),
  ],
];
type Sample = readonly [string, (size: number) => string];

/** The same text in every run: a linear congruential generator. */
function drawn(letters: string, size: number): string {
  let state = 1;
  const next = (): number => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648);
  return Array.from({ length: size }, () => letters[Math.floor((next() / 2_147_483_648) * letters.length)]).join("");
}

async function serve(root: string, folder: string): Promise<{ server: ChildProcess; port: number }> {
  cpSync(join(root, "blueprints", "companion"), folder, { recursive: true });
  const env = { PATH: process.env["PATH"], HOME: folder, TMPDIR: tmpdir(), NO_COLOR: "1" };
  const args = [join(root, "src/doors/cli/main.ts"), "start", "--port", "0", "--json"];
  const server = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  for await (const chunk of server.stdout ?? []) {
    said += String(chunk);
    const [, port] = /"url": ?"http:\/\/127\.0\.0\.1:(\d+)"/.exec(said) ?? [];
    if (port !== undefined) return { server, port: Number(port) };
  }
  throw new Error(`the server did not start: ${said}`);
}

interface Target {
  readonly port: number;
  readonly token: string;
  readonly seconds: number;
  readonly thinks: number;
}

async function measure(target: Target, hostile: string): Promise<Omit<CrowdRow, "size" | "text">> {
  const threads = await Promise.all(Array.from({ length: OTHERS }, (_, i) => open(target, `guest-${i}`)));
  // What is loaded with the first turn is no sender's fault.
  await Promise.all(threads.map((thread) => post(target, thread, "Hello there")));
  const [others, health, statuses]: [number[], number[], string[]] = [[], [], []];
  const until = Date.now() + target.seconds * 1_000;
  const isOpen = () => Date.now() < until;
  // Nobody thinks on when the time is over.
  const think = (milliseconds: number) => pause(Math.max(0, Math.min(milliseconds, until - Date.now())));
  const chat = async (thread: string, i: number): Promise<void> => {
    await think((target.thinks * 1_000 * i) / OTHERS);
    for (let n = 0; isOpen(); n++) {
      others.push(await timed(() => post(target, thread, `Message ${n} of guest ${i}: how is the sea today?`)));
      await think(target.thinks * 1_000);
    }
  };
  const flood = async (): Promise<void> => {
    const thread = await open(target, `hostile-${hostile.length}`);
    while (isOpen()) statuses.push(`${await post(target, thread, hostile)}`);
  };
  const look = async (): Promise<void> => {
    while (isOpen()) {
      health.push(await timed(() => ask(target, "GET", "/health")));
      await pause(LOOKS);
    }
  };
  await Promise.all([...threads.map(chat), look(), ...(hostile === "" ? [] : [flood()])]);
  const tally = Object.fromEntries([...Map.groupBy(statuses, (one) => one)].map(([one, all]) => [one, all.length]));
  const perSecond = others.length / target.seconds;
  return { sent: statuses.length, statuses: tally, others: waitsOf(others), perSecond, health: waitsOf(health) };
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

function waitsOf(all: readonly number[]): Waits {
  const sorted = all.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { n: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

async function open(target: Target, contact: string): Promise<string> {
  const { text } = await ask(target, "POST", "/v1/threads", { agent: "companion", contact });
  const [thread] = /thr_[0-9a-z]+/.exec(text) ?? [];
  if (thread === undefined) throw new Error(`no thread was opened: ${text}`);
  return thread;
}

const post = async (target: Target, thread: string, text: string): Promise<number> =>
  (await ask(target, "POST", "/v1/agents/companion/messages", { thread, text })).status;

/** Each on a connection of its own: what waits in the server's queue waits here. */
const connections = new Connections({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });

async function ask(
  { port, token }: Target,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const sent = request({ host: "127.0.0.1", port, method, path, headers, agent: connections });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = await once(sent, "response");
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode, text };
}

export function crowdText(rows: readonly CrowdRow[], thinks: number): string {
  const waits = ({ p50, p99, max }: Waits): string =>
    [p50, p99, max].map((one) => one.toFixed(0).padStart(6)).join(" ");
  return [
    `${OTHERS} senders, ${thinks === 0 ? "each as fast as it is answered" : `each a message every ${thinks} s`}, on one server with the rehearsal model; milliseconds as p50, p99, max`,
    "",
    `${"hostile sender".padEnd(26)} ${"sent".padStart(5)}  ${"others' turns".padEnd(20)} ${"a second".padStart(8)}  /health on a new connection`,
    ...rows.map(({ size, text, sent, others, perSecond, health, statuses }) => {
      const who = size === 0 ? "none" : `${size.toLocaleString("en-US")} of ${text}`;
      return `${who.padEnd(26)} ${`${sent}`.padStart(5)}  ${waits(others)} ${perSecond.toFixed(0).padStart(8)}  ${waits(health)}  ${JSON.stringify(statuses)}`;
    }),
  ].join("\n");
}
