import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { readFiles } from "../../checks/files.ts";
import { FEATURES } from "../../src/app/entry/features.ts";
import {
  eraseWhole,
  HAND,
  type KeptSample,
  KITE,
  keptContract,
  newFolder,
  onEachDatabase,
  SHARED,
  WORDS,
} from "../../src/store/index.contract.ts";
import { openSqlite, type StorePart } from "../../src/store/index.ts";

interface Keeps {
  readonly name: string;
  readonly part: StorePart;
  readonly sample: KeptSample;
}

const LISTED = await Promise.all(FEATURES.map(async ({ load }) => load()));
const PARTS = LISTED.flatMap(({ store }) => store ?? []);

/** Each feature says in its `store.contract.ts` how what it keeps is filled. */
async function keeps(): Promise<readonly Keeps[]> {
  return Promise.all(
    LISTED.flatMap(({ name, store }) => (store === undefined ? [] : [{ name, part: store }])).map(
      async ({ name, part }) => {
        const file = new URL(`../../src/features/${name}/store.contract.ts`, import.meta.url);
        if (!existsSync(file))
          throw new Error(`say in src/features/${name}/store.contract.ts how its tables are filled`);
        const { KEPT }: { KEPT: KeptSample } = await import(file.href);
        return { name, part, sample: KEPT };
      },
    ),
  );
}

const ALL = await keeps();

for (const { name, part, sample } of ALL) {
  onEachDatabase(`what ${name} keeps`, [...PARTS, HAND], (open, database) =>
    keptContract(part, sample, open, database),
  );

  it(`erasing leaves no word of a contact that ${name} kept in the file`, async () => {
    const folder = newFolder();
    const store = await openSqlite(join(folder, "record.sqlite"), { parts: PARTS });
    await sample.fill(store, KITE, WORDS);
    await eraseWhole(store, KITE);
    await store.close();
    const bytes = Buffer.concat(readdirSync(folder).map((file) => readFileSync(join(folder, file))));
    expect([bytes.includes(WORDS), bytes.includes(KITE.contact)]).toEqual([false, false]);
    rmSync(folder, { recursive: true, force: true });
  });
}

it("what is kept of somebody's act says who it was, wherever it says in which role", async () => {
  const folder = newFolder();
  const file = join(folder, "record.sqlite");
  await (await openSqlite(file, { parts: PARTS })).close();
  const db = new BetterSqlite3(file, { readonly: true });
  const sql =
    "select one.name as name from sqlite_schema as one join pragma_table_info(one.name) as its where one.type = 'table' and its.name = ?";
  const having = (column: string): readonly string[] => db.prepare<[string], string>(sql).pluck().all(column).sort();
  const [byRole, byId] = [[...having("by"), ...having("role")], having("by_id")];
  expect(byRole.length).toBeGreaterThan(10);
  expect(byRole.filter((table) => !byId.includes(table))).toEqual([]);
  db.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("what features keep", () => {
  it("is named once: no two have a table of the same name", () => {
    const tables = PARTS.flatMap((part) => Object.keys(part.tables));
    expect(new Set(tables).size).toBe(tables.length);
  });

  it("comes with steps of the schema that are numbered in one row with the store's, from 17 on and without a gap", () => {
    const steps = [...SHARED, ...PARTS.flatMap(({ migrations = [] }: StorePart) => migrations)];
    const numbers = steps.map(({ number }) => number).sort((a, b) => a - b);
    const free = 17 + numbers.findIndex((number, i) => number !== 17 + i);
    expect(numbers, `the next free number is ${free}`).toEqual(numbers.map((_, i) => 17 + i));
  });

  it("is known to its feature alone: the store names no table of it outside of the schema", () => {
    const core = readFiles(
      (path) =>
        /^src\/store\/.*\.ts$/.test(path) && !/\.(test|contract)\.ts$|migrations|first-schema|row-security/.test(path),
    );
    for (const table of PARTS.flatMap((part) => Object.keys(part.tables))) {
      const sentence = new RegExp(`["'\`]${table}["'\`]|(?:from|into|update|join) "?${table}\\b`);
      expect(core.filter(({ text }) => sentence.test(text)).map(({ path }) => path)).toEqual([]);
    }
  });
});
