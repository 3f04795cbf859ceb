import { sql } from "kysely";
import { StrataError } from "../../protocol/index.ts";
import { type Migration, nameOfSteps, SHARED, saidTo } from "../migrations.ts";
import { plain, written } from "../statement.ts";
import { type Connection, type ConnectionOptions, connect } from "./connection.ts";
import { first } from "./migrations/0001-first.ts";
import { SINCE_FIRST } from "./migrations/since-first.ts";

/** All steps, in order, without a gap. */
export const MIGRATIONS: readonly Migration[] = [first, ...SINCE_FIRST, ...SHARED];

const HISTORY = `create table if not exists migration (number integer primary key, name text not null) strict`;

/**
 * Brings a database up to today's schema, in one transaction. If two programs open a new file at once, one waits.
 * @throws StrataError `store_newer`
 */
export function migrate(db: Connection, migrations: readonly Migration[] = MIGRATIONS): void {
  const newest = migrations.at(-1)?.number ?? 0;
  if (db.read(() => version(db)) === newest) return;
  db.write(() => {
    db.run(written(sql.raw(HISTORY)));
    const found = version(db);
    if (found > newest) throw newer(db.file, found, newest);
    if (found === 0) return createSchema(db, migrations);
    for (const step of migrations.filter(({ number }) => number > found)) apply(db, step);
  });
}

/**
 * The schema that each list of steps makes of a new file. Programs that open many files, such as tests and `verify`, run the steps only
 * once, which is a sixth of the work.
 */
const made = new Map<string, readonly string[]>();

function createSchema(db: Connection, migrations: readonly Migration[]): void {
  const all = nameOfSteps(migrations);
  const known = made.get(all);
  for (const statement of known ?? []) db.run(plain(statement));
  for (const step of migrations) known === undefined ? apply(db, step) : noteStep(db, step);
  if (known === undefined) made.set(all, statementsOf(db, migrations));
}

/** SQLite's name for a database that is never on disk. */
export const IN_MEMORY = ":memory:";

/** Empty databases in memory, by the steps that made them: to take the steps again would be most of the work of a short use. */
const images = new Map<string, Buffer>();

/** A new database in memory, with today's schema. */
export function connectInMemory(how: ConnectionOptions, migrations: readonly Migration[]): Connection {
  const steps = nameOfSteps(migrations);
  const image = images.get(steps);
  const db = connect(IN_MEMORY, { ...how, ...(image && { image }) });
  try {
    migrate(db, migrations);
    if (image === undefined) images.set(steps, db.bytes());
    return db;
  } catch (thrown) {
    db.close();
    throw thrown;
  }
}

/** A setting of the search index, which it stores in tables that it creates by itself. */
const SETTING = /^insert into unit_words \(unit_words, rank\)/;

/** The statements that create the same schema at once. */
function statementsOf(db: Connection, migrations: readonly Migration[]): readonly string[] {
  const schema = plain<{ readonly sql: string }>(`select sql from sqlite_schema
    where sql is not null and name <> 'migration' and name not glob 'unit_words_*' order by rowid`);
  const settings = migrations.flatMap((step) => saidTo("sqlite", step).filter((one) => SETTING.test(one)));
  return [...db.all(schema).map(({ sql }) => sql), ...settings];
}

/** The number of the last step applied; 0 for a new file. */
function version(db: Connection): number {
  const history = written(sql`select name from sqlite_schema where name = 'migration'`);
  if (!db.first(history)) return 0;
  const newest = written(sql<{ number: number | null }>`select max(number) as number from migration`);
  return db.first(newest)?.number ?? 0;
}

function apply(db: Connection, step: Migration): void {
  for (const statement of saidTo("sqlite", step)) db.run(plain(statement));
  noteStep(db, step);
}

function noteStep(db: Connection, step: Migration): void {
  db.run(written(sql`insert into migration (number, name) values (${step.number}, ${step.name})`));
}

function newer(file: string, found: number, newest: number): StrataError {
  return new StrataError(
    "store_newer",
    `${file} was written by a newer Strata (schema ${found}, this one knows ${newest}): update Strata, or name another file`,
    { file, found, newest },
  );
}
