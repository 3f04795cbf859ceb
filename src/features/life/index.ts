/** Agents that live by themselves: their states, own turns and credits. */
import type { Run, TurnParts, TurnSteps } from "../../turn/index.ts";
import type { Feature } from "../feature.ts";
import type { Accounts } from "./accounts.ts";
import { type LifeDoors, lifeDoors } from "./api.ts";
import { KEYS } from "./config.ts";
import { OUT_OF_CREDITS } from "./credits.ts";
import { JOBS } from "./jobs.ts";
import { OPERATIONS } from "./operations.ts";
import { runningStates } from "./states.ts";
import { lifeSteps } from "./steps.ts";
import { LIFE_STORE } from "./store.ts";

export { type Accounts, accountsOf, checkAccounts } from "./accounts.ts";
export type { FundsView, LifeDoors, LifeView } from "./api.ts";
export { LIFE, lifeAnswer, PATIENCE, sleepsLine, unreadLine } from "./operations.ts";
export { LIFE_STORE } from "./store.ts";

export const FEATURE: Feature = {
  name: "life",
  keys: KEYS,
  errors: [OUT_OF_CREDITS],
  operations: OPERATIONS,
  store: LIFE_STORE,
  jobs: JOBS,
};

/** What life adds to a runtime: what it does in each turn, and what doors call of it. */
export interface LifeParts {
  readonly steps: TurnSteps;
  readonly doors: (parts: () => TurnParts, run: Run) => LifeDoors;
}

/** What life needs of the world outside. */
export interface LifePorts {
  /** What agents' accounts hold; left out, that is not known. */
  readonly accounts?: Accounts | undefined;
}

/** The lives of a runtime's agents: one for each runtime, for it knows which of their turns run. */
export function openLife({ accounts }: LifePorts): LifeParts {
  const own = { running: runningStates(), accounts };
  return {
    steps: lifeSteps(own),
    doors: (parts, run) => lifeDoors(() => ({ ...parts(), ...own }), run),
  };
}
