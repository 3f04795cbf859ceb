import { execFile, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { packagedPrograms } from "./postgres-package.ts";

const run = promisify(execFile);

/** A PostgreSQL for tests. */
export interface TestServer {
  /** Where a database of that name is, for who may make databases and is no superuser: row-level security holds for it. */
  readonly url: (database: string) => string;
  /** The same as a superuser; none where the server is somebody else's. */
  readonly rootUrl?: (database: string) => string;
  /** The folder of one that we started. */
  readonly folder?: string;
}

/** Why tests on PostgreSQL are skipped, and what to do about it. */
export const WITHOUT_POSTGRES =
  "there is no PostgreSQL here: install it (Debian: `apt-get install postgresql`; macOS: `brew install postgresql`), or set DATABASE_URL to a server where tests may make databases";

const FOLDER = "postgres";
const READY = "ready.json";
/** What the programs of a run share of its server. */
interface Started {
  readonly port: number;
}

/**
 * The server that all test files of a run share: `DATABASE_URL` where it is set, else one from the system's programs or the registry's, started by the
 * first that asks and stopped at the end of the run. Nothing where there is neither.
 */
export async function testServer(
  folder = join(tmpdir(), FOLDER),
  programs = findPrograms(),
): Promise<TestServer | undefined> {
  const given = process.env["DATABASE_URL"];
  if (given) return { url: (database) => withDatabase(given, database) };
  if (programs === undefined) return undefined;
  const ready = join(folder, READY);
  if (isFirst(folder)) {
    writeFileSync(`${ready}-`, JSON.stringify(await start(programs, folder)));
    renameSync(`${ready}-`, ready);
  }
  for (let waited = 0; !existsSync(ready); waited += 50) {
    if (waited > 30_000) throw new Error(`no PostgreSQL came up in ${folder}; its log is there`);
    await setTimeout(50);
  }
  return serverIn(folder, JSON.parse(readFileSync(ready, "utf8")));
}

function serverIn(folder: string, { port }: Started): TestServer {
  const url = (user: string) => (database: string) =>
    `postgres://${user}@127.0.0.1:${port}/${database}?host=${encodeURIComponent(folder)}`;
  return { url: url("strata"), rootUrl: url("postgres"), folder };
}

/** Whose turn it is to start it: a folder is made by one. */
function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o711 });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/** The folder with PostgreSQL's programs: the newest version of the system's, where `PATH` has them, or the package that was brought. */
export function findPrograms(debian = "/usr/lib/postgresql"): string | undefined {
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, "bin")),
    ...(process.env["PATH"] ?? "").split(delimiter),
    packagedPrograms(),
  ];
  return folders.find((folder) => ["initdb", "postgres"].every((name) => existsSync(join(folder, name))));
}

/** PostgreSQL refuses to run as root: then it runs as its own user, or as nobody. */
async function runner(): Promise<{ readonly uid: number; readonly gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const id = async (flag: string): Promise<number> => {
    const { stdout } = await run("id", [flag, "postgres"]).catch(() => run("id", [flag, "nobody"]));
    return Number(stdout);
  };
  return { uid: await id("-u"), gid: await id("-g") };
}

/** Made for tests: nothing waits for a disk, since nothing has to outlive the run. */
const SETTINGS = [
  "fsync=off",
  "synchronous_commit=off",
  "full_page_writes=off",
  "autovacuum=off",
  // Without statistics, small queries are taken for large ones, and compiled.
  "jit=off",
  "shared_buffers=64MB",
  "max_connections=200",
  "log_min_messages=error",
];

async function start(programs: string, folder: string): Promise<Started> {
  const who = await runner();
  if (who !== undefined) {
    chmodSync(dirname(folder), 0o711);
    chownSync(folder, who.uid, who.gid);
  }
  const data = join(folder, "data");
  const made = [
    "-D",
    data,
    "-U",
    "postgres",
    "-E",
    "UTF8",
    "--locale=C",
    "--auth-local=trust",
    "--auth-host=scram-sha-256",
  ];
  await run(join(programs, "initdb"), [...made, "--no-sync", "--no-instructions"], { ...who, cwd: folder });
  const port = await freePort();
  await serve(join(programs, "postgres"), argumentsOf(folder, port), { ...who, cwd: folder });
  await untilReady(serverIn(folder, { port }));
  return { port };
}

function argumentsOf(folder: string, port: number): readonly string[] {
  const settings = [...SETTINGS, `port=${port}`, "listen_addresses=127.0.0.1", `unix_socket_directories=${folder}`];
  return ["-D", join(folder, "data"), ...settings.flatMap((setting) => ["-c", setting])];
}

/** Lets it run on its own, and ends it when the run is gone, however that ended. */
async function serve(
  program: string,
  args: readonly string[],
  options: { readonly uid?: number; readonly gid?: number; readonly cwd: string },
): Promise<void> {
  // Whose process it may not signal, it finds in /proc.
  const script = `"$@" >> log 2>&1 & server=$!
    while { kill -0 "$RUN" || [ -d "/proc/$RUN" ]; } && kill -0 $server; do sleep 1; done; kill -QUIT $server`;
  const env = { ...process.env, RUN: String(runOf(options.cwd)) };
  const child = spawn("sh", ["-c", script, "sh", program, ...args], {
    ...options,
    env,
    detached: true,
    stdio: "ignore",
  });
  child.unref();
}

/** The process of the whole run: the scratch folder is named after it. Another's folder is this process's own. */
function runOf(folder: string): number {
  const found = /strata-scratch-(\d+)-/.exec(folder)?.[1];
  return found === undefined ? process.pid : Number(found);
}

async function untilReady(server: TestServer): Promise<void> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    try {
      await asRoot(server, async (client) => {
        await client.query("create role strata login createdb password 'correct horse'");
      });
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await setTimeout(30);
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const server = createServer();
    server.once("error", failed);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => found(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** Kills the server of that folder as a power cut would, with all that it holds in memory, and starts it again. */
export async function crashServer(folder: string, downMs = 0): Promise<void> {
  const programs = findPrograms();
  const { port }: Started = JSON.parse(readFileSync(join(folder, READY), "utf8"));
  const pid = serverPid(folder);
  if (programs === undefined || pid === undefined) throw new Error(`no server of ours runs in ${folder}`);
  process.kill(pid, "SIGKILL");
  await setTimeout(downMs);
  for (let tried = 0; ; tried++) {
    // What the killed one shared with its children is in use until the last of them has noticed.
    await serve(join(programs, "postgres"), argumentsOf(folder, port), { ...(await runner()), cwd: folder });
    if (await isUp(serverIn(folder, { port }), 2_000)) return;
    if (tried > 10) throw new Error(`the server in ${folder} does not start again; its log is there`);
  }
}

async function isUp(server: TestServer, patience: number): Promise<boolean> {
  for (const start = Date.now(); Date.now() - start < patience; await setTimeout(30)) {
    const asked = asRoot(server, (client) => client.query("select 1"));
    if (await asked.then(() => true).catch(() => false)) return true;
  }
  return false;
}

/** Ends the server of that folder at once. */
export async function stopServer(folder = join(tmpdir(), FOLDER)): Promise<void> {
  const pid = serverPid(folder);
  if (pid === undefined) return;
  try {
    process.kill(pid, "SIGQUIT");
    for (let waited = 0; waited < 5_000 && process.kill(pid, 0); waited += 20) await setTimeout(20);
  } catch {
    // It is gone.
  }
}

/** The process of the server that was started in that folder. */
export function serverPid(folder: string): number | undefined {
  const file = join(folder, "data", "postmaster.pid");
  return existsSync(file) ? Number.parseInt(readFileSync(file, "utf8"), 10) : undefined;
}

/** A question to the server as its superuser, or as whom `DATABASE_URL` names. */
export async function asRoot<T>(
  server: TestServer,
  work: (client: pg.Client) => Promise<T>,
  database = "postgres",
): Promise<T> {
  const client = new pg.Client({ connectionString: (server.rootUrl ?? server.url)(database) });
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

let made = 0;

/** A new database, empty or a copy of another; whoever made it drops it. */
export async function makeDatabase(server: TestServer, template = "template0"): Promise<string> {
  const name = `strata_test_${process.pid}_${Date.now().toString(36)}_${++made}`;
  await asOwner(server, async (client) => {
    const { rows } = await client.query("select current_setting('server_version_num')::int >= 150000 as copies");
    // Copying the files takes half the time of writing each page into the log, which is what newer versions do if nothing is said.
    const how = rows[0]?.copies === true ? "strategy file_copy" : "";
    await client.query(`create database "${name}" template "${template}" ${how}`);
  });
  return name;
}

/** Drops it, whoever is still connected. */
export async function dropDatabase(server: TestServer, name: string): Promise<void> {
  await asOwner(server, (client) => client.query(`drop database if exists "${name}" with (force)`));
}

async function asOwner(server: TestServer, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: server.url("postgres") });
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
