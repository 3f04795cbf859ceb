import { describe } from "vitest";
import { server, title } from "../../tests/postgres.ts";
import { type OpenStore, PARTS } from "./contract/sample.contract.ts";
import { openSqlite, type StorePart } from "./index.ts";
import { emptyStores, tablesOfToday } from "./postgres/fresh.contract.ts";

export { chanceOf, type Outage, type TestDisk, testDisk } from "./contract/disk.contract.ts";
export { EVERYTHING } from "./contract/everything.contract.ts";
export { newFolder } from "./contract/folder.contract.ts";
export { eraseWhole, HAND, type KeptSample, KITE, keptContract, WORDS } from "./contract/kept.contract.ts";
export { type KillingStore, killingPostgres, killingSqlite } from "./contract/killing.contract.ts";
export { plainRows } from "./contract/rows.contract.ts";
export * from "./contract/sample.contract.ts";
export { SHARED } from "./migrations.ts";
export { tablesOfToday };

/** Tests of what features keep, with every database behind them. `open` gives an empty store for each test. */
export function onEachDatabase(
  what: string,
  own: readonly StorePart[],
  tests: (open: OpenStore, database: "sqlite" | "postgres") => void,
): void {
  const parts = [...new Set([...PARTS, ...own])];
  describe(`${what}, in SQLite`, () => tests(() => openSqlite(":memory:", { parts }), "sqlite"));
  describe.skipIf(server === undefined)(title(`${what}, in PostgreSQL`), () => tests(emptyStores(parts), "postgres"));
}
