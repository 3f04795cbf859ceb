import { afterAll } from "vitest";
import { dropDatabase, makeDatabase, type TestServer, testServer, WITHOUT_POSTGRES } from "../checks/postgres.ts";

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
