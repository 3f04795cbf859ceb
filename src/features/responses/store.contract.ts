import { digestOf } from "../../protocol/index.ts";
import { type KeptSample, NOW, open, ran, said, take } from "../../store/index.contract.ts";
import { RESPONSES, RESPONSES_STORE } from "./store.ts";

const asked = digestOf("what was asked");

/** A reply that may be used again. */
export const KEPT: KeptSample = {
  fill: async (store, scope, words) => {
    const thread = await open(store, scope);
    await store.receive(scope, thread.id, [said("hi")]);
    const claim = await take(store, thread);
    const { outcome } = ran(claim);
    const extras = {};
    RESPONSES.put(extras, [{ asked, text: words, at: NOW, until: NOW + 1 }]);
    await store.settle(claim, { ...outcome, extras });
  },
  reads: (store, scope) => store.part(RESPONSES_STORE).response(scope, { asked, at: NOW }),
};
