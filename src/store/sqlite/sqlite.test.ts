import { describe } from "vitest";
import { PARTS } from "../contract/sample.contract.ts";
import { openSqlite } from "../index.ts";
import { storeContract } from "../store.contract.ts";

describe("sqlite in memory", () => storeContract(() => openSqlite(":memory:", { parts: PARTS })));
