import type { ThreadId } from "../../protocol/index.ts";
import { exchange, type KeptSample, NOW, open } from "../../store/index.contract.ts";
import type { Store } from "../../store/index.ts";
import { SETTING_STORE } from "./store.ts";

const threads = new WeakMap<Store, ThreadId>();

/** A text that was set, and one that was taken back. */
export const KEPT: KeptSample = {
  fill: async (store, scope, words) => {
    const thread = await open(store, scope);
    threads.set(store, thread.id);
    await exchange(store, thread, words);
    for (const [name, value] of [
      ["shop", words],
      ["mood", "calm"],
      ["mood", null],
    ] as const)
      await store.part(SETTING_STORE).setSetting(scope, thread.id, { name, value, by: "operator", at: NOW });
  },
  reads: async (store, scope) => {
    const thread = threads.get(store);
    return thread === undefined ? [] : store.part(SETTING_STORE).settings(scope, thread);
  },
};
