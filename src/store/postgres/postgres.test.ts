import { describe } from "vitest";
import { server, title } from "../../../tests/postgres.ts";
import { PARTS } from "../contract/sample.contract.ts";
import { storeContract } from "../store.contract.ts";
import { emptyStores } from "./fresh.contract.ts";

describe.skipIf(server === undefined)(title("postgres"), () => storeContract(emptyStores(PARTS)));
