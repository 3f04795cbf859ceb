import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import BetterSqlite3 from "better-sqlite3";
import { expect, onTestFinished } from "vitest";
import { run } from "../../src/doors/cli/index.ts";
import { localServer } from "../local-server.ts";
import { plainEnv } from "../plain-env.ts";

/** The checkout's root, and its program. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MAIN = join(ROOT, "src/doors/cli/main.ts");

/** A new, empty folder to stand in. */
export const place = (): string => mkdtempSync(join(tmpdir(), "strata-cli-"));

/** A folder that holds a copy of the companion, its `strata.yaml` changed by `edit`. */
export function project(edit: (yaml: string) => string = (yaml) => yaml): string {
  const folder = place();
  cpSync(join(ROOT, "blueprints/companion"), folder, { recursive: true });
  const file = join(folder, "strata.yaml");
  writeFileSync(file, edit(readFileSync(file, "utf8")));
  return folder;
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Around {
  readonly cwd: string;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Makes stderr a terminal, and sees what is written there. */
  readonly watch?: (text: string) => void;
  /** Makes stdout a terminal of so many columns, and with `watch` stderr one as wide. */
  readonly columns?: number;
}

/** Runs a command line in this process. */
export async function strata(argv: readonly string[], around: Around): Promise<Ran> {
  const { cwd, input = "", env = {}, signal, watch, columns } = around;
  const [stdout, stderr] = [collector(), collector()];
  if (columns !== undefined) Object.assign(stdout.stream, { isTTY: true, columns });
  if (watch !== undefined) {
    Object.assign(stderr.stream, { isTTY: true, columns: columns ?? 80 });
    stderr.stream.on("data", (chunk: Buffer) => watch(chunk.toString("utf8")));
  }
  const code = await run(argv, {
    stdin: Readable.from(input === "" ? [] : [input]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env,
    cwd,
    signal: signal ?? new AbortController().signal,
  });
  return { code, out: stdout.text(), err: stderr.text() };
}

/** A command line of these is refused: with this exit code and these words, and nothing is printed. */
export async function refuses(
  cwd: string,
  argv: readonly string[],
  { exit, message }: { readonly exit: number; readonly message: string },
): Promise<void> {
  const { code, out, err } = await strata(argv, { cwd });
  expect(err).toContain(message);
  expect({ code, out }).toEqual({ code: exit, out: "" });
}

/** A new folder where one memory is kept. */
export async function remembering(): Promise<string> {
  const cwd = place();
  await strata(["memory", "save", "Something."], { cwd });
  return cwd;
}

/** A stream that remembers what was written. */
export function collector() {
  const stream = new PassThrough();
  let text = "";
  stream.on("data", (chunk: Buffer) => {
    text += chunk.toString("utf8");
  });
  return { stream, text: () => text };
}

/** A person at a terminal: types, reads, and may press Ctrl-C. */
export function atTerminal(argv: readonly string[], { cwd, env = {} }: Around) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
  const screen = collector();
  const stdout = Object.assign(screen.stream, { isTTY: true, columns: 120 });
  const ended = run(argv, {
    stdin,
    stdout,
    stderr: stdout,
    env: { NO_COLOR: "1", ...env },
    cwd,
    signal: new AbortController().signal,
  });
  return {
    ended,
    press: (keys: string) => void stdin.write(keys),
    screen: screen.text,
    sees: (what: string | RegExp) =>
      until(
        () => (typeof what === "string" ? screen.text().includes(what) : what.test(screen.text())),
        () => `the screen shows no ${what}:\n${screen.text()}`,
      ),
  };
}

/** Waits until it is so; after ten seconds, or as many as are given, it fails with what is instead. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  otherwise: () => string,
  seconds = 10,
): Promise<void> {
  for (const end = Date.now() + seconds * 1_000; Date.now() < end; ) {
    if (await isSo()) return;
    // The pause is for others, too: a command that runs in this process keeps the pipes of a child waiting.
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(otherwise());
}

/** How soon a server of a test does what a real one does after some seconds, in milliseconds. */
const SOON = 25;

/** A command that serves until it is stopped, in this process. It is stopped with the test. */
export function serving(argv: readonly string[], { cwd, env = {} }: Around) {
  const [out, err] = [collector(), collector()];
  const ending = new AbortController();
  const ended = run(argv, {
    stdin: Readable.from([]),
    stdout: out.stream,
    stderr: err.stream,
    env,
    cwd,
    signal: ending.signal,
    timers: {
      clock: { real: () => Date.now() },
      after: (milliseconds, act) => {
        const timer = setTimeout(act, Math.min(milliseconds, SOON));
        return () => clearTimeout(timer);
      },
    },
  }).then((code) => ({ code, out: out.text(), err: err.text() }));
  const stop = (): Promise<Ran> => {
    ending.abort(new Error("stopped"));
    return ended;
  };
  onTestFinished(async () => void (await stop()));
  return { ended, stop, ...saying(out, err) };
}

/** What was said so far, and the wait for more. */
function saying(out: ReturnType<typeof collector>, err: ReturnType<typeof collector>) {
  return {
    sofar: () => ({ out: out.text(), err: err.text() }),
    message: (what: string) =>
      until(
        () => out.text().includes(what),
        () => `no ${what} in:\n${out.text()}${err.text()}`,
      ),
  };
}

/** The program as a process of its own. It is killed with the test. */
export function child(argv: readonly string[], { cwd, input, env = {} }: Around) {
  const given = { cwd, env: { ...plainEnv(), ...env }, stdio: "pipe" } as const;
  const spawned: ChildProcess = spawn(process.execPath, [MAIN, ...argv], given);
  onTestFinished(() => void spawned.kill("SIGKILL"));
  const [out, err] = [collector(), collector()];
  spawned.stdout?.pipe(out.stream);
  spawned.stderr?.pipe(err.stream);
  if (input !== undefined) spawned.stdin?.end(input);
  const ended = new Promise<Ran>((resolve) => {
    spawned.on("close", (code, signal) =>
      resolve({ code: code ?? (signal === null ? 0 : -1), out: out.text(), err: err.text() }),
    );
  });
  const stop = (): Promise<Ran> => {
    spawned.kill("SIGTERM");
    return ended;
  };
  return { process: spawned, ended, stop, ...saying(out, err) };
}

/** Waits until so many turns of the newest thread are done. It reads the file: a command each time would take the core from whoever is waited for. */
export function untilTurns(cwd: string, turns: number, sofar: () => object): Promise<void> {
  const done = `select count(*) from turn where status = 'done' and thread = (select id from thread order by rowid desc limit 1)`;
  return until(
    () => numberIn(cwd, done) >= turns,
    () => `there are not ${turns} turns: ${JSON.stringify(sofar())}`,
    60,
  );
}

/** What a query of the record gives; 0 where there is none yet. */
function numberIn(cwd: string, query: string): number {
  const file = join(cwd, ".strata/strata.db");
  if (!existsSync(file)) return 0;
  const db = new BetterSqlite3(file, { readonly: true });
  try {
    return Number(db.prepare(query).pluck().get());
  } catch (thrown) {
    // Its tables are being made.
    if (thrown instanceof BetterSqlite3.SqliteError) return 0;
    throw thrown;
  } finally {
    db.close();
  }
}

/** A provider on this machine that answers as it is told; gives its port, and what `strata.yaml` must say to reach it. */
export async function provider(answer: RequestListener) {
  const port = await localServer(answer);
  const yaml = `\nmodel: anthropic:claude-sonnet-4-5\nproviders:\n  anthropic:\n    key: \${TEST_KEY}\n    url: http://127.0.0.1:${port}/v1\n`;
  return { port, edit: (text: string) => text + yaml, env: { TEST_KEY: "not-a-real-key" } };
}

/** Writes a recording, one line per value. */
export function recording(folder: string, lines: readonly unknown[], name = "talk.jsonl"): string {
  writeFileSync(
    join(folder, name),
    lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"),
  );
  return name;
}

/** The lines of a file or an output as JSON. */
export const jsonLines = <T>(text: string): readonly T[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): T => JSON.parse(line));
