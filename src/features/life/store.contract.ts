import { untrusted } from "../../protocol/index.ts";
import { exchange, type KeptSample, NOW, open } from "../../store/index.contract.ts";
import { LIFE_STORE } from "./store.ts";

/** A turn with a contact, two payments and a state. */
export const KEPT: KeptSample = {
  fill: async (store, scope, words) => {
    const lives = store.part(LIFE_STORE);
    for (const dollars of [5, -1]) {
      await lives.topUp(scope, { dollars, by: "operator", note: untrusted("for November"), at: NOW });
    }
    const { claim } = await exchange(store, await open(store, scope), words, { failed: true });
    const failed = { turn: claim.turn, code: "model_failed" } as const;
    await lives.moveLife(scope, { from: undefined, state: "faulted", failed, at: NOW, tickedAt: NOW });
  },
  reads: async (store, scope) => {
    const lives = store.part(LIFE_STORE);
    return [
      await lives.life(scope),
      await lives.credits(scope, NOW),
      await lives.topUps(scope, 9),
      await lives.turnCount(scope),
    ];
  },
  // Its present activity, which differs from a moment ago.
};
