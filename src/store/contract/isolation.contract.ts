import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstRuns } from "../../../tests/spread.ts";
import { APPROVAL_STORE } from "../../features/approvals/store.ts";
import { OUTBOX_STORE } from "../../features/deliveries/store.ts";
import {
  actorId,
  type ContactScope,
  type NewApproval,
  type OutboxId,
  type Scope,
  toolName,
  untrusted,
} from "../../protocol/index.ts";
import type { Claim, Thread } from "../records.ts";
import type { JournalKey, Store } from "../store.ts";
import {
  ANN,
  asked,
  asking,
  claiming,
  exchange,
  holding,
  NOW,
  newMemory,
  type OpenStore,
  open,
  problems,
  ran,
  remembered,
  replies,
  SPEC,
  said,
  scopeOf,
  VERSION,
} from "./sample.contract.ts";

const OTHERS: readonly (readonly [string, ContactScope])[] = [
  ["another contact", scopeOf("bob")],
  ["the same contact of another agent", scopeOf("ann", "sovereign")],
  ["the same names in another organization", scopeOf("ann", "companion", "away")],
];

interface Stand {
  readonly store: Store;
  readonly thread: Thread;
  readonly claim: Claim;
  readonly outbox: OutboxId;
  readonly memory: Parameters<Store["forgetMemory"]>[1];
  readonly call: JournalKey;
  readonly approval: NewApproval["id"];
}

/** A store with one of everything of Ann's, and a turn of hers that runs. */
async function stand(openStore: OpenStore): Promise<Stand> {
  const store = await openStore();
  await store.saveAgentVersion(ANN.org, ANN.agent, VERSION, SPEC, NOW);
  const thread = await open(store, ANN);
  const waits = asked();
  const { outcome } = await exchange(store, thread, "Secret of Ann", { more: { ...holding(waits) } });
  const memory = newMemory();
  await store.saveMemory(ANN, memory, remembered("Ann likes jasmine tea", { tags: ["tea"] }));
  await store.receive(ANN, thread.id, [said("waiting", { externalId: "m1" })]);
  const claimed = await store.claim(ANN, thread.id, claiming());
  if (claimed.state !== "claimed") throw new Error(claimed.state);
  const { claim } = claimed;
  const call = { thread: thread.id, turn: claim.turn, ordinal: 1, tool: toolName("ring"), input: { bell: 1 } };
  await store.beginCall(ANN, call, NOW);
  return { store, thread, claim, outbox: outcome.replyId, memory, call, approval: waits.id };
}

/** All that Ann can see of herself. */
async function annSees({ store, thread }: Stand): Promise<unknown> {
  return {
    thread: await store.thread(ANN, thread.id),
    threads: await store.threads(ANN, 9),
    slots: await store.slots(ANN, thread.id),
    pending: await store.pending(ANN, thread.id),
    epoch: await store.epoch(ANN, thread.id),
    turns: await store.turns(ANN, thread.id),
    memories: await store.memories(ANN, 9),
    hits: await store.searchMemories([ANN], asking("tea", 9)),
    outbox: await replies(store, ANN),
    approvals: await store.part(APPROVAL_STORE).approvals(ANN, {}, 9),
    usage: await store.usage(ANN),
  };
}

/** Nobody reads or changes what is not theirs, whatever ids they know. */
export function isolationContract(openStore: OpenStore): void {
  describe.each(OTHERS)("law 5 to %s, who knows every id, nothing of it exists", (_, other) => {
    it("law 5 reading gives nothing", async () => {
      const at = await stand(openStore);
      const { store, thread, claim } = at;
      const scopes: Scope[] =
        other.agent === ANN.agent && other.org === ANN.org ? [other] : [other, { ...other, contact: null }];
      for (const scope of scopes) {
        expect(await store.thread(scope, thread.id)).toBeUndefined();
        expect(await store.threads(scope, 9)).toEqual([]);
        expect(await store.turn(scope, claim.turn)).toBeUndefined();
        expect(await store.turns(scope, thread.id)).toEqual([]);
        expect(await replies(store, scope)).toEqual([]);
        expect(await store.part(APPROVAL_STORE).approvals(scope, {}, 9)).toEqual([]);
        expect(await store.part(APPROVAL_STORE).approvals(scope, { thread: thread.id }, 9)).toEqual([]);
        expect(await store.part(APPROVAL_STORE).approval(scope, at.approval)).toBeUndefined();
        expect(await store.usage(scope)).toMatchObject({ turns: 0, requests: 0, input: 0, dollars: 0 });
        for (const { id } of await store.turns(ANN, thread.id)) {
          await expect(store.rebuild(scope, id, 1)).rejects.toMatchObject({ code: "turn_not_found" });
        }
      }
      expect(await store.slots(other, thread.id)).toEqual([]);
      expect(await store.wholeHistory(other, thread.id, 9)).toEqual([]);
      expect(await store.pending(other, thread.id)).toEqual([]);
      expect(await store.epoch(other, thread.id)).toBeUndefined();
      expect(await store.memories(other, 9)).toEqual([]);
      expect(await store.searchMemories([other], asking("Ann likes jasmine tea", 9))).toEqual([]);
      if (other.org !== ANN.org || other.agent !== ANN.agent) {
        expect(await store.agentVersion(other.org, other.agent, VERSION)).toBeUndefined();
      }
      await store.close();
    });

    it("law 5 writing is refused or lands in the writer's own scope, and Ann's stays as it was", async () => {
      const at = await stand(openStore);
      const { store, thread, claim, call } = at;
      const before = await annSees(at);
      const stolen: Claim = { ...claim, thread: { ...claim.thread, scope: other } };

      await expect(store.receive(other, thread.id, [said("x")])).rejects.toMatchObject({ code: "thread_not_found" });
      await expect(store.claim(other, thread.id, claiming({ alive: () => false }))).rejects.toMatchObject({
        code: "thread_not_found",
      });
      expect(await store.renew(stolen, NOW + 1e9)).toBe(false);
      await expect(store.settle(stolen, ran(stolen).outcome)).rejects.toMatchObject({ code: "lease_lost" });
      await expect(store.beginCall(other, call, NOW)).rejects.toMatchObject({ code: "thread_not_found" });
      await expect(store.recordedCall(other, call)).rejects.toMatchObject({ code: "thread_not_found" });
      const outcome = { text: untrusted("rang"), failed: false };
      await expect(store.endCall(other, call, outcome, NOW)).rejects.toMatchObject({ code: "thread_not_found" });
      expect(await store.part(OUTBOX_STORE).deliver(other, { id: at.outbox }, NOW)).toBe(false);
      const verdict = { verdict: "approved", by: "operator", at: NOW } as const;
      await expect(store.part(APPROVAL_STORE).decideApproval(other, at.approval, verdict)).rejects.toMatchObject({
        code: "approval_not_found",
      });
      const finish = { outcome, writes: [], event: said("done"), at: NOW };
      await expect(store.part(APPROVAL_STORE).finishApproval(other, at.approval, finish)).rejects.toMatchObject({
        code: "approval_not_found",
      });
      expect(await store.forgetMemory(other, at.memory)).toBe(false);
      const shadow = await store.shadow(other);
      expect([await shadow.threads(ANN, 9), await shadow.memories(ANN, 9)]).toEqual([[], []]);
      expect(await shadow.searchMemories([ANN], asking("tea", 9))).toEqual([]);
      await shadow.close();
      await store.eraseContact(other, { org: other.org, id: actorId("token:operator"), role: "operator" }, NOW);

      expect(await annSees(at)).toEqual(before);
      expect(await store.beginCall(ANN, call, NOW)).toEqual({ state: "unknown" });
      await store.settle(claim, ran(claim).outcome);
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it("law 5 the same words from both stay two: same conversation, same channel id, same text", async () => {
      const at = await stand(openStore);
      const { store, thread } = at;
      const theirs = await open(store, other);
      expect(theirs.id).not.toBe(thread.id);
      const [event] = await store.receive(other, theirs.id, [said("waiting", { externalId: "m1" })]);
      expect(event).toMatchObject({ thread: theirs.id, seq: 1, status: "pending" });
      await exchange(store, theirs, "Secret of Ann");
      await store.saveMemory(other, newMemory(), remembered("Ann likes jasmine tea"));
      expect(await store.searchMemories([other], asking("jasmine", 9))).toHaveLength(1);
      expect(await store.searchMemories([ANN], asking("jasmine", 9))).toMatchObject([{ id: at.memory }]);
      await store.eraseContact(other, { org: other.org, id: actorId("token:operator"), role: "operator" }, NOW);
      expect(await store.slots(ANN, thread.id)).toMatchObject([{ text: "Secret of Ann" }, { text: "Hello Ann" }]);
      expect(await problems(store, ANN.org)).toEqual([]);
      expect(await problems(store, other.org)).toEqual([]);
      await store.close();
    });
  });

  it("law 5 without a contact a listing takes in all contacts of the agent, and memories are the agent's own", async () => {
    const at = await stand(openStore);
    const { store, thread, claim } = at;
    const bob = await open(store, scopeOf("bob"));
    await exchange(store, bob, "Hi from Bob");
    const agent: Scope = { ...ANN, contact: null };
    expect((await store.threads(agent, 9)).map((one) => one.scope.contact).sort()).toEqual(["ann", "bob"]);
    expect(await store.thread(agent, thread.id)).toMatchObject({ id: thread.id });
    expect(await store.turn(agent, claim.turn)).toMatchObject({ id: claim.turn });
    expect(await replies(store, agent)).toHaveLength(2);
    expect(await store.part(APPROVAL_STORE).approvals(agent, {}, 9)).toMatchObject([{ id: at.approval, scope: ANN }]);
    expect(await store.part(APPROVAL_STORE).approval(agent, at.approval)).toMatchObject({ id: at.approval });
    expect(await store.usage(agent)).toMatchObject({ turns: 2, requests: 2 });
    expect(await store.memories(agent, 9)).toEqual([]);
    expect(await store.searchMemories([agent], asking("tea", 9))).toEqual([]);
    const own = newMemory();
    await store.saveMemory(agent, own, remembered("Tea is served at five", { trust: "operator" }));
    expect(await store.searchMemories([agent], asking("tea", 9))).toMatchObject([{ id: own, trust: "operator" }]);
    expect(await store.searchMemories([ANN], asking("five", 9))).toEqual([]);
    expect(await store.forgetMemory(agent, at.memory)).toBe(false);
    await store.close();
  });

  it("law 5 a call's entry belongs to the thread and turn it was made in", async () => {
    const at = await stand(openStore);
    const other = await open(at.store, ANN, "other");
    const call = { ...at.call, thread: other.id };
    await expect(at.store.beginCall(ANN, call, NOW)).rejects.toMatchObject({ code: "turn_not_found" });
    await at.store.close();
  });

  const { numRuns, title } = firstRuns(8, 4);
  it(
    title(
      "law 7 functions that are called in parallel are each alone: what fails leaves nothing, and nobody sees half of another",
    ),
    async () => {
      const call = fc.record({
        does: fc.constantFrom("turn", "say two", "fail", "save", "look"),
        who: fc.constantFrom("ann", "bob"),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(call, { minLength: 2, maxLength: 10 }), async (calls) => {
          const store = await openStore();
          const threads = { ann: await open(store, ANN), bob: await open(store, scopeOf("bob")) };
          const counted = new Map<string, number>();
          const deeds = calls.map(async ({ does, who }, n) => {
            const { scope, id } = threads[who];
            const two = [said(`${who} ${n} one`), said(`${who} ${n} two`)];
            if (does === "look") return expect((await store.pending(scope, id)).length % 2).toBe(0);
            if (does === "save") await store.saveMemory(scope, newMemory(), remembered(`${who} likes the tea ${n}`));
            if (does === "say two") await store.receive(scope, id, two);
            if (does === "fail") await expect(store.receive(scope, id, [...two, ...two])).rejects.toThrow();
            if (does === "turn") await exchange(store, await open(store, scope, `turn ${n}`), `Hi ${n}`);
            counted.set(`${who} ${does}`, (counted.get(`${who} ${does}`) ?? 0) + 1);
          });
          await Promise.all(deeds);
          for (const who of ["ann", "bob"] as const) {
            const { scope, id } = threads[who];
            const texts = (await store.pending(scope, id)).map(({ content }) => JSON.stringify(content));
            expect(texts.length).toBe(2 * (counted.get(`${who} say two`) ?? 0));
            for (const [i, text] of texts.entries()) expect(text).toContain(i % 2 === 0 ? "one" : "two");
            expect((await store.memories(scope, 99)).length).toBe(counted.get(`${who} save`) ?? 0);
            expect((await store.usage(scope)).turns).toBe(counted.get(`${who} turn`) ?? 0);
          }
          expect(await problems(store, ANN.org)).toEqual([]);
          await store.close();
        }),
        { numRuns },
      );
    },
  );
}
