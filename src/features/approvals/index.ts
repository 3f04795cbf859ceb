/** Tool calls that wait for a person: listed, decided, and told to the agent. */
import type { Feature } from "../feature.ts";
import { OPERATIONS } from "./operations.ts";
import { APPROVAL_STORE } from "./store.ts";

export { type ApprovalDoors, approvalDoors } from "./doors.ts";
export { APPROVAL_STORE } from "./store.ts";

export const FEATURE: Feature = { name: "approvals", store: APPROVAL_STORE, operations: OPERATIONS };
