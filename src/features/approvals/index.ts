/** Tool calls that wait for a person: listed, decided, and told to the agent. */
import type { Feature } from "../feature.ts";
import { OPERATIONS } from "./operations.ts";

export const FEATURE: Feature = { name: "approvals", operations: OPERATIONS };
