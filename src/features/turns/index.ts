/** The turns as they are recorded: what was sent, why, what came of it, how two differ, and answering one once more. */
import type { Feature } from "../feature.ts";
import { OPERATIONS } from "./operations.ts";

export { ledgerTable } from "./ledger.ts";
export { requestText } from "./request-text.ts";
export { endOf, resentSays, turnView } from "./view.ts";

export const FEATURE: Feature = { name: "turns", needs: ["threads"], operations: OPERATIONS };
