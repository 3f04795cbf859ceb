import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstRuns } from "../../../tests/spread.ts";
import { actorId, digestOf, ownKind, untrusted } from "../../protocol/index.ts";
import {
  exchange,
  NOW,
  newEvent,
  newThread,
  type OpenStore,
  open,
  opening,
  problems,
  ran,
  said,
  scopeOf,
  take,
  VERSION,
} from "./sample.contract.ts";

/** Threads, agent versions, events: what comes in. */
export function threadContract(openStore: OpenStore): void {
  describe("agent versions", () => {
    it("keeps a version's declaration; the same version again changes nothing", async () => {
      const store = await openStore();
      const { org, agent } = scopeOf();
      await store.saveAgentVersion(org, agent, VERSION, '{"name":"companion"}', NOW);
      await store.saveAgentVersion(org, agent, VERSION, '{"name":"another"}', NOW + 1);
      expect(await store.agentVersion(org, agent, VERSION)).toBe('{"name":"companion"}');
      expect(await store.agentVersion(org, agent, digestOf("unknown"))).toBeUndefined();
      await store.close();
    });

    it("25.15 gives what was kept last of each agent, but for those that are named", async () => {
      const store = await openStore();
      const { org, agent } = scopeOf();
      await store.saveAgentVersion(org, agent, VERSION, "first", NOW);
      await store.saveAgentVersion(org, agent, digestOf("second"), "second", NOW + 1);
      expect(await store.lastVersions(org, [])).toEqual([{ agent, version: digestOf("second"), spec: "second" }]);
      expect(await store.lastVersions(org, [agent])).toEqual([]);
      await store.close();
    });
  });

  describe("threads", () => {
    it("is found by its name, and counted with those on which something happened since", async () => {
      const store = await openStore();
      const { org, agent } = scopeOf();
      const first = await store.openThread(scopeOf(), opening("first"));
      const second = await store.openThread(scopeOf("bob"), opening("second", { at: NOW + 5 }));
      expect(await store.threadNamed(scopeOf(), { channel: "test", key: "first" })).toEqual(first);
      expect(await store.threadNamed(scopeOf(), { channel: "test", key: "second" })).toBeUndefined();
      expect(await store.liveThreads({ org, agent }, 0)).toEqual({ count: 2, oldest: first });
      expect(await store.liveThreads({ org, agent }, NOW)).toEqual({ count: 1, oldest: second });
      expect(await store.liveThreads({ org, agent }, NOW + 5)).toEqual({ count: 0 });
      // What waits for a turn is live, and does not rest.
      await store.receive(first.scope, first.id, [said("Hello.", { at: NOW })]);
      expect(await store.liveThreads({ org, agent }, NOW + 5)).toEqual({ count: 1 });
      expect(await store.liveThreads({ org, agent }, 0)).toEqual({ count: 2, oldest: second });
      await store.close();
    });

    it("are counted by the warnings after which nothing has come", async () => {
      const store = await openStore();
      const { org, agent } = scopeOf();
      const [first, second] = [
        await store.openThread(scopeOf(), opening("first")),
        await store.openThread(scopeOf("bob"), opening("second")),
      ];
      const warning = (at: number) => ({
        ...said("Still there?", { at }),
        kind: ownKind("warning"),
        trust: "platform" as const,
      });
      const warned = (since: number, before: number) => store.warnedThreads({ org, agent }, { since, before });
      expect(await warned(0, NOW)).toEqual({ open: 0, over: 0 });
      await store.receive(first.scope, first.id, [warning(NOW)]);
      await store.receive(second.scope, second.id, [warning(NOW + 10)]);
      // The first still waits for its turn.
      expect(await warned(0, NOW)).toEqual({ open: 1, over: 0 });
      const claim = await take(store, first);
      await store.settle(claim, ran(claim).outcome);
      expect(await warned(0, NOW)).toEqual({ open: 1, over: 1 });
      expect(await warned(0, NOW - 1)).toEqual({ open: 2, over: 0 });
      // Its turn was later than its warning, so it is one of those that are counted for longer.
      expect(await warned(NOW, NOW)).toEqual({ open: 1, over: 1 });
      expect(await warned(NOW + 1_000_000, NOW)).toEqual({ open: 1, over: 0 });
      // It is not warned again, and hides nobody who has not been warned.
      expect(await store.liveThreads({ org, agent }, 0)).toEqual({ count: 2 });
      await store.receive(first.scope, first.id, [said("I am.", { at: NOW + 20 })]);
      expect(await warned(0, NOW)).toEqual({ open: 1, over: 0 });
      await store.close();
    });

    it("opens a conversation once, however often it is opened", async () => {
      const store = await openStore();
      const first = await open(store);
      expect(first).toMatchObject({ channel: "test", key: "main", version: VERSION, createdAt: NOW, turns: 0 });
      const again = await store.openThread(scopeOf(), opening("main", { version: digestOf("newer"), at: NOW + 9 }));
      // It has sent nothing yet, so it takes the newest version; after its first turn it keeps the one it has.
      expect(again).toEqual({ ...first, version: digestOf("newer") });
      await exchange(store, again, "hello");
      const later = await store.openThread(scopeOf(), opening("main", { version: digestOf("newest") }));
      expect(later).toMatchObject({ id: first.id, version: digestOf("newer") });
      expect((await open(store, scopeOf(), "other")).id).not.toBe(first.id);
      expect((await store.openThread(scopeOf(), opening("main", { channel: "sms" }))).id).not.toBe(first.id);
      await store.close();
    });

    it("opens a conversation with its first messages, both or neither", async () => {
      const store = await openStore();
      const twice = [said("tea", { externalId: "m1" }), said("coffee", { externalId: "m1" })];
      await expect(store.openAndReceive(scopeOf(), opening(), twice)).rejects.toMatchObject({ code: "invalid_input" });
      expect(await store.threads(scopeOf(), 9)).toEqual([]);
      const later = said("tea", { at: NOW + 9 });
      const { thread, events } = await store.openAndReceive(scopeOf(), opening(), [later]);
      expect(events).toMatchObject([{ id: later.id, thread: thread.id, seq: 1, status: "pending" }]);
      expect(await store.threads(scopeOf(), 9)).toEqual([thread]);
      const again = await store.openAndReceive(scopeOf(), opening(), [said("more tea")]);
      expect(again).toMatchObject({ thread: { id: thread.id, lastActivity: NOW + 9 }, events: [{ seq: 2 }] });
      await store.close();
    });

    it("refuses an id that is taken and leaves the first thread as it is", async () => {
      const store = await openStore();
      const first = await open(store);
      const twin = store.openThread(scopeOf("bob"), opening("main", { id: first.id }));
      await expect(twin).rejects.toMatchObject({ code: "store_failed" });
      expect(await store.thread(scopeOf(), first.id)).toEqual(first);
      await store.close();
    });

    it("remembers what a fork came from", async () => {
      const store = await openStore();
      const first = await open(store);
      const { claim } = await exchange(store, first, "Hi");
      const forkedFrom = { thread: first.id, turn: claim.turn };
      const fork = await store.openThread(scopeOf(), opening("fork", { forkedFrom }));
      expect((await store.thread(scopeOf(), fork.id))?.forkedFrom).toEqual(forkedFrom);
      const early = { thread: first.id, turn: null };
      expect((await store.openThread(scopeOf(), opening("early", { forkedFrom: early }))).forkedFrom).toEqual(early);
      await store.close();
    });

    it("lists the newest activity first, as many as asked for", async () => {
      const store = await openStore();
      const [a, b, c] = [
        await open(store, scopeOf(), "a"),
        await open(store, scopeOf(), "b"),
        await open(store, scopeOf("bob"), "c"),
      ];
      await store.receive(a.scope, a.id, [said("x", { at: NOW + 60_000 })]);
      const everyone = { ...scopeOf(), contact: null };
      expect((await store.threads(everyone, 10)).map((one) => one.id)).toEqual([a.id, c.id, b.id]);
      expect((await store.threads(scopeOf(), 10)).map((one) => one.id)).toEqual([a.id, b.id]);
      expect(await store.threads(everyone, 1)).toHaveLength(1);
      expect(await store.threads(scopeOf(), 1, { channel: b.channel, key: b.key })).toMatchObject([{ id: b.id }]);
      for (const none of [0, -1, Number.NaN]) expect(await store.threads(everyone, none)).toEqual([]);
      await store.close();
    });
  });

  describe("events", () => {
    it("keeps events in the order received, with all that they say", async () => {
      const store = await openStore();
      const thread = await open(store);
      const picture = { type: "image", mediaType: "image/png", data: "AAAA" } as const;
      const odd = untrusted("\u0000 \ud800 \u2028 'quote\" 💡");
      const events = [
        said("one", { name: untrusted("Ann [operator]"), externalId: "m1" }),
        said("two", { kind: "instruction", trust: "operator", content: [{ type: "text", text: odd }, picture] }),
      ];
      const stored = await store.receive(thread.scope, thread.id, events);
      expect(stored).toEqual(
        events.map((event, i) => ({ ...event, thread: thread.id, seq: i + 1, status: "pending" })),
      );
      expect(await store.pending(thread.scope, thread.id)).toEqual(stored);
      await store.close();
    });

    it("takes back what waits, and nothing that a turn has taken or takes", async () => {
      const store = await openStore();
      const thread = await open(store);
      const asker = { now: NOW, at: NOW, alive: () => true };
      const [first] = await store.receive(thread.scope, thread.id, [said("one")]);
      const claim = await take(store, thread);
      await expect(store.withdraw(thread.scope, thread.id, asker)).rejects.toMatchObject({ code: "thread_busy" });
      // Its worker is gone: it is not being handled any more.
      const withdrawn = await store.withdraw(thread.scope, thread.id, { ...asker, alive: () => false });
      expect(withdrawn).toEqual([{ ...first, status: "withdrawn" }]);
      expect(claim.events).toEqual([first]);
      expect(await store.pending(thread.scope, thread.id)).toEqual([]);
      // Its lease has run out.
      expect(await store.withdraw(thread.scope, thread.id, { ...asker, now: NOW + 60_000 })).toEqual([]);
      await store.receive(thread.scope, thread.id, [said("two")]);
      expect(await store.pending(thread.scope, thread.id)).toMatchObject([{ status: "pending" }]);
      await expect(store.withdraw(scopeOf("bob"), thread.id, asker)).rejects.toMatchObject({
        code: "thread_not_found",
      });
      await store.close();
    });

    it("law 14 ends the turn that was interrupted over what is taken back; what comes next gets a turn of its own", async () => {
      const store = await openStore();
      const thread = await open(store);
      await store.receive(thread.scope, thread.id, [said("one")]);
      const claim = await take(store, thread);
      await store.withdraw(thread.scope, thread.id, { now: NOW, at: NOW + 7, alive: () => false });
      expect(await store.turn(thread.scope, claim.turn)).toMatchObject({
        status: "failed",
        end: { code: "turn_cancelled", message: expect.stringContaining("taken back") },
        endedAt: NOW + 7,
        link: { seq: 1 },
      });
      expect(await store.renew(claim, NOW + 99_000)).toBe(false);
      await expect(store.settle(claim, ran(claim).outcome)).rejects.toMatchObject({ code: "lease_lost" });
      await store.receive(thread.scope, thread.id, [said("two")]);
      const next = await take(store, thread);
      expect(next).toMatchObject({ attempt: 1 });
      expect(next.turn).not.toBe(claim.turn);
      await store.settle(next, ran(next).outcome);
      expect((await store.turns(thread.scope, thread.id)).map(({ seq, status }) => [seq, status])).toEqual([
        [1, "failed"],
        [2, "done"],
      ]);
      expect(await problems(store, thread.scope.org)).toEqual([]);
      await store.close();
    });

    it("law 7 an event that is known by its channel's id is stored once and given as it was stored", async () => {
      const store = await openStore();
      const thread = await open(store);
      const [first] = await store.receive(thread.scope, thread.id, [said("Hi", { externalId: "m1" })]);
      const again = await store.receive(thread.scope, thread.id, [
        said("Hi", { externalId: "m1", at: NOW + 5, name: untrusted("Ann") }),
        said("New", { externalId: "m2" }),
        said("New", { externalId: "m2" }),
        said("Hi", { externalId: "m1", channel: "sms" }),
      ]);
      expect(again[0]).toEqual(first);
      expect(again[2]).toEqual(again[1]);
      expect(again.map((event) => event.seq)).toEqual([1, 2, 2, 3]);
      const claim = await take(store, thread);
      await store.settle(claim, ran(claim).outcome);
      const late = await store.receive(thread.scope, thread.id, [said("Hi", { externalId: "m1" })]);
      expect(late).toMatchObject([{ id: first?.id, status: "consumed", turn: claim.turn }]);
      expect(await store.pending(thread.scope, thread.id)).toEqual([]);
      await store.close();
    });

    it("law 7 a signed event is stored once on whichever channel it comes, and never again where it was taken back", async () => {
      const store = await openStore();
      const [thread, other] = [await open(store), await open(store, scopeOf(), "other")];
      const signed = (more: object = {}) => said("Pay Bob.", { externalId: "m1", proof: "proven", ...more });
      const [first] = await store.receive(thread.scope, thread.id, [signed()]);
      expect(await store.receive(other.scope, other.id, [signed({ channel: "sms" })])).toEqual([first]);
      expect(await store.pending(other.scope, other.id)).toEqual([]);
      const bob = await open(store, scopeOf("bob"));
      expect(await store.receive(bob.scope, bob.id, [signed()])).not.toEqual([first]);
      await store.withdraw(thread.scope, thread.id, { now: NOW, at: NOW, alive: () => true });
      const again = store.receive(other.scope, other.id, [signed({ channel: "sms" })]);
      await expect(again).rejects.toMatchObject({
        code: "invalid_input",
        message: expect.stringContaining("counts once"),
      });
      await store.close();
    });

    it("law 7 a proven and a claimed event of one id never stand for each other, whichever comes first", async () => {
      const store = await openStore();
      const thread = await open(store);
      const sent = (proof: "proven" | "claimed", text: string) => said(text, { externalId: "m1", proof });
      const receive = (event: ReturnType<typeof said>) => store.receive(thread.scope, thread.id, [event]);
      const [squatter] = await receive(sent("claimed", "I take this id."));
      const [signed] = await receive(sent("proven", "Pay Bob."));
      expect(signed).toMatchObject({ seq: 2, proof: "proven", content: [{ text: "Pay Bob." }] });
      // Each sent again is the one that it was.
      expect(await receive(sent("proven", "Pay Bob."))).toEqual([signed]);
      expect(await receive(sent("claimed", "I take this id."))).toEqual([squatter]);
      // Nor does it matter that the door stamped no proof.
      expect(await receive(said("I take this id.", { externalId: "m1" }))).toEqual([squatter]);
      const bob = await open(store, scopeOf("bob"));
      await store.receive(bob.scope, bob.id, [sent("proven", "Pay Ann.")]);
      const [late] = await store.receive(bob.scope, bob.id, [sent("claimed", "Pay Mallory.")]);
      expect(late).toMatchObject({ seq: 2, proof: "claimed", content: [{ text: "Pay Mallory." }] });
      expect(await store.pending(thread.scope, thread.id)).toEqual([squatter, signed]);
      expect(await problems(store, thread.scope.org)).toEqual([]);
      await store.close();
    });

    const { numRuns, title } = firstRuns(30, 15);
    it(
      title(
        "law 7 nothing is lost in silence, and nothing is another's answer: in any order of ids, texts, proofs and channels",
      ),
      async () => {
        const store = await openStore();
        const sent = fc.record({
          proof: fc.constantFrom("proven", "claimed", undefined),
          id: fc.constantFrom("m1", "m2"),
          text: fc.constantFrom("Pay Bob.", "Pay Eve."),
          channel: fc.constantFrom("test", "sms"),
        });
        let run = 0;
        await fc.assert(
          fc.asyncProperty(fc.array(sent, { maxLength: 12 }), async (all) => {
            const thread = await open(store, scopeOf(`sender-${++run}`));
            // The message that a signed id identifies, and the one that an unsigned id identifies on its channel.
            const first = new Map<string, string>();
            for (const { proof, id, text, channel } of all) {
              const event = said(text, { externalId: id, channel, ...(proof && { proof }) });
              const key = proof === "proven" ? `signed ${id}` : `${channel} ${id}`;
              const known = first.get(key);
              const stored = store.receive(thread.scope, thread.id, [event]);
              if (known !== undefined && known !== text) {
                await expect(stored).rejects.toMatchObject({ code: "invalid_input" });
                continue;
              }
              first.set(key, text);
              const [got] = await stored;
              expect(got?.proof === "proven").toBe(proof === "proven");
              expect(got?.content).toEqual([{ type: "text", text }]);
            }
            expect(await store.pending(thread.scope, thread.id)).toHaveLength(first.size);
          }),
          { numRuns },
        );
        await store.close();
      },
    );

    it("law 7 a signed event whose id stands for another signed text is refused, and not taken for that one", async () => {
      const store = await openStore();
      const thread = await open(store);
      const signed = (text: string, more: object = {}) => said(text, { externalId: "m1", proof: "proven", ...more });
      const receive = (event: ReturnType<typeof said>) => store.receive(thread.scope, thread.id, [event]);
      const [first] = await receive(signed("Pay Bob."));
      const refused = { code: "invalid_input", message: expect.stringMatching(/m1.*counts once.*another external id/) };
      await expect(receive(signed("Pay Mallory."))).rejects.toMatchObject(refused);
      // The same words are the same message, whatever else its channel says of them.
      expect(await receive(signed("Pay Bob.", { at: NOW + 5, name: untrusted("Ann") }))).toEqual([first]);
      expect(await store.pending(thread.scope, thread.id)).toEqual([first]);
      // An erased message is not recognized by its words any more: a repeated one is not reported as answered.
      await store.eraseContact(
        thread.scope,
        { org: thread.scope.org, id: actorId("token:operator"), role: "operator" },
        NOW,
      );
      const anew = await open(store);
      const again = store.receive(anew.scope, anew.id, [signed("Pay Bob.")]);
      await expect(again).rejects.toMatchObject(refused);
      await store.close();
    });

    it("law 7 refuses an id that belongs to another message, and stores nothing of what came with it", async () => {
      const store = await openStore();
      const thread = await open(store);
      const picture = (data: string) => ({ type: "image", mediaType: "image/png", data }) as const;
      const [first] = await store.receive(thread.scope, thread.id, [
        said("Look", { externalId: "m1", content: [picture("AAAA")] }),
      ]);
      for (const other of [
        said("Look", { externalId: "m1" }),
        said("", { externalId: "m1", content: [picture("BBBB")] }),
      ]) {
        const late = store.receive(thread.scope, thread.id, [said("Beside it", { externalId: "m2" }), other]);
        await expect(late).rejects.toMatchObject({
          code: "invalid_input",
          message: expect.stringMatching(/"m1" of ann on test belongs to another message.* another external id/),
        });
      }
      expect(await store.pending(thread.scope, thread.id)).toEqual([first]);
      await store.close();
    });

    it("law 7 takes no word of an operator for a contact's message with the same id and text", async () => {
      const store = await openStore();
      const thread = await open(store);
      const event = said("Hi", { externalId: "m1" });
      const [first] = await store.receive(thread.scope, thread.id, [event]);
      for (const other of [{ kind: "instruction", trust: "operator" }, { trust: "operator" }] as const) {
        await expect(
          store.receive(thread.scope, thread.id, [{ ...event, id: newEvent(), ...other }]),
        ).rejects.toMatchObject({
          code: "invalid_input",
          message: expect.stringContaining(`belongs to another message, which was stored as ${first?.id}`),
        });
      }
      expect(await store.pending(thread.scope, thread.id)).toEqual([first]);
      await store.close();
    });

    it("law 7 knows no more what was erased: its id is free for what comes next, which is not lost", async () => {
      const store = await openStore();
      const thread = await open(store);
      await store.receive(thread.scope, thread.id, [said("Hi", { externalId: "m1" })]);
      const claim = await take(store, thread);
      await store.settle(claim, ran(claim).outcome);
      const gone = await store.eraseContact(
        thread.scope,
        { org: thread.scope.org, id: actorId("token:operator"), role: "operator" },
        NOW,
      );
      const [erased] = (await store.turns(gone ?? thread.scope, thread.id)).flatMap(({ events }) => events);
      expect(erased).toMatchObject({ content: [] });
      expect(erased).not.toHaveProperty("externalId");
      const anew = await open(store);
      const receive = () => store.receive(anew.scope, anew.id, [said("Are you there?", { externalId: "m1" })]);
      const [event] = await receive();
      expect(event).toMatchObject({
        thread: anew.id,
        status: "pending",
        externalId: "m1",
        content: [{ text: "Are you there?" }],
      });
      expect(await receive()).toEqual([event]);
      expect(await store.pending(anew.scope, anew.id)).toEqual([event]);
      expect(await problems(store, anew.scope.org)).toEqual([]);
      await store.close();
    });

    it("takes an event that was taken back in again when its channel sends it again", async () => {
      const store = await openStore();
      const thread = await open(store);
      const asker = { now: NOW, at: NOW, alive: () => true };
      const [first] = await store.receive(thread.scope, thread.id, [said("Hi", { externalId: "m1" })]);
      const claim = await take(store, thread);
      await store.settle(claim, ran(claim, { failed: true }).outcome);
      await store.withdraw(thread.scope, thread.id, asker);
      const anew = () => store.receive(thread.scope, thread.id, [said("Hi once more", { externalId: "m1" })]);
      const [second] = await anew();
      expect(second).toMatchObject({
        status: "pending",
        seq: 2,
        content: [{ text: "Hi once more" }],
        externalId: "m1",
      });
      expect(second?.id).not.toBe(first?.id);
      expect(await anew()).toEqual([second]);
      expect(await store.pending(thread.scope, thread.id)).toEqual([second]);
      await store.withdraw(thread.scope, thread.id, asker);
      expect(await anew()).toMatchObject([{ status: "pending", seq: 3 }]);
      const [turn] = await store.turns(thread.scope, thread.id);
      expect(turn?.events).toEqual([{ ...first, status: "withdrawn" }]);
      expect(await problems(store, thread.scope.org)).toEqual([]);
      await store.close();
    });

    it("law 7 of events that cannot all be stored none is", async () => {
      const store = await openStore();
      const thread = await open(store);
      const one = said("one");
      await expect(store.receive(thread.scope, thread.id, [one, said("two"), one])).rejects.toMatchObject({
        code: "store_failed",
      });
      expect(await store.pending(thread.scope, thread.id)).toEqual([]);
      await store.close();
    });

    it("refuses events for a thread that is not there", async () => {
      const store = await openStore();
      await expect(store.receive(scopeOf(), newThread(), [said("Hi")])).rejects.toMatchObject({
        code: "thread_not_found",
      });
      await store.close();
    });
  });
}
