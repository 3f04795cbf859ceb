import { exchange, type KeptSample, NOW, open } from "../../store/index.contract.ts";
import { SKILL_STORE } from "./store.ts";

const OF = { skill: "invoicing", n: 1 };

/** Two files that came with a skill. */
export const KEPT: KeptSample = {
  fill: async (store, scope, words) => {
    await exchange(store, await open(store, scope), words);
    const files = ["references/a.md", "scripts/b.sh"].map((path) => ({ path, text: `This is ${path}.` }));
    await store.part(SKILL_STORE).keepSkillFiles({ ...scope, ...OF }, files, NOW);
  },
  reads: (store, scope) => store.part(SKILL_STORE).skillFiles({ ...scope, ...OF }),
};
