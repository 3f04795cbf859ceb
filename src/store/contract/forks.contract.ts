import { describe, expect, it } from "vitest";
import { actorId, digestOf, type TurnId } from "../../protocol/index.ts";
import type { Thread } from "../records.ts";
import type { Store } from "../store.ts";
import {
  ANN,
  epochOf,
  exchange,
  NOW,
  type OpenStore,
  open,
  opening,
  problems,
  said,
  scopeOf,
} from "./sample.contract.ts";

const forked = (store: Store, thread: Thread, turn: TurnId | null, key = "fork"): Promise<Thread> =>
  store.openThread(ANN, opening(key, { forkedFrom: { thread: thread.id, turn } }));

/** A thread that continues where a turn of another ended. */
export function forkContract(openStore: OpenStore): void {
  describe("a fork", () => {
    it("law 1 begins with the prefix and the transcript that stood after the turn, and its parent stays as it was", async () => {
      const store = await openStore();
      const parent = await open(store, ANN);
      const first = await exchange(store, parent, "one", { rounds: 2 });
      const stood = await store.epoch(ANN, parent.id);
      await exchange(store, parent, "two");
      await exchange(store, parent, "three", { epochs: [epochOf(2, [], { cut: 5 })] });
      const before = await store.epoch(ANN, parent.id);

      const fork = await forked(store, parent, first.claim.turn);
      expect(await store.epoch(ANN, fork.id)).toEqual(stood);
      const { claim, sent } = await exchange(store, fork, "other two");
      expect(claim.epoch).toEqual(stood);
      expect(sent[0]?.messages.slice(0, -1)).toEqual(stood?.transcript.map(({ message }) => message));
      expect((await store.rebuild(ANN, claim.turn, 1)).request).toEqual(sent[0]);
      const after = await store.epoch(ANN, fork.id);
      expect(after?.transcript.slice(0, stood?.transcript.length)).toEqual(stood?.transcript);
      expect(after?.transcript).toHaveLength((stood?.transcript.length ?? 0) + 2);

      expect(await store.epoch(ANN, parent.id)).toEqual(before);
      expect(await store.turns(ANN, parent.id)).toHaveLength(3);
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it("takes up a later epoch as its own first, and may cut it like any other", async () => {
      const store = await openStore();
      const parent = await open(store, ANN);
      await exchange(store, parent, "one");
      const second = await exchange(store, parent, "two", { epochs: [epochOf(2, [], { cut: 2 })] });
      const fork = await forked(store, parent, second.claim.turn);
      expect(await store.epoch(ANN, fork.id)).toEqual({ ...(await store.epoch(ANN, parent.id)), n: 1 });
      await exchange(store, fork, "failed", { failed: true });
      await exchange(store, fork, "cut", { epochs: [epochOf(2, [], { cut: 4 })] });
      expect(await store.epoch(ANN, fork.id)).toMatchObject({ n: 2, cut: 4 });
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it("from before the first turn begins again, and keeps its version when it is opened again", async () => {
      const store = await openStore();
      const parent = await open(store, ANN);
      await exchange(store, parent, "one");
      const fork = await forked(store, parent, null);
      expect(await store.epoch(ANN, fork.id)).toBeUndefined();
      const again = await store.openThread(ANN, opening("fork", { version: digestOf("version 2") }));
      expect(again).toEqual(fork);
      await store.close();
    });

    it("law 5 of another contact's turn is empty", async () => {
      const store = await openStore();
      const parent = await open(store, ANN);
      const { claim } = await exchange(store, parent, "Secret of Ann");
      const forkedFrom = { thread: parent.id, turn: claim.turn };
      for (const other of [scopeOf("bob"), scopeOf("ann", "sovereign"), scopeOf("ann", "companion", "away")]) {
        const fork = await store.openThread(other, opening("fork", { forkedFrom }));
        expect(await store.epoch(other, fork.id)).toBeUndefined();
        expect((await exchange(store, fork, "Hi")).claim.epoch).toBeUndefined();
        expect(await problems(store, other.org)).toEqual([]);
      }
      await store.close();
    });

    it("is closed and blanked with its contact, also where it has not begun", async () => {
      const store = await openStore();
      const parent = await open(store, ANN);
      const { claim } = await exchange(store, parent, "Secret of Ann");
      const begun = await forked(store, parent, claim.turn, "begun");
      await exchange(store, begun, "Another secret");
      const waiting = await forked(store, parent, claim.turn, "waiting");
      await store.eraseContact(ANN, { org: ANN.org, id: actorId("token:operator"), role: "operator" }, NOW);
      for (const { id } of [begun, waiting]) {
        await expect(store.receive(ANN, id, [said("x")])).rejects.toMatchObject({ code: "thread_not_found" });
      }
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });
  });
}
