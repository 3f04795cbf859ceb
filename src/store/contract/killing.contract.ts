import { randomBytes } from "node:crypto";
import { MEMORY_LIMITS } from "../memory/memory-index.ts";
import { withParts } from "../migrations.ts";
import { connect as connectPostgres } from "../postgres/database.ts";
import { migrate as migratePostgres, MIGRATIONS as POSTGRES_STEPS } from "../postgres/migrate.ts";
import { storeWithin } from "../postgres/open.ts";
import { connect as connectSqlite } from "../sqlite/connection.ts";
import { migrate as migrateSqlite, MIGRATIONS as SQLITE_STEPS } from "../sqlite/migrate.ts";
import { sqliteDatabase } from "../sqlite/transactions.ts";
import type { Store } from "../store.ts";
import { storeOver } from "../store-over.ts";
import type { Transactions, Tx } from "../tx.ts";
import { PARTS } from "./sample.contract.ts";

/** A store that can be stopped in the middle of a transaction, as a killed program stops: nothing of it stays. */
export interface KillingStore {
  readonly store: Store;
  /** Calls it with a limit of statements; if that is reached, calls it again without. True if it was stopped. */
  readonly kill: <T>(
    statements: number,
    work: () => Promise<T>,
  ) => Promise<{ readonly value: T; readonly killed: boolean }>;
  /**
   * Calls it as a program that is killed after this many statements, of whatever transaction: from then on, nothing reaches the database.
   * True if that happened; errors of the dead program are ignored.
   */
  readonly mortal: (statements: number, program: () => Promise<void>) => Promise<boolean>;
}

const KILLED = "killed between two statements";

/** Statements until the next transaction that writes is stopped. */
interface Fuse {
  left: number;
  blown: boolean;
  /** Statements of any kind until all of them are refused. */
  life: number;
}

export async function killingSqlite(parts = PARTS, file = ":memory:"): Promise<KillingStore> {
  const how = { random: randomBytes, patience: 5_000, vectors: false, limits: MEMORY_LIMITS };
  const writer = connectSqlite(file, how);
  migrateSqlite(writer, withParts(SQLITE_STEPS, parts));
  const fuse = newFuse();
  const database = sqliteDatabase(writer, writer, { parts });
  return { store: storeOver({ ...database, ...burning(fuse, database) }), kill: killing(fuse), mortal: mortal(fuse) };
}

export async function killingPostgres(url: string, parts = PARTS): Promise<KillingStore> {
  const db = await connectPostgres(url, { random: randomBytes, patience: 15_000, limits: MEMORY_LIMITS, parts });
  await migratePostgres(db, withParts(POSTGRES_STEPS, parts));
  const fuse = newFuse();
  return {
    store: storeWithin({ ...db, close: () => db.close(), within: (reach) => burning(fuse, db.within(reach)) }, parts),
    kill: killing(fuse),
    mortal: mortal(fuse),
  };
}

const newFuse = (): Fuse => ({ left: Number.POSITIVE_INFINITY, blown: false, life: Number.POSITIVE_INFINITY });

const mortal =
  (fuse: Fuse): KillingStore["mortal"] =>
  async (statements, program) => {
    fuse.life = statements;
    fuse.blown = false;
    try {
      await program();
    } catch (thrown) {
      if (!fuse.blown) throw thrown;
    } finally {
      fuse.life = Number.POSITIVE_INFINITY;
    }
    return fuse.blown;
  };

const killing =
  (fuse: Fuse): KillingStore["kill"] =>
  async (statements, work) => {
    fuse.left = statements;
    fuse.blown = false;
    try {
      const value = await work();
      if (fuse.blown) throw new Error("a transaction that was killed has ended well");
      return { value, killed: false };
    } catch (thrown) {
      if (!fuse.blown) throw thrown;
    } finally {
      fuse.left = Number.POSITIVE_INFINITY;
    }
    return { value: await work(), killed: true };
  };

function burning(fuse: Fuse, { read, write }: Transactions): Transactions {
  const spent = async <T>(isWriting: boolean, run: () => Promise<T>): Promise<T> => {
    if (fuse.life-- > 0 && (!isWriting || fuse.left-- > 0)) return run();
    fuse.blown = true;
    throw new Error(KILLED);
  };
  const counted = (tx: Tx, isWriting: boolean): Tx => ({
    ...tx,
    all: (statement) => spent(isWriting, () => tx.all(statement)),
    first: (statement) => spent(isWriting, () => tx.first(statement)),
    column: (statement) => spent(isWriting, () => tx.column(statement)),
    run: (statement) => spent(isWriting, () => tx.run(statement)),
    changed: (statement) => spent(isWriting, () => tx.changed(statement)),
  });
  return {
    read: (work) => read((tx) => work(counted(tx, false))),
    write: (work) => write((tx) => work(counted(tx, true))),
  };
}
