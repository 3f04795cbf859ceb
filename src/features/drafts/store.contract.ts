import { draftId, eventId, issueId, outboxId, ownKind, spoken, untrusted } from "../../protocol/index.ts";
import { exchange, type KeptSample, NOW, open } from "../../store/index.contract.ts";
import { queueReply } from "../deliveries/index.ts";
import { DRAFT } from "./decision-store.ts";
import { DRAFT_STORE } from "./store.ts";

let count = 0;
const next = (): Uint8Array => Uint8Array.from({ length: 10 }, (_, i) => (++count >> i) & 255);

/** A draft that was edited with its contact's words, one that was superseded, and one that waits. */
export const KEPT: KeptSample = {
  fill: async (store, scope, words) => {
    const thread = await open(store, scope);
    const ids = [1, 2, 3].map(() => draftId(issueId("draft", NOW, next())));
    for (const [i, id] of ids.entries()) {
      const extras = {};
      DRAFT.put(extras, { id, text: spoken(words), trust: "contact" });
      await exchange(store, thread, words, { more: { extras } });
      if (i > 0) continue;
      await store.part(DRAFT_STORE).decideDraft(scope, id, {
        verdict: "edited",
        by: "operator",
        sent: { text: words, outbox: outboxId(issueId("outbox", NOW, next())), channel: "test", queue: queueReply },
        note: untrusted(words),
        events: [
          {
            id: eventId(issueId("event", NOW, next())),
            ...{ kind: ownKind("draft"), trust: "contact", channel: "test", at: NOW, inHistory: true },
            content: [{ type: "text", text: untrusted(words) }],
          },
        ],
        at: NOW,
      });
    }
  },
  reads: (store, scope) => store.part(DRAFT_STORE).drafts(scope, {}, 9),
};
