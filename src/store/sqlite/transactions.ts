import { setTimeout } from "node:timers/promises";
import { StrataError } from "../../protocol/index.ts";
import type { MemoryIndex } from "../memory/memory-index.ts";
import { withParts } from "../migrations.ts";
import type { Ready, Statement } from "../statement.ts";
import type { Database, StorePart, Transactions, Tx } from "../tx.ts";
import type { Checkpoints } from "./checkpoint.ts";
import type { Connection } from "./connection.ts";
import { failure, isLocked } from "./failure.ts";
import { backup, checkFile, damageSaid } from "./file.ts";
import { type Log, openLog, type Sync } from "./log.ts";
import { sqliteMemoryIndex } from "./memory-index.ts";
import { MIGRATIONS } from "./migrate.ts";

/** What the transactions of a file need besides its connections. */
interface FileOptions {
  readonly parts?: readonly StorePart[];
  /** Default: the operating system's `fdatasync`. */
  readonly sync?: Sync | undefined;
  /** Default: a separate thread. */
  readonly checkpoints?: Checkpoints | undefined;
}

/** Transactions, and what else a file needs of those who write and read it. */
interface FileTransactions extends Transactions {
  readonly alone: Alone;
  readonly log: Log;
}

/**
 * One connection writes and another reads, each for one function at a time; others wait for their turn. Reads have their own snapshot and
 * wait for no writer. A database in memory has only one connection, so there reads wait, too. A writer's result is returned only once all
 * that it wrote or saw is on the disk, except where it is written ahead; the next one begins before that.
 */
export function sqliteTransactions(
  writer: Connection,
  reader: Connection,
  { parts = [], ...how }: FileOptions = {},
): FileTransactions {
  const writes = oneAtATime();
  const reads = reader === writer ? writes : oneAtATime();
  const log = openLog(writer, how);
  const wrote = async <T>(work: (tx: Tx) => Promise<T>): Promise<{ readonly done: T; readonly place: number }> => {
    const done = await transaction({ db: writer, how: "immediate", parts, log }, work).catch((thrown: unknown) => {
      throw log.noted(thrown);
    });
    const place = log.place();
    await log.shorten();
    return { done, place };
  };
  return {
    write: async (work, how) => {
      const { done, place } = await writes(() => wrote(work));
      if (how?.ahead === true) return done;
      const onDisk = log.onDisk(place);
      if (how === undefined) await onDisk;
      else {
        onDisk.catch(() => undefined);
        how.ahead(onDisk);
      }
      return done;
    },
    // Where the file is just being recovered, a read meets a lock, too, perhaps after its beginning. It has changed nothing and is run again.
    read: (work) => reads(() => withPatience(reader, () => transaction({ db: reader, how: "deferred", parts }, work))),
    alone: (work) => writes(() => (reader === writer ? work() : reads(work))),
    log,
  };
}

/** Runs work outside of any transaction, while no other runs. */
type Alone = <T>(work: () => Promise<T>) => Promise<T>;

/** The database of one file, or one in memory. */
export function sqliteDatabase(writer: Connection, reader: Connection, options: FileOptions = {}): Database {
  const { write, read, alone, log } = sqliteTransactions(writer, reader, options);
  const { parts = [] } = options;
  return {
    name: writer.file,
    parts,
    write,
    read,
    failure: (thrown) => failure(thrown, writer.file),
    // Where the disk has failed, reading goes on.
    onDisk: () => log.onDisk(log.place()).catch(() => undefined),
    check: () => alone(() => withPatience(writer, async () => checkFile(writer, withParts(MIGRATIONS, parts)))),
    damageSaid: (thrown) => damageSaid(writer, thrown),
    // Our own open reader, like one of another program, would keep the log from being emptied.
    flush: () => alone(() => emptied(writer, log)),
    backup: (file, onProgress) => backup(writer, file, onProgress),
    trouble: async () => log.failed()?.message ?? writer.lost(),
    close: () =>
      alone(async () => {
        if (!(await log.close())) return;
        reader.close();
        writer.close();
      }),
  };
}

async function emptied(db: Connection, log: Log): Promise<boolean> {
  if (log.failed() !== undefined) return false;
  try {
    return await withPatience(
      db,
      async () => db.flush(),
      (isEmpty) => !isEmpty,
    );
  } catch (thrown) {
    // Everything written is committed; only the log is not empty yet.
    log.noted(thrown);
    return false;
  }
}

/** Milliseconds from one try to the next: the first soon, since most locks are held for a moment. */
const PAUSES = [1, 2, 5, 10, 20, 50];

/** Tries again while another program holds a lock, as long as the connection is patient. Other work of this program goes on meanwhile. */
async function withPatience<T>(db: Connection, work: () => Promise<T>, isLate = (_: T): boolean => false): Promise<T> {
  for (let waited = 0, tries = 0; ; tries++) {
    const isOver = waited >= db.patience;
    try {
      const done = await work();
      if (isOver || !isLate(done)) return done;
    } catch (thrown) {
      if (isOver || !isLocked(thrown)) throw thrown;
    }
    const pause = PAUSES[Math.min(tries, PAUSES.length - 1)] ?? 0;
    await setTimeout(pause);
    waited += pause;
  }
}

/**
 * Runs work in the order in which it arrives; at once if nothing else runs. Between two that waited the event loop turns: SQLite answers at
 * once, so a long row of transactions would otherwise hold up everything else until its end.
 */
function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let isBusy = false;
  return async (work) => {
    if (isBusy) await new Promise<void>((go) => waiting.push(go));
    isBusy = true;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // It stays busy meanwhile, so that whoever arrives now comes after those who waited.
      if (next) setImmediate(next);
      else isBusy = false;
    }
  };
}

interface Beginning {
  readonly db: Connection;
  readonly how: "immediate" | "deferred";
  readonly parts: readonly StorePart[];
  /** Of one that writes. */
  readonly log?: Log;
}

async function transaction<T>({ db, how, parts, log }: Beginning, work: (tx: Tx) => Promise<T>): Promise<T> {
  await withPatience(db, async () => db.begin(how));
  const tx = new SqliteTx(db, parts);
  try {
    log?.begin();
    const done = await work(tx);
    tx.end();
    db.commit();
    log?.committed();
    return done;
  } catch (thrown) {
    tx.close();
    db.rollback();
    throw thrown;
  }
}

/**
 * One transaction. SQLite answers at once, so nothing in it may take longer than its statements: from begin to commit, the event loop must
 * not turn. If it did, the function waited for something else, and all writers waited with it.
 */
class SqliteTx implements Tx {
  readonly dialect = "sqlite";
  readonly random: Tx["random"];
  readonly limits: Tx["limits"];
  readonly index: MemoryIndex;
  readonly parts: readonly StorePart[];
  readonly #db: Connection;
  readonly #turn: NodeJS.Immediate;
  #state: "open" | "waited" | "ended" = "open";

  constructor(db: Connection, parts: readonly StorePart[]) {
    this.parts = parts;
    this.random = db.random;
    this.limits = db.limits;
    this.#db = db;
    this.index = sqliteMemoryIndex(() => this.#use());
    this.#turn = setImmediate(() => {
      this.#state = "waited";
    });
  }

  async all<R>(statement: Statement<R>): Promise<R[]> {
    return this.#use().all(statement);
  }

  async first<R>(statement: Statement<R>): Promise<R | undefined> {
    return this.#use().first(statement);
  }

  async column<V>(statement: Ready<V>): Promise<V[]> {
    return this.#use().column(statement);
  }

  async run(statement: Statement<unknown>): Promise<void> {
    this.#use().run(statement);
  }

  async changed(statement: Statement<unknown>): Promise<number> {
    return this.#use().run(statement);
  }

  /** Called when the work is done. @throws StrataError `unexpected` if it waited for something else meanwhile */
  end(): void {
    this.#use();
    this.close();
  }

  close(): void {
    clearImmediate(this.#turn);
    this.#state = "ended";
  }

  #use(): Connection {
    if (this.#state === "open") return this.#db;
    const how =
      this.#state === "ended" ? "asked something after its end" : "waited for something else than its statements";
    throw new StrataError("unexpected", `a transaction ${how}; nothing of that was written: please report it`);
  }
}
