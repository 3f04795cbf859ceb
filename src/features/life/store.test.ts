import { describe, expect, it } from "vitest";
import { actorId, type TopUp, untrusted } from "../../protocol/index.ts";
import {
  ANN,
  exchange,
  NOW,
  type OpenStore,
  OWNER,
  onEachDatabase,
  open,
  problems,
  ran,
  said,
  scopeOf,
  take,
} from "../../store/index.contract.ts";
import type { Store } from "../../store/index.ts";
import { LIFE_STORE } from "./store.ts";

const lives = (store: Store) => store.part(LIFE_STORE);

const OTHERS = [scopeOf("ann", "other"), scopeOf("ann", "companion", "elsewhere")];
const HOUR = 3_600_000;

const paying = (dollars: number, at = NOW, note = "for November"): Omit<TopUp, "id"> => {
  return { dollars, by: "operator", byId: actorId("member:mia"), note: untrusted(note), at };
};

/** A turn whose requests were made then, for that much. */
async function spend(store: Store, dollars: number, at: number, scope = ANN): Promise<void> {
  const thread = await open(store, scope);
  await store.receive(thread.scope, thread.id, [said("Hi")]);
  const claim = await take(store, thread);
  const { outcome } = ran(claim);
  await store.settle(claim, { ...outcome, requests: outcome.requests.map((one) => ({ ...one, dollars, at })) });
}

onEachDatabase("what is kept of agents' lives", [LIFE_STORE], (openStore) => {
  states(openStore);
  credits(openStore);
});

function states(openStore: OpenStore): void {
  describe("an agent's state", () => {
    it("is written down where it is still the one it moves from", async () => {
      const store = await openStore();
      expect(await lives(store).life(OWNER)).toBeUndefined();
      const first = { from: undefined, state: "bootstrapping", at: NOW, tickedAt: NOW } as const;
      expect(await lives(store).moveLife(OWNER, first)).toBe(true);
      expect(await lives(store).moveLife(OWNER, first)).toBe(false);
      expect(await lives(store).moveLife(OWNER, { from: "idle", state: "faulted", at: NOW + 1 })).toBe(false);
      const because = "no credits are left";
      expect(
        await lives(store).moveLife(OWNER, { from: "bootstrapping", state: "sleeping", because, at: NOW + 2 }),
      ).toBe(true);
      expect(await lives(store).life(OWNER)).toEqual({ state: "sleeping", since: NOW + 2, because, tickedAt: NOW });
      expect(
        await lives(store).moveLife(OWNER, { from: "sleeping", state: "sleeping", at: NOW + 3, tickedAt: NOW + 3 }),
      ).toBe(true);
      expect(await lives(store).life(OWNER)).toEqual({ state: "sleeping", since: NOW + 2, tickedAt: NOW + 3 });
      for (const { org, agent } of OTHERS) expect(await lives(store).life({ org, agent })).toBeUndefined();
      expect(await store.agents(OWNER.org)).toEqual([OWNER.agent]);
      expect(await store.organizations()).toEqual([OWNER.org]);
      await store.close();
    });
  });
}

function credits(openStore: OpenStore): void {
  describe("credits", () => {
    it("are what was paid in, less what all requests since the first payment cost", async () => {
      const store = await openStore();
      await spend(store, 99, NOW - 1);
      expect(await lives(store).credits(OWNER, NOW)).toBeUndefined();
      expect(await lives(store).topUp(OWNER, paying(5))).toMatchObject({ toppedUp: 5, spent: 0, balance: 5 });
      await spend(store, 1.25, NOW + HOUR);
      await spend(store, 0.5, NOW + HOUR, scopeOf("bob"));
      await lives(store).topUp(OWNER, paying(-2, NOW + HOUR, "a mistake"));
      expect(await lives(store).topUps(OWNER, 9, { at: 2, id: "" })).toMatchObject([{ id: 1, dollars: 5 }]);
      expect(await lives(store).credits(OWNER, NOW + 2 * HOUR)).toEqual({
        toppedUp: 3,
        spent: 1.75,
        balance: 1.25,
        lastDay: { spent: 1.75, hours: 2 },
      });
      await store.close();
    });

    it("law 5 are drawn by no other agent's turns, and are nobody else's", async () => {
      const store = await openStore();
      await lives(store).topUp(OWNER, paying(5));
      for (const scope of OTHERS) await spend(store, 3, NOW + 1, scope);
      expect(await lives(store).credits(OWNER, NOW + 1)).toMatchObject({ spent: 0, balance: 5 });
      for (const { org, agent } of OTHERS) {
        expect(await lives(store).credits({ org, agent }, NOW)).toBeUndefined();
        expect(await lives(store).topUps({ org, agent }, 9)).toEqual([]);
      }
      await store.close();
    });

    it("tell what the 24 hours before cost, and no more of them than there were credits", async () => {
      const store = await openStore();
      await lives(store).topUp(OWNER, paying(10));
      await spend(store, 4, NOW + HOUR);
      await spend(store, 1, NOW + 30 * HOUR);
      expect(await lives(store).credits(OWNER, NOW + 31 * HOUR)).toMatchObject({
        spent: 5,
        lastDay: { spent: 1, hours: 24 },
      });
      expect((await lives(store).credits(OWNER, NOW))?.lastDay.hours).toBe(0);
      await store.close();
    });

    it("also pay for turns that failed, and those of contacts that were erased", async () => {
      const store = await openStore();
      await lives(store).topUp(OWNER, paying(5, NOW - 1));
      await exchange(store, await open(store), "Hi", { failed: true });
      await store.eraseContact(ANN, { org: ANN.org, id: actorId("token:operator"), role: "operator" }, NOW);
      expect(await lives(store).credits(OWNER, NOW)).toMatchObject({ spent: 0.25 });
      await store.close();
    });

    it("stay what the rows add up to: where an earlier payment is noted later, and where a turn is stopped", async () => {
      const store = await openStore();
      await spend(store, 2, NOW);
      await lives(store).topUp(OWNER, paying(5, NOW + HOUR));
      await spend(store, 1, NOW + 2 * HOUR);
      expect(await lives(store).credits(OWNER, NOW + 2 * HOUR)).toMatchObject({ spent: 1, balance: 4 });
      await lives(store).topUp(OWNER, paying(5, NOW - HOUR));
      expect(await lives(store).credits(OWNER, NOW + 2 * HOUR)).toMatchObject({ spent: 3, balance: 7 });
      expect(await lives(store).turnCount(OWNER)).toBe(2);
      const thread = await open(store, scopeOf("bob"));
      await store.receive(thread.scope, thread.id, [said("Hi")]);
      await take(store, thread);
      expect(await lives(store).turnCount(OWNER)).toBe(2);
      await store.eraseContact(thread.scope, { org: OWNER.org, id: actorId("token:operator"), role: "operator" }, NOW);
      expect(await lives(store).turnCount(OWNER)).toBe(3);
      for (const { org, agent } of OTHERS) expect(await lives(store).turnCount({ org, agent })).toBe(0);
      expect(await problems(store, OWNER.org)).toEqual([]);
      await store.close();
    });

    it("list each payment, newest first, each a link of the chain", async () => {
      const store = await openStore();
      await lives(store).topUp(OWNER, paying(5));
      await lives(store).topUp(OWNER, paying(0.1, NOW + 1, "more"));
      expect(await lives(store).topUps(OWNER, 9)).toEqual([
        { id: 2, dollars: 0.1, by: "operator", byId: "member:mia", note: "more", at: NOW + 1 },
        { id: 1, dollars: 5, by: "operator", byId: "member:mia", note: "for November", at: NOW },
      ]);
      expect(await lives(store).topUps(OWNER, 1)).toHaveLength(1);
      expect(await store.head(OWNER.org)).toMatchObject({ seq: 2 });
      expect(await problems(store, OWNER.org)).toEqual([]);
      await store.close();
    });

    it.each([0, -0, Number.NaN, Number.POSITIVE_INFINITY])("are not topped up by %d dollars", async (dollars) => {
      const store = await openStore();
      await expect(lives(store).topUp(OWNER, paying(dollars))).rejects.toMatchObject({ code: "invalid_input" });
      expect(await lives(store).topUps(OWNER, 9)).toEqual([]);
      await store.close();
    });
  });
}
