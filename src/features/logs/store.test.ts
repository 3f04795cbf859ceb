import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  actorId,
  CONVERSATION_LIMITS,
  type NewEvent,
  OUTSIDE_KINDS,
  ownKind,
  SELF,
  TRUSTS,
} from "../../protocol/index.ts";
import {
  ANN,
  exchange,
  leaving,
  NOW,
  newEvent,
  type OpenStore,
  OWNER,
  onEachDatabase,
  open,
  problems,
  type RunOptions,
  ran,
  replies,
  said,
  scopeOf,
  take,
} from "../../store/index.contract.ts";
import type { Store, Thread } from "../../store/index.ts";
import { LOG_STORE, LOGGED } from "./store.ts";

const logs = (store: Store) => store.part(LOG_STORE);

const logged = (more: RunOptions = {}): RunOptions => ({ ...more, more: { ...leaving(LOGGED, true), ...more.more } });

/** A message that is answered and logged. */
const talk = (store: Store, thread: Thread, text: string, more: RunOptions = {}) =>
  exchange(store, thread, text, logged(more));

/** The contact's own messages. */
const isOwn = ({ kind, trust }: NewEvent): boolean => kind === "message" && trust === "contact";

const wordsOf = ({ content }: NewEvent): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("");

const bodies = async (store: Store, scope = ANN) =>
  (await logs(store).log(scope))?.entries.map(({ body }) => body) ?? [];

onEachDatabase("logs of what was said with each sender", [LOG_STORE], (openStore) => {
  entries(openStore);
  limits(openStore);
  owners(openStore);
});

function entries(openStore: OpenStore): void {
  describe("a sender's log", () => {
    it("000.26 has of each message its id, body, reply, turn and time", async () => {
      const store = await openStore();
      const thread = await open(store);
      const { claim, outcome } = await talk(store, thread, "What is tea?", { reply: "Leaves in water." });
      const [event] = claim.events;
      expect((await logs(store).log(ANN))?.entries).toEqual([
        { event: event?.id, body: "What is tea?", reply: "Leaves in water.", turn: claim.turn, at: outcome.at },
      ]);
      await store.close();
    });

    it("000.27 tells the sender, the entries oldest first, and the last activity", async () => {
      const store = await openStore();
      const thread = await open(store);
      await talk(store, thread, "one");
      await talk(store, thread, "two", { more: { at: NOW + 9_000 } });
      expect(await logs(store).log(ANN)).toMatchObject({
        contact: "ann",
        entries: [{ body: "one" }, { body: "two" }],
        lastActivity: NOW + 9_000,
      });
      expect(await logs(store).logs(OWNER, 9)).toEqual([{ contact: "ann", entries: 2, lastActivity: NOW + 9_000 }]);
      await store.close();
    });

    it("has an entry for each message that one reply answered", async () => {
      const store = await openStore();
      const thread = await open(store);
      await store.receive(ANN, thread.id, [said("one"), said("two"), said("note", { kind: "instruction" })]);
      const claim = await take(store, thread);
      await store.settle(claim, ran(claim, logged({ reply: "both" })).outcome);
      expect((await logs(store).log(ANN))?.entries).toMatchObject([
        { body: "one", reply: "both", turn: claim.turn },
        { body: "two", reply: "both", turn: claim.turn },
      ]);
      await store.close();
    });

    it("000.26 says whether a message was proven or only claimed, and nothing where that was not asked", async () => {
      const store = await openStore();
      const thread = await open(store);
      const sent = [said("signed", { proof: "proven" }), said("not signed", { proof: "claimed" }), said("by name")];
      await store.receive(ANN, thread.id, sent);
      const claim = await take(store, thread);
      await store.settle(claim, ran(claim, logged()).outcome);
      const entries = (await logs(store).log(ANN))?.entries ?? [];
      expect(entries.map(({ body, proof }) => [body, proof])).toEqual([
        ["signed", "proven"],
        ["not signed", "claimed"],
        ["by name", undefined],
      ]);
      await store.close();
    });

    it("law 5 has only what its sender wrote, whoever else speaks on the thread and in whichever order", async () => {
      const store = await openStore();
      const kinds = fc.constantFrom(...OUTSIDE_KINDS, ownKind("warning"));
      const event = fc.record({
        kind: fc.oneof(fc.constant("message" as const), kinds),
        trust: fc.constantFrom(...TRUSTS),
      });
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(fc.array(event, { minLength: 1, maxLength: 3 }), { maxLength: 5 }), async (turns) => {
          const scope = scopeOf(`sender-${++run}`);
          const thread = await open(store, scope);
          const own: string[] = [];
          for (const events of turns) {
            const sent = events.map((more) => said(`words ${newEvent()}`, more));
            own.push(...sent.filter(isOwn).map(wordsOf));
            await store.receive(scope, thread.id, sent);
            const claim = await take(store, thread);
            await store.settle(claim, ran(claim, logged()).outcome);
          }
          expect(await bodies(store, scope)).toEqual(own);
          const heads = (await logs(store).logs(OWNER, 999)).filter(({ contact }) => contact === scope.contact);
          expect(heads.map(({ entries }) => entries)).toEqual(own.length === 0 ? [] : [own.length]);
        }),
        { numRuns: 25 },
      );
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it("000.33 is written after a turn that went well, had messages and gave a reply, and by no other", async () => {
      const store = await openStore();
      const thread = await open(store);
      await talk(store, thread, "fails", { failed: true });
      expect(await bodies(store)).toEqual([]);
      await talk(store, thread, "is not answered", { reply: null });
      expect(await bodies(store)).toEqual([]);
      await exchange(store, thread, "is of an agent that keeps no log");
      expect(await bodies(store)).toEqual([]);
      const self = await open(store, { ...OWNER, contact: SELF });
      await store.receive(self.scope, self.id, [said("tick", { kind: "scheduled", trust: "platform" })]);
      const claim = await take(store, self);
      await store.settle(claim, ran(claim, logged()).outcome);
      expect(await logs(store).logs(OWNER, 9)).toEqual([]);
      await talk(store, thread, "goes well");
      expect(await bodies(store)).toEqual(["goes well"]);
      await store.close();
    });
  });
}

function limits(openStore: OpenStore): void {
  describe("logs within their limits", () => {
    it("S20 000.29 keep 20 entries of a sender, the newest", async () => {
      expect(CONVERSATION_LIMITS.entries).toBe(20);
      const store = await openStore();
      const [one, two] = [await open(store), await open(store, ANN, "second")];
      for (let i = 1; i <= 23; i++) await talk(store, i % 2 === 0 ? one : two, `message ${i}`);
      expect(await bodies(store)).toEqual(Array.from({ length: 20 }, (_, i) => `message ${i + 4}`));
      // What has left the log is still in the record.
      expect((await store.slots(ANN, two.id))[0]).toMatchObject({ text: "message 1" });
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it("S20 000.30 keep 200 senders of an agent: the one goes that is silent for longest", async () => {
      expect(CONVERSATION_LIMITS.senders).toBe(200);
      const store = await openStore();
      const say = async (contact: string, at: number) =>
        talk(store, await open(store, scopeOf(contact)), `I am ${contact}`, { more: { at } });
      for (let i = 0; i < 200; i++) await say(`c${i}`, NOW + i);
      await say("c0", NOW + 1_000);
      await say("new", NOW + 1_001);
      const kept = await logs(store).logs(OWNER, 999);
      expect(kept).toHaveLength(200);
      expect(kept.slice(0, 3).map(({ contact }) => contact)).toEqual(["new", "c0", "c199"]);
      expect(await logs(store).log(scopeOf("c1"))).toBeUndefined();
      // Late by its own clock, it has still spoken last.
      await say("late", NOW - 5);
      expect(await bodies(store, scopeOf("late"))).toEqual(["I am late"]);
      expect(await logs(store).log(scopeOf("c2"))).toBeUndefined();
      await store.close();
    }, 60_000);

    it.each([
      ["000.31 500 characters of a message", "body", "text"],
      ["000.32 500 characters of a reply", "reply", "reply"],
    ] as const)("S20 %s, the whole text stays where it was", async (_, shown, long) => {
      expect(CONVERSATION_LIMITS[shown]).toBe(500);
      const store = await openStore();
      const thread = await open(store);
      const whole = `${"a".repeat(498)}😀${"b".repeat(90)}`;
      await talk(store, thread, long === "text" ? whole : "short", { reply: long === "reply" ? whole : "short" });
      await talk(store, thread, "a".repeat(500), { reply: "a".repeat(500) });
      const [cut, fits] = (await logs(store).log(ANN))?.entries ?? [];
      expect(cut?.[shown]).toBe(`${"a".repeat(498)}…`);
      expect(fits?.[shown]).toBe("a".repeat(500));
      const slots = (await store.slots(ANN, thread.id)).map(({ text }) => text);
      expect(slots).toContain(whole);
      if (long === "reply") expect((await replies(store, ANN))[0]?.text).toBe(whole);
      await store.close();
    });
  });
}

function owners(openStore: OpenStore): void {
  describe("a sender's log", () => {
    it("000.62 law 5 is the sender's with this agent alone", async () => {
      const store = await openStore();
      const others = [scopeOf("bob"), scopeOf("ann", "other"), scopeOf("ann", "companion", "elsewhere")];
      await talk(store, await open(store), "mine");
      for (const scope of others) expect(await logs(store).log(scope)).toBeUndefined();
      for (const scope of others) await talk(store, await open(store, scope), "theirs");
      expect(await bodies(store)).toEqual(["mine"]);
      const heads = await logs(store).logs(OWNER, 9);
      expect(heads.map(({ contact }) => contact)).toEqual(["ann", "bob"]);
      const [{ lastActivity: at } = { lastActivity: 0 }] = heads;
      expect(await logs(store).logs(OWNER, 9, { at, id: "ann" })).toMatchObject([{ contact: "bob" }]);
      expect(await logs(store).logs(OWNER, 9, { at: at - 1, id: "" })).toEqual([]);
      await store.close();
    });

    it("goes with its contact", async () => {
      const store = await openStore();
      await talk(store, await open(store), "forget me");
      await talk(store, await open(store, scopeOf("bob")), "keep me");
      await store.eraseContact(ANN, { org: ANN.org, id: actorId("token:operator"), role: "operator" }, NOW);
      expect(await logs(store).log(ANN)).toBeUndefined();
      expect(await logs(store).logs(OWNER, 9)).toMatchObject([{ contact: "bob" }]);
      await talk(store, await open(store), "anew");
      expect(await bodies(store)).toEqual(["anew"]);
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });
  });
}
