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

/** The same for SQL that runs with every message: nothing is built. */
export function plain<R>(text: string, ...parameters: readonly unknown[]): Ready<R> {
  return { sql: text, parameters };
}

/** A limit of one row, written into the query: SQLite plans a query anew for every bound limit. */
export const ONE = sql.lit(1);

/** A query's text with, in the order of its parameters, the values that never change and the names of those that do. */
interface Compiled {
  readonly sql: string;
  readonly values: readonly ({ readonly name: string } | { readonly value: unknown })[];
}

/**
 * A query that is built and compiled once and then used with other values each time: what runs in every turn would else
 * spend a third of its time building the same text. Build it from the values as they are given, without looking into them.
 */
export function fixed<Given extends object, R>(build: (given: Given) => Compilable<R>): (given: Given) => Ready<R> {
  let made: Compiled | undefined;
  return (given) => {
    made ??= compileOnce(build);
    const known = new Map<string, unknown>(Object.entries(given));
    const parameters = made.values.map((one) => ("name" in one ? known.get(one.name) : one.value));
    return { sql: made.sql, parameters };
  };
}

function compileOnce<Given extends object, R>(build: (given: Given) => Compilable<R>): Compiled {
  const names = new Map<unknown, string>();
  const blank = (name: string): object => {
    const stand = {};
    names.set(stand, name);
    return stand;
  };
  // The builder only passes what it is given on to its query, where it waits as a parameter: blanks will do.
  const given = new Proxy({}, { get: (_, name) => blank(String(name)) }) as Given;
  const { sql: text, parameters } = build(given).compile();
  const values = parameters.map((value) => {
    const name = names.get(value);
    return name === undefined ? { value } : { name };
  });
  return { sql: text, values };
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
