import { actorId, digestOf } from "../../protocol/index.ts";
import { exchange, type KeptSample, NOW, open } from "../../store/index.contract.ts";
import { KEY_STORE } from "./store.ts";

/** Three keys of a contact, one of them revoked, whose names a contact could be known by; one of an agent, and one for everything. */
export const KEPT: KeptSample = {
  fill: async (store, scope, words) => {
    await exchange(store, await open(store, scope), words);
    const { org, agent, contact } = scope;
    const kept = store.part(KEY_STORE);
    const who = { by: "operator", byId: actorId("token:operator"), at: NOW } as const;
    const create = (n: number, role: "contact" | "member" | "auditor", reach: object) =>
      kept.createKey(org, {
        ...{
          name: words,
          ...reach,
          role,
          prefix: `sk-strata-${n}`,
          digest: digestOf(`secret ${n} of ${agent}`),
          ...who,
        },
        ...(n === 1 && { expiresAt: NOW + 1 }),
      });
    const first = await create(1, "contact", { agent, contact });
    await create(2, "contact", { agent, contact });
    await create(3, "member", { agent, contact });
    await create(4, "member", { agent, name: "mia" });
    await create(5, "auditor", { name: "audit" });
    await kept.revokeKey(org, { id: first.id, ...who });
    await kept.noteUse(org, { id: first.id, at: NOW });
  },
  reads: (store, { org, agent, contact }) => store.part(KEY_STORE).keys(org, { agent, contact, limit: 9 }),
};
