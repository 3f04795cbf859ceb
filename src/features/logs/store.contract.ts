import { exchange, type KeptSample, leaving, open } from "../../store/index.contract.ts";
import { LOG_STORE, LOGGED } from "./store.ts";

/** A message that was answered and logged. */
export const KEPT: KeptSample = {
  fill: async (store, scope, words) =>
    exchange(store, await open(store, scope), words, { reply: words, more: leaving(LOGGED, true) }),
  reads: async (store, scope) => {
    const { log, logs } = store.part(LOG_STORE);
    return [await log(scope), (await logs(scope, 9)).filter(({ contact }) => contact === scope.contact)];
  },
  // In which order they came, which their times say as well.
};
