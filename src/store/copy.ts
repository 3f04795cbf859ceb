import { StrataError } from "../protocol/index.ts";
import { cameFrom, MOVES, type Moved, moved, noteMove, storeMoved } from "./moved.ts";
import { plain, type Ready } from "./statement.ts";
import type { Tx } from "./tx.ts";

/** A copy's requirements of a database. */
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

/** The table that marks an unfinished copy and holds its id; no Strata opens a database that has it. */
export const UNFINISHED = "store_copy";

/** The same for both databases. */
export function unfinished(name: string): StrataError {
  return new StrataError(
    "store_failed",
    `${name} holds a copy that was not finished: run the same \`strata store copy\` again, or delete it and take its source up again with \`strata store resume\``,
    { store: name },
  );
}

/** Rows per transaction. */
const STEP = 500;

/** Tables that each database fills by itself, which are not copied. */
const OWN = new Set(["migration", UNFINISHED, MOVES]);

/** A copy: its id, unless it continues another, its time in milliseconds since 1970, and the progress callback. */
export interface NewCopy {
  readonly id: string;
  readonly at: number;
  /** Waits until every program at the source has noticed its mark. If omitted, there are none. */
  readonly noticed?: () => Promise<unknown>;
  readonly onProgress?: (progress: CopyProgress) => void;
}

/**
 * Copies all rows, table by table in the order of their keys, so an interrupted copy continues after the last row that is there. The target
 * must be empty, contain the beginning of this very copy (each row that is there is compared with the source's), or be the store that the
 * source once came from, whose content is then replaced. From the start of the copy, the source is marked as moved and rejects writes.
 * @throws StrataError `invalid_input` if the target contains something else, or rows that have changed in the source since; `store_moved`
 * if the source was copied elsewhere
 */
export async function copyStore(
  from: CopySide,
  to: CopySide,
  { id, at, noticed, onProgress = () => undefined }: NewCopy,
): Promise<CopyProgress> {
  const tables = await from.read(async (source) =>
    inReferenceOrder((await from.tables(source)).filter(({ name }) => !OWN.has(name))),
  );
  const copy = await beginCopy(from, to, { tables, id });
  const before = await markSource(from, { id: copy, other: to.name, at });
  await noticed?.();
  // Behind whoever still writes.
  await from.write(async () => undefined);
  return from.read(async (source) => {
    const counts = await countsOf(source, tables);
    const total = sum(counts);
    let done = sum(await to.write((target) => countsOf(target, tables)));
    for (const table of tables) {
      for await (const rows of copyRest(source, to, table)) {
        done += rows;
        onProgress({ done, total });
      }
    }
    await finishCopy(to, { tables, wanted: counts, moves: [...before, { id: copy, other: from.name, at }] });
    return { done, total };
  });
}

const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((a, b) => a + b, 0);

/** Tables come after those that they refer to. */
function inReferenceOrder(tables: readonly CopyTable[]): readonly CopyTable[] {
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

/** Makes the target ready, and returns the id of the copy: that of an earlier attempt where one is there. */
async function beginCopy(
  from: CopySide,
  to: CopySide,
  { tables, id }: { readonly tables: readonly CopyTable[]; readonly id: string },
): Promise<string> {
  const [mark, origins] = await from.read(async (source) => [await moved(source), await cameFrom(source)]);
  return to.write(async (target) => {
    const there = await to.tables(target);
    const different = tables.filter(({ name, columns }) => {
      const other = there.find((one) => one.name === name);
      return other === undefined || [...other.columns].sort().join() !== [...columns].sort().join();
    });
    if (different.length > 0)
      throw new StrataError("unexpected", `${to.name} has other tables than ${from.name}: ${different[0]?.name}`);
    const isBegun = there.some(({ name }) => name === UNFINISHED);
    const [begun] = isBegun ? await target.column(plain<string>(`select since from ${UNFINISHED}`)) : [];
    if (mark !== undefined && mark.id !== begun) throw storeMoved(from.name, mark);
    if (isBegun) return begun ?? id;
    const left = await moved(target);
    if (origins.some((one) => one.id === left?.id)) await clear(target, tables);
    const held = [...(await countsOf(target, tables))].filter(([name, count]) => name !== "memory_index" && count > 0);
    if (held.length > 0)
      throw new StrataError("invalid_input", `${to.name} is not empty: name a new database`, { store: to.name });
    await target.run(plain(`delete from memory_index`));
    await target.run(plain(`create table ${UNFINISHED} (since text primary key)`));
    await target.run(plain(`insert into ${UNFINISHED} (since) values (?)`, id));
    return id;
  });
}

/** Empties a store that is copied back. */
async function clear(target: CopyTx, tables: readonly CopyTable[]): Promise<void> {
  for (const { name } of tables.toReversed()) await target.run(plain(`delete from "${name}"`));
  await target.run(plain(`delete from ${MOVES}`));
}

/** Marks the source, unless an earlier attempt did; and returns the copies that led to it. */
async function markSource(from: CopySide, copy: Moved): Promise<readonly Moved[]> {
  return from.write(async (source) => {
    if ((await moved(source)) === undefined) await noteMove(source, "to", copy);
    return cameFrom(source);
  });
}

/** Copies the rows that a table lacks, and yields the number of rows after each step. */
async function* copyRest(source: CopyTx, to: CopySide, table: CopyTable): AsyncGenerator<number> {
  let last = await lastKept(source, to, table);
  for (;;) {
    const rows = await source.all(rowsAfter(table, last));
    if (rows.length === 0) return;
    await to.write((target) => put(target, table, rows));
    yield rows.length;
    last = rows.at(-1);
  }
}

/** The last row that an earlier attempt copied, if the source still has this row and all before it unchanged. */
async function lastKept(source: CopyTx, to: CopySide, table: CopyTable): Promise<CopyRow | undefined> {
  for (let last: CopyRow | undefined; ; ) {
    const kept = await to.read((target) => target.all(rowsAfter(table, last)));
    if (kept.length === 0) return last;
    const wanted = await source.all(rowsAfter(table, last));
    if (kept.some((row, i) => valuesOf(row) !== valuesOf(wanted[i]))) throw otherCopy(to);
    last = kept.at(-1);
  }
}

/** A row's values in the order of its columns; bytes as digits, because each driver has its own class for them. */
const valuesOf = (row: CopyRow = {}): string =>
  JSON.stringify(
    Object.values(row).map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value)),
  );

function otherCopy({ name }: CopySide): StrataError {
  const message = `${name} holds the beginning of another copy, or the source was written to since: delete it, stop every Strata on the source and copy again`;
  return new StrataError("invalid_input", message, { store: name });
}

/** The next rows of a table after one of them, or its first ones. */
function rowsAfter({ name, columns, key }: CopyTable, last: CopyRow | undefined): Ready<CopyRow> {
  const names = (some: readonly string[]): string => some.map((column) => `"${column}"`).join(", ");
  const after = last === undefined ? "" : `where (${names(key)}) > (${key.map(() => "?").join(", ")})`;
  const place = last === undefined ? [] : key.map((column) => last[column]);
  return plain(`select ${names(columns)} from "${name}" ${after} order by ${names(key)} limit ${STEP}`, ...place);
}

type CopyRow = Readonly<Record<string, unknown>>;

/** The number of values that both databases allow in one statement. */
const VALUES = 2_000;

/** Adds rows to a table. */
export async function put(target: CopyTx, { name, columns }: CopyTable, rows: readonly CopyRow[]): Promise<void> {
  const each = Math.max(1, Math.floor(VALUES / columns.length));
  const places = `(${columns.map(() => "?").join(", ")})`;
  const into = `insert into "${name}" (${columns.map((column) => `"${column}"`).join(", ")}) values `;
  for (let at = 0; at < rows.length; at += each) {
    const some = rows.slice(at, at + each);
    const values = some.flatMap((row) => columns.map((column) => row[column]));
    await target.run(plain(into + some.map(() => places).join(", "), ...values));
  }
}

interface CopyEnd {
  readonly tables: readonly CopyTable[];
  readonly wanted: ReadonlyMap<string, number>;
  readonly moves: readonly Moved[];
}

async function finishCopy(to: CopySide, { tables, wanted, moves }: CopyEnd): Promise<void> {
  await to.write(async (target) => {
    const found = await countsOf(target, tables);
    const wrong = tables.find(({ name }) => found.get(name) !== wanted.get(name));
    if (wrong) {
      const message = `${to.name} has ${found.get(wrong.name)} rows of ${wrong.name} and should have ${wanted.get(wrong.name)}: delete it and copy again`;
      throw new StrataError("store_failed", message, { store: to.name, table: wrong.name });
    }
    await to.finish(target);
    for (const one of moves) await noteMove(target, "from", one);
    await target.run(plain(`drop table ${UNFINISHED}`));
  });
}
