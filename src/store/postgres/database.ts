import { createHash } from "node:crypto";
import { Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { Pool, PoolClient } from "pg";
import { StrataError } from "../../protocol/index.ts";
import type { MemoryLimits } from "../memory/memory-index.ts";
import type { StorePart, Transactions, Tx } from "../tx.ts";
import { configOf, whereWith } from "./address.ts";
import { failure, inDoubt, isConflict, isLost, notUtf8, type Where } from "./failure.ts";
import { FIRST_TABLES } from "./first-schema.ts";
import { PostgresTx } from "./transaction.ts";
import { parserOf } from "./values.ts";

/** One open server: a pool of connections, each for one transaction at a time. */
export interface Connected {
  readonly where: Where;
  /** Transactions that see and write only these rows, whatever their queries ask for: a second barrier behind the scopes (law 5). */
  within(reach: Reach): Transactions;
  close(): Promise<void>;
}

/** The owner of the rows. `ALL` means all rows; only functions that maintain the database ask for it. */
export interface Reach {
  readonly org: string;
  readonly agent: string;
  readonly contact: string;
}

export const ALL = "*";

/** The reach of the database's owner: for migrations, copies, and queries about all organizations. */
export const EVERYTHING: Reach = { org: ALL, agent: ALL, contact: ALL };

/** How to open. */
interface DatabaseOptions {
  readonly random: (bytes: number) => Uint8Array;
  readonly limits: MemoryLimits;
  /** How long to wait for others who change the same data, in milliseconds. */
  readonly patience: number;
  /** What features store here. */
  readonly parts?: readonly StorePart[];
}

/** The oldest version that Strata is tested with. */
const OLDEST = 15;

/** The most transactions at once of one program; by default, a server has a hundred connections for all. */
const CONNECTIONS = 10;

/**
 * A program that hangs in a transaction holds up all others of its organization, so the server ends it after this share of their patience.
 */
const IDLE_PART = 1 / 3;

/** The most time for one statement; none of Strata's takes nearly as long. */
const STATEMENT_MS = 60_000;

/** @throws StrataError `store_failed`, `store_busy`: a sentence for each way in which it cannot be reached or used */
export async function connect(url: string, options: DatabaseOptions): Promise<Connected> {
  const { default: pg } = await import("pg");
  const config = configOf(url);
  const where = whereWith(pg, url);
  const { stream, destroy } = sockets();
  const pool = new pg.Pool({ ...config, stream, max: CONNECTIONS, types: { getTypeParser: parserOf }, pipeline: true });
  // A connection that breaks while it is idle is replaced at the next use; a query on a broken one gets the error itself.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => void client.on("error", () => undefined));
  try {
    await checkServer(pool, where);
  } catch (thrown) {
    await pool.end();
    destroy();
    throw failure(thrown, where);
  }
  const shared = { pool, where, options, wrote: counter(pool, options.parts) };
  return {
    where,
    within: (reach) => transactionsOf(shared, reach),
    close: () => pool.end(),
  };
}

/**
 * The driver leaves a connection open on which it cannot sign in. The server would wait for it for a minute, and whoever drops a database, for
 * the server.
 */
function sockets(): { readonly stream: () => Socket; readonly destroy: () => void } {
  const open = new Set<Socket>();
  return {
    stream: () => {
      const socket = new Socket();
      open.add(socket);
      return socket.once("close", () => open.delete(socket));
    },
    destroy: () => {
      for (const socket of open) socket.destroy();
    },
  };
}

async function checkServer(pool: Pool, where: Where): Promise<void> {
  const asked =
    "select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding";
  const { rows } = await pool.query<{ readonly version: number; readonly encoding: string }>(asked);
  const [{ version, encoding } = { version: 0, encoding: "" }] = rows;
  const major = Math.floor(version / 10_000);
  if (major < OLDEST)
    throw new StrataError(
      "store_failed",
      `PostgreSQL at ${where.host} is version ${major}, and Strata needs ${OLDEST} or newer: update it, or name another server`,
      { host: where.host, version: major },
    );
  if (encoding !== "UTF8") throw notUtf8(where, encoding);
}

/** After this many writes, PostgreSQL counts the rows of the tables; again when there may be several times as many. */
const COUNTED_AFTER = [20, 100, 500, 2_500, 12_500];

/**
 * The server counts rows by itself, but a minute late, and assumes that tables which were never counted are almost empty: then it reads all
 * of a scope for each row of a join. Programs that write much in the first minutes, such as replays and imports, were a hundred times
 * slower because of that.
 */
function counter(pool: Pool, parts: readonly StorePart[] = []): () => void {
  const tables = new Set([...FIRST_TABLES, ...parts.flatMap((part) => Object.keys(part.tables))]);
  let writes = 0;
  return () => {
    writes++;
    if (COUNTED_AFTER.includes(writes)) pool.query(`analyze ${[...tables].join(", ")}`).catch(() => undefined);
  };
}

interface SharedPool {
  /** Called after each write. */
  readonly wrote: () => void;
  readonly pool: Pool;
  readonly where: Where;
  readonly options: DatabaseOptions;
}

function transactionsOf(shared: SharedPool, reach: Reach): Transactions {
  return {
    write: async (work) => {
      const done = await again(shared, (client) => runWrite(shared, client, reach, work));
      shared.wrote();
      return done;
    },
    read: (work) => again(shared, (client) => looked(shared, client, reach, work)),
  };
}

/**
 * A writer has its organization to itself, as a writer in SQLite has the file. Each statement then sees everything that was committed
 * before, so `read committed` is enough (decision 0046). Other organizations continue meanwhile.
 */
async function runWrite<T>(
  shared: SharedPool,
  client: PoolClient,
  reach: Reach,
  work: (tx: Tx) => Promise<T>,
): Promise<Finished<T>> {
  const begin = `begin isolation level read committed; ${transactionSettings(shared.options, reach)}; ${lockOf(reach)}; select pg_current_xact_id()::text as xid, ${BEGUN}`;
  const inner = await inside(shared, client, { begin, work });
  await commit(shared, client, inner);
  return { done: inner.done, end: Promise.resolve() };
}

async function looked<T>(
  shared: SharedPool,
  client: PoolClient,
  reach: Reach,
  work: (tx: Tx) => Promise<T>,
): Promise<Finished<T>> {
  const begin = `begin isolation level repeatable read read only; ${transactionSettings(shared.options, reach)}`;
  const { tx, done } = await inside(shared, client, { begin, work });
  const end = client.query("commit");
  // The end of a read-only transaction is not awaited; if it was meant to write, the error says why it may not.
  if (tx.hasRun) await tx.answered(end);
  return { done, end };
}

/** The result of a transaction, and its end, after which the connection is free. */
interface Finished<T> {
  readonly done: T;
  readonly end: Promise<unknown>;
}

interface Inside<T> {
  readonly tx: PostgresTx;
  readonly begun: Promise<unknown>;
  readonly done: T;
}

/** Its beginning goes out together with the first statement. */
async function inside<T>(
  shared: SharedPool,
  client: PoolClient,
  { begin, work }: { readonly begin: string; readonly work: (tx: Tx) => Promise<T> },
): Promise<Inside<T>> {
  const tx = new PostgresTx(client, shared.options);
  const begun = tx.sent(client.query(begin));
  try {
    const done = await work(tx);
    tx.end();
    return { tx, begun, done };
  } catch (thrown) {
    tx.end();
    if (!isLost(tx.failed(thrown))) await client.query("rollback").catch(() => undefined);
    throw tx.failed(thrown);
  }
}

/** The number of the transaction, and the start time of the server that assigned it. */
interface Begun {
  readonly xid: string;
  readonly since: string;
}

const BEGUN = `pg_postmaster_start_time()::text as since`;

/** Several statements in one message give a list of results; the last query's result comes last. */
function lastRow(answers: unknown): Begun | undefined {
  const last: unknown = Array.isArray(answers) ? answers.at(-1) : undefined;
  const rows: unknown = typeof last === "object" && last !== null ? Reflect.get(last, "rows") : undefined;
  const [row]: readonly unknown[] = Array.isArray(rows) ? rows : [];
  const [xid, since] = ["xid", "since"].map((name) =>
    typeof row === "object" && row !== null ? Reflect.get(row, name) : undefined,
  );
  return typeof xid === "string" && typeof since === "string" ? { xid, since } : undefined;
}

/**
 * If the connection breaks during the commit itself, it is unknown whether it succeeded. The server knows, if it is still the same one;
 * after a crash it may assign the number of a lost transaction to another.
 * @throws the error that broke it if it did not succeed; StrataError `store_busy` if that is unknown
 */
async function commit(
  { pool, where }: SharedPool,
  client: PoolClient,
  { tx, begun }: Pick<Inside<unknown>, "tx" | "begun">,
): Promise<void> {
  // Without its number the outcome could not be looked up later.
  const known = lastRow(await tx.answered(begun));
  try {
    // The server rolls back a transaction with a failed statement, even if it is asked to commit it.
    const { command } = await tx.answered(client.query("commit"));
    if (command !== "COMMIT")
      throw new StrataError(
        "unexpected",
        "a statement failed and its transaction went on; nothing was written: please report it",
      );
  } catch (thrown) {
    if (!isLost(thrown) || known === undefined) throw thrown;
    const now = await untilConnected(() => pool.query<{ readonly since: string }>(`select ${BEGUN}`));
    if (now.rows[0]?.since !== known.since) throw inDoubt(where, thrown);
    const asked = { text: "select pg_xact_status($1::text::xid8) as status", values: [known.xid] };
    const { rows } = await untilConnected(() => pool.query<{ readonly status: string }>(asked));
    if (rows[0]?.status !== "committed") throw thrown;
  }
}

/** Enough for the time that a server takes to restart. */
const RETRIES = 9;

/** Repeats a query until a lost server is back: for about six seconds. */
async function untilConnected<T>(ask: () => Promise<T>): Promise<T> {
  for (let tried = 0; ; tried++) {
    try {
      return await ask();
    } catch (thrown) {
      if (tried >= RETRIES || !isLost(thrown)) throw thrown;
      await pause(tried);
    }
  }
}

/** Longer each time, and different for any two programs. */
const pause = (tried: number): Promise<void> => setTimeout(Math.min(2_000, 20 * 2 ** tried) * (0.5 + Math.random()));

/**
 * Runs a transaction, and runs it again if another one was in its way or the server went away before the commit. That is safe: nothing of
 * it was stored, and a store function does nothing but query the database.
 */
async function again<T>({ pool, where }: SharedPool, run: (client: PoolClient) => Promise<Finished<T>>): Promise<T> {
  for (let tried = 0; ; tried++) {
    let client: PoolClient | undefined;
    try {
      client = await pool.connect();
      const { done, end } = await run(client);
      const { release } = client;
      end.then(
        () => release(),
        () => release(true),
      );
      return done;
    } catch (thrown) {
      const isBroken = !(thrown instanceof StrataError);
      client?.release(isBroken);
      const isOver = tried >= RETRIES || !(isConflict(thrown) || isLost(thrown));
      if (isOver) throw failure(thrown, where);
      await pause(tried);
    }
  }
}

/** Settings for one transaction only, so that a connection pool in between does no harm. */
function transactionSettings({ patience }: DatabaseOptions, { org, agent, contact }: Reach): string {
  const limits = {
    lock_timeout: patience,
    statement_timeout: STATEMENT_MS,
    idle_in_transaction_session_timeout: Math.ceil(patience * IDLE_PART),
  };
  const all = { ...limits, "strata.org": org, "strata.agent": agent, "strata.contact": contact };
  const each = Object.entries(all).map(([name, value]) => `set_config('${name}', ${literal(String(value))}, true)`);
  return `select ${each.join(", ")}`;
}

/** Writers share the first lock with each other; the owner holds it exclusively. */
const lockOf = ({ org }: Reach): string =>
  org === ALL
    ? `select pg_advisory_xact_lock(${lockNumber("strata")})`
    : `select pg_advisory_xact_lock_shared(${lockNumber("strata")}), pg_advisory_xact_lock(${lockNumber(`strata ${org}`)})`;

/** A number for a name, the same in all programs. */
function lockNumber(name: string): string {
  return createHash("sha256").update(name).digest().readBigInt64BE().toString();
}

/** A quoted literal; nothing in it can end the quotes. */
const literal = (text: string): string => ` E'${text.replace(/[\\']/g, (sign) => `\\${sign}`)}'`;
