import { afterAll } from "vitest";
import { dropDatabase, makeDatabase, type TestServer, testServer, WITHOUT_POSTGRES } from "../../../checks/postgres.ts";
import type { OpenStore } from "../contract/sample.contract.ts";
import { MEMORY_LIMITS } from "../memory/memory-limits.ts";
import { plain } from "../statement.ts";
import type { Store } from "../store.ts";
import { type Connected, connect, EVERYTHING } from "./database.ts";
import { FIRST_TABLES } from "./first-schema.ts";
import { openPostgres } from "./open.ts";

/** The server of the tests, or nothing: then what needs one is skipped and says why. */
export const server = await testServer();

/** What is told of tests that need a server and have none. */
export const title = (text: string): string => (server === undefined ? `${text} (skipped: ${WITHOUT_POSTGRES})` : text);

/** New databases for the tests of a file, dropped at its end. `template` is one to copy. */
export function databases(): {
  readonly make: (template?: string) => Promise<string>;
  readonly url: (name: string) => string;
} {
  const made: string[] = [];
  const here = (): TestServer => {
    if (server === undefined) throw new Error(WITHOUT_POSTGRES);
    return server;
  };
  afterAll(async () => {
    for (const name of made) await dropDatabase(here(), name);
  });
  return {
    make: async (template) => {
      const name = await makeDatabase(here(), template);
      made.push(name);
      return name;
    },
    url: (name) => here().url(name),
  };
}

interface Warm {
  readonly store: Store;
  readonly owner: Connected;
}

/** An empty store for each test, in as few databases as are open at once: what a test closes is emptied and used again, for a new connection is slow. */
export function emptyStores(): OpenStore {
  const { make, url } = databases();
  const all: Warm[] = [];
  const free: Warm[] = [];
  const start = async (): Promise<Warm> => {
    const address = url(await make());
    const made = { store: await openPostgres(address), owner: await connect(address, { ...PLAIN }) };
    all.push(made);
    return made;
  };
  afterAll(async () => {
    for (const { store, owner } of all) await Promise.all([store.close(), owner.close()]);
  });
  return async () => {
    const warm = free.pop() ?? (await start());
    const close = async (): Promise<void> => {
      await warm.owner.within(EVERYTHING).write((tx) => tx.run(plain(EMPTIED)));
      free.push(warm);
    };
    return new Proxy(warm.store, { get: (target, name) => (name === "close" ? close : Reflect.get(target, name)) });
  };
}

const PLAIN = { random: (bytes: number) => new Uint8Array(bytes), limits: MEMORY_LIMITS, patience: 5_000 };

/** In one go, and in an order in which nothing refers to what is gone. */
const EMPTIED = `do $$ begin ${FIRST_TABLES.toReversed()
  .filter((table) => table !== "memory_index")
  .map((table) => `delete from ${table};`)
  .join(" ")} end $$`;
