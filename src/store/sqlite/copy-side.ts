import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { CopySide, CopyTable, CopyTx } from "../copy.ts";
import { withParts } from "../migrations.ts";
import { plain } from "../statement.ts";
import type { StorePart } from "../tx.ts";
import { type Connection, connect } from "./connection.ts";
import { failure } from "./failure.ts";
import { MIGRATIONS, migrate } from "./migrate.ts";

/** How long to wait for another program's lock, in milliseconds. */
const PATIENCE = 5_000;

/** A file as one side of a copy, with today's schema; it is created if it does not exist. */
export function sqliteSide(file: string, parts: readonly StorePart[] = []): CopySide {
  const isNew = !existsSync(file);
  if (isNew) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const db = connect(file, { random: randomBytes, patience: PATIENCE });
  if (isNew) chmodSync(file, 0o600);
  migrate(db, withParts(MIGRATIONS, parts));
  return sideOver(db);
}

/** The same over a connection whose schema is today's. */
export function sideOver(db: Connection): CopySide {
  return {
    name: db.file,
    read: (work) => inTransaction(db, "deferred", work),
    write: (work) => inTransaction(db, "immediate", work),
    tables: async () => tablesOf(db),
    finish: async () => {
      db.run(plain(`insert into unit_words (unit_words) values ('rebuild')`));
    },
    close: async () => db.close(),
  };
}

/** Unlike a transaction of the store, it may wait for other things, because this connection has no other users. */
async function inTransaction<T>(
  db: Connection,
  how: "immediate" | "deferred",
  work: (tx: CopyTx) => Promise<T>,
): Promise<T> {
  const tx: CopyTx = {
    all: async (statement) => db.all(statement),
    column: async (statement) => db.column(statement),
    run: async (statement) => void db.run(statement),
  };
  try {
    db.begin(how);
    const done = await work(tx);
    db.commit();
    return done;
  } catch (thrown) {
    db.rollback();
    throw failure(thrown, db.file);
  }
}

const TABLES = `select name from sqlite_schema where type = 'table' and sql not like 'create virtual%' and name not like 'sqlite_%'
  and name not like 'unit_words%' order by rowid`;

function tablesOf(db: Connection): readonly CopyTable[] {
  return db.column(plain<string>(TABLES)).map((name) => {
    const columns = db.all(
      plain<{ readonly name: string; readonly pk: number }>(`select name, pk from pragma_table_info(?)`, name),
    );
    const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
    return {
      name,
      columns: columns.map((column) => column.name),
      key: (key.length > 0 ? key : columns).map((column) => column.name),
      needs: db.column(plain<string>(`select distinct "table" from pragma_foreign_key_list(?)`, name)),
    };
  });
}
