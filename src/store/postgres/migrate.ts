import { sql } from "kysely";
import { StrataError } from "../../protocol/index.ts";
import { type Migration, SHARED, saidTo } from "../migrations.ts";
import { plain, written } from "../statement.ts";
import type { Tx } from "../tx.ts";
import { type Connected, EVERYTHING } from "./database.ts";
import { FIRST_SCHEMA } from "./first-schema.ts";
import { openTables, ROW_SECURITY, SEVERAL_AGENTS, secured } from "./row-security.ts";

/** All steps, in order. The first one equals SQLite's first sixteen; from then on both have the same numbers. */
export const MIGRATIONS: readonly Migration[] = [
  { number: 16, name: "first", statements: [...FIRST_SCHEMA, ...ROW_SECURITY] },
  ...SHARED.map((step) =>
    step.name === "open calls" ? { ...step, statements: [...step.statements, ...SEVERAL_AGENTS] } : step,
  ),
];

const HISTORY = `create table if not exists migration (number bigint primary key, name text not null)`;

/**
 * Brings a database up to the current schema, in one transaction that excludes all other writers. If two programs open a new database at
 * once, one waits.
 * @throws StrataError `store_newer`, `store_failed`
 */
export async function migrate(db: Connected, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  const newest = migrations.at(-1)?.number ?? 0;
  const owner = db.within(EVERYTHING);
  if ((await owner.read(version)) === newest) return;
  await owner.write(async (tx) => {
    await tx.run(written(sql.raw(HISTORY)));
    const found = await version(tx);
    if (found > newest) throw newer(db, found, newest);
    for (const step of migrations.filter(({ number }) => number > found)) await apply(tx, step);
    for (const { name, columns } of await openTables(tx)) {
      for (const statement of secured(name, columns)) await tx.run(plain(statement));
    }
  });
}

/** The number of the last step applied; 0 for a new database. */
async function version(tx: Tx): Promise<number> {
  const [history] = await tx.column(plain<string | null>(`select to_regclass('migration')::text`));
  if (!history) return 0;
  const [newest] = await tx.column(plain<number | null>(`select max(number) from migration`));
  return newest ?? 0;
}

async function apply(tx: Tx, step: Migration): Promise<void> {
  for (const statement of saidTo("postgres", step)) await tx.run(plain(statement));
  await tx.run(plain(`insert into migration (number, name) values (?, ?)`, step.number, step.name));
}

function newer({ where }: Connected, found: number, newest: number): StrataError {
  return new StrataError(
    "store_newer",
    `the database ${where.database} at ${where.host} was written by a newer Strata (schema ${found}, this one knows ${newest}): update Strata, or name another database`,
    { database: where.database, found, newest },
  );
}
