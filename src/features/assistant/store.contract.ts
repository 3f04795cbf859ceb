import { exchange, type KeptSample, open } from "../../store/index.contract.ts";

/** A conversation: what an assistant has read is kept in its members' conversations, without a separate table. */
export const KEPT: KeptSample = {
  fill: async (store, scope, words) => exchange(store, await open(store, scope), words),
  reads: async (store, scope) => {
    const [thread] = await store.threads(scope, 1);
    return thread && (await store.slots(scope, thread.id)).map(({ text }) => text);
  },
};
