import { describe, expect, it } from "vitest";
import { actorId, type PlannedWrite, SELF } from "../../protocol/index.ts";
import { FORGET_MEMORY } from "../memory/memory-writes.ts";
import {
  NOW,
  type OpenStore,
  OWNER,
  open,
  problems,
  ran,
  remembered,
  said,
  saving,
  scopeOf,
  take,
} from "./sample.contract.ts";

const OTHERS = [scopeOf("ann", "other"), scopeOf("ann", "companion", "elsewhere")];

/** What an agent remembers for itself, and who looked after it. */
export function agentContract(openStore: OpenStore): void {
  ownMemories(openStore);
  acts(openStore);
}

function ownMemories(openStore: OpenStore): void {
  describe("a turn of an agent's own", () => {
    it("remembers for the agent: what it saves and forgets is nobody else's", async () => {
      const store = await openStore();
      const own = { ...OWNER, contact: null };
      const self = await open(store, { ...OWNER, contact: SELF });
      const tick = async (write: PlannedWrite) => {
        await store.receive(self.scope, self.id, [said("tick", { kind: "scheduled", trust: "platform" })]);
        const claim = await take(store, self);
        await store.settle(claim, ran(claim, { more: { writes: [write] } }).outcome);
      };
      await tick(saving(remembered("Prices rose", { trust: "agent", by: "agent" })));
      const [saved] = await store.memories(own, 9);
      expect(saved).toMatchObject({ content: "Prices rose" });
      expect(await store.memories(self.scope, 9)).toEqual([]);
      if (saved) await tick({ write: FORGET_MEMORY.plan({ memory: saved.id }) });
      expect(await store.memories(own, 9)).toEqual([]);
      expect(await problems(store, OWNER.org)).toEqual([]);
      await store.close();
    });
  });
}

function acts(openStore: OpenStore): void {
  describe("what an operator did", () => {
    it("is listed newest first, with who it was, and each is a link that does not say about whom", async () => {
      const store = await openStore();
      const actor = { org: OWNER.org, id: actorId("token:operator"), role: "operator" } as const;
      await store.noteAct(OWNER, { actor, what: "conversation", about: "ann", at: NOW });
      await store.noteAct(OWNER, { actor, what: "layers", about: "all", at: NOW + 1 });
      expect(await store.acts(OWNER, 9)).toEqual([
        { id: 2, role: "operator", byId: actor.id, what: "layers", about: "all", at: NOW + 1 },
        { id: 1, role: "operator", byId: actor.id, what: "conversation", about: "ann", at: NOW },
      ]);
      for (const { org, agent } of OTHERS) expect(await store.acts({ org, agent }, 9)).toEqual([]);
      expect(await store.head(OWNER.org)).toMatchObject({ seq: 2 });
      expect(await problems(store, OWNER.org)).toEqual([]);
      await store.close();
    });
  });
}
