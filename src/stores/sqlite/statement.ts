import {
  type Compilable,
  DummyDriver,
  type Insertable,
  Kysely,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
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

/** SQL with its values, ready to run. */
export interface Ready<R> {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** What a row of it looks like: only the types know it. */
  readonly row?: R;
}

/** What can be run: a query as built, or one that is ready. */
export type Statement<R> = Compilable<R> | Ready<R>;

/** Handwritten SQL, for what the builder has no words for: full text, and the schema. */
export function written<R>(text: RawBuilder<R>): Ready<R> {
  return text.compile(query);
}

/** A limit of one row, written into the query: SQLite plans a query anew for every bound limit. */
export const ONE = sql.lit(1);

/** Stands for a value while a query is built. */
class Blank {
  readonly key: string;
  constructor(key: string) {
    this.key = key;
  }
}

/**
 * A query that is built and compiled once and then used with other values each time: what runs in every turn would else
 * spend a third of its time building the same text. Build it from the values as they are given, without looking into them.
 */
export function fixed<Given extends object, R>(build: (given: Given) => Compilable<R>): (given: Given) => Ready<R> {
  let made: { readonly sql: string; readonly values: readonly unknown[] } | undefined;
  return (given) => {
    if (!made) {
      // The builder only passes these on to its query, where they wait as parameters to be replaced by real values.
      const blanks = new Proxy({}, { get: (_, key) => new Blank(String(key)) }) as Given;
      const { sql: text, parameters } = build(blanks).compile();
      made = { sql: text, values: parameters };
    }
    const known = new Map<string, unknown>(Object.entries(given));
    return {
      sql: made.sql,
      parameters: made.values.map((value) => (value instanceof Blank ? known.get(value.key) : value)),
    };
  };
}

const inserts = new Map<string, string>();

/** One row into a table. `ifNew`: a row that is there already stays, without an error. */
export function insert<Table extends keyof Tables>(
  table: Table,
  row: Insertable<Tables[Table]>,
  when?: "if new",
): Ready<never> {
  const columns = Object.keys(row);
  const name = `${table} ${when ?? ""} ${columns.join(" ")}`;
  let text = inserts.get(name);
  if (text === undefined) {
    const names = columns.map((column) => `"${column}"`).join(", ");
    const conflict = when === undefined ? "" : " on conflict do nothing";
    text = `insert into "${table}" (${names}) values (${columns.map(() => "?").join(", ")})${conflict}`;
    inserts.set(name, text);
  }
  return { sql: text, parameters: Object.values(row) };
}
