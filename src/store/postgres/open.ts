import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { StrataError } from "../../protocol/index.ts";
import { UNFINISHED, unfinished } from "../copy.ts";
import { MEMORY_LIMITS, type MemoryLimits } from "../memory/memory-index.ts";
import { isIndexToday, type KeptOut, refreshIndex } from "../memory/reindex.ts";
import { withParts } from "../migrations.ts";
import { refuseMoved } from "../moved.ts";
import { problem } from "../record/chain.ts";
import type { Finding } from "../records.ts";
import { plain } from "../statement.ts";
import type { Store } from "../store.ts";
import { clearLog, openKnownBefore, storeOver } from "../store-over.ts";
import type { Database, StorePart, Transactions, Tx } from "../tx.ts";
import { type Connected, connect, EVERYTHING, type Reach } from "./database.ts";
import { addressName, failure } from "./failure.ts";
import { MIGRATIONS, migrate } from "./migrate.ts";
import { reachOf } from "./row-security.ts";

/** Options of whoever opens it; SQLite's options explain them. */
export interface PostgresOptions {
  readonly keptOut?: KeptOut;
  readonly random?: (bytes: number) => Uint8Array;
  /** How long to wait for other writers before `store_busy`, in milliseconds. Default: 15 seconds. */
  readonly patience?: number;
  readonly limits?: Partial<MemoryLimits>;
  readonly parts?: readonly StorePart[];
}

/**
 * Opens a database of a PostgreSQL server and brings it up to today's schema.
 * @throws StrataError `config_invalid`, `store_busy`, `store_newer`, `store_failed`
 */
export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<Store> {
  const { random = randomBytes, patience = 15_000, limits, parts = [] } = options;
  const db = await connect(url, { random, patience, limits: { ...MEMORY_LIMITS, ...limits }, parts });
  try {
    await migrate(db, withParts(MIGRATIONS, parts));
    const owner = databaseOf(db, parts);
    const begun = plain<string | null>(`select to_regclass('${UNFINISHED}')::text`);
    if ((await owner.read((tx) => tx.column(begun)))[0]) throw unfinished(owner.name);
    await owner.read((tx) => refuseMoved(tx, owner.name));
    if (!(await owner.read(isIndexToday))) await owner.write((tx) => refreshIndex(tx, options.keptOut));
    await clearLog(owner);
    return storeWithin(db, parts);
  } catch (thrown) {
    await db.close();
    throw failure(thrown, db.where);
  }
}

/** Facts about a server. */
export interface ServerFacts {
  readonly version: string;
  /** Whether this user bypasses row-level security, so that the second barrier behind the scopes is missing. */
  readonly isAboveRows: boolean;
}

/** @throws StrataError as `openPostgres` */
export async function postgresFacts(url: string): Promise<ServerFacts> {
  const db = await connect(url, { random: randomBytes, patience: 15_000, limits: MEMORY_LIMITS });
  try {
    const asked = `select split_part(current_setting('server_version'), ' ', 1) as version, rolsuper or rolbypassrls as above
      from pg_roles where rolname = current_user`;
    const found = await db.within(EVERYTHING).read((tx) => tx.first(plain<{ version: string; above: number }>(asked)));
    return { version: found?.version ?? "unknown", isAboveRows: found?.above === 1 };
  } finally {
    await db.close();
  }
}

/** The store. Each function runs in a transaction that reaches no further than its arguments say. */
export function storeWithin(db: Connected, parts: readonly StorePart[]): Store {
  // What was read before is compared with the record, whatever the reach.
  const known = openKnownBefore();
  const within = (reach: Reach): Store => storeOver(databaseOf(db, parts, reach), known);
  const all = within(EVERYTHING);
  return {
    ...reaching(all, within),
    part: (of) => reaching(all.part(of), (reach) => within(reach).part(of), of.wide),
  };
}

function reaching<All extends object>(all: All, within: (reach: Reach) => object, wide?: readonly string[]): All {
  return new Proxy(all, {
    get: (own, name) => {
      if (!Object.hasOwn(own, name)) return undefined;
      const value: unknown = Reflect.get(own, name);
      // What needs no database, such as the kinds of writes, has no reach.
      if (typeof value !== "function") return value;
      return (...given: readonly unknown[]) => Reflect.get(within(reachOf(String(name), given, wide)), name)(...given);
    },
  });
}

function databaseOf(db: Connected, parts: readonly StorePart[], reach = EVERYTHING): Database {
  const transactions = db.within(reach);
  return {
    name: addressName(db.where),
    parts,
    ...transactions,
    failure: (thrown) => failure(thrown, db.where),
    check: () => checkDatabase(transactions),
    damageSaid: (thrown) => {
      const { code, message } = failure(thrown, db.where);
      if (code === "store_failed" && message.includes("is damaged")) return message;
      throw thrown;
    },
    // Erased texts are gone from the rows; old versions that PostgreSQL keeps disappear with the next vacuum.
    // The server answers a commit once it is on its disk.
    onDisk: async () => undefined,
    flush: async () => true,
    backup: async () => {
      const all = "PGOPTIONS='-c strata.org=* -c strata.agent=* -c strata.contact=*'";
      const message = `a database of PostgreSQL is copied by its own programs: \`${all} pg_dump --enable-row-security --format=custom --file=FILE ADDRESS\`, with the address of the store`;
      throw new StrataError("invalid_input", message);
    },
    trouble: async () => undefined,
    close: () => db.close(),
  };
}

/**
 * Finds errors in what no digest covers: the words by which memories are found, and the vectors. Checking the pages on disk is PostgreSQL's
 * part.
 */
export function checkDatabase({ read }: Transactions): Promise<readonly Finding[]> {
  return read(async (tx) => {
    const sentence = [...(await wrongWords(tx)), ...(await wrongVectors(tx))];
    return sentence.map((one) => problem("database", one));
  });
}

const OF_UNITS = `select unit.id as unit, word as term from unit, unnest(string_to_array(unit.terms, ' ')) as word`;
const OF_INDEX = "select unit, term from unit_word";

/** Compares the words of the search index with those of the units' rows. */
async function wrongWords(tx: Tx): Promise<readonly string[]> {
  const missing = await tx.column(plain<number>(`select count(*) from (${OF_UNITS} except ${OF_INDEX}) as missing`));
  const strange = await tx.column(plain<number>(`select count(*) from (${OF_INDEX} except ${OF_UNITS}) as strange`));
  return [
    ...missing.flatMap((count) => (count > 0 ? [`the search index lacks words of its units: ${count}`] : [])),
    ...strange.flatMap((count) => (count > 0 ? [`the search index has words that no unit has: ${count}`] : [])),
  ];
}

interface VectorRow {
  readonly id: number;
  readonly value: Uint8Array;
  readonly crc: number | null;
}

/** How many are in memory at once. */
const STEP = 500;

/** Compares vectors with their checksums, because only a model could compute them again. */
async function wrongVectors(tx: Tx): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (let last = -1; ; ) {
    const some = `select id, value, crc from vector where id > ? order by id limit ${STEP}`;
    const rows = await tx.all(plain<VectorRow>(some, last));
    for (const { id, value, crc } of rows)
      if (crc32(value) !== crc) wrong.push(`the vector ${id} is not the one that was made`);
    const end = rows.at(-1);
    if (end === undefined || rows.length < STEP || wrong.length >= 20) return wrong.slice(0, 20);
    last = end.id;
  }
}
