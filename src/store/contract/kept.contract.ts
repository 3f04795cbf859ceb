import { expect, it } from "vitest";
import { spread } from "../../../tests/spread.ts";
import { type Actor, actorId, agentName, type ContactScope, contactId } from "../../protocol/index.ts";
import type { AgentOwner } from "../agent-store.ts";
import { columnsIn } from "../record/columns.ts";
import type { ContactRow } from "../record/contact-rows.ts";
import { plain, type Sql } from "../statement.ts";
import type { Store } from "../store.ts";
import type { StorePart } from "../tx.ts";
import { exchange, NOW, type OpenStore, open as openThread, problems, scopeOf } from "./sample.contract.ts";

/** How the tests of all features fill what one of them keeps, and read it again: its `store.contract.ts`. */
export interface KeptSample {
  /** Something in each of its tables, of this contact where its rows have one; whatever a contact may say is `words`. */
  readonly fill: (store: Store, scope: ContactScope, words: string) => Promise<unknown>;
  /** Everything its functions return for a scope. */
  readonly reads: (store: Store, scope: ContactScope) => Promise<unknown>;
}

const OPERATOR: Actor = { org: scopeOf("x").org, id: actorId("token:operator"), role: "operator" };

type Cells = Readonly<Record<string, unknown>>;

/** A hand on the rows, past all functions. */
export const HAND = {
  name: "hand",
  tables: {},
  functions: ({ reading, writing }) => ({
    rows: reading((tx, _of: AgentOwner, sql: Sql, ...values: readonly unknown[]) =>
      tx.all(plain<Cells>(sql, ...values)),
    ),
    change: writing((tx, _of: AgentOwner, sql: Sql, ...values: readonly unknown[]) =>
      tx.changed(plain(sql, ...values)),
    ),
  }),
  erase: async () => undefined,
} satisfies StorePart;

/** A string that does not occur by accident. */
export const WORDS = "plum kites over Odessa";
export const KITE = scopeOf("kite-of-odessa");

/** What every feature keeps of what it promises: erased means gone, changed means found, and of a foreign scope nothing is there. */
export function keptContract(
  part: StorePart,
  sample: KeptSample,
  open: OpenStore,
  database: "sqlite" | "postgres",
): void {
  const filled = async (): Promise<Store> => {
    const store = await open();
    await sample.fill(store, KITE, WORDS);
    return store;
  };

  it("law 5 is there for whose it is, and for nobody else", async () => {
    const empty = await open();
    const nothing = await sample.reads(empty, KITE);
    await empty.close();
    const store = await filled();
    expect(await sample.reads(store, KITE)).not.toEqual(nothing);
    const tables = await tablesOfContacts(store, part);
    const others = [
      { ...KITE, agent: scopeOf("x", "other").agent },
      { ...KITE, org: scopeOf("x", "x", "away").org },
    ];
    if (tables.length === Object.keys(part.tables).length) others.push({ ...KITE, contact: contactId("bob") });
    for (const other of others) expect(await sample.reads(store, other)).toEqual(nothing);
    await store.close();
  });

  it("holds no word of a contact who was erased, and verifies before and after", async () => {
    const store = await filled();
    for (const table of Object.keys(part.tables)) expect(await rowsOf(store, table), table).not.toEqual([]);
    expect(await problems(store, KITE.org)).toEqual([]);
    await eraseWhole(store, KITE);
    for (const table of await tablesOf(store)) {
      const rows = JSON.stringify(await rowsOf(store, table));
      expect(rows.includes(WORDS) || rows.includes(KITE.contact), table).toBe(false);
    }
    expect(await problems(store, KITE.org)).toEqual([]);
    await store.close();
  });

  it("25.25 is written out with what else is kept of its contact, every row of it", async () => {
    const store = await filled();
    const rows: ContactRow[] = [];
    for (let at: Awaited<ReturnType<Store["contactRows"]>> | undefined; ; ) {
      at = await store.contactRows(KITE, 2, at?.next);
      rows.push(...at.rows);
      if (at.next === undefined) break;
    }
    for (const table of await tablesOfContacts(store, part)) {
      const written = rows.filter((one) => one.table === table);
      const wanted = (await rowsOf(store, table)).filter(({ contact }) => contact === KITE.contact);
      expect(written.length, table).toBe(wanted.length);
    }
    expect(JSON.stringify(rows)).toContain(WORDS);
    await store.close();
  });

  it("25.15 goes over to another name of its agent as it is, twice, and verifies", async () => {
    const empty = await open();
    const nothing = await sample.reads(empty, KITE);
    await empty.close();
    const store = await filled();
    const before = JSON.stringify(await sample.reads(store, KITE));
    const named = (agent: string): ContactScope => ({ ...KITE, agent: agentName(agent) });
    for (const [from, to] of [
      [KITE, named("second")],
      [named("second"), named("third")],
    ] as const) {
      await store.renameAgent(from, { to: to.agent, actor: OPERATOR, at: NOW, now: NOW });
      const told = JSON.stringify(await sample.reads(store, to));
      expect(told.replaceAll(`"agent":"${to.agent}"`, `"agent":"${KITE.agent}"`)).toBe(before);
      expect(await problems(store, KITE.org)).toEqual([]);
    }
    expect(await sample.reads(store, KITE)).toEqual(nothing);
    await exchange(store, await openThread(store, KITE), "a new beginning");
    expect(await problems(store, KITE.org)).toEqual([]);
    const taken = store.renameAgent(KITE, { to: agentName("third"), actor: OPERATOR, at: NOW, now: NOW });
    await expect(taken).rejects.toMatchObject({ code: "invalid_input" });
    await store.close();
  });

  it("25.3 declares each column of its tables once, and none that is not there", async () => {
    const store = await open();
    for (const [table, { linked, derived, volatile }] of Object.entries(part.tables)) {
      const declared = [linked, derived, volatile].flatMap(columnsIn);
      expect(declared.sort(), table).toEqual((await columnsOf(store, table)).map(({ name }) => name).sort());
    }
    await store.close();
  });

  // The checks are written once for both databases: PostgreSQL, where each takes many times as long, has one row for each column.
  const most = database === "sqlite" ? Number.POSITIVE_INFINITY : 1;
  const rowsTold = database === "sqlite" ? "every row" : "a row (`checks/whole.ts`: in every row)";
  it(`25.3 shows what was changed, in ${rowsTold} and every column that is not declared as volatile`, async () => {
    const store = await filled();
    const unseen: string[] = [];
    let turns = 0;
    for (const [table, { volatile }] of Object.entries(part.tables)) {
      for (const { name, type } of await columnsOf(store, table)) {
        if (columnsIn(volatile).includes(name)) continue;
        const rows = await rowsOf(store, table);
        for (const row of spread(turns++ % 2 === 0 ? rows : rows.toReversed(), most).cases) {
          const changed = { ...row, [name]: nudged(row[name], type) };
          if (!(await put(store, table, row, changed))) continue;
          if (!(await isSeen(store))) unseen.push(`${table}.${name}`);
          await put(store, table, changed, row);
        }
      }
    }
    expect(unseen).toEqual([]);
    expect(await problems(store, KITE.org)).toEqual([]);
    await store.close();
  }, 60_000);
}

/** With what has to be done when its files are gone. */
export async function eraseWhole(store: Store, scope: ContactScope): Promise<void> {
  await store.eraseContact(scope, { ...OPERATOR, org: scope.org }, NOW);
  await store.finishErasure(scope);
}

const handIn = (store: Store) => store.part(HAND);

/** False where the database itself refuses it: the row would name nothing that is there. */
async function put(store: Store, table: string, from: Cells, to: Cells): Promise<boolean> {
  const names = Object.keys(from);
  const set = names.map((name) => `"${name}" = ?`).join(", ");
  const where = names.map((name) => (from[name] === null ? `"${name}" is null` : `"${name}" = ?`)).join(" and ");
  const values = [...Object.values(to), ...Object.values(from).filter((value) => value !== null)];
  try {
    return (await handIn(store).change(KITE, `update "${table}" set ${set} where ${where}`, ...values)) === 1;
  } catch {
    return false;
  }
}

async function isSeen(store: Store): Promise<boolean> {
  for (const org of await store.organizations())
    for await (const { type } of store.verify(org)) if (type === "problem") return true;
  return false;
}

const rowsOf = (store: Store, table: string): Promise<readonly Cells[]> =>
  handIn(store).rows(KITE, `select * from "${table}"`);

async function tablesOf(store: Store): Promise<readonly string[]> {
  const names = await handIn(store).rows(KITE, {
    sqlite: `select name from sqlite_schema where type = 'table'`,
    postgres: `select table_name::text as name from information_schema.tables where table_schema = current_schema`,
  });
  return names.map(({ name }) => String(name));
}

interface Column {
  readonly name: string;
  readonly type: string;
}

async function columnsOf(store: Store, table: string): Promise<readonly Column[]> {
  const sqlite = `select name, type from pragma_table_info(?)`;
  const postgres = `select column_name::text as name, data_type::text as type from information_schema.columns where table_name = ?`;
  const found = await handIn(store).rows(KITE, { sqlite, postgres }, table);
  return found.map(({ name, type }) => ({ name: String(name), type: String(type) }));
}

async function tablesOfContacts(store: Store, { tables }: StorePart): Promise<readonly string[]> {
  const found: string[] = [];
  for (const table of Object.keys(tables)) {
    if ((await columnsOf(store, table)).some(({ name }) => name === "contact")) found.push(table);
  }
  return found;
}

/** Another value, of the same kind. */
function nudged(value: unknown, type: string): unknown {
  if (typeof value === "number") return value + 1;
  if (value instanceof Uint8Array) return Uint8Array.of(...value, 1);
  if (value === null && /int|real|double/i.test(type)) return 1;
  return `${value ?? ""}x`;
}
