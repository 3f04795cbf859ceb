import { actorId, layerId } from "../../protocol/index.ts";
import { exchange, type KeptSample, NOW, open, ran, said, take } from "../../store/index.contract.ts";
import { CANDIDATE } from "./candidate-store.ts";
import { LEARNING_STORE, USED } from "./store.ts";

/** An edit that taught something, a dismissal, a turn that was shown what was learned, and a digest's output and verdict. */
export const KEPT: KeptSample = {
  fill: async (store, scope, words) => {
    const thread = await open(store, scope);
    const extras = {};
    USED.put(extras, { version: null, rules: 0, stale: 0, corrections: ["drf_1"] });
    const { turn } = (await exchange(store, thread, words, { more: { extras } })).claim;
    const kept = store.part(LEARNING_STORE);
    const from = await kept.cursor(scope);
    const upto = { drafts: 0, answers: 0, turns: (await kept.news(scope, 0, 9)).upto };
    const source = { scope, thread: thread.id, turn, kind: "edit", ends: null, at: NOW, trust: "member" } as const;
    await kept.learn(scope, {
      ...{ from, upto },
      found: [
        { ...source, origin: "drf_2", place: 0, lesson: "lsn_1", situation: words, wrong: words, instead: words },
      ],
    });
    await kept.dismiss(scope, { lesson: "lsn_2", by: "operator", byId: actorId("member:mia"), at: NOW });
    await store.receive(scope, thread.id, [said(words)]);
    const claim = await take(store, thread);
    const write = CANDIDATE.plan({
      candidate: {
        ...{ turn: claim.turn, layer: layerId("learning"), body: words, summary: words, lessons: ["lsn_1"] },
        offered: ["lsn_1"],
        ...{ anchors: {}, inputs: "contact", parent: null },
      },
    });
    await store.settle(claim, ran(claim, { more: { writes: [{ write }] } }).outcome);
    await kept.judgeCandidate(scope, claim.turn, { verdict: "refused", because: words, at: NOW });
  },
  reads: async (store, scope) => {
    const kept = store.part(LEARNING_STORE);
    const candidates = await kept.candidates(scope, 9);
    return { sources: await kept.sources(scope, {}, 9), dismissed: await kept.dismissed(scope), candidates };
  },
};
