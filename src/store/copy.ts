import { StrataError } from "../protocol/index.ts";
import { plain, type Ready } from "./statement.ts";
import type { Tx } from "./tx.ts";

/** What a copy needs of a database. */
export type CopyTx = Pick<Tx, "all" | "column" | "run">;

/** A table as a copy needs it: its columns, those of its key, and the tables that its rows refer to. */
export interface CopyTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly key: readonly string[];
  readonly needs: readonly string[];
}

/** A database that is copied, or copied to, with today's schema. */
export interface CopySide {
  readonly name: string;
  /** One snapshot for all that is read. */
  read<T>(work: (tx: CopyTx) => Promise<T>): Promise<T>;
  /** One transaction. */
  write<T>(work: (tx: CopyTx) => Promise<T>): Promise<T>;
  /** All tables except those that this database derives from others. */
  tables(tx: CopyTx): Promise<readonly CopyTable[]>;
  /** Derives what this database derives, once all rows are there. */
  finish(tx: CopyTx): Promise<void>;
  close(): Promise<void>;
}

/** Rows so far. */
export interface CopyProgress {
  readonly done: number;
  readonly total: number;
}

/** The table that marks an unfinished copy; no Strata opens a database that has it. */
export const UNFINISHED = "store_copy";

/** The same for both databases. */
export function unfinished(name: string): StrataError {
  return new StrataError(
    "store_failed",
    `${name} holds a copy that was not finished: run the same \`strata store copy\` again, or delete it`,
    { store: name },
  );
}

/** Rows per transaction. */
const STEP = 500;

/** Tables that each database fills by itself, which are not copied. */
const OWN = new Set(["migration", UNFINISHED]);

/**
 * Copies all rows, table by table in the order of their keys, so an interrupted copy continues after the last row that is there. The target
 * must be empty or contain the beginning of this very copy: each row that is there is compared with the source's.
 * @throws StrataError `invalid_input` if it contains something else, or what the source has changed since
 */
export async function copyStore(
  from: CopySide,
  to: CopySide,
  onProgress: (progress: CopyProgress) => void = () => undefined,
): Promise<CopyProgress> {
  return from.read(async (source) => {
    const tables = inOrder((await from.tables(source)).filter(({ name }) => !OWN.has(name)));
    const counts = await countsOf(source, tables);
    await begin(to, tables, from);
    const total = sum(counts);
    let done = sum(await to.write((target) => countsOf(target, tables)));
    for (const table of tables) {
      for await (const rows of rest(source, to, table)) {
        done += rows;
        onProgress({ done, total });
      }
    }
    await end(to, tables, counts);
    return { done, total };
  });
}

const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((a, b) => a + b, 0);

/** Tables come after those that they refer to. */
function inOrder(tables: readonly CopyTable[]): readonly CopyTable[] {
  const named = new Map(tables.map((table) => [table.name, table]));
  const ordered = new Set<CopyTable>();
  const visit = (table: CopyTable): void => {
    if (ordered.has(table)) return;
    for (const name of table.needs) {
      const needed = named.get(name);
      if (needed !== undefined && needed !== table) visit(needed);
    }
    ordered.add(table);
  };
  for (const table of tables) visit(table);
  return [...ordered];
}

async function countsOf(tx: CopyTx, tables: readonly CopyTable[]): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { name } of tables)
    counts.set(name, (await tx.column(plain<number>(`select count(*) from "${name}"`)))[0] ?? 0);
  return counts;
}

async function begin(to: CopySide, tables: readonly CopyTable[], from: CopySide): Promise<void> {
  await to.write(async (target) => {
    const there = await to.tables(target);
    const different = tables.filter(({ name, columns }) => {
      const other = there.find((one) => one.name === name);
      return other === undefined || [...other.columns].sort().join() !== [...columns].sort().join();
    });
    if (different.length > 0)
      throw new StrataError("unexpected", `${to.name} has other tables than ${from.name}: ${different[0]?.name}`);
    if (there.some(({ name }) => name === UNFINISHED)) return;
    const held = [...(await countsOf(target, tables))].filter(([name, count]) => name !== "memory_index" && count > 0);
    if (held.length > 0)
      throw new StrataError("invalid_input", `${to.name} is not empty: name a new database`, { store: to.name });
    await target.run(plain(`delete from memory_index`));
    await target.run(plain(`create table ${UNFINISHED} (since text primary key)`));
  });
}

/** Copies the rows that a table lacks, and yields the number of rows after each step. */
async function* rest(source: CopyTx, to: CopySide, table: CopyTable): AsyncGenerator<number> {
  let last = await lastKept(source, to, table);
  for (;;) {
    const rows = await source.all(rowsAfter(table, last));
    if (rows.length === 0) return;
    await to.write((target) => put(target, table, rows));
    yield rows.length;
    last = rows.at(-1);
  }
}

/** The last row that an earlier attempt copied, if the source still has this one and all before it as they are there. */
async function lastKept(source: CopyTx, to: CopySide, table: CopyTable): Promise<Row | undefined> {
  for (let last: Row | undefined; ; ) {
    const kept = await to.read((target) => target.all(rowsAfter(table, last)));
    if (kept.length === 0) return last;
    const wanted = await source.all(rowsAfter(table, last));
    if (kept.some((row, i) => valuesOf(row) !== valuesOf(wanted[i]))) throw otherCopy(to);
    last = kept.at(-1);
  }
}

/** A row's values in the order of its columns; bytes as digits, since each driver has a class of its own for them. */
const valuesOf = (row: Row = {}): string =>
  JSON.stringify(
    Object.values(row).map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value)),
  );

function otherCopy({ name }: CopySide): StrataError {
  const message = `${name} holds the beginning of another copy, or the source was written to since: delete it, stop every Strata on the source and copy again`;
  return new StrataError("invalid_input", message, { store: name });
}

/** The next rows of a table after one of them, or its first ones. */
function rowsAfter({ name, columns, key }: CopyTable, last: Row | undefined): Ready<Row> {
  const names = (some: readonly string[]): string => some.map((column) => `"${column}"`).join(", ");
  const after = last === undefined ? "" : `where (${names(key)}) > (${key.map(() => "?").join(", ")})`;
  const place = last === undefined ? [] : key.map((column) => last[column]);
  return plain(`select ${names(columns)} from "${name}" ${after} order by ${names(key)} limit ${STEP}`, ...place);
}

type Row = Readonly<Record<string, unknown>>;

/** The number of values that both databases allow in one statement. */
const VALUES = 2_000;

async function put(target: CopyTx, { name, columns }: CopyTable, rows: readonly Row[]): Promise<void> {
  const each = Math.max(1, Math.floor(VALUES / columns.length));
  const places = `(${columns.map(() => "?").join(", ")})`;
  const into = `insert into "${name}" (${columns.map((column) => `"${column}"`).join(", ")}) values `;
  for (let at = 0; at < rows.length; at += each) {
    const some = rows.slice(at, at + each);
    const values = some.flatMap((row) => columns.map((column) => row[column]));
    await target.run(plain(into + some.map(() => places).join(", "), ...values));
  }
}

async function end(to: CopySide, tables: readonly CopyTable[], wanted: ReadonlyMap<string, number>): Promise<void> {
  await to.write(async (target) => {
    const found = await countsOf(target, tables);
    const wrong = tables.find(({ name }) => found.get(name) !== wanted.get(name));
    if (wrong) {
      const message = `${to.name} has ${found.get(wrong.name)} rows of ${wrong.name} and should have ${wanted.get(wrong.name)}: delete it and copy again`;
      throw new StrataError("store_failed", message, { store: to.name, table: wrong.name });
    }
    await to.finish(target);
    await target.run(plain(`drop table ${UNFINISHED}`));
  });
}
