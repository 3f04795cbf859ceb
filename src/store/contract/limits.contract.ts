import { describe, expect, it } from "vitest";
import { agentName, orgId } from "../../protocol/index.ts";
import { ANN, exchange, NOW, type OpenStore, open, ran, said, scopeOf, take } from "./sample.contract.ts";

/** An agent's spending, and turns that are asked to stop. */
export function limitContract(openStore: OpenStore): void {
  spending(openStore);
  waiting(openStore);
  stopping(openStore);
}

function spending(openStore: OpenStore): void {
  describe("what was spent", () => {
    it("is the sum of an agent's requests since then, with all contacts, those of failed turns too", async () => {
      const store = await openStore();
      const thread = await open(store, ANN);
      await exchange(store, thread, "one", { rounds: 2 });
      await exchange(store, await open(store, scopeOf("bob")), "two", { failed: true });
      await exchange(store, await open(store, scopeOf("ann", "sovereign")), "three");
      await exchange(store, await open(store, scopeOf("ann", "companion", "away")), "four");
      await store.receive(ANN, thread.id, [said("later", { at: NOW + 90_000 })]);
      const claim = await take(store, thread, { at: NOW + 90_000 });
      const { outcome } = ran(claim);
      const late = outcome.requests.map((request) => ({ ...request, at: NOW + 90_000, dollars: 2 }));
      await store.settle(claim, { ...outcome, requests: late });
      expect(await store.spent(ANN.org, ANN.agent, 0)).toBe(2.75);
      expect(await store.spent(ANN.org, ANN.agent, NOW + 90_000)).toBe(2);
      expect(await store.spent(ANN.org, ANN.agent, NOW + 90_001)).toBe(0);
      expect(await store.spent(orgId("away"), ANN.agent, 0)).toBe(0.25);
      expect(await store.spent(ANN.org, agentName("nobody"), 0)).toBe(0);
      await store.close();
    });
  });
}

function waiting(openStore: OpenStore): void {
  it("25.2 no more than 1,000 messages of a contact wait: more are refused until some are taken, and nobody else's are", async () => {
    const store = await openStore();
    const [main, other] = [await open(store), await open(store, ANN, "other")];
    const many = (n: number) => Array.from({ length: n }, (_, i) => said(`message ${i}`));
    await store.receive(ANN, main.id, many(999));
    const sent = said("the last", { externalId: "last" });
    await store.receive(ANN, other.id, [sent]);
    const full = { code: "inbox_full", message: expect.stringMatching(/^1,000 messages of ann wait for companion/) };
    for (const { id } of [main, other])
      await expect(store.receive(ANN, id, [said("more")])).rejects.toMatchObject(full);
    // A repeated message is still recognized, and the operator and all other contacts are accepted.
    expect(await store.receive(ANN, other.id, [{ ...said("the last"), externalId: "last" }])).toMatchObject([
      { id: sent.id },
    ]);
    await store.receive(ANN, main.id, [said("Stop that", { kind: "instruction", trust: "operator" })]);
    await exchange(store, await open(store, scopeOf("bob")), "Hello");
    const claim = await take(store, main);
    await store.settle(claim, ran(claim).outcome);
    expect(await store.receive(ANN, other.id, [said("more")])).toHaveLength(1);
    await store.close();
  });
}

function stopping(openStore: OpenStore): void {
  describe("a turn that is cancelled", () => {
    const now = { now: NOW, alive: () => true };

    it("hears of it; the thread's next turn does not", async () => {
      const store = await openStore();
      const thread = await open(store, ANN);
      expect(await store.askStop(ANN, thread.id, now)).toBe(false);
      await store.receive(ANN, thread.id, [said("Hi")]);
      const claim = await take(store, thread);
      expect(await store.stopAsked(claim)).toBe(false);
      expect(await store.askStop(ANN, thread.id, now)).toBe(true);
      expect(await store.stopAsked(claim)).toBe(true);
      await store.settle(claim, ran(claim, { failed: true }).outcome);
      expect(await store.askStop(ANN, thread.id, now)).toBe(false);
      const again = await take(store, thread);
      expect(await store.stopAsked(again)).toBe(false);
      await store.close();
    });

    it("is not there when its worker is gone or its lease ran out", async () => {
      const store = await openStore();
      const thread = await open(store, ANN);
      await store.receive(ANN, thread.id, [said("Hi")]);
      const claim = await take(store, thread);
      expect(await store.askStop(ANN, thread.id, { ...now, alive: () => false })).toBe(false);
      expect(await store.askStop(ANN, thread.id, { ...now, now: NOW + 99_000 })).toBe(false);
      expect(await store.stopAsked(claim)).toBe(false);
      await store.close();
    });

    it("law 5 is asked by nobody else", async () => {
      const store = await openStore();
      const thread = await open(store, ANN);
      await store.receive(ANN, thread.id, [said("Hi")]);
      const claim = await take(store, thread);
      await expect(store.askStop(scopeOf("bob"), thread.id, now)).rejects.toMatchObject({ code: "thread_not_found" });
      expect(await store.stopAsked(claim)).toBe(false);
      await store.close();
    });

    it("is listed with who holds it, until it ends", async () => {
      const store = await openStore();
      const thread = await open(store, ANN);
      await store.receive(ANN, thread.id, [said("Hi")]);
      const claim = await take(store, thread);
      const held = { thread: thread.id, scope: ANN, holder: "worker-1", until: NOW + 30_000 };
      expect(await store.leases(ANN.org)).toEqual([held]);
      expect(await store.leases(orgId("away"))).toEqual([]);
      await store.settle(claim, ran(claim).outcome);
      expect(await store.leases(ANN.org)).toEqual([]);
      await store.close();
    });
  });
}
