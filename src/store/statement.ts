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
import { type ContactScope, isKept, type Scope, TURN_STATUSES } from "../protocol/index.ts";
import type { Position } from "./records.ts";
import { NOBODY, type Row, type Tables } from "./tables.ts";

/** Builds queries and runs none: Kysely is used as a typed compiler only, the drivers get SQL and values. */
export const query = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/** The databases that store functions run on. */
export type Dialect = "sqlite" | "postgres";

/** SQL with a `?` for each value: one text for both databases, or one for each where they have no words in common. */
export type Sql = string | Readonly<Record<Dialect, string>>;

/** SQL with its values, ready to run. */
export interface Ready<R> {
  readonly sql: Sql;
  readonly parameters: readonly unknown[];
  /** The type of its rows: exists only for the types. */
  readonly row?: R;
}

/** A runnable query: as built, or prepared. */
export type Statement<R> = Compilable<R> | Ready<R>;

/** A driver's input: the SQL of its database, and the values in the order in which they appear in it. */
interface Runnable {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** As the dialect has it. */
export function runnable(wanted: Statement<unknown>, dialect: Dialect): Runnable {
  const { sql, parameters } = "compile" in wanted ? wanted.compile() : wanted;
  const text = typeof sql === "string" ? sql : sql[dialect];
  return { sql: dialect === "postgres" ? inPostgres(text) : text, parameters };
}

const sqlTexts = new Map<string, string>();

/** Texts have few shapes; more than this many means that one of them grows with its input. */
const MOST_TEXTS = 2_000;

/** Made once of each text. */
function inPostgres(text: string): string {
  const known = sqlTexts.get(text);
  if (known !== undefined) return known;
  const made = postgresText(text);
  if (sqlTexts.size >= MOST_TEXTS) sqlTexts.clear();
  sqlTexts.set(text, made);
  return made;
}

/** Handwritten SQL, for what the builder cannot express: full text, and the schema. */
export function written<R>(text: RawBuilder<R>): Ready<R> {
  return text.compile(query);
}

/** The same for SQL that runs with every message: nothing is built. */
export function plain<R>(text: Sql, ...parameters: readonly unknown[]): Ready<R> {
  return { sql: text, parameters };
}

/** The endings of turns that were kept, as `isKept` has them, behind the column of a query. */
export const KEPT_ENDINGS = `in (${TURN_STATUSES.filter((status) => isKept({ status }))
  .map((status) => `'${status}'`)
  .join(", ")})`;

/** A limit of one row, written into the query: SQLite plans a query again for every bound limit. */
export const ONE = sql.lit(1);

/** A query's text with, in the order of its parameters, the values that never change and the names of those that do. */
interface Compiled {
  readonly sql: string;
  readonly values: readonly ({ readonly name: string } | { readonly value: unknown })[];
}

/**
 * A query that is built once for each dialect and then used with other values each time: otherwise, queries that run in every turn would
 * spend a third of their time building the same SQL. Build it from the given values, without looking into them; the dialects may have
 * different SQL, and have the same values in the same order.
 */
export function fixed<Given extends object, R>(
  build: (given: Given, dialect: Dialect) => Compilable<R>,
): (given: Given) => Ready<R> {
  const made: { [D in Dialect]?: Compiled } = {};
  const of = (dialect: Dialect): Compiled => (made[dialect] ??= compileOnce(build, dialect));
  const sql: Readonly<Record<Dialect, string>> = {
    get sqlite() {
      return of("sqlite").sql;
    },
    get postgres() {
      return of("postgres").sql;
    },
  };
  return (given) => {
    const { values } = made.sqlite ?? made.postgres ?? of("sqlite");
    const parameters = values.map((one) => ("name" in one ? Reflect.get(given, one.name) : one.value));
    return { sql, parameters };
  };
}

function compileOnce<Given extends object, R>(
  build: (given: Given, dialect: Dialect) => Compilable<R>,
  dialect: Dialect,
): Compiled {
  const names = new Map<unknown, string>();
  const blank = (name: string): object => {
    const stand = {};
    names.set(stand, name);
    return stand;
  };
  // The builder only passes its input on to its query, where it waits as a parameter: blanks will do.
  const given = new Proxy({}, { get: (_, name) => blank(String(name)) }) as Given;
  const { sql: text, parameters } = build(given, dialect).compile();
  const values = parameters.map((value) => {
    const name = names.get(value);
    return name === undefined ? { value } : { name };
  });
  return { sql: text, values };
}

/** What queries of a feature's own tables are built with; they may ask the store's tables as well. */
interface TablesWith<Own extends Record<string, object>> {
  readonly query: Kysely<Tables & Own>;
  /** One row into a table. `if new`: a row that is there already stays, without an error. */
  readonly insert: <Table extends keyof Own & string>(
    table: Table,
    row: Insertable<Own[Table]>,
    when?: "if new",
  ) => Ready<never>;
}

/** `tables<{ life: LifeTable }>()`: the builder, with a feature's tables. */
export const tables = <Own extends Record<string, object>>(): TablesWith<Own> => ({
  query: query.withTables<Own>(),
  insert: (table, row, when) => insertRows(table, [row], when),
});

/** One row into a table. `if new`: a row that is there already stays, without an error; a text that was retracted is there again. */
export function insert<Table extends keyof Tables>(
  table: Table,
  row: Insertable<Tables[Table]>,
  when?: "if new",
): Ready<never> {
  return insertRows(table, [row], when);
}

/** Several rows of the same columns into a table, in few statements. */
export async function insertAll<Table extends keyof Tables>(
  tx: { run(statement: Ready<unknown>): Promise<void> },
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
  when?: "if new",
): Promise<void> {
  for (let from = 0; from < rows.length; ) {
    // Few sizes, so that few texts are prepared.
    const left = rows.length - from;
    const size = left <= FEW_ROWS ? left : Math.min(MOST_ROWS, 2 ** Math.floor(Math.log2(left)));
    await tx.run(insertRows(table, rows.slice(from, from + size), when));
    from += size;
  }
}

const FEW_ROWS = 8;
const MOST_ROWS = 64;

const inserts = new Map<string, string>();

/** The keys of the tables of texts: one that was retracted, and is said again, has its text again. */
const AGAIN: Readonly<Record<string, string>> = { piece: "org, agent, contact, digest", shared_piece: "org, digest" };

function insertRows(table: string, rows: readonly object[], when?: "if new"): Ready<never> {
  const columns = Object.keys(rows[0] ?? {});
  const name = `${rows.length} ${table} ${when ?? ""} ${columns.join(" ")}`;
  let text = inserts.get(name);
  if (text === undefined) {
    const names = columns.map((column) => `"${column}"`).join(", ");
    const values = `(${columns.map(() => "?").join(", ")})`;
    const again = AGAIN[table];
    const anew =
      again === undefined
        ? "do nothing"
        : `(${again}) do update set text = excluded.text, retracted = null where ${table}.retracted is not null`;
    const conflict = when === undefined ? "" : ` on conflict ${anew}`;
    text = `insert into "${table}" (${names}) values ${rows.map(() => values).join(", ")}${conflict}`;
    inserts.set(name, text);
  }
  return { sql: text, parameters: rows.flatMap((row) => columns.map((column) => Reflect.get(row, column))) };
}

/**
 * Store functions are written in the SQL that SQLite and PostgreSQL share, and a few expressions of SQLite that PostgreSQL has under
 * another name: these. If something has no counterpart, the store function has one text for each.
 */
const WORDS: readonly (readonly [RegExp, string])[] = [
  // A hint about the best index. PostgreSQL decides by itself.
  [/ indexed by \w+/g, ""],
  // In SQLite also a hint: read the left table first.
  [/\bcross join(?! lateral)\b/g, "join"],
  [/\bifnull\(/g, "coalesce("],
  [/\blast_insert_rowid\(\)/g, "lastval()"],
  // Lists are passed as one JSON value. Their elements are looked up in an array, which can use an index for each. As a table, the list
  // would be joined, and the server reads a whole scope for that if it underestimates its size.
  [
    /\bin \(select cast\(value as bigint\) from json_each\(\?\)\)/g,
    "= any (array(select json_array_elements_text(?::json)::bigint))",
  ],
  [/\bin \(select value from json_each\(\?\)\)/g, "= any (array(select json_array_elements_text(?::json)))"],
  [/\?, key, value from json_each\(\?\)/g, "?::bigint, key, value::bigint from json_each_text(?::json)"],
  [/\bjson_each\((\?|[\w.]+)\) as (\w+)/g, "json_array_elements_text($1::json) as $2(value)"],
  [/\bjson_each\(\?\)/g, "json_array_elements_text(?::json) as listed(value)"],
];

/** The same text for PostgreSQL, with numbered parameters. */
export function postgresText(text: string): string {
  return numbered(WORDS.reduce((said, [word, other]) => said.replace(word, other), text));
}

function numbered(text: string): string {
  let n = 0;
  // A question mark inside quotes or comments is not a parameter.
  return text.replace(/'[^']*'|"[^"]*"|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g, (part) => (part === "?" ? `$${++n}` : part));
}

/** A contact's scope as columns, which every row carries and every query filters by (law 5). */
export function owner(scope: ContactScope): Pick<Row<"piece">, "org" | "agent" | "contact"> {
  return { org: scope.org, agent: scope.agent, contact: scope.contact };
}

/** A scope as columns, if a row may also belong to the agent itself. */
export function ownerOrAgent(scope: Scope): Pick<Row<"memory_scope">, "org" | "agent" | "contact"> {
  return { org: scope.org, agent: scope.agent, contact: scope.contact ?? NOBODY };
}

/** A scope as a filter for lists: without a contact, it includes all contacts of the agent. */
export function within(scope: Scope): Partial<Pick<Row<"thread">, "org" | "agent" | "contact">> {
  const { org, agent, contact } = scope;
  return contact === null ? { org, agent } : { org, agent, contact };
}

/** The rows after a position in a list that is sorted by these two columns, both descending. */
export const below = (at: string, id: string, after: Position) =>
  sql<boolean>`(${sql.ref(at)}, ${sql.ref(id)}) < (${after.at}, ${after.id})`;

/** Any number as a row limit. SQLite would read a negative one as "all". */
export function atMost(limit: number): number {
  return Math.min(Math.max(Math.trunc(limit) || 0, 0), Number.MAX_SAFE_INTEGER);
}
