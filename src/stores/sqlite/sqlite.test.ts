import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe } from "vitest";
import { openSqlite } from "../index.ts";
import { storeContract } from "../store.contract.ts";

const folder = mkdtempSync(join(tmpdir(), "strata-store-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;

describe("sqlite in memory", () => storeContract(() => openSqlite(":memory:")));
describe("sqlite in a file", () => storeContract(() => openSqlite(join(folder, `${++files}`, "record.sqlite"))));
