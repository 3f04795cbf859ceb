import { randomBytes } from "node:crypto";
import type { CopySide, CopyTable, CopyTx } from "../copy.ts";
import { MEMORY_LIMITS } from "../memory/memory-index.ts";
import { withParts } from "../migrations.ts";
import { plain } from "../statement.ts";
import type { StorePart } from "../tx.ts";
import { connect, EVERYTHING } from "./database.ts";
import { addressName } from "./failure.ts";
import { MIGRATIONS, migrate } from "./migrate.ts";

/** How long a copy may keep its snapshot while it waits for the other side: an hour, in milliseconds. */
const PATIENCE = 3_600_000;

/** A database as one side of a copy, with today's schema. @throws StrataError as `connect` and `migrate` */
export async function postgresSide(url: string, parts: readonly StorePart[] = []): Promise<CopySide> {
  const db = await connect(url, { random: randomBytes, limits: MEMORY_LIMITS, patience: PATIENCE });
  try {
    await migrate(db, withParts(MIGRATIONS, parts));
  } catch (thrown) {
    await db.close();
    throw thrown;
  }
  const { read, write } = db.within(EVERYTHING);
  return { name: addressName(db.where), read, write, tables, finish, close: db.close };
}

const TABLES = `select c.relname as name, a.attname as column,
    coalesce(array_position(i.indkey::int[], a.attnum::int), -1) as place
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_index i on i.indrelid = c.oid and i.indisprimary
  where c.relkind = 'r' and c.relnamespace = current_schema::regnamespace and c.relname != 'unit_word' order by c.oid, a.attnum`;
const NEEDS = `select distinct c.relname as name, t.relname as needs from pg_constraint f join pg_class c on c.oid = f.conrelid
  join pg_class t on t.oid = f.confrelid where f.contype = 'f' and c.relnamespace = current_schema::regnamespace`;

interface ColumnRow {
  readonly name: string;
  readonly column: string;
  readonly place: number;
}

async function tables(tx: CopyTx): Promise<readonly CopyTable[]> {
  const columns = await tx.all(plain<ColumnRow>(TABLES));
  const needs = await tx.all(plain<{ readonly name: string; readonly needs: string }>(NEEDS));
  return [...Map.groupBy(columns, ({ name }) => name)].map(([name, own]) => ({
    name,
    columns: own.map(({ column }) => column),
    key: own
      .filter(({ place }) => place >= 0)
      .sort((a, b) => a.place - b.place)
      .map(({ column }) => column),
    needs: needs.filter((one) => one.name === name).map((one) => one.needs),
  }));
}

/** Fills the index of words, and lets generated numbers continue after the highest one. */
async function finish(tx: CopyTx): Promise<void> {
  await tx.run(plain(`delete from unit_word`));
  await tx.run(
    plain(
      `insert into unit_word (term, unit) select distinct word, id from unit, unnest(string_to_array(terms, ' ')) as word`,
    ),
  );
  const numbered = `select table_name::text as name, column_name::text as column, 0 as place from information_schema.columns
    where is_identity = 'YES' and table_schema = current_schema`;
  for (const { name, column } of await tx.all(plain<ColumnRow>(numbered))) {
    const next = `select setval(pg_get_serial_sequence('${name}', '${column}'), coalesce(max("${column}"), 0) + 1, false) from "${name}"`;
    await tx.all(plain(next));
  }
  await tx.run(plain("analyze"));
}
