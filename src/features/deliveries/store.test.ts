import { describe, expect, it } from "vitest";
import { actorId, SELF } from "../../protocol/index.ts";
import {
  ANN,
  exchange,
  leaving,
  NOW,
  type OpenStore,
  OWNER,
  onEachDatabase,
  open,
  opening,
  problems,
  ran,
  said,
  scopeOf,
  take,
} from "../../store/index.contract.ts";
import type { Store } from "../../store/index.ts";
import { SCHEDULE } from "../schedules/index.ts";
import { DELIVER_AFTER, OUTBOX_STORE, type OutboxMessage } from "./store.ts";

const BOB = scopeOf("bob");
const OTHERS = [scopeOf("ann", "other"), scopeOf("ann", "companion", "elsewhere")];

const outboxOf = (store: Store) => store.part(OUTBOX_STORE);

const asking = (more: { holder?: string; now?: number; until?: number; limit?: number } = {}) => {
  return { holder: "postman", now: NOW, until: NOW + 30_000, limit: 9, ...more };
};

/** A turn whose reply a listener may take until `time`. */
const dueAt = (time: number) => leaving(DELIVER_AFTER, () => time);

/** A reply that waits to be delivered. */
async function reply(store: Store, text: string, scope = ANN): Promise<OutboxMessage["id"]> {
  return (await exchange(store, await open(store, scope), "Hi", { reply: text })).outcome.replyId;
}

onEachDatabase("replies", [OUTBOX_STORE], (openStore) => {
  kept(openStore);
  deliveries(openStore);
});

function kept(openStore: OpenStore): void {
  describe("an agent's outbox", () => {
    it("holds what a scheduled run said, and delivers it; what the agent says to itself stays its own", async () => {
      const store = await openStore();
      await reply(store, "to myself", { ...OWNER, contact: SELF });
      const scope = { ...OWNER, contact: SELF };
      const run = await store.openThread(scope, { ...opening("digest 1"), channel: SCHEDULE.name });
      await store.receive(run.scope, run.id, [said("sum up", { kind: "scheduled", trust: "operator" })]);
      const claim = await take(store, run);
      await store.settle(claim, ran(claim).outcome);
      const digest = { contact: SELF, channel: SCHEDULE.name, thread: run.id };
      expect(await outboxOf(store).mail(OWNER, { limit: 9 })).toMatchObject([digest]);
      expect(await outboxOf(store).mailCounts(OWNER)).toEqual({ outbox: 1, undeliverable: 0 });
      expect(await outboxOf(store).deliveriesDue(OWNER, { now: NOW, limit: 9 })).toEqual({ due: 1 });
      const due = await outboxOf(store).dueDeliveries(OWNER, asking());
      expect(due).toMatchObject([digest]);
      expect(due).toHaveLength(1);
      await store.close();
    });

    it("lists replies to all, the newest first and by status, and none that it gave itself", async () => {
      const store = await openStore();
      const first = await reply(store, "to Ann");
      await reply(store, "to Bob", BOB);
      await reply(store, "to myself", { ...OWNER, contact: SELF });
      expect(await outboxOf(store).mail(OWNER, { limit: 9 })).toMatchObject([
        { contact: "bob", text: "to Bob", status: "waiting" },
        { contact: "ann", text: "to Ann", status: "waiting" },
      ]);
      const [newest] = await outboxOf(store).mail(OWNER, { limit: 1 });
      if (newest === undefined) throw new Error("two wait");
      expect(await outboxOf(store).mail(OWNER, { limit: 9, after: newest })).toMatchObject([{ contact: "ann" }]);
      const oldest = await outboxOf(store).mail(OWNER, { limit: 9, oldest: true, after: { at: newest.at, id: first } });
      expect(oldest).toMatchObject([{ contact: "bob" }]);
      await outboxOf(store).deliver(ANN, { id: first }, NOW);
      expect(await outboxOf(store).mail(OWNER, { status: "waiting", limit: 9 })).toMatchObject([{ contact: "bob" }]);
      expect(await outboxOf(store).mail(OWNER, { status: "delivered", limit: 9 })).toMatchObject([{ contact: "ann" }]);
      const [{ thread, turn } = { thread: undefined, turn: undefined }] = await outboxOf(store).mail(OWNER, {
        limit: 1,
      });
      if (thread === undefined) throw new Error("nothing was said");
      for (const wish of [{ contact: BOB.contact }, { thread }, { turn }])
        expect(await outboxOf(store).mail(OWNER, { ...wish, limit: 9 })).toMatchObject([{ contact: "bob" }]);
      for (const { org, agent } of OTHERS) expect(await outboxOf(store).mail({ org, agent }, { limit: 9 })).toEqual([]);
      await store.close();
    });
  });
}

function deliveries(openStore: OpenStore): void {
  describe("a delivery", () => {
    it("is marked once by whoever delivers it", async () => {
      const store = await openStore();
      const thread = await open(store);
      const { outcome } = await exchange(store, thread, "Hi");
      const { deliver, mail } = outboxOf(store);
      expect(await deliver(ANN, { id: outcome.replyId }, NOW)).toBe(true);
      expect(await deliver(ANN, { id: outcome.replyId }, NOW)).toBe(false);
      expect(await mail(OWNER, { limit: 9 })).toMatchObject([{ status: "delivered" }]);
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it("is given to one at a time: to nobody again before its lease has run out", async () => {
      const store = await openStore();
      const id = await reply(store, "Hello");
      expect(await outboxOf(store).dueDeliveries(OWNER, asking())).toMatchObject([
        { id, contact: "ann", text: "Hello", tries: 0 },
      ]);
      expect(await outboxOf(store).dueDeliveries(OWNER, asking())).toEqual([]);
      expect(await outboxOf(store).dueDeliveries(OWNER, asking({ holder: "other", now: NOW + 29_999 }))).toEqual([]);
      const later = { holder: "other", now: NOW + 30_000, until: NOW + 60_000 };
      expect(await outboxOf(store).dueDeliveries(OWNER, asking(later))).toMatchObject([{ id }]);
      expect(await outboxOf(store).noteDelivery(OWNER, "postman", { outbox: id, at: NOW })).toBe(false);
      expect(await outboxOf(store).noteDelivery(OWNER, "other", { outbox: id, at: NOW })).toBe(true);
      expect(await outboxOf(store).noteDelivery(OWNER, "other", { outbox: id, at: NOW })).toBe(false);
      expect(await outboxOf(store).dueDeliveries(OWNER, asking({ now: NOW + 900_000 }))).toEqual([]);
      expect(await outboxOf(store).mail(OWNER, { limit: 9 })).toMatchObject([{ id, status: "delivered" }]);
      await store.close();
    });

    it("that failed is tried again when it is due, and counts its tries", async () => {
      const store = await openStore();
      const id = await reply(store, "Hello");
      await outboxOf(store).dueDeliveries(OWNER, asking());
      const failed = "the channel answered 503";
      expect(
        await outboxOf(store).noteDelivery(OWNER, "postman", { outbox: id, failed, again: NOW + 5_000, at: NOW }),
      ).toBe(true);
      expect(await outboxOf(store).mail(OWNER, { limit: 9 })).toMatchObject([{ status: "waiting", failed }]);
      expect(await outboxOf(store).dueDeliveries(OWNER, asking({ now: NOW + 4_999 }))).toEqual([]);
      const look = (now: number) => outboxOf(store).deliveriesDue(OWNER, { now, limit: 4 });
      expect([await look(NOW + 4_999), await look(NOW + 5_000)]).toEqual([{ due: 0, next: NOW + 5_000 }, { due: 1 }]);
      expect(await outboxOf(store).dueDeliveries(OWNER, asking({ now: NOW + 5_000 }))).toMatchObject([
        { id, tries: 1 },
      ]);
      expect(await outboxOf(store).noteDelivery(OWNER, "postman", { outbox: id, failed, at: NOW })).toBe(true);
      expect(await outboxOf(store).dueDeliveries(OWNER, asking({ now: NOW + 900_000 }))).toEqual([]);
      expect(await outboxOf(store).mail(OWNER, { status: "undeliverable", limit: 9 })).toMatchObject([{ id, failed }]);
      expect(await outboxOf(store).mailCounts(OWNER)).toMatchObject({ outbox: 0, undeliverable: 1 });
      expect(await outboxOf(store).deliver(ANN, { id: id }, NOW)).toBe(false);
      expect(await problems(store, OWNER.org)).toEqual([]);
      await store.close();
    });

    it("is of the oldest first, of what was not erased, and of this agent alone", async () => {
      const store = await openStore();
      const first = await reply(store, "one");
      const second = await reply(store, "two", BOB);
      for (const scope of OTHERS) await reply(store, "theirs", scope);
      await reply(store, "to myself", { ...OWNER, contact: SELF });
      expect(await outboxOf(store).dueDeliveries(OWNER, asking({ limit: 1 }))).toMatchObject([{ id: first }]);
      await store.eraseContact(ANN, { org: ANN.org, id: actorId("token:operator"), role: "operator" }, NOW);
      const all = await outboxOf(store).dueDeliveries(OWNER, asking({ now: NOW + 60_000 }));
      expect(all.map(({ id }) => id)).toEqual([second]);
      expect(await outboxOf(store).mailCounts(OWNER)).toEqual({ outbox: 1, undeliverable: 0 });
      await store.close();
    });

    it("leaves the rest of its conversation where it is until it has ended, so that replies arrive in their order", async () => {
      const store = await openStore();
      const [first, second] = [await reply(store, "one"), await reply(store, "two")];
      const other = await reply(store, "for Bob", BOB);
      const next = () => outboxOf(store).dueDeliveries(OWNER, asking({ limit: 1 }));
      expect(await next()).toMatchObject([{ id: first }]);
      expect(await next()).toMatchObject([{ id: other }]);
      expect(await next()).toEqual([]);
      await outboxOf(store).noteDelivery(OWNER, "postman", { outbox: first, at: NOW });
      expect(await next()).toMatchObject([{ id: second }]);
      await store.close();
    });

    it("is of a conversation that takes none only after those of all others", async () => {
      const store = await openStore();
      const refused = await reply(store, "refused");
      await outboxOf(store).dueDeliveries(OWNER, asking());
      await outboxOf(store).noteDelivery(OWNER, "postman", { outbox: refused, failed: "no", again: NOW, at: NOW });
      const behind = await reply(store, "behind it");
      const other = await reply(store, "for Bob", BOB);
      const due = await outboxOf(store).dueDeliveries(OWNER, asking());
      expect(due.map(({ id }) => id)).toEqual([other, refused, behind]);
      await store.close();
    });

    it("is not due before a listener had time to take it", async () => {
      const store = await openStore();
      const thread = await open(store);
      await exchange(store, thread, "Hi", { reply: "Hello", more: dueAt(NOW + 5_000) });
      expect(await outboxOf(store).dueDeliveries(OWNER, asking({ now: NOW + 4_999 }))).toEqual([]);
      expect(await outboxOf(store).dueDeliveries(OWNER, asking({ now: NOW + 5_000 }))).toMatchObject([
        { text: "Hello" },
      ]);
      await store.close();
    });

    it("waits for an older one of its conversation that a listener may still take, and for none of another", async () => {
      const store = await openStore();
      const [thread, bobs] = [await open(store), await open(store, BOB)];
      const says = (to: typeof thread, reply: string, at: number) =>
        exchange(store, to, "Hi", { reply, more: dueAt(at) });
      await says(thread, "one", NOW + 60_000);
      await says(thread, "two", NOW + 3_000);
      await says(bobs, "for Bob", NOW + 3_000);
      const due = async (now: number) =>
        (await outboxOf(store).dueDeliveries(OWNER, asking({ now }))).map(({ text }) => text);
      expect(await due(NOW + 59_999)).toEqual(["for Bob"]);
      expect(await due(NOW + 60_000)).toEqual(["one", "for Bob", "two"]);
      await store.close();
    });

    it("is not given any more where it was delivered by hand", async () => {
      const store = await openStore();
      const id = await reply(store, "Hello");
      await outboxOf(store).dueDeliveries(OWNER, asking());
      expect(await outboxOf(store).deliver(ANN, { id: id }, NOW)).toBe(true);
      expect(await outboxOf(store).noteDelivery(OWNER, "postman", { outbox: id, failed: "late", at: NOW })).toBe(false);
      expect(await outboxOf(store).mail(OWNER, { limit: 9 })).toMatchObject([{ status: "delivered" }]);
      await store.close();
    });
  });
}
