import { describe } from "vitest";
import { lexicalIndexContract, unitsFor } from "./index.contract.ts";
import { listIndex } from "./index.ts";

describe("a list of units", () => lexicalIndexContract(async (said) => listIndex(unitsFor(said))));
