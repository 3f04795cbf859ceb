import { exchange, type KeptSample, open } from "../../store/index.contract.ts";

/** A conversation: what an assistant has read stands in those of its members, and in no table of its own. */
export const KEPT: KeptSample = {
  fill: async (store, scope, words) => exchange(store, await open(store, scope), words),
  reads: async (store, scope) => {
    const [thread] = await store.threads(scope, 1);
    return thread && (await store.slots(scope, thread.id)).map(({ text }) => text);
  },
};
