import { afterAll } from "vitest";
import { databases, template } from "../../../tests/postgres.ts";
import type { OpenStore } from "../contract/sample.contract.ts";
import { MEMORY_LIMITS } from "../memory/memory-index.ts";
import { nameOfSteps, withParts } from "../migrations.ts";
import { plain } from "../statement.ts";
import type { Store } from "../store.ts";
import type { StorePart } from "../tx.ts";
import { type Connected, connect, EVERYTHING } from "./database.ts";
import { FIRST_TABLES } from "./first-schema.ts";
import { MIGRATIONS } from "./migrate.ts";
import { openPostgres } from "./open.ts";

interface Warm {
  readonly store: Store;
  readonly owner: Connected;
}

/**
 * An empty store for each test, in as few databases as are open at once: a closed one is emptied and reused, because a new connection is
 * slow.
 */
export function emptyStores(parts: readonly StorePart[] = []): OpenStore {
  const { make, url } = databases();
  const all: Warm[] = [];
  const free: Warm[] = [];
  const start = async (): Promise<Warm> => {
    const address = url(await make(await tablesOfToday(parts)));
    const made = { store: await openPostgres(address, { parts }), owner: await connect(address, { ...PLAIN }) };
    await made.owner.within(EVERYTHING).write((tx) => tx.run(plain(emptying(parts))));
    all.push(made);
    return made;
  };
  afterAll(async () => {
    for (const { store, owner } of all) await Promise.all([store.close(), owner.close()]);
  });
  return async () => {
    const warm = free.pop() ?? (await start());
    const close = async (): Promise<void> => {
      await warm.owner.within(EVERYTHING).write((tx) => tx.run(plain("select emptied()")));
      free.push(warm);
    };
    return new Proxy(warm.store, { get: (target, name) => (name === "close" ? close : Reflect.get(target, name)) });
  };
}

/** One with today's tables, to be copied: to make them takes many times as long. */
export const tablesOfToday = (parts: readonly StorePart[]): Promise<string | undefined> =>
  template(nameOfSteps(withParts(MIGRATIONS, parts)), async (address) =>
    (await openPostgres(address, { parts })).close(),
  );

const PLAIN = { random: (bytes: number) => new Uint8Array(bytes), limits: MEMORY_LIMITS, patience: 5_000 };

/** Empties all tables in one go, in an order in which nothing refers to what is gone. A function is planned once, not each time. */
function emptying(parts: readonly StorePart[]): string {
  const tables = new Set([
    ...FIRST_TABLES,
    "open_call",
    "agent_rename",
    "retraction",
    "memory_save",
    ...parts.flatMap((part) => Object.keys(part.tables)),
  ]);
  tables.delete("memory_index");
  const each = [...tables].toReversed().map((table) => `delete from ${table};`);
  return `create function emptied() returns void language plpgsql as $$ begin ${each.join(" ")} end $$`;
}
