import { sql } from "kysely";
import { StrataError } from "../../protocol/index.ts";
import { written } from "../statement.ts";
import type { Connection } from "./connection.ts";
import type { Migration } from "./migration.ts";
import { first } from "./migrations/0001-first.ts";
import { approvals } from "./migrations/0002-approvals.ts";
import { anew } from "./migrations/0003-anew.ts";
import { predictions } from "./migrations/0004-predictions.ts";
import { memory } from "./migrations/0005-memory.ts";
import { vectors } from "./migrations/0006-vectors.ts";
import { agents } from "./migrations/0007-agents.ts";
import { batches } from "./migrations/0008-batches.ts";
import { proposals } from "./migrations/0009-proposals.ts";
import { senders } from "./migrations/0010-senders.ts";
import { turnCounts } from "./migrations/0011-turn-counts.ts";
import { unended } from "./migrations/0012-unended.ts";
import { calls } from "./migrations/0013-calls.ts";
import { erasures } from "./migrations/0014-erasures.ts";
import { checkedRows } from "./migrations/0015-checked-rows.ts";
import { wordless } from "./migrations/0016-wordless.ts";

/** All steps, in order, without a gap. */
export const MIGRATIONS: readonly Migration[] = [
  first,
  approvals,
  anew,
  predictions,
  memory,
  vectors,
  agents,
  batches,
  proposals,
  senders,
  turnCounts,
  unended,
  calls,
  erasures,
  checkedRows,
  wordless,
];

const HISTORY = `create table if not exists migration (number integer primary key, name text not null) strict`;

/**
 * Brings a database up to today's schema, in one transaction: of two programs that open a new file at once, one waits.
 * @throws StrataError `store_newer`
 */
export function migrate(db: Connection, migrations: readonly Migration[] = MIGRATIONS): void {
  const newest = migrations.at(-1)?.number ?? 0;
  if (db.read(() => version(db)) === newest) return;
  db.write(() => {
    db.run(written(sql.raw(HISTORY)));
    const found = version(db);
    if (found > newest) throw newer(db.file, found, newest);
    for (const step of migrations.filter(({ number }) => number > found)) apply(db, step);
  });
}

/** The number of the last step applied; 0 for a new file. */
function version(db: Connection): number {
  const history = written(sql`select name from sqlite_schema where name = 'migration'`);
  if (!db.first(history)) return 0;
  const newest = written(sql<{ number: number | null }>`select max(number) as number from migration`);
  return db.first(newest)?.number ?? 0;
}

function apply(db: Connection, step: Migration): void {
  for (const statement of step.statements) db.run(written(sql.raw(statement)));
  db.run(written(sql`insert into migration (number, name) values (${step.number}, ${step.name})`));
}

function newer(file: string, found: number, newest: number): StrataError {
  return new StrataError(
    "store_newer",
    `${file} was written by a newer Strata (schema ${found}, this one knows ${newest}): update Strata, or name another file`,
    { file, found, newest },
  );
}
