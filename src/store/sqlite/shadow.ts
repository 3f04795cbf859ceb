import { randomBytes } from "node:crypto";
import { type ContactScope, MEMORY_KINDS, StrataError } from "../../protocol/index.ts";
import { type CopyTable, put } from "../copy.ts";
import { withParts } from "../migrations.ts";
import { plain } from "../statement.ts";
import type { Store } from "../store.ts";
import { type Database, inOrder, type Tx } from "../tx.ts";
import { sideOver } from "./copy-side.ts";
import { connectInMemory, MIGRATIONS } from "./migrate.ts";
import { sqliteDatabase } from "./transactions.ts";

/** Whose rows a shadow has, and when it is there. */
export interface ShadowOf {
  readonly scope: ContactScope;
  /** What people decided and what was remembered since then is not in it. Left out: all of it is there. */
  readonly before?: number;
}

/** How many rows of one contact a shadow holds at most. */
const MOST_ROWS = 200_000;

/**
 * A store in memory with what one contact and its agent have in this one. It reads this store once, in one snapshot, so that nothing done
 * in the shadow touches this store, holds a lock of it, or outlives the program. It is SQLite whatever the database is. Vectors stay behind.
 * @throws StrataError `invalid_input` for a contact with too many rows
 */
export async function openShadow(
  { read, parts }: Pick<Database, "read" | "parts">,
  of: ShadowOf,
  storeOver: (database: Database) => Store,
): Promise<Store> {
  const how = { random: randomBytes, patience: 0, vectors: false };
  const db = connectInMemory(how, withParts(MIGRATIONS, parts));
  try {
    // Rows that are left behind are referred to.
    db.run(plain("pragma foreign_keys = off"));
    const side = sideOver(db);
    const tables = await side.read(side.tables);
    const copied = await read((tx) => readShadowRows(tx, tables, of));
    await side.write(async (target) => {
      await target.run(plain("delete from memory_index"));
      for (const { table, rows } of copied) await put(target, table, rows);
      await side.finish(target);
    });
    return await asBefore(storeOver(sqliteDatabase(db, db, { parts })), of);
  } catch (thrown) {
    db.close();
    throw thrown;
  }
}

/** This many memories are forgotten at a time. */
const STEP = 500;

/** Later memories are forgotten in the shadow: neither searched for nor shown at the start of a conversation. */
async function asBefore(store: Store, { scope, before }: ShadowOf): Promise<Store> {
  if (before === undefined) return store;
  const since = { since: before, kinds: MEMORY_KINDS, superseded: true } as const;
  for (const one of [scope, { ...scope, contact: null }]) {
    for (;;) {
      const later = await store.memories(one, STEP, since);
      for (const { id } of later) await store.forgetMemory(one, id);
      if (later.length < STEP) break;
    }
  }
  return store;
}

type CopyRow = Readonly<Record<string, unknown>>;

async function readShadowRows(tx: Tx, tables: readonly CopyTable[], of: ShadowOf) {
  let left = MOST_ROWS;
  return inOrder(tables, async (table) => {
    const columns = table.columns.map((column) => `"${column}"`).join(", ");
    const found = ({ where, values }: Condition): Promise<CopyRow[]> =>
      tx.all(plain<CopyRow>(`select ${columns} from "${table.name}" where ${where} limit ?`, ...values, left + 1));
    const condition = conditionOf(table, of);
    const rows =
      table.name === "shared_piece"
        ? await sharedPieces(tables, of.scope, found)
        : condition
          ? await found(condition)
          : [];
    left -= rows.length;
    if (left >= 0) return { table, rows };
    const message = `${of.scope.contact} has more than ${MOST_ROWS} rows with ${of.scope.agent}: too many to answer one of its turns again beside the record; choose turns of another contact`;
    throw new StrataError("invalid_input", message, { contact: of.scope.contact });
  });
}

interface Condition {
  readonly where: string;
  readonly values: readonly unknown[];
}

/** What no turn needs: what earlier requests came to, and what only looks for memories by their meaning. */
const LEFT_BEHIND: ReadonlySet<string> = new Set(["migration", "request", "vector", "vector_model"]);

/** Rows that name a contact and are the agent's. */
const OF_AGENT: ReadonlySet<string> = new Set(["text_move", "erasure"]);

/** The rows of the agent's own and of the contact; of the organization, what these name. Nothing where a table has none of them. */
function conditionOf({ name, columns }: CopyTable, { scope, before }: ShadowOf): Condition | undefined {
  const { org, agent, contact } = scope;
  const has = (...names: readonly string[]): boolean => names.every((one) => columns.includes(one));
  const owned = "org = ? and agent = ? and contact in (?, '')";
  const own = [org, agent, contact];
  const scopes = `select number from memory_scope where ${owned}`;
  const memories = `select "row" from memory where scope in (${scopes})`;
  if (name === "memory_index") return { where: "1 = 1", values: [] };
  if (name === "chain")
    return { where: "org = ? and seq = (select max(seq) from chain where org = ?)", values: [org, org] };
  if (LEFT_BEHIND.has(name)) return undefined;
  if (name === "unit") return { where: `memory in (${memories})`, values: own };
  if (has("scope")) return { where: `scope in (${scopes})`, values: own };
  // Decisions and facts from before the turn began: each such row has its own link, and a time.
  const isAct = before !== undefined && has("contact", "at", "link");
  if (has("org", "agent", "contact") && !OF_AGENT.has(name))
    return { where: isAct ? `${owned} and (contact = '' or at < ?)` : owned, values: isAct ? [...own, before] : own };
  return has("org", "agent") ? { where: "org = ? and agent = ?", values: [org, agent] } : undefined;
}

/** Shared texts that the agent's rows and the contact's epochs name, and those that these name in turn. */
async function sharedPieces(
  tables: readonly CopyTable[],
  { org, agent, contact }: ContactScope,
  found: (condition: Condition) => Promise<CopyRow[]>,
): Promise<readonly CopyRow[]> {
  const ofAgent = tables
    .filter(
      ({ columns }) => ["org", "agent", "piece"].every((one) => columns.includes(one)) && !columns.includes("contact"),
    )
    .map(({ name }) => `select piece from "${name}" where org = ? and agent = ?`);
  const own = ["prefix", "entries"].map(
    (column) => `select ${column} from epoch where org = ? and agent = ? and contact = ?`,
  );
  const all = new Map<string, CopyRow>();
  let next: Condition | undefined = {
    where: `org = ? and digest in (${[...ofAgent, ...own].join(" union ")})`,
    values: [org, ...ofAgent.flatMap(() => [org, agent]), ...own.flatMap(() => [org, agent, contact])],
  };
  while (next !== undefined) {
    const rows = await found(next);
    for (const row of rows) all.set(String(row["digest"]), row);
    const named = new Set(rows.flatMap(({ text }) => String(text).match(DIGEST) ?? []).filter((one) => !all.has(one)));
    const digests = JSON.stringify([...named]);
    const where = "org = ? and digest in (select value from json_each(?))";
    next = named.size === 0 || rows.length === 0 ? undefined : { where, values: [org, digests] };
  }
  return [...all.values()];
}

const DIGEST = /\b[0-9a-f]{64}\b/g;
