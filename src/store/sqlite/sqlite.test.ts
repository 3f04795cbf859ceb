import { describe } from "vitest";
import { openSqlite } from "../index.ts";
import { storeContract } from "../store.contract.ts";

describe("sqlite in memory", () => storeContract(() => openSqlite(":memory:")));
