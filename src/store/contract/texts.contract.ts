import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstRuns } from "../../../tests/spread.ts";
import {
  actorId,
  batchContact,
  digestOf,
  layerId,
  type NewText,
  SELF,
  type TextKey,
  type TextStatus,
  trusted,
  untrusted,
} from "../../protocol/index.ts";
import type { MoveRequest, MovesWish, TextDecision } from "../agent-store.ts";
import type { Store } from "../store.ts";
import {
  edited,
  exchange,
  LOOP,
  NOW,
  type OpenStore,
  OWNER,
  open,
  problems,
  type RunOptions,
  ran,
  rewriting,
  said,
  scopeOf,
  take,
} from "./sample.contract.ts";

const POET: TextKey = { layer: layerId("skills"), part: "poet" };

/** Who changes texts by hand here: a row and its link say which operator it was. */
const MIA = { by: "operator", byId: actorId("member:mia") } as const;
const byHand = { trust: "operator", inputs: "operator", ...MIA } as const;

interface Moving extends Partial<Pick<NewText, "beside">> {
  readonly kind?: MoveRequest["kind"];
}

const moving = (to: number | null, { kind = "activated", beside = [] }: Moving = {}): MoveRequest => {
  const request = { kind, ...MIA, reason: untrusted("on purpose"), at: NOW + 9 } as const;
  return to === null ? { ...request, to } : { ...request, to, beside };
};

interface Deciding extends Partial<Pick<NewText, "beside">> {
  readonly over?: number;
}

const deciding = (verdict: TextDecision["verdict"], { beside = [], ...over }: Deciding = {}): TextDecision => {
  const word = { ...MIA, reason: untrusted("I looked at it"), at: NOW + 5, ...over } as const;
  return verdict === "approved" ? { ...word, verdict, beside } : { ...word, verdict };
};

/** The pointers of the other texts, which a text is measured with. */
async function othersOf(store: Store, { layer, part }: TextKey): Promise<Pick<NewText, "beside">> {
  const all = await store.textPointers(OWNER);
  const isBeside = (one: TextKey) =>
    part === undefined ? one.part === undefined && one.layer !== layer : one.layer === layer && one.part !== part;
  return { beside: all.filter(isBeside) };
}

const MANY = { limit: 99 };

/** Texts of agents: versions, pointers, proposals. */
export function textContract(openStore: OpenStore): void {
  versions(openStore);
  pointers(openStore);
  proposals(openStore);
  anyDeeds(openStore);
  besideOthers(openStore);
  inTurns(openStore);
}

const activeOf = async (store: Store) => (await store.activeTexts(OWNER)).map(({ text }) => text);

function versions(openStore: OpenStore): void {
  describe("a text that was edited", () => {
    it("000.46 has layer, content, time, turn and a version that counts up", async () => {
      const store = await openStore();
      const thread = await open(store);
      const { claim } = await exchange(store, thread, "Hi");
      await store.editText(OWNER, edited("Look first."), NOW);
      const verdict = { verdict: "review", findings: ["It speaks of layer 2."] } as const;
      const line = trusted("Look twice.");
      const second = await store.editText(
        OWNER,
        edited("Look twice, then act.", { turn: claim.turn, parent: 1, verdict, line }),
        NOW + 7,
      );
      expect(second).toEqual({
        layer: "loop",
        n: 2,
        text: "Look twice, then act.",
        line: "Look twice.",
        digest: digestOf("Look twice, then act."),
        status: "kept",
        active: true,
        trust: "agent",
        inputs: "agent",
        by: "agent",
        turn: claim.turn,
        reason: "it reads better",
        verdict,
        parent: 1,
        place: { rank: 6, source: "text" },
        at: NOW + 7,
      });
      await store.close();
    });

    it("000.73 keeps every version, newest first, and what was done with them", async () => {
      const store = await openStore();
      await store.editText(OWNER, edited("one"), NOW);
      await store.editText(OWNER, edited("two", { parent: 1 }), NOW + 1);
      await store.moveText(OWNER, LOOP, moving(1, { kind: "rolled back" }));
      const [newest, first] = await store.textVersions(OWNER, { key: LOOP, ...MANY });
      expect(newest).toMatchObject({ n: 2, text: "two", active: false, status: "kept" });
      expect(first).toMatchObject({ n: 1, text: "one", active: true, status: "kept" });
      expect(await store.textMoves(OWNER, { key: LOOP, ...MANY })).toEqual([
        {
          ...LOOP,
          seq: 3,
          kind: "rolled back",
          n: 1,
          from: 2,
          to: 1,
          ...MIA,
          reason: "on purpose",
          at: NOW + 9,
        },
        { ...LOOP, seq: 2, kind: "edited", n: 2, from: 1, to: 2, by: "agent", reason: "it reads better", at: NOW + 1 },
        { ...LOOP, seq: 1, kind: "edited", n: 1, from: 0, to: 1, by: "agent", reason: "it reads better", at: NOW },
      ]);
      expect(await store.textMoves(OWNER, { limit: 1 })).toMatchObject([{ kind: "rolled back" }]);
      await store.close();
    });

    it("is read in pages: so many at most, and those before a version", async () => {
      const store = await openStore();
      for (let n = 0; n < 5; n++) await store.editText(OWNER, edited(`text ${n + 1}`, { parent: n }), NOW);
      const page = async (wish: { readonly before?: number; readonly limit: number }) =>
        (await store.textVersions(OWNER, { key: LOOP, ...wish })).map(({ n }) => n);
      expect(await page({ limit: 2 })).toEqual([5, 4]);
      expect(await page({ limit: 2, before: 4 })).toEqual([3, 2]);
      expect(await page({ limit: 2, before: 2 })).toEqual([1]);
      expect(await store.textVersions(OWNER, { limit: 1 })).toMatchObject([{ n: 5 }]);
      await store.close();
    });

    it("has what was done with it read in pages: before a move, and about versions before one", async () => {
      const store = await openStore();
      for (let n = 0; n < 3; n++) await store.editText(OWNER, edited(`text ${n + 1}`, { parent: n }), NOW);
      await store.moveText(OWNER, LOOP, moving(1, { kind: "rolled back" }));
      const page = async (wish: Omit<MovesWish, "key">) =>
        (await store.textMoves(OWNER, { key: LOOP, ...wish })).map(({ seq, n }) => [seq, n]);
      expect(await page({ limit: 2 })).toEqual([
        [4, 1],
        [3, 3],
      ]);
      expect(await page({ limit: 2, before: 3 })).toEqual([
        [2, 2],
        [1, 1],
      ]);
      expect(await page({ limit: 9, below: 2 })).toEqual([
        [4, 1],
        [1, 1],
      ]);
      expect(await page({ limit: 9, before: 4, below: 2 })).toEqual([[1, 1]]);
      await store.close();
    });

    it("law 5 is its agent's alone", async () => {
      const store = await openStore();
      await store.editText(OWNER, edited("ours"), NOW);
      for (const scope of [scopeOf("ann", "other"), scopeOf("ann", "companion", "elsewhere")]) {
        const theirs = { org: scope.org, agent: scope.agent };
        expect(await store.activeTexts(theirs)).toEqual([]);
        expect(await store.textVersions(theirs, MANY)).toEqual([]);
        expect(await store.textMoves(theirs, { key: LOOP, ...MANY })).toEqual([]);
        expect(await store.textPointers(theirs)).toEqual([]);
        await expect(store.moveText(theirs, LOOP, moving(1))).rejects.toMatchObject({ code: "text_not_found" });
      }
      expect(await activeOf(store)).toEqual(["ours"]);
      await store.close();
    });

    it("000.62 stands apart from every other: of each layer and each skill one is active", async () => {
      const store = await openStore();
      const memory: TextKey = { layer: layerId("memory") };
      await store.editText(OWNER, edited("loop"), NOW);
      await store.editText(OWNER, edited("memory", { ...memory, ...(await othersOf(store, memory)) }), NOW);
      await store.editText(OWNER, edited("rhyme", { ...POET, ...byHand }), NOW);
      await store.editText(OWNER, edited("loops", { parent: 1, ...(await othersOf(store, LOOP)) }), NOW);
      expect(await store.activeTexts(OWNER)).toMatchObject([
        { ...LOOP, n: 2, text: "loops" },
        { ...memory, n: 1, text: "memory" },
        { ...POET, n: 1, text: "rhyme" },
      ]);
      expect((await store.textVersions(OWNER, MANY)).map(({ text }) => text)).toEqual([
        "loops",
        "rhyme",
        "memory",
        "loop",
      ]);
      expect(await store.agents(OWNER.org)).toEqual([OWNER.agent]);
      await store.close();
    });
  });
}

function pointers(openStore: OpenStore): void {
  describe("the pointer of a text", () => {
    it("goes to the declared text, to nothing and back: each is recorded, and told apart", async () => {
      const store = await openStore();
      expect(await store.textPointers(OWNER)).toEqual([]);
      await store.editText(OWNER, edited("rhyme", { ...POET, ...byHand }), NOW);
      await store.moveText(OWNER, POET, moving(0));
      expect(await store.activeTexts(OWNER)).toEqual([]);
      expect(await store.textPointers(OWNER)).toEqual([{ ...POET, stands: 0 }]);
      expect(await store.moveText(OWNER, POET, moving(null, { kind: "disabled" }))).toMatchObject({ n: 0, to: null });
      expect(await store.textPointers(OWNER)).toEqual([{ ...POET, stands: null }]);
      expect(await store.moveText(OWNER, POET, moving(1))).toMatchObject({ n: 1, from: null, to: 1 });
      expect(await activeOf(store)).toEqual(["rhyme"]);
      expect(await problems(store, OWNER.org)).toEqual([]);
      await store.close();
    });

    it("moves also where nothing was ever edited: a declared skill is disabled", async () => {
      const store = await openStore();
      await store.moveText(OWNER, POET, moving(null, { kind: "disabled" }));
      expect(await store.textPointers(OWNER)).toEqual([{ ...POET, stands: null }]);
      expect(await store.textVersions(OWNER, { key: POET, ...MANY })).toEqual([]);
      await store.close();
    });

    it("goes to no version that is not there, waits or was rejected", async () => {
      const store = await openStore();
      await store.editText(OWNER, edited("first", { status: "proposed" }), NOW);
      await expect(store.moveText(OWNER, LOOP, moving(7))).rejects.toMatchObject({ code: "text_not_found" });
      await expect(store.moveText(OWNER, LOOP, moving(1))).rejects.toMatchObject({ code: "text_decided" });
      await store.decideText(OWNER, { ...LOOP, n: 1 }, deciding("rejected"));
      await expect(store.moveText(OWNER, LOOP, moving(1))).rejects.toMatchObject({ code: "text_decided" });
      expect(await store.activeTexts(OWNER)).toEqual([]);
      await store.close();
    });
  });
}

function proposals(openStore: OpenStore): void {
  describe("a proposal", () => {
    it("is not active, until an operator approves it", async () => {
      const store = await openStore();
      await store.editText(OWNER, edited("now"), NOW);
      const waits = await store.editText(OWNER, edited("then", { status: "proposed", parent: 1 }), NOW);
      expect(waits).toMatchObject({ n: 2, status: "proposed", active: false });
      expect(await activeOf(store)).toEqual(["now"]);
      const approved = await store.decideText(OWNER, { ...LOOP, n: 2 }, deciding("approved"));
      expect(approved).toMatchObject({ n: 2, text: "then", status: "kept", active: true, trust: "agent" });
      expect(await store.textMoves(OWNER, { key: LOOP, limit: 1 })).toMatchObject([
        { kind: "approved", from: 1, to: 2 },
      ]);
      await store.close();
    });

    it("is decided once", async () => {
      const store = await openStore();
      await store.editText(OWNER, edited("then", { status: "proposed" }), NOW);
      const choice = { ...LOOP, n: 1 };
      expect(await store.decideText(OWNER, choice, deciding("rejected"))).toMatchObject({ status: "rejected" });
      await expect(store.decideText(OWNER, choice, deciding("approved"))).rejects.toMatchObject({
        code: "text_decided",
      });
      await expect(store.decideText(OWNER, { ...LOOP, n: 2 }, deciding("approved"))).rejects.toMatchObject({
        code: "text_not_found",
      });
      expect(await store.activeTexts(OWNER)).toEqual([]);
      await store.close();
    });

    it("is what an edit becomes that was written over another version than the active one", async () => {
      const store = await openStore();
      await store.editText(OWNER, edited("one"), NOW);
      const late = await store.editText(OWNER, edited("also one"), NOW);
      expect(late).toMatchObject({ n: 2, status: "proposed", active: false, parent: 0 });
      expect(await activeOf(store)).toEqual(["one"]);
      await store.close();
    });

    it("replaces a newer text only where the operator names it", async () => {
      const store = await openStore();
      await store.editText(OWNER, edited("then", { status: "proposed" }), NOW);
      await store.editText(OWNER, edited("meanwhile"), NOW);
      const choice = { ...LOOP, n: 1 };
      await expect(store.decideText(OWNER, choice, deciding("approved"))).rejects.toMatchObject({
        code: "text_decided",
        message: expect.stringMatching(/written for version 0, but version 2 is now active/),
      });
      expect(await store.decideText(OWNER, choice, deciding("approved", { over: 2 }))).toMatchObject({ active: true });
      await store.close();
    });

    it("does not put back a text that was taken away between the look and the word, unless that was looked at", async () => {
      const store = await openStore();
      await store.editText(OWNER, edited("rhyme", { ...POET, ...byHand }), NOW);
      await store.editText(OWNER, edited("sing", { ...POET, status: "proposed", inputs: "contact", parent: 1 }), NOW);
      await store.moveText(OWNER, POET, moving(null, { kind: "disabled" }));
      const choice = { ...POET, n: 2 };
      await expect(store.decideText(OWNER, choice, deciding("approved"))).rejects.toMatchObject({
        code: "text_decided",
        message: expect.stringMatching(/written for version 1, but version 0 is now active/),
      });
      expect(await activeOf(store)).toEqual([]);
      expect(await store.decideText(OWNER, choice, deciding("approved", { over: 0 }))).toMatchObject({ active: true });
      await store.close();
    });

    it("is what an agent's edit becomes of a text that was taken away; an operator's puts it back", async () => {
      const store = await openStore();
      await store.moveText(OWNER, POET, moving(null, { kind: "disabled" }));
      expect(await store.editText(OWNER, edited("rhyme", POET), NOW)).toMatchObject({ status: "proposed" });
      const back = await store.editText(OWNER, edited("rhyme", { ...POET, ...byHand }), NOW);
      expect(back).toMatchObject({ status: "kept", active: true });
      await store.close();
    });
  });
}

function besideOthers(openStore: OpenStore): void {
  describe("S11 S20 a text that was measured with others", () => {
    const INBOX: TextKey = { layer: layerId("inbox") };

    it("becomes a proposal where another layer was edited since", async () => {
      const store = await openStore();
      await store.editText(OWNER, edited("one", { beside: [] }), NOW);
      expect(await store.editText(OWNER, edited("late", { ...INBOX, beside: [] }), NOW)).toMatchObject({
        status: "proposed",
      });
      const seen = { beside: [{ ...LOOP, stands: 1 }] };
      expect(await store.editText(OWNER, edited("in time", { ...INBOX, ...seen }), NOW)).toMatchObject({
        active: true,
      });
      await store.close();
    });

    it("is not approved and not made active again over what moved since; of skills, also one that was disabled", async () => {
      const store = await openStore();
      await store.editText(OWNER, edited("rhyme", { ...POET, ...byHand, beside: [] }), NOW);
      await store.moveText(OWNER, POET, moving(null, { kind: "disabled" }));
      const cook = { ...POET, part: "cook" };
      await store.editText(OWNER, edited("boil", { ...cook, status: "proposed" }), NOW);
      const late = { beside: [{ ...POET, stands: 1 }] };
      const now = { beside: [{ ...POET, stands: null }] };
      const says = { code: "text_decided", message: expect.stringMatching(/another text of companion was changed/) };
      const choice = { ...cook, n: 1 };
      await expect(store.decideText(OWNER, choice, deciding("approved", late))).rejects.toMatchObject(says);
      expect(await store.decideText(OWNER, choice, deciding("approved", now))).toMatchObject({ active: true });
      await store.moveText(OWNER, cook, moving(null, { kind: "disabled" }));
      await expect(store.moveText(OWNER, cook, moving(1, late))).rejects.toMatchObject(says);
      expect(await store.moveText(OWNER, cook, moving(1, now))).toMatchObject({ to: 1 });
      expect(await problems(store, OWNER.org)).toEqual([]);
      await store.close();
    });
  });
}

/** The possible actions on a text, and on which version. */
const deeds = fc.array(
  fc.record({
    deed: fc.constantFrom("edit", "propose", "approve", "reject", "move"),
    part: fc.constantFrom(undefined, "poet", "cook"),
    n: fc.nat(4),
    over: fc.option(fc.nat(4), { nil: undefined }),
    by: fc.constantFrom("agent", "operator"),
  }),
  { maxLength: 25 },
);
type Deed = typeof deeds extends fc.Arbitrary<readonly (infer D)[]> ? D : never;

/** A text as it must be after some deeds. */
interface Model {
  stands: number | null;
  readonly versions: { status: TextStatus; readonly parent: number; readonly isWish: boolean }[];
}

const isWaiting = ({ status }: Model["versions"][number]): boolean => status === "proposed";

/** Applies the action to the model; false if the store must refuse it. */
function follow(model: Model, { deed, n, over, by }: Deed): boolean {
  const version = model.versions[n - 1];
  switch (deed) {
    case "edit":
    case "propose": {
      const fits = model.stands === null ? by === "operator" : model.stands === n;
      const kept = deed === "edit" && fits;
      // A version that would have been kept but was overtaken replaces no other proposal.
      const isWish = deed === "propose" && by === "agent";
      const waiting = isWish ? model.versions.filter((one) => one.isWish && isWaiting(one)) : [];
      if (waiting.some(({ parent }) => parent === n)) return true;
      for (const older of waiting) older.status = "superseded";
      model.versions.push({ status: kept ? "kept" : "proposed", parent: n, isWish });
      if (kept) model.stands = model.versions.length;
      return true;
    }
    case "approve":
    case "reject": {
      if (version?.status !== "proposed") return false;
      if (deed === "approve" && (model.stands ?? 0) !== (over ?? version.parent)) return false;
      version.status = deed === "approve" ? "kept" : "rejected";
      if (deed === "approve") model.stands = n;
      return true;
    }
    case "move":
      if (n !== 0 && version?.status !== "kept") return false;
      model.stands = n === 0 && by === "operator" ? null : n;
      return true;
  }
}

async function perform(store: Store, { deed, part, n, over, by }: Deed): Promise<boolean> {
  const key: TextKey = { ...POET, part: part ?? "whole" };
  const beside = await othersOf(store, key);
  const wish = { status: "proposed", inputs: "contact" } as const;
  const at = { parent: n, by, ...beside, ...(deed === "propose" && wish) };
  const verdict = deed === "approve" ? "approved" : "rejected";
  const word = deciding(verdict, { ...beside, ...(over !== undefined && { over }) });
  try {
    if (deed === "edit" || deed === "propose") await store.editText(OWNER, edited("text", { ...key, ...at }), NOW);
    else if (deed === "move") await store.moveText(OWNER, key, moving(n === 0 && by === "operator" ? null : n, beside));
    else await store.decideText(OWNER, { ...key, n }, word);
    return true;
  } catch {
    return false;
  }
}

function anyDeeds(openStore: OpenStore): void {
  const { numRuns, title } = firstRuns(40, 20);
  it(
    title("law 7 texts hold together after any deeds: versions, statuses and pointers are those of the record"),
    async () => {
      await fc.assert(
        fc.asyncProperty(deeds, async (all) => {
          const store = await openStore();
          const models = new Map<string, Model>();
          for (const deed of all) {
            const part = deed.part ?? "whole";
            const model = models.get(part) ?? { stands: 0, versions: [] };
            models.set(part, model);
            expect(await perform(store, deed)).toBe(follow(model, deed));
          }
          for (const [part, { stands, versions }] of models) {
            const shown = (await store.textVersions(OWNER, { key: { ...POET, part }, ...MANY })).toReversed();
            expect(shown.map(({ status, active }) => [status, active])).toEqual(
              versions.map(({ status }, i) => [status, stands === i + 1]),
            );
            const active = (await store.activeTexts(OWNER)).find((one) => one.part === part);
            expect(active?.n ?? 0).toBe(stands ?? 0);
            const pointer = (await store.textPointers(OWNER)).find((one) => one.part === part);
            expect(pointer ? pointer.stands : 0).toBe(stands);
            const counted = (await store.proposalCounts(OWNER)).find((one) => one.part === part);
            expect(counted?.proposals ?? 0).toBe(versions.filter(isWaiting).length);
          }
          expect(await problems(store, OWNER.org)).toEqual([]);
          await store.close();
        }),
        { numRuns },
      );
    },
  );
}

const editing = (edit: NewText): RunOptions => ({ more: { writes: [rewriting(edit)] } });

/** The commit's report of an edit that now waits for an operator. */
const overtaken = (n: number) => ({
  what: "overtaken",
  message: `another text was changed meanwhile, so version ${n} of the layer loop waits for an operator: \`strata layer proposals\` shows it`,
  data: { texts: [{ ...LOOP, n }] },
  isInternal: true,
});

const proposing = (text: string, more: Partial<NewText> = {}): RunOptions =>
  editing(edited(text, { status: "proposed", inputs: "contact", ...more }));

function inTurns(openStore: OpenStore): void {
  describe("an edit in a turn", () => {
    it("law 7 lands with the turn's commit or not at all", async () => {
      const store = await openStore();
      const thread = await open(store, { ...OWNER, contact: SELF });
      await store.receive(thread.scope, thread.id, [said("tick", { kind: "scheduled", trust: "platform" })]);
      const lost = await take(store, thread);
      const again = await take(store, thread, { holder: "worker-2", now: NOW + 60_000, until: NOW + 90_000 });
      const write = editing(edited("new", { turn: again.turn }));
      await expect(store.settle(lost, ran(lost, write).outcome)).rejects.toMatchObject({ code: "lease_lost" });
      expect(await store.textVersions(OWNER, MANY)).toEqual([]);
      await store.settle(again, ran(again, write).outcome);
      expect(await store.activeTexts(OWNER)).toMatchObject([{ text: "new", turn: again.turn }]);
      await store.receive(thread.scope, thread.id, [said("tick", { kind: "scheduled", trust: "platform" })]);
      const failing = await take(store, thread);
      await store.settle(failing, ran(failing, { ...editing(edited("no", { parent: 1 })), failed: true }).outcome);
      expect(await activeOf(store)).toEqual(["new"]);
      expect(await problems(store, OWNER.org)).toEqual([]);
      await store.close();
    });

    it("S11 that was overtaken is reported by the commit, and what happened to each stands in its turn's record", async () => {
      const store = await openStore();
      const thread = await open(store, { ...OWNER, contact: SELF });
      const turn = async (edit: NewText) => {
        await store.receive(thread.scope, thread.id, [said("tick", { kind: "scheduled", trust: "platform" })]);
        const claim = await take(store, thread);
        const written = editing({ ...edit, turn: claim.turn });
        const { reports } = await store.settle(claim, ran(claim, written).outcome);
        return { ...(reports && { reports }), edits: (await store.turn(thread.scope, claim.turn))?.edits };
      };
      const key = { ...LOOP, n: 1 };
      expect(await turn(edited("new"))).toEqual({ edits: [{ ...key, became: "kept" }] });
      expect(await turn(edited("late"))).toEqual({
        reports: [overtaken(2)],
        edits: [{ ...key, n: 2, became: "overtaken" }],
      });
      const tainted = edited("asked for", { status: "proposed", inputs: "contact", parent: 1 });
      expect(await turn(tainted)).toEqual({ edits: [{ ...key, n: 3, became: "proposed" }] });
      const verdict = { verdict: "review", findings: ["It speaks of layer 2."] } as const;
      expect(await turn(edited("strange", { status: "proposed", verdict, parent: 1 }))).toEqual({
        edits: [{ ...key, n: 4, became: "proposed" }],
      });
      await store.close();
    });

    it("that was overtaken is what was ordered: it waits beside every wish, and nothing replaces it", async () => {
      const store = await openStore();
      const thread = await open(store);
      await store.editText(OWNER, edited("meanwhile", byHand), NOW);
      // An operator spoke on Ann's thread: its turn has seen nothing of hers.
      await exchange(store, thread, "one", editing(edited("ordered", { inputs: "operator" })));
      await exchange(store, thread, "two", proposing("Ann's wish", { parent: 1 }));
      const self = await open(store, { ...OWNER, contact: SELF });
      await exchange(store, self, "tick", editing(edited("its own")));
      await exchange(store, self, "tick", editing(edited("its own, later")));
      const verdict = { verdict: "review", findings: ["It speaks of layer 2."] } as const;
      await exchange(store, self, "tick", editing(edited("strange", { status: "proposed", verdict, parent: 1 })));
      const own = ["ordered", "its own", "its own, later", "strange"];
      expect((await store.proposals(OWNER, { own: true, limit: 9 })).map(({ text }) => text)).toEqual(own);
      expect(await store.proposals(OWNER, MANY)).toHaveLength(own.length + 1);
      await store.eraseContact(
        thread.scope,
        { org: OWNER.org, id: actorId("token:operator"), role: "operator" },
        NOW + 99,
      );
      expect((await store.proposals(OWNER, MANY)).map(({ text, reason }) => [text, reason])).toEqual(
        own.map((text) => [text, "it reads better"]),
      );
      expect(await problems(store, OWNER.org)).toEqual([]);
      await store.close();
    });

    it("that was overtaken twice with the same words is reported twice: by both commits, and in both records", async () => {
      const store = await openStore();
      await store.editText(OWNER, edited("meanwhile", byHand), NOW);
      const thread = await open(store, { ...OWNER, contact: SELF });
      for (const n of [2, 3]) {
        await store.receive(thread.scope, thread.id, [said("tick", { kind: "scheduled", trust: "platform" })]);
        const claim = await take(store, thread);
        const { reports } = await store.settle(
          claim,
          ran(claim, editing(edited("late", { turn: claim.turn }))).outcome,
        );
        expect(reports).toEqual([overtaken(n)]);
        expect((await store.turn(thread.scope, claim.turn))?.edits).toEqual([{ ...LOOP, n, became: "overtaken" }]);
      }
      await store.close();
    });

    it("is a link of the chain, and so is each move of a pointer", async () => {
      const store = await openStore();
      await store.editText(OWNER, edited("one", { status: "proposed" }), NOW);
      await store.decideText(OWNER, { ...LOOP, n: 1 }, deciding("approved"));
      await store.moveText(OWNER, LOOP, moving(0));
      expect(await store.head(OWNER.org)).toMatchObject({ seq: 3 });
      expect(await problems(store, OWNER.org)).toEqual([]);
      await store.close();
    });

    it("that a contact's turn proposed replaces what the contact's turns proposed before, of the same text", async () => {
      const store = await openStore();
      const thread = await open(store);
      await exchange(store, thread, "one", proposing("first"));
      await exchange(store, await open(store, scopeOf("bob")), "hi", proposing("Bob's"));
      await exchange(store, thread, "two", proposing("rhyme", POET));
      await exchange(store, thread, "three", proposing("second"));
      expect((await store.textVersions(OWNER, MANY)).map(({ text, status }) => [text, status])).toEqual([
        ["second", "proposed"],
        ["rhyme", "proposed"],
        ["Bob's", "proposed"],
        ["first", "superseded"],
      ]);
      expect(await store.textMoves(OWNER, { key: LOOP, limit: 2 })).toMatchObject([
        { n: 3 },
        { kind: "superseded", n: 1, by: "agent", reason: "version 3, out of a later turn, takes its place" },
      ]);
      await expect(store.decideText(OWNER, { ...LOOP, n: 1 }, deciding("approved"))).rejects.toMatchObject({
        code: "text_decided",
        message: expect.stringContaining("a newer proposal replaced it"),
      });
      expect(await problems(store, OWNER.org)).toEqual([]);
      await store.close();
    });

    it("that was proposed in a turn of the agent's own, or of several senders, is one for each text, too", async () => {
      const store = await openStore();
      const turns = [SELF, SELF, batchContact("a"), batchContact("b"), SELF];
      for (const [n, contact] of turns.entries()) {
        const scope = { ...OWNER, contact };
        await store.editText(scope, edited(`text ${n}`, { status: "proposed", inputs: "contact" }), NOW);
      }
      await store.editText(OWNER, edited("by hand", { ...byHand, status: "proposed" }), NOW);
      await store.editText(OWNER, edited("by hand, too", { ...byHand, status: "proposed" }), NOW);
      const shown = await store.proposals(OWNER, MANY);
      expect(shown.map(({ text }) => text)).toEqual(["text 3", "text 4", "by hand", "by hand, too"]);
      expect(await store.proposals(OWNER, { own: true, limit: 9 })).toMatchObject([{ text: "text 4" }]);
      expect(await store.proposalCounts(OWNER)).toEqual([{ ...LOOP, proposals: 4 }]);
      expect(await problems(store, OWNER.org)).toEqual([]);
      await store.close();
    });

    it("that says what waits already is not kept twice; over another version it is another proposal", async () => {
      const store = await openStore();
      const thread = await open(store);
      for (let n = 0; n < 3; n++) await exchange(store, thread, "again", proposing("the same"));
      expect(await store.textVersions(OWNER, MANY)).toMatchObject([{ n: 1, text: "the same", status: "proposed" }]);
      await store.editText(OWNER, edited("meanwhile", byHand), NOW);
      await exchange(store, thread, "again", proposing("the same", { parent: 2 }));
      await exchange(store, await open(store, scopeOf("bob")), "again", proposing("the same"));
      expect((await store.proposals(OWNER, MANY)).map(({ n, parent }) => [n, parent])).toEqual([
        [3, 2],
        [4, 0],
      ]);
      expect(await problems(store, OWNER.org)).toEqual([]);
      await store.close();
    });

    it("that a contact's turn proposed goes with the contact; what was approved is the agent's", async () => {
      const store = await openStore();
      const thread = await open(store);
      await exchange(store, thread, "one", proposing("Ann's first wish", { line: trusted("Ann's wish, in short") }));
      await store.decideText(OWNER, { ...LOOP, n: 1 }, deciding("approved"));
      await exchange(store, thread, "two", proposing("Ann's second wish"));
      expect(await store.textVersions(OWNER, MANY)).toMatchObject([
        { text: "Ann's second wish" },
        { n: 1, active: true },
      ]);
      await store.eraseContact(
        thread.scope,
        { org: OWNER.org, id: actorId("token:operator"), role: "operator" },
        NOW + 99,
      );
      expect(await store.textVersions(OWNER, MANY)).toMatchObject([
        { n: 2, text: "", reason: "", status: "rejected" },
        { n: 1, text: "Ann's first wish", line: "Ann's wish, in short", reason: "", active: true },
      ]);
      await expect(store.decideText(OWNER, { ...LOOP, n: 2 }, deciding("approved", { over: 1 }))).rejects.toMatchObject(
        { code: "text_decided" },
      );
      expect(await problems(store, OWNER.org)).toEqual([]);
      await store.close();
    });
  });
}
