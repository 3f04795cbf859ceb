import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { crc32 } from "node:zlib";
import BetterSqlite3 from "better-sqlite3";
import { StrataError } from "../../protocol/index.ts";
import { MEMORY_LIMITS, type MemoryLimits } from "../memory/memory-index.ts";
import { type Ready, runnable, type Statement } from "../statement.ts";
import type { BackupProgress } from "../tx.ts";

/** One open database, as its driver has it: synchronous. Store functions get it through a transaction (`transactions.ts`). */
export interface Connection {
  readonly file: string;
  /** Chance from outside: that many random bytes. */
  readonly random: (bytes: number) => Uint8Array;
  readonly limits: MemoryLimits;
  /** How long to wait for another program's lock, in milliseconds. */
  readonly patience: number;
  /** From now on, nothing waits for a lock inside of the driver, where the whole program would wait with it. */
  neverBlock(): void;
  /**
   * From now on commits do not wait for the disk, and the log is moved into the file only by `checkpoint`. False if that is impossible: in
   * memory, and if the file has no write-ahead log. SQLite still waits for log and file before it restarts the log.
   */
  commitsWithoutWaiting(): boolean;
  /** Another one after each change, by this connection or by any other program. */
  version(): string;
  /** How long the write-ahead log is. */
  logPages(): number;
  /** Moves the write-ahead log into the file, up to what others still read, and waits for the disk. @throws the disk's error */
  checkpoint(): void;
  all<R>(statement: Statement<R>): R[];
  first<R>(statement: Statement<R>): R | undefined;
  /** The first column alone, for many rows at little cost. */
  column<V>(statement: Ready<V>): V[];
  /** Whether SQLite compares vectors by itself here: sqlite-vec is loaded when this is first asked. */
  hasVectors(): boolean;
  /** Gives how many rows were changed. */
  run(statement: Statement<unknown>): number;
  /** Begins a transaction that ends with `commit` or `rollback`. One that is to write needs the lock here, never half way. */
  begin(how: "immediate" | "deferred"): void;
  /** @throws StrataError `store_failed` if the file is not where it was opened: nothing is stored that could not be found again */
  commit(): void;
  /** Does nothing where SQLite ended the transaction by itself. */
  rollback(): void;
  /** One transaction that may write: `BEGIN IMMEDIATE`, so that it never loses a race half way. */
  write<T>(work: () => T): T;
  /** One snapshot for several reads; it never waits for a writer. */
  read<T>(work: () => T): T;
  /** Moves the write-ahead log into the file and empties it: erased text must not live on in it. False if another program is reading. */
  flush(): boolean;
  /** Copies one snapshot of all into another file, a part at a time: others read and write meanwhile. */
  copy(file: string, onProgress: (progress: BackupProgress) => void): Promise<void>;
  /** All of a database in memory. */
  bytes(): Buffer;
  /** Why no more can be stored: the file is not where it was opened. Undefined if it is. */
  lost(): string | undefined;
  close(): void;
}

/** How to open. `patience` is how long to wait for another program's lock, in milliseconds. */
export interface ConnectionOptions {
  readonly random: (bytes: number) => Uint8Array;
  readonly patience: number;
  readonly limits?: MemoryLimits;
  /** False: sqlite-vec is not loaded. */
  readonly vectors?: boolean;
  /** A connection of a database that another one has set up already; what it is asked to write fails. */
  readonly readsOnly?: true;
  /** The initial content of a database in memory: the `bytes` of another one. */
  readonly image?: Buffer;
}

/** A prepared query. Rows come as bare values: the driver's own objects cost it more than the query. */
interface Prepared {
  readonly statement: BetterSqlite3.Statement<unknown[], unknown[]>;
  readonly columns: readonly string[];
}

/** Queries have few shapes; more than this many means that one of them grows with its input. */
const MOST_PREPARED = 400;

/** Opens the file and sets it up for durable, concurrent use. Closes it again when that fails. */
export function connect(file: string, options: ConnectionOptions): Connection {
  const db = new BetterSqlite3(options.image ?? file, { timeout: options.patience });
  try {
    if (options.readsOnly) db.pragma("query_only = ON");
    else setUp(db);
    db.function("crc32", { deterministic: true }, (value) => (value instanceof Uint8Array ? crc32(value) : null));
  } catch (thrown) {
    db.close();
    throw thrown;
  }
  return connection(db, file, options);
}

function setUp(db: BetterSqlite3.Database): void {
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.pragma("foreign_keys = ON");
  // Freed room is overwritten, so that erased text is gone from the file too.
  db.pragma("secure_delete = ON");
}

function connection(db: BetterSqlite3.Database, file: string, options: ConnectionOptions): Connection {
  const known = new Map<string, Prepared>();
  const columns = new Map<string, BetterSqlite3.Statement<unknown[], unknown>>();
  let hasVectors = options.vectors === false ? false : undefined;
  const lost = watchOver(file);
  // Last of all, so that nothing is committed to a file that cannot be found again.
  const checkFile = (): void => {
    const why = lost();
    if (why !== undefined) throw new StrataError("store_failed", why, { file });
  };
  const ends = transactionEnds(db, checkFile);
  const prepared = (text: string): Prepared => {
    const found = known.get(text);
    if (found) return found;
    if (known.size >= MOST_PREPARED) known.clear();
    const made = prepare(db, text);
    known.set(text, made);
    return made;
  };
  return {
    file,
    random: options.random,
    limits: options.limits ?? MEMORY_LIMITS,
    patience: options.patience,
    neverBlock: () => void db.pragma("busy_timeout = 0"),
    ...logOf(db),
    all: <R>(wanted: Statement<R>) => {
      const { sql, parameters } = runnable(wanted, "sqlite");
      const { statement, columns } = prepared(sql);
      return statement.all(...parameters).map((values) => toRow<R>(columns, values));
    },
    first: <R>(wanted: Statement<R>) => {
      const { sql, parameters } = runnable(wanted, "sqlite");
      const { statement, columns } = prepared(sql);
      const values = statement.get(...parameters);
      return values && toRow<R>(columns, values);
    },
    column: <V>(wanted: Ready<V>) => {
      const { sql, parameters } = runnable(wanted, "sqlite");
      const statement = columns.get(sql) ?? db.prepare<unknown[], unknown>(sqliteText(sql)).pluck();
      columns.set(sql, statement);
      return plucked<V>(statement.all(...parameters));
    },
    hasVectors: () => {
      hasVectors ??= "version" in loadVectorExtension(db);
      return hasVectors;
    },
    run: (wanted) => {
      const { sql, parameters } = runnable(wanted, "sqlite");
      return prepared(sql).statement.run(...parameters).changes;
    },
    ...ends,
    write: (work) =>
      db
        .transaction(() => {
          const done = work();
          checkFile();
          return done;
        })
        .immediate(),
    read: (work) => db.transaction(work).deferred(),
    // The first column says whether another connection was in the way.
    lost,
    flush: () => db.pragma("wal_checkpoint(TRUNCATE)", { simple: true }) === 0,
    copy: (to, onProgress) => copied(db, to, onProgress),
    bytes: () => db.serialize(),
    close: () => void db.close(),
  };
}

function logOf(
  db: BetterSqlite3.Database,
): Pick<Connection, "commitsWithoutWaiting" | "version" | "logPages" | "checkpoint"> {
  const own = db.prepare<unknown[], number>("select total_changes()").pluck();
  const others = db.prepare<unknown[], number>("pragma data_version").pluck();
  const log = db.prepare<unknown[], { readonly log: number }>("pragma wal_checkpoint(NOOP)");
  return {
    commitsWithoutWaiting: () => {
      if (db.memory || db.pragma("journal_mode", { simple: true }) !== "wal") return false;
      db.pragma("synchronous = NORMAL");
      db.pragma("wal_autocheckpoint = 0");
      return true;
    },
    version: () => `${own.get()} ${others.get()}`,
    logPages: () => log.get()?.log ?? 0,
    checkpoint: () => void db.pragma("wal_checkpoint(PASSIVE)"),
  };
}

type TransactionEnds = Pick<Connection, "begin" | "commit" | "rollback">;

/** Only what may write is checked before it is kept. */
function transactionEnds(db: BetterSqlite3.Database, checkFile: () => void): TransactionEnds {
  const begins = { immediate: db.prepare("begin immediate"), deferred: db.prepare("begin deferred") };
  const [commit, rollback] = [db.prepare("commit"), db.prepare("rollback")];
  let mayWrite = false;
  return {
    begin: (how) => {
      begins[how].run();
      mayWrite = how === "immediate";
    },
    commit: () => {
      if (mayWrite) checkFile();
      commit.run();
    },
    rollback: () => {
      if (db.inTransaction) rollback.run();
    },
  };
}

/** Looks whether the file is still the one that was opened: SQLite itself continues writing to one that was moved away or deleted. */
function watchOver(file: string): () => string | undefined {
  const opened = file === "" || file === ":memory:" ? undefined : fileIdentity(file);
  return () => {
    const now = opened && fileIdentity(file);
    if (opened === undefined || (now?.ino === opened.ino && now.dev === opened.dev)) return undefined;
    const how = now === undefined ? "was moved or deleted" : "was replaced by another";
    return `${file} ${how} while it was open; nothing was written: put the data folder back where it was, or stop Strata and start it again`;
  };
}

/** Which file it is, whatever its name. */
function fileIdentity(file: string): { readonly ino: bigint; readonly dev: bigint } | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false });
}

/** As many pages are copied before others get their turn. */
const PAGES = 500;

/** Uses a separate connection: the snapshot it holds open keeps writers from starting the copy over. */
async function copied(
  db: BetterSqlite3.Database,
  to: string,
  onProgress: (progress: BackupProgress) => void,
): Promise<void> {
  const source = db.memory ? db : new BetterSqlite3(db.name, { readonly: true, timeout: 0 });
  try {
    if (source !== db) source.exec("begin; select count(*) from sqlite_schema");
    const progress = ({ totalPages: total, remainingPages }: BetterSqlite3.BackupMetadata): number => {
      onProgress({ done: total - remainingPages, total });
      return PAGES;
    };
    const { totalPages: total } = await source.backup(to, { progress });
    onProgress({ done: total, total });
  } finally {
    if (source !== db) source.close();
  }
}

function prepare(db: BetterSqlite3.Database, text: string): Prepared {
  const statement = db.prepare<unknown[], unknown[]>(sqliteText(text));
  if (!statement.reader) return { statement, columns: [] };
  return { statement: statement.raw(), columns: statement.columns().map(({ name }) => name) };
}

/**
 * SQLite looks into the values that a query compares with, and plans it again whenever one of them is rebound: in a turn that took more
 * time than running the queries. It does not look into `+?`. The value and the column's affinity do not change; a query that needs a
 * partial index names the indexed value itself.
 */
export function sqliteText(text: string): string {
  return text.replace(/'[^']*'|"[^"]*"|(= |distinct from )\?/g, (part, compared?: string) =>
    compared === undefined ? part : `${compared}+?`,
  );
}

/** The query builder derived R from the tables' types: the row has this shape because a typed query wrote it. */
function toRow<R>(columns: readonly string[], values: readonly unknown[]): R {
  const made: Record<string, unknown> = {};
  let i = 0;
  for (const column of columns) made[column] = values[i++];
  return made as R;
}

/** As for rows: only a typed query knows what its column holds. */
function plucked<V>(values: unknown): V[] {
  return values as V[];
}

/** Whether SQLite can compare vectors by itself here, or why it cannot. */
export type VectorExtension = { readonly version: string } | { readonly missing: string };

/**
 * Loads sqlite-vec into a connection. It is optional: without its package or binary, vectors are compared in JavaScript, with the same
 * result.
 */
export function loadVectorExtension(db: BetterSqlite3.Database): VectorExtension {
  try {
    const extension: typeof import("sqlite-vec") = createRequire(import.meta.url)("sqlite-vec");
    extension.load(db);
    return { version: String(db.prepare("select vec_version()").pluck().get()) };
  } catch (thrown) {
    const said = thrown instanceof Error ? (thrown.message.split("\n")[0] ?? "") : String(thrown);
    return { missing: said.slice(0, 200) };
  }
}

/** Checks in a separate database whether sqlite-vec works on this machine. */
export function vectorExtension(): VectorExtension {
  const db = new BetterSqlite3(":memory:");
  try {
    return loadVectorExtension(db);
  } finally {
    db.close();
  }
}
