import { exchange, type KeptSample, NOW, open } from "../../store/index.contract.ts";
import { OUTBOX_STORE } from "./store.ts";

/** A reply whose delivery failed with the words of its contact. */
export const KEPT: KeptSample = {
  fill: async (store, scope, words) => {
    const { outcome } = await exchange(store, await open(store, scope), words, { reply: words });
    const { dueDeliveries, noteDelivery } = store.part(OUTBOX_STORE);
    await dueDeliveries(scope, { holder: "postman", now: NOW, until: NOW + 1, limit: 1 });
    await noteDelivery(scope, "postman", { outbox: outcome.replyId, failed: words, again: NOW + 1, at: NOW });
  },
  reads: (store, { contact, ...owner }) => store.part(OUTBOX_STORE).mail(owner, { contact, limit: 9 }),
  // How far it came, and who delivers it now.
};
