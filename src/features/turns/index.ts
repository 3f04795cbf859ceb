/** Recorded turns: what was sent and why, the result, the difference of two, and answering one again. */
import type { Feature } from "../feature.ts";
import { OPERATIONS } from "./operations.ts";

export { ledgerTable } from "./ledger.ts";
export { requestText } from "./request-text.ts";
export { endOf, resentSays, turnView } from "./view.ts";

export const FEATURE: Feature = { name: "turns", needs: ["threads"], operations: OPERATIONS };
