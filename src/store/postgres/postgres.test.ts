import { describe } from "vitest";
import { storeContract } from "../store.contract.ts";
import { emptyStores, server, title } from "./fresh.contract.ts";

describe.skipIf(server === undefined)(title("postgres"), () => storeContract(emptyStores()));
