import { afterAll } from "vitest";
import { dropDatabase, makeDatabase, type TestServer, testServer, WITHOUT_POSTGRES } from "../checks/postgres.ts";

/** The server of the tests, or nothing: then what needs one is skipped and says why. */
export const server = await testServer();

/** What is told of tests that need a server and have none. */
export const title = (text: string): string => (server === undefined ? `${text} (skipped: ${WITHOUT_POSTGRES})` : text);

const templates = new Map<string, Promise<string>>();

/**
 * A database to copy, filled by the first test of this process that asks for one of this name. It is gone with the server; on one that is not ours
 * nothing may stay, so there is none, and each database is filled by itself.
 */
export function template(name: string, fill: (url: string) => Promise<void>): Promise<string | undefined> {
  if (server?.folder === undefined) return Promise.resolve(undefined);
  const here = server;
  const made = templates.get(name) ?? makeDatabase(here).then(async (one) => fill(here.url(one)).then(() => one));
  templates.set(name, made);
  return made;
}

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
