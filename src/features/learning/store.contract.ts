import { actorId } from "../../protocol/index.ts";
import { exchange, type KeptSample, NOW, open } from "../../store/index.contract.ts";
import { LEARNING_STORE, USED } from "./store.ts";

/** An edit that taught something, a dismissal, and a turn that was shown what was learned. */
export const KEPT: KeptSample = {
  fill: async (store, scope, words) => {
    const thread = await open(store, scope);
    const extras = {};
    USED.put(extras, { version: null, rules: 0, stale: 0, corrections: ["drf_1"] });
    const { turn } = (await exchange(store, thread, words, { more: { extras } })).claim;
    const kept = store.part(LEARNING_STORE);
    const from = await kept.cursor(scope);
    const upto = { drafts: 0, turns: (await kept.news(scope, 0, 9)).upto };
    const source = { scope, thread: thread.id, turn, kind: "edit", ends: null, at: NOW, trust: "member" } as const;
    await kept.learn(scope, {
      ...{ from, upto },
      found: [
        { ...source, origin: "drf_2", place: 0, lesson: "lsn_1", situation: words, wrong: words, instead: words },
      ],
    });
    await kept.dismiss(scope, { lesson: "lsn_2", by: "operator", byId: actorId("member:mia"), at: NOW });
  },
  reads: async (store, scope) => {
    const kept = store.part(LEARNING_STORE);
    return { sources: await kept.sources(scope, {}, 9), dismissed: await kept.dismissed(scope) };
  },
};
