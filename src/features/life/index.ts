/** Agents that live by themselves: states, turns of their own, and the credits that they live on. */
import type { Feature } from "../feature.ts";
import { OPERATIONS } from "./operations.ts";

export { lifeAnswer, PATIENCE, sleepsLine, unreadLine } from "./operations.ts";
export { LIFE } from "./shapes.ts";

export const FEATURE: Feature = { name: "life", operations: OPERATIONS };
