import { describe, expect, it } from "vitest";
import { SELF } from "../../protocol/index.ts";
import { ANN, NOW, type OpenStore, OWNER, open, problems, ran, said, scopeOf, take } from "./sample.contract.ts";

const BOB = scopeOf("bob");
const OTHERS = [scopeOf("ann", "other"), scopeOf("ann", "companion", "elsewhere")];

/** Messages of an agent with all its contacts, as they wait for a turn. */
export function mailContract(openStore: OpenStore): void {
  describe("an agent's inbox", () => {
    it("holds what waits from all its contacts, the oldest first, and says what a turn handles now", async () => {
      const store = await openStore();
      const [ann, bob] = [await open(store, ANN), await open(store, BOB)];
      await store.receive(BOB, bob.id, [said("second", { at: NOW + 2 })]);
      await store.receive(ANN, ann.id, [said("first", { at: NOW + 1 })]);
      const self = await open(store, { ...OWNER, contact: SELF });
      await store.receive(self.scope, self.id, [said("tick", { kind: "scheduled", trust: "platform" })]);
      const claim = await take(store, ann);
      const shown = await store.inbox(OWNER, { now: NOW, limit: 9 });
      expect(shown).toEqual([
        { contact: "ann", event: claim.events[0], isRunning: true },
        { contact: "bob", event: (await store.pending(BOB, bob.id))[0], isRunning: false },
      ]);
      // A lease that ran out holds nothing.
      expect(await store.inbox(OWNER, { now: NOW + 30_000, limit: 1 })).toMatchObject([{ isRunning: false }]);
      expect(await store.inboxCount(OWNER)).toBe(2);
      await store.settle(claim, ran(claim).outcome);
      expect(await store.inboxCount(OWNER)).toBe(1);
      for (const { org, agent } of OTHERS) {
        expect(await store.inbox({ org, agent }, { now: NOW, limit: 9 })).toEqual([]);
        expect(await store.inboxCount({ org, agent })).toBe(0);
      }
      await store.close();
    });

    it("keeps with a message whether its sender is proven, in the record too", async () => {
      const store = await openStore();
      const thread = await open(store);
      const sent = [said("signed", { proof: "proven" }), said("not signed", { proof: "claimed" }), said("by name")];
      const stored = await store.receive(ANN, thread.id, sent);
      expect(stored.map(({ proof }) => proof)).toEqual(["proven", "claimed", undefined]);
      const claim = await take(store, thread);
      expect(claim.events).toEqual(stored);
      await store.settle(claim, ran(claim).outcome);
      expect((await store.turn(ANN, claim.turn))?.events.map(({ proof }) => proof)).toEqual([
        "proven",
        "claimed",
        undefined,
      ]);
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });
  });
}
