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
  /** Calls it with a limit of statements; where that is reached, once more without. True where it was stopped. */
  readonly kill: <T>(
    statements: number,
    work: () => Promise<T>,
  ) => Promise<{ readonly value: T; readonly killed: boolean }>;
}

const KILLED = "killed between two statements";

/** Statements until the next transaction that writes is stopped. */
interface Fuse {
  left: number;
  blown: boolean;
}

export async function killingSqlite(file = ":memory:"): Promise<KillingStore> {
  const how = { random: randomBytes, patience: 5_000, vectors: false, limits: MEMORY_LIMITS };
  const writer = connectSqlite(file, how);
  migrateSqlite(writer, withParts(SQLITE_STEPS, PARTS));
  const fuse = newFuse();
  const database = sqliteDatabase(writer, writer, PARTS);
  return { store: storeOver({ ...database, write: burning(fuse, database).write }), kill: killing(fuse) };
}

export async function killingPostgres(url: string): Promise<KillingStore> {
  const db = await connectPostgres(url, { random: randomBytes, patience: 15_000, limits: MEMORY_LIMITS, parts: PARTS });
  await migratePostgres(db, withParts(POSTGRES_STEPS, PARTS));
  const fuse = newFuse();
  return {
    store: storeWithin({ ...db, close: () => db.close(), within: (reach) => burning(fuse, db.within(reach)) }, PARTS),
    kill: killing(fuse),
  };
}

const newFuse = (): Fuse => ({ left: Number.POSITIVE_INFINITY, blown: false });

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
  const spent = <T>(run: () => Promise<T>): Promise<T> => {
    if (fuse.left-- > 0) return run();
    fuse.blown = true;
    throw new Error(KILLED);
  };
  const dying = (tx: Tx): Tx => ({
    ...tx,
    all: (statement) => spent(() => tx.all(statement)),
    first: (statement) => spent(() => tx.first(statement)),
    column: (statement) => spent(() => tx.column(statement)),
    run: (statement) => spent(() => tx.run(statement)),
  });
  return { read, write: (work) => write((tx) => work(dying(tx))) };
}
