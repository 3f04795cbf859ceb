import { describe, expect, it } from "vitest";
import {
  actorId,
  agentName,
  batchContact,
  type ContactScope,
  errorKind,
  spoken,
  toolName,
  untrusted,
} from "../../protocol/index.ts";
import type { Claim, Thread } from "../records.ts";
import type { BatchOpening, Failures, JournalKey, Store } from "../store.ts";
import {
  ANN,
  claiming,
  exchange,
  NOW,
  newOutbox,
  newThread,
  type OpenStore,
  OWNER,
  open,
  problems,
  type RunOptions,
  ran,
  replies,
  said,
  scopeOf,
  take,
  VERSION,
} from "./sample.contract.ts";

const NAMES = ["ann", "bob", "cid", "dee", "eve", "fay"] as const;

const opening = (more: Partial<BatchOpening> = {}) => {
  const id = newThread();
  const rest = {
    channel: "inbox",
    version: VERSION,
    most: 5,
    nameOf: (contact: string) => contact.replaceAll("?", ""),
    except: ["consolidation"],
    at: NOW,
    now: NOW,
    alive: () => true,
  };
  return { ...rest, id, contact: batchContact(id), ...more };
};

async function waiting(openStore: OpenStore, names: readonly string[] = ["ann", "bob"]): Promise<Store> {
  const store = await openStore();
  for (const [i, name] of names.entries()) {
    const thread = await open(store, scopeOf(name));
    await store.receive(thread.scope, thread.id, [said(`${name} has a secret wish`, { at: NOW + i })]);
  }
  return store;
}

async function startedBatch(store: Store, more = {}): Promise<{ readonly thread: Thread; readonly claim: Claim }> {
  const thread = await store.openBatch(OWNER, opening(more));
  if (thread === undefined) throw new Error("nothing waits");
  const claimed = await store.claim(thread.scope, thread.id, claiming(more));
  if (claimed.state !== "claimed") throw new Error(`it is ${claimed.state}`);
  return { thread, claim: claimed.claim };
}

const repliesOf = (claim: Claim) =>
  (claim.batchMembers ?? []).map(({ thread }) => ({
    thread: thread.id,
    reply: spoken(`only for ${thread.scope.contact}`),
    replyId: newOutbox(),
    unremembered: [],
  }));

const done = (claim: Claim, { more, ...options }: RunOptions = {}) =>
  ran(claim, { ...options, more: { replies: repliesOf(claim), ...more } }).outcome;

/** Turns over the messages of several senders. */
export function batchContract(openStore: OpenStore): void {
  staging(openStore);
  looking(openStore);
  committing(openStore);
  erasing(openStore);
}

function staging(openStore: OpenStore): void {
  describe("messages of several senders in one turn", () => {
    it("are those of the five who wait longest, each sender's as a turn of their own", async () => {
      const store = await waiting(openStore, NAMES);
      const { claim } = await startedBatch(store);
      expect(claim.batchMembers?.map(({ thread }) => thread.scope.contact)).toEqual(NAMES.slice(0, 5));
      expect(claim.events).toEqual(claim.batchMembers?.flatMap(({ events }) => events));
      expect(new Set(claim.batchMembers?.map(({ turn }) => turn)).size).toBe(5);
      await store.close();
    });

    it("are no batch where one sender waits, whose thread is run then, and nothing where nobody does", async () => {
      const store = await waiting(openStore, ["ann"]);
      expect((await store.openBatch(OWNER, opening()))?.scope).toEqual(ANN);
      const other = { ...OWNER, agent: scopeOf("ann", "other").agent };
      expect(await store.openBatch(other, opening())).toBeUndefined();
      await store.close();
    });

    it("are of nobody who is known by another's name, or by none: they have their turn alone", async () => {
      const store = await waiting(openStore, ["?", "bob", "bob?", "cid"]);
      const nameless = await store.openBatch(OWNER, opening());
      expect(nameless?.scope.contact).toBe("?");
      if (nameless) await store.claim(nameless.scope, nameless.id, claiming());
      const { claim } = await startedBatch(store);
      expect(claim.batchMembers?.map(({ thread }) => thread.scope.contact)).toEqual(["bob", "cid"]);
      expect((await store.openBatch(OWNER, opening()))?.scope.contact).toBe("bob?");
      await store.close();
    });

    it("are left to wait where it is asked so: by when they came, and by how often their turns failed", async () => {
      const store = await waiting(openStore);
      const [ann, bob] = await store.inbox(OWNER, { now: NOW, limit: 9 });
      if (ann === undefined || bob === undefined) throw new Error("two wait");
      const taken = async (more: object) => (await store.openBatch(OWNER, opening(more)))?.scope.contact;
      expect(await taken({ receivedBefore: ann.event.id })).toBeUndefined();
      expect(await taken({ receivedBefore: bob.event.id })).toBe("ann");
      const [thread] = await store.threads(ANN, 1);
      if (thread === undefined) throw new Error("no thread");
      const NO_MONEY = errorKind("out_of_credits", { status: 402, exit: 15, retry: true, message: "" });
      const failed = { end: { status: "failed", code: "model_failed", message: "no" } } as const;
      for (const code of ["model_failed", "turn_cancelled", NO_MONEY.code, "model_failed"] as const) {
        const claim = await take(store, thread);
        await store.settle(
          claim,
          ran(claim, { more: { ...failed, end: { ...failed.end, code }, at: NOW + 7 } }).outcome,
        );
      }
      const asked: Failures[] = [];
      const rested = (failures: Failures): boolean => asked.push(failures) > 1;
      expect(await taken({ rested })).toBe("bob");
      // One that was stopped did not fail.
      expect(asked).toEqual([
        { count: 2, at: NOW + 7 },
        { count: 0, at: 0 },
      ]);
      // Whose turns fail may be why a turn of several fails, and is in none.
      expect(await taken({})).toBe("ann");
      await store.close();
    });

    it("are taken by one of two workers; the other gets those who are left", async () => {
      const store = await waiting(openStore, NAMES);
      const { thread } = await startedBatch(store);
      expect((await store.openBatch(OWNER, opening()))?.scope.contact).toBe("fay");
      expect(await store.claim(thread.scope, thread.id, claiming())).toMatchObject({ state: "busy" });
      await store.close();
    });

    it("law 7: are taken up again after a crash as the same turns, and by nobody alone before", async () => {
      const store = await waiting(openStore);
      const first = await startedBatch(store);
      const dead = { alive: () => false };
      const alone = await store.threads(ANN, 1).then(([thread]) => thread);
      if (alone === undefined) throw new Error("no thread");
      await expect(store.claim(ANN, alone.id, claiming(dead))).rejects.toMatchObject({ code: "thread_busy" });
      const again = await startedBatch(store, dead);
      expect(again.thread.id).toBe(first.thread.id);
      expect(again.claim).toMatchObject({ turn: first.claim.turn, attempt: 2 });
      expect(again.claim.batchMembers?.map(({ turn }) => turn)).toEqual(
        first.claim.batchMembers?.map(({ turn }) => turn),
      );
      const late = store.settle(first.claim, done(first.claim));
      await expect(late).rejects.toMatchObject({ code: "lease_lost" });
      await store.settle(again.claim, done(again.claim));
      expect(await store.openBatch(OWNER, opening())).toBeUndefined();
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });
  });
}

function committing(openStore: OpenStore): void {
  describe("the commit of a turn of several senders", () => {
    it("gives each their own reply and history, and delivers the final text to nobody", async () => {
      const store = await waiting(openStore);
      const { thread, claim } = await startedBatch(store);
      await store.settle(claim, done(claim, { reply: "All is done." }));
      for (const name of ["ann", "bob"]) {
        const scope = scopeOf(name);
        const mail = await replies(store, scope);
        expect(mail.map(({ text }) => text)).toEqual([`only for ${name}`]);
        const [own] = await store.threads(scope, 1);
        expect((await store.slots(scope, own?.id ?? thread.id)).map(({ text }) => text)).toEqual([
          `${name} has a secret wish`,
          `only for ${name}`,
        ]);
      }
      expect(await replies(store, thread.scope)).toEqual([]);
      expect(await store.turn(thread.scope, claim.turn)).toMatchObject({ end: { reply: "All is done." } });
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it("is rebuilt as it was sent, and names the turns of its senders", async () => {
      const store = await waiting(openStore);
      const { thread, claim } = await startedBatch(store);
      const { outcome, sent } = ran(claim, { more: { replies: repliesOf(claim) } });
      await store.settle(claim, outcome);
      expect((await store.rebuild(thread.scope, claim.turn, 1)).request).toEqual(sent[0]);
      const senders = claim.batchMembers?.map((one) => ({ thread: one.thread.id, turn: one.turn }));
      expect(await store.turn(thread.scope, claim.turn)).toMatchObject({ senders });
      expect(await store.turns(thread.scope, thread.id)).toMatchObject([{ senders }]);
      await store.close();
    });

    it("is one turn of the agent's, also where it failed; who is run alone has one of their own", async () => {
      const store = await waiting(openStore);
      const failed = { end: { status: "failed", code: "model_failed", message: "no" } } as const;
      const first = await startedBatch(store);
      await store.settle(first.claim, done(first.claim, { more: failed }));
      expect((await store.usage({ ...OWNER, contact: null })).turns).toBe(1);
      const { claim } = await startedBatch(store);
      await store.settle(claim, done(claim));
      expect((await store.usage({ ...OWNER, contact: null })).turns).toBe(2);
      const thread = await open(store, ANN);
      await store.receive(ANN, thread.id, [said("And now alone")]);
      await store.settle(...(await take(store, thread).then((one) => [one, ran(one).outcome] as const)));
      expect((await store.usage({ ...OWNER, contact: null })).turns).toBe(3);
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it("counts once in what the agent used; each sender had a turn, and what all of them cost is nobody's alone", async () => {
      const store = await waiting(openStore);
      const { thread, claim } = await startedBatch(store);
      await store.settle(claim, done(claim));
      const all = { turns: 1, requests: 1, input: 100, dollars: 0.25 };
      expect(await store.usage({ ...OWNER, contact: null })).toMatchObject(all);
      expect(await store.usage(thread.scope)).toMatchObject(all);
      expect(await store.usage(ANN)).toMatchObject({ turns: 1, requests: 0, input: 0, dollars: 0 });
      await exchange(store, await open(store, ANN), "And now alone");
      expect(await store.usage({ ...OWNER, contact: null })).toMatchObject({ turns: 2, requests: 2, dollars: 0.5 });
      await store.close();
    });

    it("law 7: made a call for each whose messages it handled: known wherever one of them is, and told where all are", async () => {
      const store = await waiting(openStore, ["ann", "bob", "cid"]);
      const { claim } = await startedBatch(store);
      const [ann, bob, cid] = claim.batchMembers ?? [];
      if (ann === undefined || bob === undefined || cid === undefined) throw new Error("three are staged");
      const call = { ordinal: 1, tool: toolName("ring"), input: { bell: "door" } };
      const keyOf = ({ thread, turn }: Claim, handled: readonly Claim[] = []): JournalKey => {
        const senders = handled.map((one) => ({ scope: one.thread.scope, thread: one.thread.id, turn: one.turn }));
        return { ...call, thread: thread.id, turn, senders };
      };
      const begun = (one: Claim, handled?: readonly Claim[]) =>
        store.beginCall(one.thread.scope, keyOf(one, handled), NOW);
      expect(await begun(claim, [ann, bob])).toEqual({ state: "new" });
      const outcome = { text: untrusted("rang"), failed: false };
      await store.endCall(claim.thread.scope, keyOf(claim, [ann, bob]), outcome, NOW);
      const failed = { end: { status: "failed", code: "model_failed", message: "no" } } as const;
      const handled = { ...claim, batchMembers: [ann, bob, { ...cid, events: [] }] };
      await store.settle(handled, done(handled, { more: failed }));
      const again = await startedBatch(store);
      expect(await begun(again.claim, again.claim.batchMembers)).toEqual({ state: "done", outcome });
      await store.settle(again.claim, done(again.claim, { more: failed }));
      const alone = await take(store, bob.thread);
      expect(await begun(alone)).toEqual({ state: "elsewhere" });
      // Nothing was done for who had no room beside the others.
      expect(await begun(await take(store, cid.thread))).toEqual({ state: "new" });
      await store.settle(alone, ran(alone).outcome);
      await store.receive(bob.thread.scope, bob.thread.id, [said("Ring")]);
      expect(await begun(await take(store, bob.thread))).toEqual({ state: "new" });
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it("law 7: tells what came of a call that was made for one sender alone where that one is left alone with it", async () => {
      const store = await waiting(openStore);
      const { claim } = await startedBatch(store);
      const [ann, bob] = claim.batchMembers ?? [];
      if (ann === undefined || bob === undefined) throw new Error("two are staged");
      const call = { ordinal: 1, tool: toolName("ring"), input: { bell: "door" } };
      const senders = [{ scope: ann.thread.scope, thread: ann.thread.id, turn: ann.turn }];
      const key = { ...call, thread: claim.thread.id, turn: claim.turn, senders };
      expect(await store.beginCall(claim.thread.scope, key, NOW)).toEqual({ state: "new" });
      const outcome = { text: untrusted("rang"), failed: false };
      await store.endCall(claim.thread.scope, key, outcome, NOW);
      const handled = { ...claim, batchMembers: [ann, { ...bob, events: [] }] };
      const failed = { end: { status: "failed", code: "model_failed", message: "no" } } as const;
      await store.settle(handled, done(handled, { more: failed }));
      const alone = async ({ thread }: Claim) => {
        const { turn } = await take(store, thread);
        return store.beginCall(thread.scope, { ...call, thread: thread.id, turn }, NOW);
      };
      expect(await alone(ann)).toEqual({ state: "done", outcome });
      expect(await alone(bob)).toEqual({ state: "new" });
      await store.close();
    });

    it("handles the messages of a sender without a reply", async () => {
      const store = await waiting(openStore);
      const { claim } = await startedBatch(store);
      const [ann, bob] = repliesOf(claim);
      if (ann === undefined || bob === undefined) throw new Error("two are staged");
      await store.settle(claim, done(claim, { more: { replies: [ann, { ...bob, reply: null }] } }));
      expect(await replies(store, scopeOf("bob"))).toEqual([]);
      expect(await store.openBatch(OWNER, opening())).toBeUndefined();
      await store.close();
    });

    it("leaves all messages waiting where the turn failed, and says nothing of one sender to another", async () => {
      const store = await waiting(openStore);
      const { claim } = await startedBatch(store);
      await store.settle(
        claim,
        done(claim, { more: { end: { status: "failed", code: "model_failed", message: "ann has a wish" } } }),
      );
      for (const { thread, turn } of claim.batchMembers ?? []) {
        expect(await store.pending(thread.scope, thread.id)).toHaveLength(1);
        const { end } = (await store.turn(thread.scope, turn)) ?? {};
        expect(JSON.stringify(end)).not.toContain("ann");
      }
      const { claim: next } = await startedBatch(store);
      expect(next.turn).not.toBe(claim.turn);
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });
  });
}

function erasing(openStore: OpenStore): void {
  const erase = (store: Store, scope: ContactScope) =>
    store.eraseContact(scope, { org: scope.org, id: actorId("token:operator"), role: "operator" }, NOW + 9);

  describe("erasing one of several senders", () => {
    it("blanks the turn of all, keeps the others' messages and replies, and the record stays complete", async () => {
      const store = await waiting(openStore);
      const { thread, claim } = await startedBatch(store);
      await store.settle(claim, done(claim, { reply: "I told ann." }));
      expect(await erase(store, ANN)).toMatchObject({ contact: expect.stringMatching(/^~erased:/) });
      expect(JSON.stringify(await store.turn(thread.scope, claim.turn))).not.toContain("I told ann");
      await expect(store.receive(thread.scope, thread.id, [])).rejects.toMatchObject({ code: "thread_not_found" });
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it("stops a turn that handles the message with others', whose own wait at once for the next", async () => {
      const store = await waiting(openStore, ["ann", "bob", "cid"]);
      const { claim } = await startedBatch(store);
      await erase(store, ANN);
      const late = store.settle(claim, done(claim));
      await expect(late).rejects.toMatchObject({
        code: "lease_lost",
        message: expect.stringMatching(/^one of the senders of turn trn_\w+ was erased while it ran/),
      });
      const { claim: next } = await startedBatch(store);
      expect(next.batchMembers?.map(({ thread }) => thread.scope.contact)).toEqual(["bob", "cid"]);
      await store.settle(next, done(next));
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });
  });
}

function looking(openStore: OpenStore): void {
  describe("a look at the threads that wait", () => {
    const wish = { except: ["consolidation"], now: NOW, alive: () => true };

    it("gives each that nobody holds, who waits longest first, and of those who failed what has rested", async () => {
      const store = await waiting(openStore, ["ann", "bob", "cid"]);
      const found = await store.waitingThreads(OWNER, wish);
      const [ann, bob, cid] = await store.inbox(OWNER, { now: NOW, limit: 9 });
      expect(found).toEqual(
        [ann, bob, cid].map((one) => ({
          thread: one?.event.thread,
          first: one?.event.id,
          contact: one?.contact,
        })),
      );
      const [held] = await store.threads(ANN, 1);
      if (held === undefined) throw new Error("no thread");
      const claim = await take(store, held);
      expect((await store.waitingThreads(OWNER, wish)).map(({ thread }) => thread)).not.toContain(held.id);
      const failed = { end: { status: "failed", code: "model_failed", message: "no" }, at: NOW + 7 } as const;
      await store.settle(claim, ran(claim, { more: failed }).outcome);
      const rested = ({ count }: Failures): boolean => count === 0;
      expect(await store.waitingThreads(OWNER, wish)).toHaveLength(3);
      expect(await store.waitingThreads(OWNER, { ...wish, rested })).toHaveLength(2);
      expect(await store.waitingThreads({ ...OWNER, agent: agentName("another") }, wish)).toEqual([]);
      await store.close();
    });

    it("gives a turn of several that was interrupted in their place, once nobody holds it", async () => {
      const store = await waiting(openStore, ["ann", "bob"]);
      const { thread } = await startedBatch(store);
      const cid = await open(store, scopeOf("cid"));
      await store.receive(cid.scope, cid.id, [said("cid waits, too", { at: NOW + 9 })]);
      const others = (await store.waitingThreads(OWNER, wish)).map((one) => one.thread);
      expect(others).toHaveLength(1);
      const gone = await store.waitingThreads(OWNER, { ...wish, alive: () => false });
      expect(gone.map((one) => one.thread)).toEqual([thread.id, ...others]);
      await store.close();
    });
  });
}
