import { describe, expect, it } from "vitest";
import { type Approval, actorId, approvalId, contactId, issueId, ownKind, untrusted } from "../../protocol/index.ts";
import {
  ANN,
  asked,
  edited,
  exchange,
  holding,
  LOOP,
  NOW,
  newMemory,
  type OpenStore,
  onEachDatabase,
  open,
  problems,
  remembered,
  rewriting,
  said,
  saving,
  VERSION,
} from "../../store/index.contract.ts";
import type { Store, Thread } from "../../store/index.ts";
import { APPROVAL_STORE, type ApprovalFilter, type Decision, type Finish } from "./store.ts";

const approvalsOf = (store: Store) => store.part(APPROVAL_STORE);

const UNKNOWN = approvalId(issueId("approval", NOW, new Uint8Array(10)));

/** A thread with a call that waits, asked for by a turn that is done. */
async function waiting(store: Store, more: Parameters<typeof asked>[0] = {}): Promise<Approval & { at: Thread }> {
  const at = await open(store, ANN);
  const call = asked(more);
  await exchange(store, at, "Book the blue room", { more: { ...holding(call) } });
  const found = await approvalsOf(store).approval(ANN, call.id);
  if (!found) throw new Error("the approval was not kept");
  return { ...found, at };
}

const told = (text: string) => said(text, { kind: ownKind("approval"), trust: "operator" });

const decision = (more: Partial<Decision> = {}): Decision => ({
  verdict: "approved",
  by: "operator",
  byId: actorId("member:mia"),
  at: NOW + 5_000,
  ...more,
});

const finish = (more: Partial<Finish> = {}): Finish => ({
  outcome: { text: untrusted("Booked for four"), failed: false },
  writes: [],
  event: told("The room is booked"),
  at: NOW + 6_000,
  ...more,
});

onEachDatabase("a call that waits for a person", [APPROVAL_STORE], (openStore) => {
  asking(openStore);
  deciding(openStore);
  finishing(openStore);
  erasing(openStore);
});

function asking(openStore: OpenStore): void {
  describe("an approval that is asked for", () => {
    it("law 7 lands in the commit of the turn that is done, and not in that of one that failed", async () => {
      const store = await openStore();
      const thread = await open(store, ANN);
      await exchange(store, thread, "Book it", { failed: true, more: { ...holding(asked()) } });
      expect(await approvalsOf(store).approvals(ANN, {}, 9)).toEqual([]);
      const call = asked({ taint: "member", schema: VERSION });
      const { claim, outcome } = await exchange(store, thread, "Now book it", { more: { ...holding(call) } });
      expect(await approvalsOf(store).approval(ANN, call.id)).toEqual({
        ...call,
        scope: ANN,
        thread: thread.id,
        turn: claim.turn,
        status: "waiting",
        askedAt: outcome.at,
      });
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it("is listed newest first, by status and thread, to as many as are wanted", async () => {
      const store = await openStore();
      const thread = await open(store, ANN);
      const other = await open(store, ANN, "other");
      const calls = [asked(), asked(), asked()];
      for (const [i, call] of calls.entries()) {
        await exchange(store, i === 2 ? other : thread, "Book", { more: { ...holding(call), at: NOW + i } });
      }
      const [first, second, third] = calls.map(({ id }) => id);
      if (!first || !second || !third) throw new Error("three were asked for");
      await approvalsOf(store).decideApproval(ANN, second, decision());
      const listed = async (...[filter, limit]: [ApprovalFilter, number]) =>
        (await approvalsOf(store).approvals(ANN, filter, limit)).map(({ id }) => id);
      expect(await listed({}, 9)).toEqual([third, second, first]);
      expect(await listed({}, 2)).toEqual([third, second]);
      expect(await listed({ after: { at: NOW + 1, id: second } }, 9)).toEqual([first]);
      expect(await listed({ after: { at: NOW + 1, id: `${second}z` } }, 9)).toEqual([second, first]);
      expect(await listed({ status: "waiting" }, 9)).toEqual([third, first]);
      expect(await listed({ thread: thread.id }, 9)).toEqual([second, first]);
      expect(await listed({ status: "approved", thread: other.id }, 9)).toEqual([]);
      await store.close();
    });
  });
}

function deciding(openStore: OpenStore): void {
  describe("a decision", () => {
    it("lets the call through, once, with who decided, when and why", async () => {
      const store = await openStore();
      const { at, ...asked } = await waiting(store);
      const note = untrusted("fine by me");
      const decided = await approvalsOf(store).decideApproval(ANN, asked.id, decision({ note }));
      expect(decided).toEqual({
        ...asked,
        status: "approved",
        decidedAt: NOW + 5_000,
        decidedBy: "operator",
        decidedById: "member:mia",
        note,
      });
      expect(await approvalsOf(store).approval(ANN, asked.id)).toEqual(decided);
      expect(await store.pending(ANN, at.id)).toEqual([]);
      for (const verdict of ["approved", "denied"] as const) {
        await expect(approvalsOf(store).decideApproval(ANN, asked.id, decision({ verdict }))).rejects.toMatchObject({
          code: "approval_decided",
        });
      }
      expect(await approvalsOf(store).approval(ANN, asked.id)).toEqual(decided);
      await store.close();
    });

    it("that refuses posts to the thread in the same transaction; one that comes too late posts nothing", async () => {
      const store = await openStore();
      const { id, at } = await waiting(store);
      const denial = decision({ verdict: "denied", event: told("A person said no") });
      expect(await approvalsOf(store).decideApproval(ANN, id, denial)).toMatchObject({ status: "denied" });
      expect(await store.pending(ANN, at.id)).toMatchObject([
        { kind: "approval", trust: "operator", content: [{ text: "A person said no" }] },
      ]);
      const late = decision({ verdict: "denied", event: told("A second no") });
      await expect(approvalsOf(store).decideApproval(ANN, id, late)).rejects.toMatchObject({
        code: "approval_decided",
      });
      expect(await store.pending(ANN, at.id)).toHaveLength(1);
      await store.close();
    });

    it("about a call that is not there is refused", async () => {
      const store = await openStore();
      await expect(approvalsOf(store).decideApproval(ANN, UNKNOWN, decision())).rejects.toMatchObject({
        code: "approval_not_found",
      });
      await expect(approvalsOf(store).finishApproval(ANN, UNKNOWN, finish())).rejects.toMatchObject({
        code: "approval_not_found",
      });
      expect(await approvalsOf(store).approval(ANN, UNKNOWN)).toBeUndefined();
      await store.close();
    });
  });
}

function finishing(openStore: OpenStore): void {
  describe("an approved call that has run", () => {
    it("leaves its result, its writes and its event, once", async () => {
      const store = await openStore();
      const { id, at } = await waiting(store);
      await approvalsOf(store).decideApproval(ANN, id, decision());
      const memory = newMemory();
      const writes = [saving(remembered("The blue room is booked"), memory)];
      const done = await approvalsOf(store).finishApproval(ANN, id, finish({ writes }));
      expect(done).toMatchObject({ status: "done", outcome: { text: "Booked for four", failed: false } });
      expect(await approvalsOf(store).approval(ANN, id)).toEqual(done);
      expect(await store.memories(ANN, 9)).toMatchObject([{ id: memory, content: "The blue room is booked" }]);
      expect(await store.pending(ANN, at.id)).toMatchObject([{ content: [{ text: "The room is booked" }] }]);
      await expect(approvalsOf(store).finishApproval(ANN, id, finish())).rejects.toMatchObject({
        code: "approval_decided",
      });
      expect(await store.pending(ANN, at.id)).toHaveLength(1);
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it("is kept though as many messages of the contact wait as may: it has acted, and what it came to is not lost", async () => {
      const store = await openStore();
      const { id, at } = await waiting(store);
      await approvalsOf(store).decideApproval(ANN, id, decision());
      const flood = Array.from({ length: 1_000 }, (_, i) => said(`message ${i}`));
      await store.receive(ANN, (await open(store, ANN, "other")).id, flood);
      // A tool that reads from outside: its result is trusted like a contact's words.
      const event = { ...told("The room is booked"), trust: "contact" } as const;
      expect(await approvalsOf(store).finishApproval(ANN, id, finish({ event }))).toMatchObject({ status: "done" });
      expect(await store.pending(ANN, at.id)).toMatchObject([{ content: [{ text: "The room is booked" }] }]);
      await expect(store.receive(ANN, at.id, [said("more")])).rejects.toMatchObject({ code: "inbox_full" });
      await store.close();
    });

    it("changes a text of the agent's, also beside a proposal of another contact", async () => {
      const store = await openStore();
      const agents = { org: ANN.org, agent: ANN.agent };
      await store.editText(agents, edited("A loop."), NOW);
      const bob = { ...ANN, contact: contactId("bob") };
      const theirs = edited("Bob's loop.", { inputs: "contact", status: "proposed", parent: 1 });
      await exchange(store, await open(store, bob), "Change it", {
        more: { writes: [rewriting(theirs)] },
      });
      const { id } = await waiting(store);
      await approvalsOf(store).decideApproval(ANN, id, decision());
      const beside = await store.textPointers(agents);
      const edit = edited("Ann's loop.", { parent: 1, beside: beside.filter(({ layer }) => layer !== LOOP.layer) });
      const writes = [rewriting(edit)];
      await approvalsOf(store).finishApproval(ANN, id, finish({ writes }));
      expect((await store.textVersions(agents, { key: LOOP, limit: 9 })).map(({ text }) => text)).toEqual(
        expect.arrayContaining(["A loop.", "Bob's loop.", "Ann's loop."]),
      );
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });

    it.each(["waiting", "denied"] as const)("leaves nothing when it is %s", async (status) => {
      const store = await openStore();
      const { id, at } = await waiting(store);
      if (status === "denied") await approvalsOf(store).decideApproval(ANN, id, decision({ verdict: "denied" }));
      const writes = [saving(remembered("Booked"))];
      const finished = approvalsOf(store).finishApproval(ANN, id, finish({ writes }));
      await expect(finished).rejects.toMatchObject({ code: "approval_decided" });
      expect(await approvalsOf(store).approval(ANN, id)).toMatchObject({ status });
      expect(await store.memories(ANN, 9)).toEqual([]);
      expect(await store.pending(ANN, at.id)).toEqual([]);
      await store.close();
    });

    it("law 7 leaves nothing when one of its writes cannot be kept", async () => {
      const store = await openStore();
      const { id, at } = await waiting(store);
      await approvalsOf(store).decideApproval(ANN, id, decision());
      const writes = [{ write: saving(remembered("Booked")).write }];
      await expect(approvalsOf(store).finishApproval(ANN, id, finish({ writes }))).rejects.toMatchObject({
        code: "invalid_input",
      });
      expect(await approvalsOf(store).approval(ANN, id)).toMatchObject({ status: "approved" });
      expect(await store.memories(ANN, 9)).toEqual([]);
      expect(await store.pending(ANN, at.id)).toEqual([]);
      await store.close();
    });
  });
}

function erasing(openStore: OpenStore): void {
  describe("the approvals of an erased contact", () => {
    it("keep their ids and lose their texts; none of them waits any more", async () => {
      const store = await openStore();
      const first = await waiting(store, { input: { secret: "Ann's" } });
      await approvalsOf(store).decideApproval(ANN, first.id, decision({ note: untrusted("Ann is nice") }));
      await approvalsOf(store).finishApproval(ANN, first.id, finish());
      const second = await waiting(store, { input: { secret: "Ann's too" } });
      const gone = await store.eraseContact(
        ANN,
        { org: ANN.org, id: actorId("token:operator"), role: "operator" },
        NOW + 9_000,
      );
      if (!gone) throw new Error("nothing was erased");
      expect(await approvalsOf(store).approvals(ANN, {}, 9)).toEqual([]);
      expect(await approvalsOf(store).approvals(gone, { status: "waiting" }, 9)).toEqual([]);
      const left = await approvalsOf(store).approvals(gone, {}, 9);
      expect(left.map(({ id }) => id).sort()).toEqual([first.id, second.id].sort());
      expect(left.find(({ id }) => id === first.id)).toMatchObject({
        input: null,
        note: "",
        outcome: { text: "", failed: false },
        // The approver stays; the other approval was closed by the erasure.
        ...{ decidedBy: "operator", decidedById: "member:mia" },
      });
      expect(left.find(({ id }) => id === second.id)).toMatchObject({
        ...{ input: null, status: "denied", decidedBy: "operator", decidedById: "token:operator" },
      });
      await expect(approvalsOf(store).decideApproval(gone, second.id, decision())).rejects.toMatchObject({
        code: "approval_decided",
      });
      expect(await problems(store, ANN.org)).toEqual([]);
      await store.close();
    });
  });
}
