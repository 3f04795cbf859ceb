import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import BetterSqlite3 from "better-sqlite3";
import { ROOT } from "./files.ts";

/** How long, and which random run; `say` hears how it goes. */
export interface SoakWish {
  readonly seconds: number;
  readonly seed: number;
  readonly say?: (line: string) => void;
}

/** What a soak saw. Milliseconds and megabytes. */
export interface Soaked {
  readonly sent: number;
  /** The answers that senders got, by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The answers to `/health` while nobody wrote, and while all did. */
  readonly quiet: Waits;
  readonly busy: Waits;
  readonly locks: number;
  /** The memory that the server held: the median of the second quarter of the run, and of the last. */
  readonly memory: { readonly early: number; readonly late: number };
  readonly exit: number | null;
  /** From SIGTERM to the end. */
  readonly stopped: number;
  readonly running: number;
  readonly verified: boolean;
}

interface Waits {
  readonly n: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

const CONNECTIONS = 20;
const CONTACTS = 40;
/** A flood is this many messages of one contact, sent at once. */
const FLOOD = 100;
/** Another program locks the database once a minute, but at least twice in a run, for a twentieth of that time. Milliseconds. */
const LOCK_EVERY = 60_000;
const LOCKED_PART = 1 / 20;
/** So long nobody writes at first, at most. Milliseconds. */
const QUIET = 10_000;

/**
 * A server over SQLite, with floods, a foreign lock each minute and SIGTERM at the end. It returns what it saw; what is wrong of that,
 * `faultsOf` says.
 */
export async function soak({ seconds, seed, say = () => undefined }: SoakWish): Promise<Soaked> {
  const folder = mkdtempSync(join(tmpdir(), "strata-soak-"));
  const random = randomOf(seed);
  const { server, url } = await serve(folder);
  try {
    const end = Date.now() + seconds * 1_000;
    const quietFor = Math.min(QUIET, (seconds * 1_000) / 5);
    const quiet = await looks(url, Date.now() + quietFor);
    say(`quiet: ${JSON.stringify(quiet)}`);
    const stop = new AbortController();
    const tally = { sent: 0, statuses: new Map<string, number>(), locks: 0, memory: [] as number[], isStopping: false };
    const others = [
      ...Array.from({ length: CONNECTIONS }, () => write({ url, folder, random, tally, signal: stop.signal })),
      lock({ folder, tally, every: Math.min(LOCK_EVERY, (seconds * 1_000) / 4), signal: stop.signal }),
      weigh({ server, tally, say, signal: stop.signal }),
    ];
    const busy = await looks(url, end);
    const began = performance.now();
    tally.isStopping = true;
    server.kill("SIGTERM");
    const [exit] = await once(server, "close");
    const stopped = Math.round(performance.now() - began);
    stop.abort();
    await Promise.all(others);
    const quarter = Math.floor(tally.memory.length / 4);
    return {
      sent: tally.sent,
      statuses: Object.fromEntries(tally.statuses),
      quiet,
      busy,
      locks: tally.locks,
      memory: {
        early: median(tally.memory.slice(quarter, 2 * quarter)),
        late: median(tally.memory.slice(3 * quarter)),
      },
      exit: typeof exit === "number" ? exit : null,
      stopped,
      running: runningIn(folder),
      verified: await verified(folder),
    };
  } finally {
    server.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Memory may grow by this factor from the second quarter of a run to its last. */
const GROWTH = 1.3;

/** The longest that `/health` may take for one in a hundred, in milliseconds: a second would be a server that hangs. */
const SLOW = 1_000;

/** What must not be so. In a run of seconds, memory says nothing yet. */
export function faultsOf(soaked: Soaked, { seconds }: Pick<SoakWish, "seconds">): readonly string[] {
  const { exit, running, isVerified, memory, busy, statuses } = { ...soaked, isVerified: soaked.verified };
  const odd = Object.keys(statuses).filter((status) => !EXPECTED.has(status));
  return [
    ...(exit === 0 ? [] : [`it ended with ${exit}`]),
    ...(running === 0 ? [] : [`${running} turns are marked as running after the end`]),
    ...(isVerified ? [] : ["verify finds a fault in the record"]),
    ...(busy.p99 < SLOW ? [] : [`/health took ${busy.p99} ms for one in a hundred`]),
    ...(seconds < 60 || memory.late <= memory.early * GROWTH
      ? []
      : [`memory grew from ${memory.early} to ${memory.late} MB`]),
    ...odd.map((status) => `a sender got ${status}`),
  ];
}

/** Answered, queued, too many, stopping or locked; `gone` is a connection or a turn that the end cut. */
const EXPECTED: ReadonlySet<string> = new Set(["200", "202", "429", "503", "gone"]);

/** The same numbers in every run with the seed: a linear congruential generator. */
function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

async function serve(folder: string): Promise<{ readonly server: ChildProcess; readonly url: string }> {
  cpSync(join(ROOT, "blueprints/companion"), folder, { recursive: true });
  // Its waiting messages are taken up by the server itself, several senders in one turn.
  const yaml = readFileSync(join(folder, "strata.yaml"), "utf8");
  const batch = yaml
    .replace("history: transcript", "history: log\n    inbox: batch")
    .replace("tools: [", "tools: [reply_to_sender, ");
  writeFileSync(join(folder, "strata.yaml"), batch);
  const main = join(ROOT, "src/doors/cli/main.ts");
  // No key of whoever runs this: the rehearsal answers.
  const env = { PATH: process.env["PATH"], HOME: folder, TMPDIR: tmpdir(), NO_COLOR: "1" };
  const server = spawn(process.execPath, [main, "start", "--port", "0"], { cwd: folder, env, stdio: "pipe" });
  let told = "";
  for await (const text of server.stdout.setEncoding("utf8")) {
    told += text;
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(told)?.[0];
    if (url === undefined || !told.includes("config ")) continue;
    return { server, url };
  }
  throw new Error(`the server did not start: ${told}`);
}

/** Asks for `/health` on new connections until a time: how long it takes shows how long the event loop is held. */
async function looks(url: string, end: number): Promise<Waits> {
  const waits: number[] = [];
  while (Date.now() < end) {
    const began = performance.now();
    const answer = await fetch(`${url}/health`, { headers: { connection: "close" } });
    await answer.arrayBuffer();
    waits.push(performance.now() - began);
    await pause(25);
  }
  const sorted = waits.toSorted((a, b) => a - b);
  const at = (part: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * part)] ?? 0);
  return { n: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

interface Tally {
  sent: number;
  isStopping: boolean;
  readonly statuses: Map<string, number>;
  locks: number;
  readonly memory: number[];
}

interface Writing {
  readonly url: string;
  readonly folder: string;
  readonly random: (below: number) => number;
  readonly tally: Tally;
  readonly signal: AbortSignal;
}

/** One connection: it talks, asks for what it said before, and now and then floods. */
async function write({ url, folder, random, tally, signal }: Writing): Promise<void> {
  const token = readFileSync(join(folder, ".strata/operator.token"), "utf8").trim();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const send = async (contact: string, text: string, more: object): Promise<void> => {
    const body = JSON.stringify({ contact, text, ...more });
    const status = await fetch(`${url}/v1/agents/companion/messages`, { method: "POST", headers, body, signal }).then(
      async (answer) => {
        const said = await answer.text();
        // A turn that does not end within the drain is cancelled; its message keeps waiting.
        if (tally.isStopping && answer.status === 499) return "gone";
        const status = String(answer.status);
        // What nobody expects says why.
        return EXPECTED.has(status) ? status : `${status}: ${said.slice(0, 300)}`;
      },
      () => "gone",
    );
    tally.sent++;
    tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
  };
  while (!signal.aborted) {
    const contact = `contact-${random(CONTACTS)}`;
    const kind = random(40);
    if (kind === 0) {
      const flood = Array.from({ length: FLOOD }, (_, n) => send(contact, `flood ${n}`, { follow: "queue" }));
      await Promise.all(flood);
    } else if (kind < 20) await send(contact, `My number ${random(1_000)} is ${random(1_000)}.`, { follow: "queue" });
    else await send(contact, `What is my number ${random(1_000)}?`, { seconds: 5 });
    await pause(100 + random(1_000), undefined, { signal }).catch(() => undefined);
  }
}

/** Another program that holds the database now and then, as a backup or a person's shell does. */
async function lock({
  folder,
  tally,
  every,
  signal,
}: Pick<Writing, "folder" | "tally" | "signal"> & { readonly every: number }): Promise<void> {
  const script = `const db = require("better-sqlite3")(process.argv[1]); db.exec("begin immediate"); setTimeout(() => db.exec("rollback"), ${every * LOCKED_PART});`;
  for (;;) {
    await pause(every, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const holder = spawn(process.execPath, ["-e", script, join(folder, ".strata/strata.db")], { cwd: ROOT });
    const [code] = await once(holder, "close");
    if (code === 0) tally.locks++;
  }
}

async function weigh({
  server,
  tally,
  say,
  signal,
}: Pick<Writing, "tally" | "signal"> & {
  readonly server: ChildProcess;
  readonly say: (line: string) => void;
}): Promise<void> {
  for (let n = 1; !signal.aborted; n++) {
    const held = residentOf(server.pid);
    if (held !== undefined) tally.memory.push(held);
    if (n % 60 === 0) say(`${tally.sent} sent, ${held} MB, ${JSON.stringify(Object.fromEntries(tally.statuses))}`);
    await pause(500, undefined, { signal }).catch(() => undefined);
  }
}

/** What a process holds in memory, in megabytes; undefined where the system does not say, or it is gone. */
function residentOf(pid: number | undefined): number | undefined {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1_024);
  } catch {
    return undefined;
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

function runningIn(folder: string): number {
  const db = new BetterSqlite3(join(folder, ".strata/strata.db"), { readonly: true });
  try {
    return Number(db.prepare("select count(*) from turn where status = 'running'").pluck().get());
  } finally {
    db.close();
  }
}

async function verified(folder: string): Promise<boolean> {
  const check = spawn(process.execPath, [join(ROOT, "src/doors/cli/main.ts"), "verify"], {
    cwd: folder,
    stdio: "ignore",
  });
  const [code] = await once(check, "close");
  return code === 0;
}
