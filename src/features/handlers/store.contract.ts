import { exchange, type KeptSample, open } from "../../store/index.contract.ts";
import { HANDLER_STORE, LOGGED } from "./store.ts";

/** A turn whose handler has logged its contact's words. */
export const KEPT: KeptSample = {
  fill: async (store, scope, words) => {
    const extras = {};
    LOGGED.put(extras, words);
    await exchange(store, await open(store, scope), words, { more: { extras } });
  },
  reads: async (store, scope) => {
    const [thread] = await store.threads(scope, 1);
    const [turn] = thread === undefined ? [] : await store.turns(scope, thread.id);
    return turn && store.part(HANDLER_STORE).log(scope, turn.id);
  },
};
