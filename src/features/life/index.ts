/** Agents that live by themselves: states, turns of their own, and the credits that they live on. */
import type { Run, TurnParts, TurnSteps } from "../../turn/index.ts";
import type { Feature } from "../feature.ts";
import { KEYS } from "./config.ts";
import { type LifeDoors, lifeDoors } from "./doors.ts";
import { JOBS } from "./jobs.ts";
import { OPERATIONS } from "./operations.ts";
import { runningStates } from "./states.ts";
import { lifeSteps } from "./steps.ts";

export type { LifeDoors } from "./doors.ts";
export { lifeAnswer, PATIENCE, sleepsLine, unreadLine } from "./operations.ts";
export { LIFE } from "./shapes.ts";

export const FEATURE: Feature = { name: "life", keys: KEYS, operations: OPERATIONS, jobs: JOBS };

/** What life adds to a runtime: what it does in each turn, and what doors call of it. */
export interface LifeParts {
  readonly steps: TurnSteps;
  readonly doors: (parts: () => TurnParts, run: Run) => LifeDoors;
}

/** The lives of a runtime's agents: one for each runtime, for it knows which of their turns run. */
export function openLife(): LifeParts {
  const running = runningStates();
  return {
    steps: lifeSteps(running),
    doors: (parts, run) => lifeDoors(() => ({ ...parts(), running }), run),
  };
}
