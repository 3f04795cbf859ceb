import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { databases, server, title } from "../../../tests/postgres.ts";
import { MEMORY_LIMITS } from "../memory/memory-index.ts";
import { plain } from "../statement.ts";
import type { Tx } from "../tx.ts";
import { type Connected, connect, EVERYTHING, type Reach } from "./database.ts";
import { FIRST_TABLES } from "./first-schema.ts";
import { migrate } from "./migrate.ts";

/** With the one that came later and names agents, too. */
const TABLES: readonly string[] = [...FIRST_TABLES, "open_call"];

const { make, url } = databases();
let db: Connected;

beforeAll(async () => {
  if (server === undefined) return;
  db = await connect(url(await make()), { random: randomBytes, limits: MEMORY_LIMITS, patience: 5_000 });
  await migrate(db);
});
afterAll(() => db?.close());

const ANN: Reach = { org: "home", agent: "companion", contact: "ann" };
/** Ann's neighbours: another contact, the agent itself, another agent, another organization. */
const OTHERS: readonly Reach[] = [
  { ...ANN, contact: "bob" },
  { ...ANN, contact: "" },
  { ...ANN, agent: "other" },
  { ...ANN, org: "away" },
];

const WIDTH = 2 ** 26;

interface Column {
  readonly name: string;
  readonly type: string;
}

const columnsOf = (tx: Tx, table: string): Promise<Column[]> =>
  tx.all(
    plain<Column>(
      `select attname as name, format_type(atttypid, null) as type from pg_attribute where attrelid = ?::text::regclass and attnum > 0`,
      table,
    ),
  );

/** A row of the table that is this one's, with something in each column. `n` is the number of its memories' scope and model. */
async function putRow(tx: Tx, table: string, owner: Reach, n: number): Promise<void> {
  const own: Readonly<Record<string, unknown>> = { ...owner, scope: n, number: n, row: n, memory: n };
  const places: Readonly<Record<string, number>> = {
    "unit.id": n * WIDTH,
    "unit_word.unit": n * WIDTH,
    "vector.id": n * WIDTH,
  };
  const columns = await columnsOf(tx, table);
  const values = columns.map(({ name, type }) => {
    const known = places[`${table}.${name}`] ?? own[name];
    if (known !== undefined) return known;
    return type === "text" ? `${owner.org} ${owner.agent} ${owner.contact}` : type === "bytea" ? Uint8Array.of(n) : n;
  });
  const names = columns.map(({ name }) => `"${name}"`).join(", ");
  await tx.changed(
    plain(
      `insert into ${table} (${names}) values (${values.map(() => "?").join(", ")}) on conflict do nothing`,
      ...values,
    ),
  );
}

/** From here on the transaction is for these rows, as if it had been begun so. */
const become = ({ org, agent, contact }: Reach) =>
  plain(
    `select set_config('strata.org', ?, true), set_config('strata.agent', ?, true), set_config('strata.contact', ?, true)`,
    ...[org, agent, contact],
  );

/** All tables filled for Ann and those beside her; nothing of it stays. */
async function filled<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
  const made: T[] = [];
  const undo = new Error("undo");
  await db
    .within(EVERYTHING)
    .write(async (tx) => {
      await tx.run(plain("set constraints all deferred"));
      for (const table of [
        "memory_scope",
        "vector_model",
        ...TABLES.filter((name) => !/^(memory_scope|vector_model)$/.test(name)),
      ])
        for (const [i, owner] of [ANN, ...OTHERS].entries()) await putRow(tx, table, owner, i + 1);
      made.push(await work(tx));
      throw undo;
    })
    .catch((thrown) => {
      if (thrown.cause !== undo && thrown !== undo) throw thrown;
    });
  const [first] = made;
  if (first === undefined) throw new Error("nothing was looked at");
  return first;
}

const count = async (tx: Tx, table: string): Promise<number> =>
  (await tx.column(plain<number>(`select count(*) from ${table}`)))[0] ?? -1;

/** The rows of a table that are Ann's or her agent's own: selected by every condition that a query must not forget. */
async function countOfAnn(tx: Tx, table: string): Promise<number> {
  const names = (await columnsOf(tx, table)).map(({ name }) => name);
  const place = { unit: "id", unit_word: "unit", vector: "id" }[table];
  // Ann's scope of memories has the number 1, her agent's own the number 3.
  if (place !== undefined) return count(tx, `${table} where ${place} in (${WIDTH}, ${3 * WIDTH})`);
  if (names.includes("scope")) return count(tx, `${table} where scope in (1, 3)`);
  // A text is the agent's, and so is an erasure, whatever contact they name.
  const isOfContact = names.includes("contact") && !/^(text_move|erasure)$/.test(table);
  const holds = [
    ...(names.includes("org") ? ["org = 'home'"] : []),
    ...(names.includes("agent") ? ["agent = 'companion'"] : []),
    ...(isOfContact ? ["contact in ('ann', '')"] : []),
  ];
  return count(tx, `${table} where ${holds.join(" and ") || "true"}`);
}

const countAll = async (
  tx: Tx,
  of: (tx: Tx, table: string) => Promise<number>,
): Promise<ReadonlyMap<string, number>> => {
  const counts = new Map<string, number>();
  for (const table of TABLES) counts.set(table, await of(tx, table));
  return counts;
};

describe.skipIf(server === undefined)(title("law 5 PostgreSQL's row-level security"), () => {
  it("shows a query that forgot its scope the rows of the transaction's scope alone, in every table", async () => {
    const [all, wanted, seen] = await filled(async (tx) => {
      const before = [await countAll(tx, count), await countAll(tx, countOfAnn)];
      await tx.first(become(ANN));
      return [...before, await countAll(tx, count)];
    });
    expect(seen).toEqual(wanted);
    for (const table of TABLES.filter((name) => name !== "memory_index"))
      expect(wanted?.get(table), table).toBeLessThan(all?.get(table) ?? 0);
  });

  it("changes and deletes nothing of others where the scope was forgotten", async () => {
    const [before, wanted, left] = await filled(async (tx) => {
      const counts = [await countAll(tx, count), await countAll(tx, countOfAnn)];
      await tx.first(become(ANN));
      for (const table of TABLES.toReversed()) await tx.run(plain(`delete from ${table}`));
      await tx.first(become(EVERYTHING));
      return [...counts, await countAll(tx, count)];
    });
    for (const table of TABLES)
      expect(left?.get(table), table).toBe((before?.get(table) ?? 0) - (wanted?.get(table) ?? 0));
  });

  it("takes no row for others", async () => {
    const taken = await filled(async (tx) => {
      await tx.first(become({ ...ANN, contact: "cid" }));
      const refused: string[] = [];
      for (const table of TABLES) {
        await tx.run(plain("savepoint before"));
        const put = putRow(tx, table, { ...ANN, org: "away" }, 5);
        await put.catch((thrown) => refused.push(/row-level security/.test(String(thrown)) ? table : String(thrown)));
        await tx.run(plain("rollback to savepoint before"));
      }
      return refused;
    });
    expect(taken).toEqual(TABLES.filter((name) => name !== "memory_index"));
  });

  it("lets a commit that begins something with another agent write there for its contact, and no further", async () => {
    const reach = { ...ANN, agent: "companion other" };
    const seen = await filled(async (tx) => {
      await tx.first(become(reach));
      const whose = await tx.all(plain<{ agent: string; contact: string }>("select agent, contact from thread"));
      const refused: string[] = [];
      for (const one of [
        { agent: "third" },
        { agent: "other", contact: "bob" },
        { agent: "companion", contact: "bob" },
      ]) {
        await tx.run(plain("savepoint before"));
        await putRow(tx, "open_call", { ...ANN, ...one }, 6).catch(() => refused.push(JSON.stringify(one)));
        await tx.run(plain("rollback to savepoint before"));
      }
      await putRow(tx, "open_call", { ...ANN, agent: "other" }, 7);
      return { whose: whose.map(({ agent, contact }) => `${agent} ${contact}`).sort(), refused: refused.length };
    });
    expect(seen).toEqual({ whose: ["companion ", "companion ann", "other ann"], refused: 3 });
  });

  it("shows nothing at all to who says no scope", async () => {
    const seen = await filled(async (tx) => {
      await tx.first(become({ org: "", agent: "", contact: "" }));
      return countAll(tx, count);
    });
    expect(new Set(TABLES.filter((name) => name !== "memory_index").map((table) => seen?.get(table)))).toEqual(
      new Set([0]),
    );
  });
});
