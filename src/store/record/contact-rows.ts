import type { ContactScope } from "../../protocol/index.ts";
import { atMost, owner, plain } from "../statement.ts";
import type { Tx } from "../tx.ts";

/** One row that is kept of a contact, with its texts in the place of their digests. */
export interface ContactRow {
  readonly table: string;
  readonly row: Readonly<Record<string, unknown>>;
}

/** Where a listing continues: after this row of this table. */
export interface ContactCursor {
  readonly table: string;
  readonly key: readonly unknown[];
}

/** The keys of digests, and columns that only refer to other rows: texts are in the rows that name them. */
const NOT_SHOWN = new Set(["contact_key", "erasure", "memory_save", "memory_scope", "piece"]);

interface KeyColumn {
  readonly table: string;
  readonly column: string;
}

/** The tables that name a contact, and that of memories, with their keys; asked of the schema, so that none is ever forgotten. */
const KEYS = {
  sqlite: `select m.name as "table", k.name as "column" from sqlite_schema m, pragma_table_info(m.name) k
    where m.type = 'table' and k.pk > 0 and (m.name = 'memory' or exists (select 1 from pragma_table_info(m.name) c where c.name = 'contact'))
    order by m.name, k.pk`,
  postgres: `select t.relname::text as "table", a.attname::text as "column" from pg_class t join pg_index i on i.indrelid = t.oid and i.indisprimary
    join pg_attribute a on a.attrelid = t.oid and a.attnum = any (i.indkey)
    where t.relkind = 'r' and t.relnamespace = current_schema::regnamespace and (t.relname = 'memory' or exists (
      select 1 from pg_attribute c where c.attrelid = t.oid and c.attname = 'contact' and not c.attisdropped))
    order by t.relname, array_position(i.indkey::int[], a.attnum::int)`,
};

/** The tables that name a contact, and that of memories, each with the columns of its key. */
export async function contactTables(
  tx: Tx,
): Promise<readonly { readonly table: string; readonly columns: readonly KeyColumn[] }[]> {
  const columns = await tx.all(plain<KeyColumn>(KEYS[tx.dialect]));
  return [...Map.groupBy(columns, ({ table }) => table)].flatMap(([table, of]) =>
    NOT_SHOWN.has(table) ? [] : [{ table, columns: of }],
  );
}

/** The next rows of a contact, and where to continue; `next` is left out after the last one. */
export async function contactRows(
  tx: Tx,
  scope: ContactScope,
  limit: number,
  after?: ContactCursor,
): Promise<{ readonly rows: readonly ContactRow[]; readonly next?: ContactCursor }> {
  const keys = (await contactTables(tx)).map(({ table, columns }) => [table, columns] as const);
  const from = after === undefined ? 0 : keys.findIndex(([table]) => table === after.table);
  const rows: ContactRow[] = [];
  for (const [table, of] of keys.slice(from)) {
    const key = of.map(({ column }) => column);
    const since = after?.table === table ? after.key : undefined;
    const found = await readContactRows(tx, scope, { table, key, since, limit: limit - rows.length });
    for (const row of found) rows.push({ table, row: await withTexts(tx, scope, row) });
    const last = found.at(-1);
    if (rows.length >= limit && last !== undefined)
      return { rows, next: { table, key: key.map((column) => last[column]) } };
  }
  return { rows };
}

type Cells = Readonly<Record<string, unknown>>;

interface Wanted {
  readonly table: string;
  readonly key: readonly string[];
  readonly since: readonly unknown[] | undefined;
  readonly limit: number;
}

function readContactRows(tx: Tx, scope: ContactScope, { table, key, since, limit }: Wanted): Promise<readonly Cells[]> {
  const { org, agent, contact } = owner(scope);
  const whose = "org = ? and agent = ? and contact = ?";
  const where = table === "memory" ? `scope in (select number from memory_scope where ${whose})` : whose;
  const names = key.map((column) => `"${column}"`).join(", ");
  const later = since === undefined ? "" : `and (${names}) > (${key.map(() => "?").join(", ")})`;
  const wanted = `select * from "${table}" where ${where} ${later} order by ${names} limit ${atMost(limit)}`;
  return tx.all(plain<Cells>(wanted, org, agent, contact, ...(since ?? [])));
}

/** The form of a digest, as the record writes it. */
const DIGEST = /^[0-9a-f]{64}$/;

async function withTexts(tx: Tx, scope: ContactScope, row: Cells): Promise<Cells> {
  const { org, agent, contact } = owner(scope);
  const cells = Object.entries(row).filter(([, value]) => value !== null && !(value instanceof Uint8Array));
  const digests = cells.flatMap(([, value]) => (typeof value === "string" && DIGEST.test(value) ? [value] : []));
  const texts = new Map<unknown, string>();
  const named = `select digest, text from piece where org = ? and agent = ? and contact = ? and digest in (select value from json_each(?))`;
  if (digests.length > 0)
    for (const { digest, text } of await tx.all(
      plain<{ digest: string; text: string | null }>(named, org, agent, contact, JSON.stringify(digests)),
    ))
      if (text !== null) texts.set(digest, text);
  return Object.fromEntries(cells.map(([name, value]) => [name, texts.get(value) ?? value]));
}
