/** Agents that live by themselves: their states, own turns and credits. */

import type { Feature } from "../feature.ts";
import type { Accounts } from "./accounts.ts";
import { LIFE_API, lifeApi } from "./api.ts";
import { KEYS } from "./config.ts";
import { OUT_OF_CREDITS } from "./credits.ts";
import { JOBS } from "./jobs.ts";
import { OPERATIONS } from "./operations.ts";
import { runningStates } from "./states.ts";
import { lifeSteps } from "./steps.ts";
import { LIFE_STORE } from "./store.ts";

export { type Accounts, accountsOf, checkAccounts } from "./accounts.ts";
export { type FundsView, LIFE, LIFE_API, type LifeApi, type LifeView } from "./api.ts";
export { lifeAnswer, PATIENCE, sleepsLine, unreadLine } from "./operations.ts";
export { LIFE_STORE } from "./store.ts";

export const FEATURE: Feature<LifePorts> = {
  name: "life",
  keys: KEYS,
  errors: [OUT_OF_CREDITS],
  operations: OPERATIONS,
  store: LIFE_STORE,
  jobs: JOBS,
  // One for each runtime, because it knows which of its turns run.
  open: ({ accounts }) => {
    const own = { running: runningStates(), accounts };
    return {
      steps: lifeSteps(own),
      api: ({ turnParts, run }) => LIFE_API.open(lifeApi(() => ({ ...turnParts(), ...own }), run)),
    };
  },
};

/** What life needs from outside. */
export interface LifePorts {
  /** The agents' account balances; unknown if absent. */
  readonly accounts?: Accounts | undefined;
}
