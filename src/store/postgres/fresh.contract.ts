import { afterAll } from "vitest";
import { dropDatabase, makeDatabase, type TestServer, testServer, WITHOUT_POSTGRES } from "../../../checks/postgres.ts";
import type { OpenStore } from "../contract/sample.contract.ts";
import { MEMORY_LIMITS } from "../memory/memory-limits.ts";
import { plain } from "../statement.ts";
import type { Store } from "../store.ts";
import { connect, EVERYTHING } from "./database.ts";
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

/** An empty store for each test, in as few databases as are open at once: a closed one's is emptied and used again. */
export function emptyStores(): OpenStore {
  const { make, url } = databases();
  const free: string[] = [];
  return async () => {
    const name = free.pop() ?? (await make());
    const store = await openPostgres(url(name));
    return handingBack(store, async () => {
      await store.close();
      await empty(url(name));
      free.push(name);
    });
  };
}

/** The store, with another way to close it. */
const handingBack = (store: Store, close: () => Promise<void>): Store =>
  new Proxy(store, { get: (target, name) => (name === "close" ? close : Reflect.get(target, name)) });

async function empty(url: string): Promise<void> {
  const db = await connect(url, { random: (bytes) => new Uint8Array(bytes), limits: MEMORY_LIMITS, patience: 5_000 });
  await db.within(EVERYTHING).write((tx) => tx.run(plain(`truncate ${FIRST_TABLES.join(", ")} restart identity`)));
  await db.close();
}
