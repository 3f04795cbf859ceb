import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import pg from "pg";
import {
  asRoot,
  dropDatabase,
  makeDatabase,
  stopServer,
  type TestServer,
  testServer,
  WITHOUT_POSTGRES,
} from "../postgres.ts";
import { type ChainsCost, chainsCost } from "./chains.ts";
import { realLines } from "./lines.ts";
import { figure, table, times } from "./table.ts";
import { median } from "./timing.ts";
import { type Exchange, langGraphTurns, strataTurns, type TurnEngine } from "./turn-engines.ts";

/** A length of history, and how much is measured from there on: so many threads, and so many turns of each. */
interface Setting {
  readonly history: number;
  readonly threads: number;
  readonly turns: number;
}

const ALL: readonly Setting[] = [
  { history: 10, threads: 20, turns: 3 },
  { history: 200, threads: 3, turns: 20 },
  { history: 2_000, threads: 1, turns: 40 },
];
const QUICK: readonly Setting[] = [{ history: 4, threads: 1, turns: 2 }];

/** So many chains are begun at once. */
const CHAINS = [250, 500, 1_000];

/** Threads on which each engine answers five messages before anything is measured: code that runs for the first time takes several times as long. */
const WARM = 40;

/** What one engine needed for a turn, from a history of so many messages. Times are medians in milliseconds, the rest means. */
export interface TurnCost {
  readonly database: "sqlite" | "postgres";
  readonly engine: string;
  readonly history: number;
  readonly cpu: number;
  readonly wall: number;
  /** Statements that were run, with those that begin and end transactions; on PostgreSQL, messages to the server. */
  readonly statements: number;
  /** Bytes by which the database grew. */
  readonly grown: number;
  /** Bytes that were handed to the system; on PostgreSQL, to its log. NaN where neither can be told. */
  readonly written: number;
}

/** What the bench gives as JSON. */
export interface TurnsReport {
  readonly bench: "turns";
  readonly lines: string;
  readonly costs: readonly TurnCost[];
  /** What chains of agents that ask each other cost, begun at once. */
  readonly chains: readonly ChainsCost[];
  /** Why there is nothing of PostgreSQL. */
  readonly without?: string;
}

type Tell = (what: string) => void;

/** Strata's turns beside LangGraph's, with the same words, on each database that there is. */
export async function turnsBench(quick: boolean, tell: Tell): Promise<TurnsReport> {
  const folder = mkdtempSync(join(tmpdir(), "strata-turns-"));
  const { from, at } = realLines();
  const plan: Plan = { settings: quick ? QUICK : ALL, warm: quick ? 0 : WARM, at, tell };
  try {
    const costs = await onSqlite(folder, plan);
    const chains: ChainsCost[] = [];
    for (const n of quick ? [5] : CHAINS) {
      tell(`sqlite, ${n} chains at once …`);
      chains.push(await chainsCost("sqlite", join(folder, `chains-${n}.db`), n));
    }
    const server = await testServer(join(folder, "postgres"));
    if (server === undefined) return { bench: "turns", lines: from, costs, chains, without: WITHOUT_POSTGRES };
    return { bench: "turns", lines: from, costs: [...costs, ...(await onPostgres(server, folder, plan))], chains };
  } finally {
    await stopServer(join(folder, "postgres"));
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Plan {
  readonly settings: readonly Setting[];
  readonly warm: number;
  readonly at: (n: number, edition: number) => string;
  readonly tell: Tell;
}

/** An engine with what shows how much it keeps. */
interface Measured {
  readonly engine: TurnEngine;
  readonly size: () => Promise<number>;
  readonly written: () => Promise<number>;
}

async function onSqlite(folder: string, plan: Plan): Promise<readonly TurnCost[]> {
  const strata = await strataTurns(folder);
  const engines = [
    { engine: strata, size: async () => sizeOf(strata.file), written: async () => handedOver() },
    ...(await Promise.all(
      [false, true].map(async (synchronous) => {
        const file = join(folder, `langgraph-${synchronous}.db`);
        const engine = await langGraphTurns({ file, synchronous });
        return { engine, size: async () => sizeOf(file), written: async () => handedOver() };
      }),
    )),
  ];
  return measureAll("sqlite", engines, plan);
}

async function onPostgres(server: TestServer, folder: string, plan: Plan): Promise<readonly TurnCost[]> {
  const names = [await makeDatabase(server), await makeDatabase(server)] as const;
  const asked = (name: string, what: string) => async (): Promise<number> => {
    const { rows } = await asRoot(server, (client) => client.query(`select (${what})::float8 as bytes`), name);
    return Number(rows[0]?.bytes);
  };
  const [own, peer] = names.map((name) => ({
    size: asked(name, "pg_database_size(current_database())"),
    written: asked(name, "pg_current_wal_insert_lsn() - '0/0'::pg_lsn"),
  }));
  if (own === undefined || peer === undefined) throw new Error("there is no database to measure on");
  const engines = [
    { engine: await strataTurns(folder, server.url(names[0])), ...own },
    { engine: await langGraphTurns({ url: server.url(names[1]) }), ...peer },
  ];
  try {
    return await measureAll("postgres", engines, plan);
  } finally {
    for (const name of names) await dropDatabase(server, name);
  }
}

async function measureAll(
  database: TurnCost["database"],
  engines: readonly Measured[],
  { settings, warm, at, tell }: Plan,
): Promise<readonly TurnCost[]> {
  const costs: TurnCost[] = [];
  try {
    for (const measured of engines) await measure(measured, { history: 0, threads: warm, turns: 5 }, at);
    for (const setting of settings) {
      for (const measured of engines) {
        tell(`${database}, ${setting.history} messages: ${measured.engine.name} …`);
        const cost = { database, ...(await measure(measured, setting, at)) };
        tell(`  ${figure(cost.cpu)} ms CPU, ${figure(cost.wall)} ms, ${figure(cost.statements)} statements`);
        costs.push(cost);
      }
    }
    return costs;
  } finally {
    for (const { engine } of engines) await engine.close();
  }
}

async function measure(
  { engine, size, written }: Measured,
  { history, threads, turns }: Setting,
  at: Plan["at"],
): Promise<Omit<TurnCost, "database">> {
  const exchanges = (thread: number): Exchange[] =>
    Array.from({ length: history / 2 + turns }, (_, n) => ({
      asked: at(2 * n, thread),
      answer: at(2 * n + 1, thread),
    }));
  const all = Array.from({ length: threads }, (_, thread) => ({
    name: `guest-${history}-${thread}`,
    before: exchanges(thread).slice(0, history / 2),
    measured: exchanges(thread).slice(history / 2),
  }));
  for (const { name, before } of all) await engine.fill(name, before);
  const [grown, handed, asked] = [await size(), await written(), statements];
  const taken: Taken[] = [];
  for (const { name, measured } of all) {
    for (const exchange of measured) taken.push(await timed(() => engine.turn(name, exchange)));
  }
  const perTurn = (sum: number): number => sum / taken.length;
  return {
    engine: engine.name,
    history,
    cpu: median(taken.map(({ cpu }) => cpu)),
    wall: median(taken.map(({ wall }) => wall)),
    statements: perTurn(statements - asked),
    written: perTurn((await written()) - handed),
    grown: perTurn((await size()) - grown),
  };
}

interface Taken {
  readonly cpu: number;
  readonly wall: number;
}

async function timed(run: () => Promise<void>): Promise<Taken> {
  const [cpu, wall] = [process.cpuUsage(), performance.now()];
  await run();
  const { user, system } = process.cpuUsage(cpu);
  return { cpu: (user + system) / 1_000, wall: performance.now() - wall };
}

/** Pages in use, those of the log as well. */
function sizeOf(file: string): number {
  const db = new BetterSqlite3(file, { readonly: true });
  try {
    const asked =
      "select (page_count - freelist_count) * page_size from pragma_page_count, pragma_freelist_count, pragma_page_size";
    return Number(db.prepare(asked).pluck().get());
  } finally {
    db.close();
  }
}

/** What this process has written so far, to whatever file; Linux alone tells. */
function handedOver(): number {
  const file = "/proc/self/io";
  const [, bytes] = (existsSync(file) ? /^wchar: (\d+)$/m.exec(readFileSync(file, "utf8")) : null) ?? [];
  return Number(bytes);
}

let statements = 0;

/** What a program asks SQLite about itself reads no table: whether something was written, and how long the log is. */
const ABOUT_ITSELF = /^(?:pragma|select total_changes)\b/i;

/** Counts what goes through both drivers, whoever uses them. */
function count(prototype: object, names: readonly string[]): void {
  for (const name of names) {
    const run: unknown = Reflect.get(prototype, name);
    if (typeof run !== "function") throw new Error(`the driver has no ${name}`);
    const counted = function (this: object, ...given: unknown[]): unknown {
      if (!ABOUT_ITSELF.test(String(Reflect.get(this, "source")))) statements++;
      return Reflect.apply(run, this, given);
    };
    Reflect.set(prototype, name, counted);
  }
}

const memory = new BetterSqlite3(":memory:");
count(Object.getPrototypeOf(memory.prepare("select 1")), ["run", "get", "all", "iterate"]);
count(pg.Client.prototype, ["query"]);

export function turnsText({ lines, costs, chains, without }: TurnsReport): string {
  const kilobytes = (bytes: number): string => figure(bytes / 1_024);
  const rows = costs.map((one) => {
    const { database, engine, history, cpu, wall, statements, grown, written } = one;
    const peer = costs.find((of) => of.database === database && of.history === history && of.engine === "langgraph");
    const ratio = (mine: number, theirs = Number.NaN): string =>
      engine === "strata" ? `${figure(mine)} (${times(mine / theirs)})` : figure(mine);
    return [
      `${database}, ${engine}`,
      history.toLocaleString("en-US"),
      ratio(cpu, peer?.cpu),
      ratio(wall, peer?.wall),
      figure(statements),
      kilobytes(grown),
      kilobytes(written),
    ];
  });
  const head = ["", "history", "CPU ms", "wall ms", "statements", "KB kept", "KB written"];
  return [
    `${lines}. A turn each; times are medians, in brackets divided by LangGraph's; PostgreSQL's own CPU is not counted.`,
    table(head, rows),
    "Chains of three turns of two agents, begun at once, ten turns side by side:",
    table(
      ["chains", "a second", "p50 ms", "p99 ms", "MB that stay"],
      chains.map(({ chains: n, perSecond, p50, p99, kept }) => [
        n.toLocaleString("en-US"),
        figure(perSecond),
        figure(p50),
        figure(p99),
        figure(kept / 1_048_576),
      ]),
    ),
    ...(without === undefined ? [] : [`Without PostgreSQL: ${without}`]),
  ].join("\n\n");
}
