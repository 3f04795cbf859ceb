import { actorId, untrusted } from "../../protocol/index.ts";
import { asked, exchange, holding, type KeptSample, NOW, open, said } from "../../store/index.contract.ts";
import { APPROVAL_STORE } from "./store.ts";

/** A call that was approved and has run, one that waits, and a question that one person took and another answered. */
export const KEPT: KeptSample = {
  fill: async (store, scope, words) => {
    const approvals = [
      asked({ input: { words } }),
      asked({ input: words }),
      asked({ input: { words }, due: NOW + 1 }),
    ] as const;
    await exchange(store, await open(store, scope), words, { more: holding(...approvals) });
    const { decideApproval, finishApproval, takeQuestion } = store.part(APPROVAL_STORE);
    const [{ id }, , question] = approvals;
    await takeQuestion(scope, question.id, { by: "member", byId: actorId("member:mia"), at: NOW });
    const verdict = { answer: untrusted(words) };
    await decideApproval(scope, question.id, { verdict, by: "operator", at: NOW, event: said(words) });
    await decideApproval(scope, id, { verdict: "approved", by: "operator", note: untrusted(words), at: NOW });
    const outcome = { text: untrusted(words), failed: false };
    await finishApproval(scope, id, { outcome, writes: [], event: said(words), at: NOW });
  },
  reads: (store, scope) => store.part(APPROVAL_STORE).approvals(scope, {}, 9),
};
