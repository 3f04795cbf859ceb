import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { UNFINISHED, unfinished } from "../copy.ts";
import { MEMORY_LIMITS, type MemoryLimits } from "../memory/memory-index.ts";
import { isIndexToday, type KeptOut, refreshIndex } from "../memory/reindex.ts";
import { withParts } from "../migrations.ts";
import { refuseMoved } from "../moved.ts";
import { plain } from "../statement.ts";
import type { Store } from "../store.ts";
import { clearLog, storeOver } from "../store-over.ts";
import type { Database, StorePart } from "../tx.ts";
import type { Checkpoints } from "./checkpoint.ts";
import { type Connection, type ConnectionOptions, connect } from "./connection.ts";
import { failure } from "./failure.ts";
import type { Sync } from "./log.ts";
import { connectInMemory, IN_MEMORY, MIGRATIONS, migrate } from "./migrate.ts";
import { copyAside, isUnwritable, readOnlyStore } from "./read-only.ts";
import { sqliteDatabase } from "./transactions.ts";

/** Options of whoever opens it. */
export interface SqliteOptions {
  /** Which messages of an older file must not be remembered. Default: all are remembered. */
  readonly keptOut?: KeptOut;
  /** Returns this many random bytes. Default: the machine's randomness. */
  readonly random?: (bytes: number) => Uint8Array;
  /** Puts what was written on the disk. Default: the operating system's `fdatasync`. */
  readonly sync?: Sync;
  /** Moves the log of the file into it. Default: a separate thread. */
  readonly checkpoints?: Checkpoints;
  /** How long to wait for another program's lock before `store_busy`, in milliseconds. Default: five seconds. */
  readonly patience?: number;
  /** False: vectors are compared in JavaScript, even if sqlite-vec is there. */
  readonly vectors?: boolean;
  /** How much a scope may remember. Default: the usual limits. */
  readonly limits?: Partial<MemoryLimits>;
  /** What features store here. */
  readonly parts?: readonly StorePart[];
  /** True: a file that this user cannot write is read from a copy, and what is asked to write is refused. Default: it is not opened. */
  readonly mayCopy?: boolean;
}

/**
 * Opens the file that holds everything, creates it and its folder if they are missing, and brings it up to today's schema. `:memory:` is a
 * store for one test.
 * @throws StrataError `store_busy`, `store_newer`, `store_failed`
 */
export async function openSqlite(file: string, options: SqliteOptions = {}): Promise<Store> {
  if (options.mayCopy !== true || !isUnwritable(file)) return storeOver(await openDatabase(file, options));
  const aside = copyAside(file);
  try {
    return readOnlyStore(await openDatabase(aside.file, options), file, aside);
  } catch (thrown) {
    aside.remove();
    throw thrown;
  }
}

async function openDatabase(file: string, options: SqliteOptions): Promise<Database> {
  try {
    const fresh = file !== IN_MEMORY && !existsSync(file);
    // The contents are personal: no other user of this machine may read them.
    if (fresh) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const { random = randomBytes, patience = 5_000, vectors = true, limits } = options;
    const how = { random, patience, vectors, ...(limits && { limits: { ...MEMORY_LIMITS, ...limits } }) };
    const writer =
      file === IN_MEMORY ? connectInMemory(how, withParts(MIGRATIONS, options.parts ?? [])) : connect(file, how);
    if (fresh) chmodSync(file, 0o600);
    return await ready(writer, how, options);
  } catch (thrown) {
    throw failure(thrown, file);
  }
}

async function ready(
  writer: Connection,
  how: ConnectionOptions,
  { keptOut, parts = [], sync, checkpoints }: SqliteOptions,
): Promise<Database> {
  const connections = [writer];
  try {
    migrate(writer, withParts(MIGRATIONS, parts));
    const begun = plain(`select name from sqlite_schema where name = '${UNFINISHED}'`);
    if (writer.first(begun) !== undefined) throw unfinished(writer.file);
    const reader = writer.file === IN_MEMORY ? writer : connect(writer.file, { ...how, readsOnly: true });
    if (reader !== writer) connections.push(reader);
    for (const db of connections) db.neverBlock();
    const database = sqliteDatabase(writer, reader, { parts, sync, checkpoints });
    await database.read((tx) => refuseMoved(tx, database.name));
    if (!(await database.read(isIndexToday))) await database.write((tx) => refreshIndex(tx, keptOut));
    await clearLog(database);
    return database;
  } catch (thrown) {
    for (const db of connections) db.close();
    throw thrown;
  }
}
