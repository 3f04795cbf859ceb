import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstRuns } from "../../../tests/spread.ts";
import { type Actor, actorId, type ContactScope, toolName, untrusted } from "../../protocol/index.ts";
import type { Claim, Thread } from "../records.ts";
import type { JournalKey, Store } from "../store.ts";
import {
  ANN,
  asking,
  claiming,
  epochOf,
  exchange,
  NOW,
  newMemory,
  type OpenStore,
  open,
  problems,
  type Ran,
  ran,
  remembered,
  replies,
  said,
  scopeOf,
  take,
} from "./sample.contract.ts";

/** What an erased contact left, and where it is now. */
interface ErasedStand {
  readonly thread: Thread;
  readonly runs: readonly (Ran & { readonly claim: Claim })[];
  readonly gone: ContactScope;
}

const OPERATOR: Actor = { org: ANN.org, id: actorId("token:operator"), role: "operator" };

/** The journal, the chain, erasure, and what holds whatever happens. */
export function recordContract(openStore: OpenStore): void {
  journal(openStore);
  chain(openStore);
  erasure(openStore);
  anything(openStore);
}

function journal(openStore: OpenStore): void {
  const rang = {
    text: untrusted("rang"),
    failed: false,
    writes: [{ kind: "memory", memory: remembered("bell") }],
  } as const;

  async function calling(store: Store): Promise<{ claim: Claim; call: JournalKey }> {
    const thread = await open(store);
    await store.receive(ANN, thread.id, [said("Ring")]);
    const claim = await take(store, thread);
    const input = { bell: "door", times: 2 };
    return { claim, call: { thread: thread.id, turn: claim.turn, ordinal: 1, tool: toolName("ring"), input } };
  }

  describe("the journal of calls", () => {
    it("law 7 knows a call that is new, one whose end is unknown and one that acted", async () => {
      const store = await openStore();
      const { call } = await calling(store);
      expect(await store.beginCall(ANN, call, NOW)).toEqual({ state: "new" });
      expect(await store.beginCall(ANN, call, NOW)).toEqual({ state: "unknown" });
      await store.endCall(ANN, call, rang, NOW + 1);
      const same = { ...call, input: { times: 2, bell: "door" } };
      expect(await store.beginCall(ANN, same, NOW + 2)).toEqual({ state: "done", outcome: rang });
      await store.endCall(ANN, call, { text: untrusted("again"), failed: true }, NOW + 3);
      expect(await store.beginCall(ANN, call, NOW + 4)).toEqual({ state: "done", outcome: rang });
      await store.close();
    });

    it("law 7 another input or tool at the same place is another call, and the first is not forgotten", async () => {
      const store = await openStore();
      const { call } = await calling(store);
      await store.beginCall(ANN, call, NOW);
      await store.endCall(ANN, call, rang, NOW);
      expect(await store.beginCall(ANN, { ...call, input: { bell: "back" } }, NOW)).toEqual({ state: "new" });
      expect(await store.beginCall(ANN, { ...call, tool: toolName("knock") }, NOW)).toEqual({ state: "new" });
      expect(await store.beginCall(ANN, { ...call, ordinal: 2 }, NOW)).toEqual({ state: "new" });
      expect(await store.beginCall(ANN, call, NOW)).toEqual({ state: "done", outcome: rang });
      await store.close();
    });

    it("law 7 a worker that was overtaken may not act any more, but may still tell what it did", async () => {
      const store = await openStore();
      const { claim, call } = await calling(store);
      await store.beginCall(ANN, call, NOW);
      await store.settle(claim, ran(claim).outcome);
      await expect(store.beginCall(ANN, { ...call, ordinal: 2 }, NOW)).rejects.toMatchObject({ code: "lease_lost" });
      await store.endCall(ANN, call, rang, NOW);
      expect(await store.beginCall(ANN, call, NOW)).toEqual({ state: "done", outcome: rang });
      await store.eraseContact(ANN, OPERATOR, NOW);
      await expect(store.beginCall(ANN, call, NOW)).rejects.toMatchObject({ code: "thread_not_found" });
      await expect(store.endCall(ANN, call, rang, NOW)).rejects.toMatchObject({ code: "thread_not_found" });
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it("law 7 knows a call of a turn that failed for as long as one of that turn's events waits", async () => {
      const store = await openStore();
      const { claim, call } = await calling(store);
      await store.beginCall(ANN, call, NOW);
      await store.endCall(ANN, call, rang, NOW);
      await store.settle(claim, ran(claim, { failed: true }).outcome);
      const second = await take(store, claim.thread);
      expect(await store.beginCall(ANN, { ...call, turn: second.turn }, NOW)).toEqual({ state: "done", outcome: rang });
      await store.settle(second, ran(second, { failed: true }).outcome);
      await store.withdraw(ANN, claim.thread.id, { now: NOW, at: NOW, alive: () => true });
      await store.receive(ANN, claim.thread.id, [said("A day later: ring")]);
      const third = await take(store, claim.thread);
      expect(await store.beginCall(ANN, { ...call, turn: third.turn }, NOW)).toEqual({ state: "new" });
      await store.close();
    });

    it("cannot end what it did not begin", async () => {
      const store = await openStore();
      const { call } = await calling(store);
      await expect(store.endCall(ANN, call, rang, NOW)).rejects.toMatchObject({ code: "invalid_input" });
      await store.close();
    });
  });
}

function chain(openStore: OpenStore): void {
  describe("the record", () => {
    it("has one link for each turn that ended, per organization, and checks out", async () => {
      const store = await openStore();
      expect(await store.head(ANN.org)).toEqual({ org: "home", seq: 0, hash: null });
      const [ann, away] = [await open(store), await open(store, scopeOf("ann", "companion", "away"))];
      await exchange(store, ann, "one");
      await exchange(store, ann, "two", { failed: true });
      await exchange(store, away, "one");
      expect(await store.organizations()).toEqual(["away", "home"]);
      expect(await store.agents(ANN.org)).toEqual([ANN.agent]);
      expect((await store.head(ANN.org)).seq).toBe(2);
      expect((await store.head(away.scope.org)).seq).toBe(1);
      expect((await store.turns(ANN, ann.id)).map((turn) => turn.link?.seq)).toEqual([1, 2]);
      expect(await problems(store, ANN.org)).toEqual([]);
      expect(await problems(store, away.scope.org)).toEqual([]);
      await store.close();
    });

    it("tells as it is checked how much was: pieces, epochs, turns, links", async () => {
      const store = await openStore();
      const thread = await open(store);
      for (const text of ["one", "two"]) await exchange(store, thread, text);
      const counts = new Map<string, number>();
      for await (const finding of store.verify(ANN.org)) {
        if (finding.type === "checked")
          counts.set(finding.what, Math.max(counts.get(finding.what) ?? 0, finding.count));
      }
      expect(Object.fromEntries(counts)).toMatchObject({ link: 2, turn: 2, epoch: 1 });
      expect(counts.get("piece")).toBeGreaterThan(5);
      await store.close();
    });

    it("reaches every head it ever had: an anchor of another record or a longer one does not fit", async () => {
      const store = await openStore();
      const thread = await open(store);
      const heads = [await store.head(ANN.org)];
      for (const text of ["one", "two", "three"]) {
        await exchange(store, thread, text);
        heads.push(await store.head(ANN.org));
      }
      for (const head of heads) expect(await problems(store, ANN.org, head)).toEqual([]);
      const last = heads.at(-1) ?? { org: ANN.org, seq: 0, hash: null };
      expect(await problems(store, ANN.org, { ...last, seq: 4 })).toMatchObject([/ends at link 3/]);
      expect(await problems(store, ANN.org, { ...last, seq: 2 })).toMatchObject([/written anew/]);
      expect(await problems(store, ANN.org, { ...last, org: scopeOf("a", "a", "away").org })).toMatchObject([/anchor/]);
      await store.close();
    });

    it("may be checked while turns continue", async () => {
      const store = await openStore();
      const thread = await open(store);
      await exchange(store, thread, "before");
      const found: unknown[] = [];
      let n = 0;
      for await (const finding of store.verify(ANN.org)) {
        if (finding.type === "problem") found.push(finding);
        await exchange(store, thread, `during ${n++}`, n === 3 ? { epochs: [epochOf(2)] } : {});
      }
      expect(found).toEqual([]);
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });
  });
}

function erasure(openStore: OpenStore): void {
  async function erasedStand(store: Store): Promise<ErasedStand> {
    const thread = await open(store);
    const runs = [
      await exchange(store, thread, "My name is Ann"),
      await exchange(store, thread, "Bye", { failed: true }),
    ];
    await store.saveMemory(ANN, newMemory(), remembered("Ann likes tea"));
    const gone = await store.eraseContact(ANN, OPERATOR, NOW + 9_000);
    if (!gone) throw new Error("nothing was erased");
    return { thread, runs, gone };
  }

  describe("erasing a contact", () => {
    it("blanks every text, forgets memories and what waits to be sent, and keeps the record whole", async () => {
      const store = await openStore();
      const { thread, runs, gone } = await erasedStand(store);
      const told = JSON.stringify([
        await store.thread(gone, thread.id),
        await store.slots(gone, thread.id),
        await store.pending(gone, thread.id),
        await store.turns(gone, thread.id),
        await store.memories(gone, 9),
        await replies(store, gone),
      ]);
      for (const text of ["My name", "Bye", "Hello", "tea", "did not answer", "main"]) expect(told).not.toContain(text);
      expect([await store.threads(ANN, 9), await replies(store, ANN)]).toEqual([[], []]);
      expect(await store.searchMemories([ANN], asking("tea", 9))).toEqual([]);
      expect(await store.pending(gone, thread.id)).toEqual([]);
      expect(await store.usage(gone)).toMatchObject({ turns: 2, requests: 2, input: 100, dollars: 0.5 });
      expect(await store.slots(gone, thread.id)).toMatchObject([{ text: "" }, { text: "" }]);
      expect((await store.turn(gone, runs[0]?.claim.turn ?? ("" as Claim["turn"])))?.requests[0]?.reply).toMatchObject({
        parts: [],
        usage: { input: 100 },
      });
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it("leaves requests that cannot be rebuilt any more, and says why", async () => {
      const store = await openStore();
      const { runs, gone } = await erasedStand(store);
      for (const { claim } of runs) {
        const asked = store.rebuild(gone, claim.turn, 1);
        await expect(asked).rejects.toMatchObject({
          code: "record_broken",
          message: expect.stringContaining("erased"),
        });
      }
      await store.close();
    });

    it("closes the contact's threads: what comes next opens a new one, with a clean start", async () => {
      const store = await openStore();
      const { thread } = await erasedStand(store);
      await expect(store.receive(ANN, thread.id, [said("x")])).rejects.toMatchObject({ code: "thread_not_found" });
      await expect(store.claim(ANN, thread.id, claiming())).rejects.toThrow(/erased/);
      const fresh = await open(store);
      expect(fresh.id).not.toBe(thread.id);
      const { claim, sent } = await exchange(store, fresh, "My name is Ann");
      expect(claim.epoch).toBeUndefined();
      expect((await store.rebuild(ANN, claim.turn, 1)).request).toEqual(sent[0]);
      await store.eraseContact(ANN, OPERATOR, NOW + 10_000);
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it("stops a turn that runs: its worker can write nothing back, and it ends as failed", async () => {
      const store = await openStore();
      const thread = await open(store);
      await store.receive(ANN, thread.id, [said("Hi")]);
      const claim = await take(store, thread);
      const gone = await store.eraseContact(ANN, OPERATOR, NOW);
      await expect(store.settle(claim, ran(claim).outcome)).rejects.toMatchObject({
        code: "thread_not_found",
        message: expect.stringMatching(/^ann was erased while turn trn_\w+ ran; nothing of it was stored/),
      });
      expect(await store.renew(claim, NOW + 99_000)).toBe(false);
      expect(await store.turn(gone ?? ANN, claim.turn)).toMatchObject({
        status: "failed",
        end: { code: "turn_cancelled" },
        link: { seq: 1 },
      });
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it("records who asked by role, once, and nobody's name", async () => {
      const store = await openStore();
      await store.eraseContact(ANN, OPERATOR, NOW);
      expect((await store.head(ANN.org)).seq).toBe(0);
      await erasedStand(store);
      const head = await store.head(ANN.org);
      expect(head.seq).toBe(3);
      await store.eraseContact(ANN, OPERATOR, NOW);
      expect(await store.head(ANN.org)).toEqual(head);
      await store.close();
    });

    it("touches nobody else: not another contact, not the agent's own memories, not what all share", async () => {
      const store = await openStore();
      const bob = await open(store, scopeOf("bob"));
      const { claim, sent } = await exchange(store, bob, "My name is Ann");
      await store.saveMemory({ ...ANN, contact: null }, newMemory(), remembered("Tea at five"));
      await erasedStand(store);
      expect((await store.rebuild(bob.scope, claim.turn, 1)).request).toEqual(sent[0]);
      expect(await store.memories({ ...ANN, contact: null }, 9)).toHaveLength(1);
      await store.close();
    });
  });
}

type Deed = "message" | "done" | "failed" | "crash" | "cut";

function anything(openStore: OpenStore): void {
  const { numRuns, title } = firstRuns(20, 8);
  it(
    title(
      "003.59 003.61 law 7 whatever happens to turns, no event is lost or handled twice, every request is rebuilt and the record checks out",
    ),
    async () => {
      const deed = fc.constantFrom<Deed>("message", "message", "done", "failed", "crash", "cut");
      await fc.assert(
        fc.asyncProperty(fc.array(deed, { minLength: 3, maxLength: 25 }), async (deeds) => {
          const store = await openStore();
          const thread = await open(store);
          const life = {
            store,
            thread,
            received: 0,
            handled: [] as string[],
            sent: [] as (Ran & { claim: Claim })[],
            transcript: 0,
          };
          for (const one of deeds) await happen(life, one);
          const slots = await store.slots(ANN, thread.id);
          const messages = slots.filter((slot) => slot.kind === "message").map((slot) => slot.text);
          expect(messages).toEqual(life.handled);
          expect(life.handled.length + (await store.pending(ANN, thread.id)).length).toBe(life.received);
          for (const { claim, sent } of life.sent) {
            expect((await store.rebuild(ANN, claim.turn, 1)).request).toEqual(sent[0]);
          }
          expect((await store.epoch(ANN, thread.id))?.transcript.length ?? 0).toBe(life.transcript);
          expect(await problems(store, ANN.org)).toEqual([]);
          await store.close();
        }),
        { numRuns },
      );
    },
  );
}

interface Life {
  readonly store: Store;
  readonly thread: Thread;
  received: number;
  readonly handled: string[];
  readonly sent: (Ran & { claim: Claim })[];
  transcript: number;
}

async function happen(life: Life, deed: Deed): Promise<void> {
  const { store, thread } = life;
  if (deed === "message") {
    await store.receive(ANN, thread.id, [said(`message ${++life.received}`)]);
    return;
  }
  const claimed = await store.claim(ANN, thread.id, claiming({ alive: () => false }));
  if (claimed.state !== "claimed" || deed === "crash") return;
  const { claim } = claimed;
  const epochs =
    deed === "cut" && claim.epoch ? { epochs: [epochOf(claim.epoch.n + 1, claim.epoch.transcript.slice(-1))] } : {};
  const run = ran(claim, { ...epochs, failed: deed === "failed" });
  await store.settle(claim, run.outcome);
  life.sent.push({ ...run, claim });
  if (run.outcome.epochs.length > 0) life.transcript = run.outcome.epochs.at(-1)?.transcript.length ?? 0;
  if (deed === "failed") return;
  life.transcript += run.outcome.messages.length;
  life.handled.push(
    ...claim.events.map(({ content }) => content.map((part) => (part.type === "text" ? part.text : "")).join()),
  );
}
