import { describe, expect, it } from "vitest";
import { digestOf, type MemoryId, spoken } from "../../protocol/index.ts";
import type { Claim, Thread } from "../records.ts";
import type { Store } from "../store.ts";
import {
  claiming,
  epochOf,
  exchange,
  NOW,
  newEvent,
  newMemory,
  newTurn,
  type OpenStore,
  open,
  opening,
  problems,
  ran,
  remembered,
  replies,
  said,
  saving,
  scopeOf,
  take,
} from "./sample.contract.ts";

async function waiting(store: Store, text = "Hi"): Promise<Thread> {
  const thread = await open(store);
  await store.receive(thread.scope, thread.id, [said(text)]);
  return thread;
}

/** Everything a thread shows, to see that nothing of it changed. */
async function shown(store: Store, { scope, id }: Thread): Promise<unknown> {
  return {
    thread: await store.thread(scope, id),
    slots: await store.slots(scope, id),
    pending: await store.pending(scope, id),
    epoch: await store.epoch(scope, id),
    turns: await store.turns(scope, id),
    memories: await store.memories(scope, 100),
    outbox: await replies(store, scope),
    usage: await store.usage(scope),
    head: await store.head(scope.org),
  };
}

/** Claims and commits: the one way a thread changes. */
export function turnContract(openStore: OpenStore): void {
  claims(openStore);
  commits(openStore);
  broken(openStore);
  requests(openStore);
}

function claims(openStore: OpenStore): void {
  describe("a claim", () => {
    it("hands over all that waits and starts the thread's next turn", async () => {
      const store = await openStore();
      const thread = await waiting(store, "one");
      const [second] = await store.receive(thread.scope, thread.id, [said("two")]);
      const claim = await take(store, thread, { at: NOW + 5 });
      expect(claim).toMatchObject({
        thread: { id: thread.id },
        attempt: 1,
        fence: 1,
        holder: "worker-1",
        epoch: undefined,
      });
      expect(claim.events).toEqual(await store.pending(thread.scope, thread.id));
      expect(claim.events[1]).toEqual(second);
      expect(await store.turn(thread.scope, claim.turn)).toMatchObject({
        status: "running",
        seq: 1,
        startedAt: NOW + 5,
        requests: [],
        events: [],
      });
      await store.close();
    });

    it("is made in the commit that stores the message, where a turn may begin with that one", async () => {
      const store = await openStore();
      const { scope, id } = await waiting(store, "one");
      const message = said("two", { externalId: "m-2" });
      const { events, claimed } = await store.receiveAndClaim(scope, id, [message], claiming());
      expect(events).toMatchObject([{ id: message.id, status: "pending" }]);
      expect(claimed).toMatchObject({ state: "claimed", claim: { fence: 1, thread: { lastActivity: message.at } } });
      if (claimed.state !== "claimed") throw new Error(claimed.state);
      const { claim } = claimed;
      expect(claim.events).toEqual(await store.pending(scope, id));
      expect(claim.events.at(-1)).toEqual(events[0]);
      // A worker has the thread: the message is stored and waits.
      const third = await store.receiveAndClaim(scope, id, [said("three")], claiming({ holder: "worker-2" }));
      expect(third.claimed).toMatchObject({ state: "busy", holder: "worker-1" });
      expect(await store.pending(scope, id)).toHaveLength(3);
      await store.settle(claim, ran(claim).outcome);
      // Sent again, one that was answered begins no turn, although another waits.
      const again = { ...message, id: newEvent() };
      expect(await store.receiveAndClaim(scope, id, [again], claiming())).toMatchObject({
        events: [{ id: message.id, status: "consumed" }],
        claimed: { state: "idle" },
      });
      // The same on another thread of the contact.
      const other = await open(store, scope, "other");
      const there = { ...said("three again"), externalId: "m-4" };
      await store.receive(scope, id, [there]);
      expect(await store.receiveAndClaim(scope, other.id, [there], claiming())).toMatchObject({
        events: [{ id: there.id, thread: id }],
        claimed: { state: "idle" },
      });
      expect(await problems(store, scope.org)).toEqual([]);
      await store.close();
    });

    it("is not made where the message is refused, and the message is not stored where the claim fails", async () => {
      const store = await openStore();
      const thread = await waiting(store, "one");
      const { scope, id } = thread;
      const known = said("one thing", { externalId: "m-1" });
      await store.receive(scope, id, [known]);
      const different = said("another thing", { externalId: "m-1" });
      await expect(store.receiveAndClaim(scope, id, [different], claiming())).rejects.toMatchObject({
        code: "invalid_input",
      });
      expect(await store.leases(scope.org)).toEqual([]);
      const before = await store.pending(scope, id);
      await take(store, thread);
      const alive = (): boolean => {
        throw new Error("nobody knows");
      };
      await expect(store.receiveAndClaim(scope, id, [said("two")], claiming({ alive }))).rejects.toThrow();
      expect(await store.pending(scope, id)).toEqual(before);
      await store.close();
    });

    it("is idle where nothing waits, and leaves no lease behind", async () => {
      const store = await openStore();
      const thread = await open(store);
      expect(await store.claim(thread.scope, thread.id, claiming())).toEqual({ state: "idle" });
      await store.receive(thread.scope, thread.id, [said("Hi")]);
      expect(await take(store, thread, { holder: "worker-2" })).toMatchObject({ holder: "worker-2" });
      await store.close();
    });

    it("is busy while another holds the thread, and also for the one who holds it", async () => {
      const store = await openStore();
      const thread = await waiting(store);
      await take(store, thread);
      const busy = { state: "busy", holder: "worker-1", until: NOW + 30_000 };
      expect(await store.claim(thread.scope, thread.id, claiming({ holder: "worker-2" }))).toEqual(busy);
      expect(await store.claim(thread.scope, thread.id, claiming())).toEqual(busy);
      await store.close();
    });

    it.each([
      ["when the lease has run out", { now: NOW + 30_000 }],
      ["when the holder is surely gone", { alive: (holder: string) => holder !== "worker-1" }],
    ])(
      "takes an interrupted turn up again %s, with what it took at first: what came since has the next turn",
      async (_, more) => {
        const store = await openStore();
        const thread = await waiting(store, "one");
        const first = await take(store, thread);
        await store.receive(thread.scope, thread.id, [said("two")]);
        const second = await take(store, thread, { holder: "worker-2", until: NOW + 60_000, ...more });
        expect(second).toMatchObject({ turn: first.turn, attempt: 2, fence: 2 });
        expect(second.events).toEqual(first.events);
        await store.settle(second, ran(second).outcome);
        expect(await store.turns(thread.scope, thread.id)).toMatchObject([
          { id: first.turn, attempt: 2, status: "done" },
        ]);
        expect(await store.pending(thread.scope, thread.id)).toMatchObject([{ content: [{ text: "two" }] }]);
        await store.close();
      },
    );

    it("pins the thread and the turn to the version that runs it, also where it is taken up again", async () => {
      const store = await openStore();
      const thread = await waiting(store, "one");
      const first = await take(store, thread);
      const version = digestOf("a newer declaration");
      const second = await take(store, thread, { holder: "worker-2", alive: () => false, version });
      expect(second).toMatchObject({ turn: first.turn, thread: { version } });
      await store.settle(second, ran(second).outcome);
      expect(await store.turns(thread.scope, thread.id)).toMatchObject([{ id: first.turn, version }]);
      expect(await store.thread(thread.scope, thread.id)).toMatchObject({ version });
      await store.close();
    });

    it("is refused for another version where the thread's transcript runs, and says where the thread is", async () => {
      const store = await openStore();
      const thread = await waiting(store, "one");
      const first = await take(store, thread);
      await store.settle(first, ran(first).outcome);
      await store.receive(thread.scope, thread.id, [said("two")]);
      const version = digestOf("an older declaration");
      expect(await store.claim(thread.scope, thread.id, claiming({ version }))).toEqual({
        state: "moved",
        thread: await store.thread(thread.scope, thread.id),
      });
      expect(await store.pending(thread.scope, thread.id)).toHaveLength(1);
      await store.close();
    });

    it("stays with its holder as long as it is renewed, and no longer", async () => {
      const store = await openStore();
      const thread = await waiting(store);
      const first = await take(store, thread);
      expect(await store.renew(first, NOW + 90_000)).toBe(true);
      expect(await store.claim(thread.scope, thread.id, claiming({ now: NOW + 60_000 }))).toMatchObject({
        state: "busy",
        until: NOW + 90_000,
      });
      const second = await take(store, thread, { now: NOW + 90_000, until: NOW + 120_000 });
      expect(await store.renew(first, NOW + 500_000)).toBe(false);
      await store.settle(second, ran(second).outcome);
      expect(await store.renew(second, NOW + 500_000)).toBe(false);
      await store.close();
    });
  });
}

function commits(openStore: OpenStore): void {
  describe("a commit", () => {
    it("lands events, slots, transcript, memories, outbox, usage and the thread's activity at once", async () => {
      const store = await openStore();
      const thread = await waiting(store, "Do you know me?");
      const claim = await take(store, thread);
      const id = newMemory();
      const tea = remembered("Ann likes tea", { tags: ["taste"], turn: claim.turn });
      const writes = [saving(tea, id)];
      const { outcome } = ran(claim, { reply: "Yes", more: { writes } });
      const link = await store.settle(claim, outcome);

      expect(link).toMatchObject({ org: "home", seq: 1 });
      expect(await store.head(thread.scope.org)).toEqual(link);
      expect(await store.pending(thread.scope, thread.id)).toEqual([]);
      expect(await store.slots(thread.scope, thread.id)).toEqual([
        {
          thread: thread.id,
          index: 0,
          turn: claim.turn,
          from: "ann",
          to: "companion",
          role: "contact",
          kind: "message",
          text: "Do you know me?",
          at: NOW,
        },
        {
          thread: thread.id,
          index: 1,
          turn: claim.turn,
          from: "companion",
          to: "ann",
          role: "agent",
          kind: "reply",
          text: "Yes",
          at: outcome.at,
        },
      ]);
      const opened = outcome.epochs[0];
      expect(await store.epoch(thread.scope, thread.id)).toEqual({
        ...opened,
        openedFor: { version: thread.version, wire: outcome.wire },
        transcript: outcome.messages,
      });
      expect(await store.memories(thread.scope, 9)).toEqual([{ kind: "fact", ...tea, id, support: 1 }]);
      expect(await replies(store, thread.scope)).toEqual([
        {
          id: outcome.replyId,
          contact: "ann",
          thread: thread.id,
          turn: claim.turn,
          channel: "test",
          text: "Yes",
          status: "waiting",
          at: outcome.at,
        },
      ]);
      expect(await store.usage(thread.scope)).toEqual({
        turns: 1,
        requests: 1,
        input: 100,
        cacheRead: 60,
        cacheWrite: 20,
        output: 9,
        dollars: 0.25,
      });
      expect(await store.thread(thread.scope, thread.id)).toMatchObject({ turns: 1, lastActivity: outcome.at });
      const { end, at, model, wire, mode, totals, requests } = outcome;
      const record = await store.turn(thread.scope, claim.turn);
      expect(record).toEqual({
        end,
        model,
        wire,
        mode,
        totals,
        id: claim.turn,
        run: claim.turn,
        thread: thread.id,
        scope: thread.scope,
        seq: 1,
        status: "done",
        attempt: 1,
        version: thread.version,
        startedAt: NOW,
        endedAt: at,
        requests: requests.map(({ tail, ...request }) => request),
        events: claim.events.map((event) => ({ ...event, status: "consumed", turn: claim.turn })),
        link,
      });
      await store.close();
    });

    it("tells the provider's id of the thread's newest answer, of that model only, and rebuilds what it was compared with", async () => {
      const store = await openStore();
      const thread = await open(store);
      const last = (wire = "anthropic:claude-sonnet-4-5", scope = thread.scope) =>
        store.lastAnswer(scope, thread.id, wire);
      expect(await last()).toBeUndefined();
      const told = async (n: number) => {
        await store.receive(thread.scope, thread.id, [said(`question ${n}`)]);
        const claim = await take(store, thread);
        const { outcome } = ran(claim, { rounds: 2 });
        const requests = outcome.requests.map((one) => ({
          ...one,
          reply: one.reply && { ...one.reply, id: `msg_${n}_${one.n}`, compared: n === 1 ? null : `msg_${n - 1}_2` },
        }));
        await store.settle(claim, { ...outcome, requests });
        return claim.turn;
      };
      await told(1);
      expect(await last()).toBe("msg_1_2");
      const second = await told(2);
      expect(await last()).toBe("msg_2_2");
      expect((await store.rebuild(thread.scope, second, 1)).request.compare).toBe("msg_1_2");
      expect([await last("openai:gpt-5"), await last(undefined, scopeOf("bob"))]).toEqual([undefined, undefined]);
      await exchange(store, thread, "one whose answer has no id");
      expect(await last()).toBeUndefined();
    });

    it("tells what the thread sent and got an answer to, oldest first: what a provider's cache may still hold", async () => {
      const store = await openStore();
      const thread = await open(store);
      expect(await store.sent(thread.scope, thread.id)).toEqual([]);
      await exchange(store, thread, "one", { rounds: 2 });
      await exchange(store, thread, "two", { rounds: 2, failed: true });
      const { claim, outcome } = await exchange(store, thread, "three");
      const mark = { after: { zone: "system", block: 1 }, lifetime: "1h" };
      const wire = "anthropic:claude-sonnet-4-5";
      const all = { wire, epoch: 1, breakpoints: [mark], parameters: { maxTokens: 4_096 }, at: expect.any(Number) };
      expect(await store.sent(thread.scope, thread.id)).toEqual([
        { ...all, kept: true, base: 0, own: 1 },
        { ...all, kept: true, base: 0, own: 2 },
        { ...all, kept: false, base: 3, own: 1 },
        { ...all, kept: true, base: 3, own: 1, at: outcome.requests[0]?.at },
      ]);
      expect(await store.sent(scopeOf("bob"), thread.id)).toEqual([]);
      for (let n = 1; n <= 35; n++) await exchange(store, thread, `more ${n}`, { rounds: 2 });
      const newest = await store.sent(thread.scope, thread.id);
      expect([newest.length, newest.at(-1)?.own]).toEqual([64, 2]);
      expect(newest[0]?.base).toBeGreaterThan(3);
      await exchange(store, thread, "long", { rounds: 70 });
      const ofOne = (await store.sent(thread.scope, thread.id)).map(({ own }) => own);
      expect(ofOne).toEqual(Array.from({ length: 64 }, (_, i) => i + 7));
      expect((await store.turn(thread.scope, claim.turn))?.requests[0]?.prediction).toEqual({
        read: 70,
        write: 25,
        writeLong: 5,
        input: 11,
      });
      await store.close();
    });

    it("tells when all threads of an agent were at work last, newest first, and nothing of another agent's or of a channel that is left out", async () => {
      const store = await openStore();
      const [ann, bob] = [await open(store), await open(store, scopeOf("bob"))];
      const away = await open(store, scopeOf("ann", "other"));
      const aside = await store.openThread(scopeOf("ann"), opening("main", { channel: "aside" }));
      for (const thread of [ann, bob, ann, away, aside]) await exchange(store, thread, "Hi");
      const all = await store.starts(ann.scope.org, ann.scope.agent, ["aside", "apart"]);
      expect(all.map(({ thread }) => thread).toSorted()).toEqual([ann.id, ann.id, bob.id].toSorted());
      expect(all).toEqual(all.toSorted((a, b) => b.at - a.at));
      expect(await store.starts(ann.scope.org, away.scope.agent, ["aside", "apart"])).toEqual([
        { thread: away.id, at: expect.any(Number) },
      ]);
      for (let n = 0; n < 70; n++) await exchange(store, bob, "More", { rounds: 2 });
      expect(await store.starts(ann.scope.org, ann.scope.agent, ["aside", "apart"])).toHaveLength(128);
      await store.close();
    });

    it("without a reply sends nothing and leaves no slot for one", async () => {
      const store = await openStore();
      const thread = await open(store);
      await exchange(store, thread, "Hi", { reply: null });
      expect(await replies(store, thread.scope)).toEqual([]);
      expect(await store.slots(thread.scope, thread.id)).toHaveLength(1);
      expect((await store.turns(thread.scope, thread.id))[0]?.end).toMatchObject({ reply: null });
      await store.close();
    });

    it("frees the thread: the next turn has the next number and the grown transcript", async () => {
      const store = await openStore();
      const thread = await open(store);
      const one = await exchange(store, thread, "one");
      const two = await exchange(store, thread, "two");
      expect(two.claim).toMatchObject({ fence: 2, attempt: 1, epoch: { n: 1, transcript: one.outcome.messages } });
      expect((await store.turns(thread.scope, thread.id)).map((turn) => turn.seq)).toEqual([1, 2]);
      const all = [...one.outcome.messages, ...two.outcome.messages];
      expect((await store.epoch(thread.scope, thread.id))?.transcript).toEqual(all);
      await store.close();
    });

    it("takes events that arrive while the turn runs into the next one", async () => {
      const store = await openStore();
      const thread = await waiting(store, "one");
      const claim = await take(store, thread);
      await store.receive(thread.scope, thread.id, [said("two")]);
      await store.settle(claim, ran(claim).outcome);
      expect(await store.pending(thread.scope, thread.id)).toMatchObject([{ seq: 2 }]);
      await store.close();
    });

    it("puts what the turn adds into the last epoch that it opened", async () => {
      const store = await openStore();
      const thread = await open(store);
      const one = await exchange(store, thread, "one");
      const kept = one.outcome.messages.slice(1);
      const epochs = [epochOf(2, one.outcome.messages), epochOf(3, kept, { cut: 1, mode: "compact" })];
      const two = await exchange(store, thread, "two", { epochs });
      const epoch = await store.epoch(thread.scope, thread.id);
      const openedFor = { version: thread.version, wire: two.outcome.wire };
      expect(epoch).toEqual({ ...epochs[1], openedFor, transcript: [...kept, ...two.outcome.messages] });
      expect(await problems(store, thread.scope.org)).toEqual([]);
      await store.close();
    });
  });
}

function broken(openStore: OpenStore): void {
  describe("law 7 a commit that cannot be whole is not at all", () => {
    it("law 7 after the lease was lost nothing is written", async () => {
      const store = await openStore();
      const thread = await waiting(store);
      const first = await take(store, thread);
      const second = await take(store, thread, { holder: "worker-2", alive: () => false });
      const before = await shown(store, thread);
      await expect(store.settle(first, ran(first).outcome)).rejects.toMatchObject({ code: "lease_lost" });
      expect(await shown(store, thread)).toEqual(before);
      const third = await take(store, thread, { holder: "worker-2", alive: () => false });
      await expect(store.settle(second, ran(second).outcome)).rejects.toMatchObject({ code: "lease_lost" });
      await store.settle(third, ran(third).outcome);
      await expect(store.settle(third, ran(second).outcome)).rejects.toMatchObject({ code: "lease_lost" });
      expect(await store.turns(thread.scope, thread.id)).toHaveLength(1);
      await store.close();
    });

    it("law 7 an event that another turn has handled is not handled again", async () => {
      const store = await openStore();
      const thread = await open(store);
      const old = await exchange(store, thread, "one");
      await store.receive(thread.scope, thread.id, [said("two")]);
      const claim = await take(store, thread);
      const twice = { ...claim, events: [...old.claim.events, ...claim.events] };
      const before = await shown(store, thread);
      await expect(store.settle(twice, ran(twice).outcome)).rejects.toMatchObject({ code: "lease_lost" });
      expect(await shown(store, thread)).toEqual(before);
      await store.close();
    });

    const tea = (id?: string) => saving(remembered("tea"), id);
    const another = (id: string) => saving(remembered("Another text"), id);
    const taken: MemoryId = newMemory();
    it.each<[string, string, (claim: Claim) => Parameters<typeof ran>[1]]>([
      ["a memory id that is taken", "store_failed", () => ({ more: { writes: [tea(), another(taken)] } })],
      ["the same id for two memories", "store_failed", () => ({ more: { writes: [tea(taken), another(taken)] } })],
      ["a write without an id", "invalid_input", () => ({ more: { writes: [{ write: tea().write }] } })],
      ["an epoch out of order", "invalid_input", () => ({ epochs: [epochOf(7)] })],
      ["an epoch that is there already", "invalid_input", () => ({ epochs: [epochOf(1)] })],
      [
        "more of the transcript sent than there is",
        "invalid_input",
        (claim) => ({ more: { requests: ran(claim).outcome.requests.map((one) => ({ ...one, base: 99 })) } }),
      ],
      [
        "more messages sent than there are",
        "invalid_input",
        (claim) => ({ more: { requests: ran(claim).outcome.requests.map((one) => ({ ...one, own: 9 })) } }),
      ],
      [
        "the same request twice",
        "store_failed",
        (claim) => ({ more: { requests: [...ran(claim).outcome.requests, ...ran(claim).outcome.requests] } }),
      ],
    ])("law 7 %s", async (_, code, options) => {
      const store = await openStore();
      const thread = await open(store);
      await exchange(store, thread, "before");
      await store.saveMemory(thread.scope, taken, remembered("taken"));
      await store.receive(thread.scope, thread.id, [said("Hi")]);
      const claim = await take(store, thread);
      const before = await shown(store, thread);
      await expect(store.settle(claim, ran(claim, options(claim)).outcome)).rejects.toMatchObject({ code });
      expect(await shown(store, thread)).toEqual(before);
      expect(await problems(store, thread.scope.org)).toEqual([]);
      await store.settle(claim, ran(claim).outcome);
      expect(await store.pending(thread.scope, thread.id)).toEqual([]);
      await store.close();
    });

    it("law 7 an outbox id that is taken", async () => {
      const store = await openStore();
      const thread = await open(store);
      const { outcome } = await exchange(store, thread, "one");
      await store.receive(thread.scope, thread.id, [said("two")]);
      const claim = await take(store, thread);
      const before = await shown(store, thread);
      const again = ran(claim, { more: { replyId: outcome.replyId } }).outcome;
      await expect(store.settle(claim, again)).rejects.toMatchObject({ code: "store_failed" });
      expect(await shown(store, thread)).toEqual(before);
      await store.close();
    });
  });

  describe("a turn that failed", () => {
    it("is recorded with its requests; its events wait on, and nothing else of it lands", async () => {
      const store = await openStore();
      const thread = await waiting(store);
      const claim = await take(store, thread);
      const writes = [saving(remembered("tea"))];
      const { outcome } = ran(claim, { failed: true, rounds: 2, more: { writes } });
      const link = await store.settle(claim, outcome);
      expect(await store.turn(thread.scope, claim.turn)).toMatchObject({
        status: "failed",
        end: { status: "failed", code: "model_failed", message: "the model did not answer" },
        requests: [{ n: 1 }, { n: 2, reply: null }],
        events: [{ id: claim.events[0]?.id, status: "pending" }],
        link,
      });
      expect(await store.pending(thread.scope, thread.id)).toEqual(claim.events);
      expect(await store.slots(thread.scope, thread.id)).toEqual([]);
      expect(await store.memories(thread.scope, 9)).toEqual([]);
      expect(await replies(store, thread.scope)).toEqual([]);
      expect(await store.usage(thread.scope)).toMatchObject({ turns: 1, requests: 2, dollars: 0.5 });
      await store.close();
    });

    it("keeps the epochs that it opened, with the transcript they started from", async () => {
      const store = await openStore();
      const thread = await open(store);
      const failed = await exchange(store, thread, "one", { failed: true });
      const openedFor = { version: thread.version, wire: failed.outcome.wire };
      expect(await store.epoch(thread.scope, thread.id)).toEqual({ ...failed.outcome.epochs[0], openedFor });
      const again = await take(store, thread);
      expect(again).toMatchObject({ attempt: 1, epoch: { n: 1, transcript: [] } });
      expect(again.turn).not.toBe(failed.claim.turn);
      await store.settle(again, ran(again).outcome);
      expect((await store.turns(thread.scope, thread.id)).map((turn) => turn.status)).toEqual(["failed", "done"]);
      expect(await problems(store, thread.scope.org)).toEqual([]);
      await store.close();
    });

    it("may have failed before it sent anything", async () => {
      const store = await openStore();
      const thread = await waiting(store);
      const claim = await take(store, thread);
      const { outcome } = ran(claim, { failed: true, more: { epochs: [], messages: [], requests: [] } });
      await store.settle(claim, outcome);
      expect(await store.epoch(thread.scope, thread.id)).toBeUndefined();
      expect(await problems(store, thread.scope.org)).toEqual([]);
      await store.close();
    });
  });
}

function requests(openStore: OpenStore): void {
  describe("a past request", () => {
    it("is rebuilt as it was sent, tool rounds and later turns included", async () => {
      const store = await openStore();
      const thread = await open(store);
      const runs = [await exchange(store, thread, "one", { rounds: 3 }), await exchange(store, thread, "two")];
      runs.push(await exchange(store, thread, "three", { epochs: [epochOf(2, runs[0]?.outcome.messages.slice(2))] }));
      runs.push(await exchange(store, thread, "four", { rounds: 2 }));
      for (const { claim, sent, outcome } of runs) {
        for (const [i, request] of sent.entries()) {
          const rebuilt = await store.rebuild(thread.scope, claim.turn, i + 1);
          expect(rebuilt.request).toEqual(request);
          expect(JSON.stringify(rebuilt.request)).toBe(JSON.stringify(request));
          expect(rebuilt).toMatchObject({ reply: outcome.requests[i]?.reply, wire: outcome.wire });
          expect(rebuilt.epoch.transcript).toHaveLength(outcome.requests[i]?.base ?? -1);
        }
      }
      await store.close();
    });

    it("is rebuilt for a turn that failed", async () => {
      const store = await openStore();
      const thread = await open(store);
      await exchange(store, thread, "one");
      const { claim, sent } = await exchange(store, thread, "two", { failed: true, rounds: 2 });
      await exchange(store, thread, "three");
      for (const [i, request] of sent.entries()) {
        expect((await store.rebuild(thread.scope, claim.turn, i + 1)).request).toEqual(request);
      }
      expect((await store.rebuild(thread.scope, claim.turn, 2)).reply).toBeNull();
      await store.close();
    });

    it("that was never made is not found, with what to do", async () => {
      const store = await openStore();
      const thread = await waiting(store);
      const claim = await take(store, thread);
      const asked = [store.rebuild(thread.scope, claim.turn, 1), store.rebuild(thread.scope, newTurn(), 1)];
      await Promise.all(asked.map((one) => expect(one).rejects.toMatchObject({ code: "turn_not_found" })));
      await store.settle(
        claim,
        ran(claim, { more: { end: { status: "done", stop: "answered", reply: spoken("") } } }).outcome,
      );
      await expect(store.rebuild(thread.scope, claim.turn, 2)).rejects.toThrow(/has no request 2/);
      expect(await store.turn(scopeOf(), newTurn())).toBeUndefined();
      await store.close();
    });
  });
}
