import BetterSqlite3 from "better-sqlite3";
import {
  type Compilable,
  type CompiledQuery,
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { Tables } from "../tables.ts";

/** Builds queries and runs none: Kysely is used as a typed compiler only, so a transaction never waits in its middle. */
export const query = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/** One open database. All of it is synchronous: between two lines of a store function nobody else runs. */
export interface Connection {
  readonly file: string;
  /** Chance from outside: that many random bytes. */
  readonly random: (bytes: number) => Uint8Array;
  all<R>(wanted: Wanted<R>): R[];
  first<R>(wanted: Wanted<R>): R | undefined;
  /** Gives how many rows were changed. */
  run(wanted: Wanted<unknown>): number;
  /** One transaction that may write: `BEGIN IMMEDIATE`, so that it never loses a race half way. */
  write<T>(work: () => T): T;
  /** One snapshot for several reads; it never waits for a writer. */
  read<T>(work: () => T): T;
  /** Moves the write-ahead log into the file and empties it: erased text shall not live on in it. */
  flush(): void;
  close(): void;
}

/** A query, built or compiled. */
export type Wanted<R> = Compilable<R> | CompiledQuery<R>;

/** How to open. `patience` is how long to wait for another program's lock, in milliseconds. */
export interface ConnectionOptions {
  readonly random: (bytes: number) => Uint8Array;
  readonly patience: number;
}

type Statement<R> = BetterSqlite3.Statement<unknown[], R>;

/** Queries have few shapes; more than this many means that one of them grows with its input. */
const STATEMENTS = 400;

/** Opens the file and sets it up for durable, concurrent use. Closes it again when that fails. */
export function connect(file: string, options: ConnectionOptions): Connection {
  const db = new BetterSqlite3(file, { timeout: options.patience });
  try {
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = FULL");
    db.pragma("foreign_keys = ON");
    // Freed room is overwritten, so that erased text is gone from the file too.
    db.pragma("secure_delete = ON");
  } catch (thrown) {
    db.close();
    throw thrown;
  }
  return connection(db, file, options.random);
}

function connection(db: BetterSqlite3.Database, file: string, random: Connection["random"]): Connection {
  const statements = new Map<string, unknown>();
  const prepared = <R>(text: string): Statement<R> => {
    // The query builder derived R from the tables' types: a row has this shape because a typed query wrote it.
    const known = statements.get(text) as Statement<R> | undefined;
    if (known) return known;
    if (statements.size >= STATEMENTS) statements.clear();
    const statement = db.prepare<unknown[], R>(text);
    statements.set(text, statement);
    return statement;
  };
  return {
    file,
    random,
    all: <R>(wanted: Wanted<R>) => {
      const { sql, parameters } = compiled(wanted);
      return prepared<R>(sql).all(...parameters);
    },
    first: <R>(wanted: Wanted<R>) => {
      const { sql, parameters } = compiled(wanted);
      return prepared<R>(sql).get(...parameters);
    },
    run: (wanted) => {
      const { sql, parameters } = compiled(wanted);
      return prepared(sql).run(...parameters).changes;
    },
    write: (work) => db.transaction(work).immediate(),
    read: (work) => db.transaction(work).deferred(),
    flush: () => void db.pragma("wal_checkpoint(TRUNCATE)"),
    close: () => void db.close(),
  };
}

function compiled<R>(wanted: Wanted<R>): CompiledQuery<R> {
  return "compile" in wanted ? wanted.compile() : wanted;
}
