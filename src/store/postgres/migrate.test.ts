import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { databases, server, title } from "../../../tests/postgres.ts";
import { MEMORY_LIMITS } from "../memory/memory-index.ts";
import { newTable } from "../migrations.ts";
import { connect as connectSqlite } from "../sqlite/connection.ts";
import { migrate as migrateSqlite, MIGRATIONS as SQLITE_MIGRATIONS } from "../sqlite/migrate.ts";
import { plain } from "../statement.ts";
import { type Connected, connect, EVERYTHING } from "./database.ts";
import { MIGRATIONS, migrate } from "./migrate.ts";

const { make, url } = databases();
const OPTIONS = { random: randomBytes, limits: MEMORY_LIMITS, patience: 10_000 };
const opened = async (name: string): Promise<Connected> => connect(url(name), OPTIONS);

/** A table as both databases can tell it: its columns in order, and each set of columns that is unique or refers to another table. */
interface Shape {
  readonly table: string;
  readonly columns: readonly string[];
  readonly keys: readonly string[];
}

/** What one database does its own way. */
const OWN = /^(unit_words.*|unit_word|sqlite_.*|migration|memory_index)$/;

function sqliteShapes(): readonly Shape[] {
  const db = connectSqlite(":memory:", { random: randomBytes, patience: 0 });
  migrateSqlite(db);
  const all = <R>(text: string, ...given: readonly unknown[]): R[] => db.all(plain<R>(text, ...given));
  const tables = db.column(plain<string>("select name from sqlite_schema where type = 'table' order by name"));
  const shapes = tables
    .filter((name) => !OWN.test(name))
    .map((table) => {
      const columns = all<{ name: string; type: string; notnull: number; pk: number }>(
        "select * from pragma_table_info(?)",
        table,
      );
      const isNumbered =
        columns.filter(({ pk }) => pk > 0).length === 1 &&
        columns.some(({ pk, type }) => pk === 1 && type === "INTEGER");
      const indexes = all<{ name: string; unique: number; partial: number }>(
        "select * from pragma_index_list(?)",
        table,
      );
      const ordinary = indexes.filter(({ name }) => !/_checked$|_untaken$|turn_unended$/.test(name));
      const columnsOf = (index: string) =>
        db.column(plain<string>("select name from pragma_index_info(?)", index)).join(" ");
      const references = all<{ id: number; table: string; from: string; to: string }>(
        "select * from pragma_foreign_key_list(?)",
        table,
      );
      const byId = Map.groupBy(references, ({ id }) => id);
      return {
        table,
        columns: columns.map(
          ({ name, type, notnull, pk }) => `${name} ${type.toLowerCase()}${notnull || pk > 0 ? " not null" : ""}`,
        ),
        keys: [
          ...(isNumbered ? [`unique ${columns.find(({ pk }) => pk === 1)?.name}`] : []),
          ...ordinary.map(
            ({ name, unique, partial }) =>
              `${unique ? "unique" : "index"} ${columnsOf(name)}${partial ? " where" : ""}`,
          ),
          ...[...byId.values()].map(
            (one) =>
              `${one.map(({ from }) => from).join(" ")} -> ${one[0]?.table} ${one.map(({ to }) => to).join(" ")}`,
          ),
        ].sort(),
      };
    });
  db.close();
  return shapes;
}

const POSTGRES_COLUMNS = `select c.relname as table, a.attname as name, a.attnotnull as needed, format_type(a.atttypid, null) as type
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
  where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by c.relname, a.attnum`;
const POSTGRES_INDEXES = `select c.relname as table, i.indisunique as is_unique, i.indpred is not null as partial,
    (select string_agg(a.attname, ' ' order by k.n) from unnest(i.indkey::int[]) with ordinality as k (num, n)
      join pg_attribute a on a.attrelid = c.oid and a.attnum = k.num) as columns
  from pg_index i join pg_class c on c.oid = i.indrelid where c.relnamespace = 'public'::regnamespace`;
const NAMED = (of: string, key: string) =>
  `(select string_agg(a.attname, ' ' order by k.n) from unnest(f.${key}) with ordinality as k (num, n)
    join pg_attribute a on a.attrelid = f.${of} and a.attnum = k.num)`;
const POSTGRES_REFERENCES = `select c.relname as table, t.relname as target, ${NAMED("conrelid", "conkey")} as own, ${NAMED("confrelid", "confkey")} as theirs
  from pg_constraint f join pg_class c on c.oid = f.conrelid join pg_class t on t.oid = f.confrelid where f.contype = 'f'`;

const TYPES: Readonly<Record<string, string>> = {
  text: "text",
  bigint: "integer",
  bytea: "blob",
  "double precision": "real",
};

/** Indexes that only PostgreSQL needs: a row is deleted by what refers to it. */
const POSTGRES_ALONE = new Set(["unit: index memory"]);

async function postgresShapes(db: Connected): Promise<readonly Shape[]> {
  return db.within(EVERYTHING).read(async (tx) => {
    const columns = await tx.all(
      plain<{ table: string; name: string; needed: number; type: string }>(POSTGRES_COLUMNS),
    );
    const indexes = await tx.all(
      plain<{ table: string; is_unique: number; partial: number; columns: string }>(POSTGRES_INDEXES),
    );
    const references = await tx.all(
      plain<{ table: string; target: string; own: string; theirs: string }>(POSTGRES_REFERENCES),
    );
    return [...Map.groupBy(columns, ({ table }) => table)]
      .filter(([table]) => !OWN.test(table))
      .map(([table, own]) => ({
        table,
        columns: own.map(({ name, type, needed }) => `${name} ${TYPES[type]}${needed ? " not null" : ""}`),
        keys: [
          ...indexes
            .filter((one) => one.table === table)
            .map((one) => `${one.is_unique ? "unique" : "index"} ${one.columns}${one.partial ? " where" : ""}`),
          ...references.filter((one) => one.table === table).map((one) => `${one.own} -> ${one.target} ${one.theirs}`),
        ]
          .filter((key) => !POSTGRES_ALONE.has(`${table}: ${key}`))
          .sort(),
      }));
  });
}

describe.skipIf(server === undefined)(title("PostgreSQL's schema"), () => {
  it("has the tables, columns, keys and references that SQLite has", async () => {
    const db = await opened(await make());
    await migrate(db);
    const shapes = await postgresShapes(db);
    await db.close();
    expect(shapes).toEqual(sqliteShapes());
  });

  it("continues with steps that are declared once for both databases", async () => {
    const columns = "org text!, agent text!, contact text!, at int!, says text, weight real, shape bytes";
    const notes = newTable("note", {
      columns,
      key: "org, agent, contact, at",
      references: ["org, agent, contact -> contact_key (org, agent, contact)"],
    });
    const step = { number: 99, name: "notes", statements: [notes, "create index note_at on note (at)"] };
    const db = await opened(await make());
    await migrate(db, [...MIGRATIONS, step]);
    const sqlite = connectSqlite(":memory:", { random: randomBytes, patience: 0 });
    migrateSqlite(sqlite, [...SQLITE_MIGRATIONS, step]);
    const key = plain("insert into contact_key values ('home', 'companion', 'ann', ?)", Uint8Array.of(1));
    const put = plain("insert into note (org, agent, contact, at) values ('home', 'companion', 'ann', 7) returning at");
    await db.within(EVERYTHING).write((tx) => tx.run(key));
    sqlite.run(key);
    expect(await db.within(EVERYTHING).write((tx) => tx.column(put))).toEqual(sqlite.column(put));
    const seenBy = (contact: string) =>
      db.within({ org: "home", agent: "companion", contact }).read((tx) => tx.column(plain("select at from note")));
    expect([await seenBy("ann"), await seenBy("bob")]).toEqual([[7], []]);
    expect(MIGRATIONS.at(-1)?.number).toBe(SQLITE_MIGRATIONS.at(-1)?.number);
    sqlite.close();
    await db.close();
  });

  it("says of every table whose its rows are", async () => {
    const db = await opened(await make());
    await migrate(db);
    const open = `select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
      and relname != 'migration' and not (relrowsecurity and relforcerowsecurity)`;
    expect(await db.within(EVERYTHING).read((tx) => tx.column(plain(open)))).toEqual([]);
    await db.close();
  });

  it("is made once by several programs that open a new database at once, and is left alone later", async () => {
    const name = await make();
    const all = await Promise.all([1, 2, 3].map(() => opened(name)));
    await Promise.all(all.map((db) => migrate(db)));
    const [db] = all;
    if (db) await migrate(db);
    const steps = await db?.within(EVERYTHING).read((tx) => tx.column(plain("select number from migration")));
    expect(steps).toEqual(MIGRATIONS.map(({ number }) => number));
    for (const one of all) await one.close();
  });

  it("of a newer Strata is refused, and nothing is changed", async () => {
    const db = await opened(await make());
    await migrate(db, [
      ...MIGRATIONS,
      { number: 99, name: "later", statements: ["create table later (org text, agent text)"] },
    ]);
    await expect(migrate(db)).rejects.toMatchObject({
      code: "store_newer",
      message: expect.stringMatching(/was written by a newer Strata \(schema 99, this one knows \d+\): update Strata/),
    });
    await db.close();
  });

  it("that cannot be made whole is not made at all", async () => {
    const db = await opened(await make());
    await expect(
      migrate(db, [...MIGRATIONS, { number: 99, name: "broken", statements: ["create tabel x"] }]),
    ).rejects.toThrow();
    const tables = await db
      .within(EVERYTHING)
      .read((tx) => tx.column(plain("select relname from pg_class where relname = 'thread'")));
    expect(tables).toEqual([]);
    await db.close();
  });
});
