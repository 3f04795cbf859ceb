// Run by hand: `npm run -s in -- checks/crashes.ts FILE [--tools FILE] [--kills 100] [--crashes 20]`. Replays a recording on SQLite, and then on a
// PostgreSQL of its own while the program is killed, and while the server is. What is recorded must be the same, byte for byte.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ROOT } from "./files.ts";
import {
  asRoot,
  crashServer,
  makeDatabase,
  stopServer,
  type TestServer,
  testServer,
  WITHOUT_POSTGRES,
} from "./postgres.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tools: { type: "string" },
    kills: { type: "string", default: "100" },
    crashes: { type: "string", default: "20" },
  },
});
const [recording] = positionals;
if (recording === undefined) throw new Error("name a recording: checks/crashes.ts FILE");

const STRATA = join(ROOT, "src/doors/cli/main.ts");
const tools = values.tools === undefined ? [] : ["--tools", resolve(values.tools)];
const REPLAY = ["replay", resolve(recording), "--agent", "companion", "--replies", "recorded", ...tools];

interface Ended {
  readonly code: number | null;
  readonly said: string;
}

function start(
  cwd: string,
  store: string,
  args: readonly string[],
): { readonly child: ChildProcess; readonly end: Promise<Ended> } {
  const child = spawn(process.execPath, [STRATA, ...args], {
    cwd,
    env: { ...process.env, STRATA_STORE: store },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-4_000);
    });
  return { child, end: once(child, "close").then(([code]) => ({ code, said })) };
}

async function surely(cwd: string, store: string, args: readonly string[]): Promise<string> {
  const { code, said } = await start(cwd, store, args).end;
  if (code !== 0) throw new Error(`strata ${args[0]} ended with ${code}:\n${said}`);
  return said;
}

/** Ids are chance; all else of what was sent is the same wherever it is kept. */
const bodies = (file: string): readonly string[] =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => {
      const { request, at, provider, body } = JSON.parse(line);
      return JSON.stringify({ request, at, provider, body });
    });

const between = (from: number, to: number): number => from + Math.random() * (to - from);

/** Replays, again and again, until `wanted` times something broke, then to its end; begins a new database where one is through before that. */
async function survive(
  server: TestServer,
  {
    wanted,
    wreck,
    name,
  }: { readonly wanted: number; readonly name: string; readonly wreck: (child: ChildProcess) => Promise<void> },
): Promise<void> {
  for (let wrecked = 0; wrecked < wanted; ) {
    const cwd = join(place, `${name}-${wrecked}`);
    mkdirSync(cwd);
    const store = server.url(await makeDatabase(server));
    for (let isDone = false; !isDone && wrecked < wanted; ) {
      const { child, end } = start(cwd, store, REPLAY);
      const life = await Promise.race([end, setTimeout(between(600, 3_000)).then(() => undefined)]);
      if (life === undefined) {
        await wreck(child);
        wrecked++;
      }
      const { code, said } =
        life ?? (await Promise.race([end, setTimeout(2_000).then(() => ({ code: null, said: "" }))]));
      if (
        code !== null &&
        code !== 0 &&
        !/store_busy|was lost|went down|broke|took too long|cannot be reached/.test(said)
      )
        throw new Error(said);
      isDone = code === 0;
      child.kill("SIGKILL");
      await end;
    }
    await check(cwd, store);
    console.log(`${name}: ${wrecked} of ${wanted}, and all is there`);
  }
}

async function check(cwd: string, store: string): Promise<void> {
  await surely(cwd, store, [...REPLAY, "--dump", "dump.jsonl"]);
  const [found, wanted] = [bodies(join(cwd, "dump.jsonl")), bodies(join(place, "sqlite", "dump.jsonl"))];
  const at = wanted.findIndex((line, i) => line !== found[i]);
  if (at >= 0 || found.length !== wanted.length)
    throw new Error(
      `${found.length} requests were recorded and not ${wanted.length}; the first that differs is ${at + 1}`,
    );
  const verified = await surely(cwd, store, ["verify"]);
  if (!/no problem/.test(verified)) throw new Error(verified);
}

const place = mkdtempSync(join(tmpdir(), "strata-crashes-"));
const folder = join(place, "postgres");
try {
  mkdirSync(join(place, "sqlite"));
  await surely(join(place, "sqlite"), "", [...REPLAY, "--dump", "dump.jsonl"]);
  const server = await testServer(folder);
  if (server?.folder === undefined) throw new Error(WITHOUT_POSTGRES);
  // A commit that was answered is on the disk, as it is on every server that is not made for tests.
  await asRoot(server, (client) => client.query("alter role strata set synchronous_commit = on"));
  await survive(server, {
    name: "killed",
    wanted: Number(values.kills),
    wreck: async (child) => void child.kill("SIGKILL"),
  });
  await survive(server, {
    name: "crashed",
    wanted: Number(values.crashes),
    wreck: () => crashServer(folder, between(0, 500)),
  });
} finally {
  await stopServer(folder);
  rmSync(place, { recursive: true, force: true });
}
