import { describe, expect, it } from "vitest";
import {
  type Actor,
  ANSWER_KIND,
  actorId,
  agentName,
  callId,
  orgId,
  type PlannedWrite,
  SELF,
  toolName,
} from "../../protocol/index.ts";
import { FORGET_MEMORY } from "../memory/memory-writes.ts";
import type { Store } from "../store.ts";
import {
  ANN,
  edited,
  exchange,
  NOW,
  newMemory,
  nextCall,
  type OpenStore,
  OWNER,
  open,
  opening,
  problems,
  type RunOptions,
  ran,
  remembered,
  SPEC,
  said,
  saving,
  scopeOf,
  take,
  VERSION,
} from "./sample.contract.ts";

const OTHERS = [scopeOf("ann", "other"), scopeOf("ann", "companion", "elsewhere")];

/** What an agent remembers for itself, and its supervisor. */
export function agentContract(openStore: OpenStore): void {
  ownMemories(openStore);
  acts(openStore);
  renamed(openStore);
}

/** A turn that answers whoever called its thread. */
const responding = (): RunOptions => ({
  more: { forCaller: { way: "responds", answer: { ...said("done"), kind: ANSWER_KIND } } },
});

const OPERATOR: Actor = { org: OWNER.org, id: actorId("token:operator"), role: "operator" };

function renamed(openStore: OpenStore): void {
  describe("25.15 an agent that was renamed", () => {
    const helper = scopeOf("ann", "helper");
    const renaming = (to: string) => ({ to: agentName(to), actor: OPERATOR, at: NOW, now: NOW });

    /** With a conversation that called another agent, a text and an act. */
    async function grown(): Promise<Store> {
      const store = await openStore();
      const thread = await open(store);
      await store.saveAgentVersion(helper.org, helper.agent, VERSION, SPEC, NOW);
      const call = callId(nextCall());
      const asks = { id: call, call, tool: toolName("ask"), waitsFor: "agent", keeps: false } as const;
      const caller = { thread: thread.id, agent: OWNER.agent, call };
      await exchange(store, thread, "Hello", {
        more: {
          end: { status: "waiting", reply: null, calls: [asks] },
          starts: [{ scope: helper, opening: opening("called", { caller }), events: [said("Help her.")] }],
        },
      });
      const [called] = await store.threads(helper, 9);
      if (called) await exchange(store, called, "Now.", responding());
      await store.editText(ANN, edited("Be brief."), NOW);
      await store.noteAct(OWNER, { actor: OPERATOR, what: "layers", about: "all", at: NOW });
      return store;
    }

    it("has its conversations, texts and acts, and whom it called answers it; each link says the name of its time", async () => {
      const store = await grown();
      await store.renameAgent(OWNER, renaming("second"));
      await store.renameAgent({ ...OWNER, agent: agentName("second") }, renaming("third"));
      const [today, called] = [{ ...ANN, agent: agentName("third") }, (await store.threads(helper, 9))[0]];
      expect(await store.threads(today, 9)).toMatchObject([{ turns: 1 }]);
      expect(await store.activeTexts(today)).toMatchObject([{ text: "Be brief." }]);
      expect(await store.acts(today, 9)).toMatchObject([{ what: "layers" }]);
      expect(await store.threads(ANN, 9)).toEqual([]);
      expect(called?.caller?.agent).toBe("third");
      expect(await problems(store, OWNER.org)).toEqual([]);
      if (called) await exchange(store, called, "Go on.", responding());
      expect(await problems(store, OWNER.org)).toEqual([]);
      await store.close();
    });

    it("is found among the agents of which anything is kept, also where that is no conversation", async () => {
      const store = await openStore();
      expect(await store.keptAgents(OWNER.org)).toEqual([]);
      await store.saveMemory({ ...OWNER, agent: agentName("quiet"), contact: null }, newMemory(), remembered("Tea"));
      await open(store);
      await store.noteAct(
        { ...OWNER, agent: agentName("acted") },
        { actor: OPERATOR, what: "layers", about: "all", at: NOW },
      );
      expect(await store.keptAgents(OWNER.org)).toEqual(["acted", OWNER.agent, "quiet"].sort());
      expect(await store.keptAgents(orgId("others"))).toEqual([]);
      await store.close();
    });

    it("is not renamed while a turn of it runs, to a name that has a record, or if nothing is kept of it", async () => {
      const store = await grown();
      await expect(store.renameAgent(OWNER, renaming("helper"))).rejects.toMatchObject({ code: "invalid_input" });
      const nobody = store.renameAgent({ ...OWNER, agent: agentName("nobody") }, renaming("second"));
      await expect(nobody).rejects.toMatchObject({ code: "agent_not_found" });
      const thread = (await store.threads(ANN, 9))[0];
      if (thread === undefined) throw new Error("no thread");
      await store.receive(thread.scope, thread.id, [said("Are you there?")]);
      const claim = await take(store, thread);
      await expect(store.renameAgent(OWNER, renaming("second"))).rejects.toMatchObject({ code: "thread_busy" });
      await store.settle(claim, ran(claim).outcome);
      expect(await problems(store, OWNER.org)).toEqual([]);
      await store.close();
    });
  });
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
