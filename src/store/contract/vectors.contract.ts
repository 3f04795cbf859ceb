import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { actorId, type MemoryId, type MemoryQuery, type NewMemory, type Scope } from "../../protocol/index.ts";
import type { WaitingText } from "../memory-store.ts";
import type { Store } from "../store.ts";
import {
  ANN,
  asking,
  exchange,
  NOW,
  newMemory,
  type OpenStore,
  open,
  remembered,
  revisionsOf,
  scopeOf,
} from "./sample.contract.ts";

const OWN: Scope = { ...ANN, contact: null };
const MODEL = "test:one";

/** A direction in the plane; texts say theirs in degrees: `at 90`. */
const towards = (degrees: number, more: readonly number[] = []): Float32Array => {
  const radians = (degrees * Math.PI) / 180;
  return Float32Array.from([Math.cos(radians), Math.sin(radians), ...more]);
};
const vectorOf = ({ text }: Pick<WaitingText, "text">): Float32Array =>
  towards(Number(/at (\d+)/.exec(text)?.[1] ?? 0));

async function save(store: Store, scope: Scope, text: string, more: Partial<NewMemory> = {}): Promise<MemoryId> {
  const id = newMemory();
  await store.saveMemory(scope, id, remembered(text, more));
  return id;
}

/** Gives every waiting memory its vector, this many memories at a time. */
async function embed(store: Store, scope: Scope, model = MODEL, of: (text: WaitingText) => Float32Array = vectorOf) {
  const seen: string[] = [];
  for (;;) {
    const waiting = await store.waitingTexts(scope, model, 2);
    if (waiting === undefined) return seen;
    const { from, upto, texts } = waiting;
    seen.push(...texts.map(({ text }) => text));
    await store.saveVectors(scope, model, { from, upto, vectors: texts.map((one) => ({ ...one, values: of(one) })) });
  }
}

/** What lies in a direction, by no word. */
async function near(store: Store, degrees: number, more: Partial<MemoryQuery> = {}, scopes: readonly Scope[] = [ANN]) {
  const vectors = [{ model: MODEL, values: towards(degrees) }];
  const hits = await store.searchMemories(scopes, asking("zzz", 9, { vectors, ...more }));
  return hits.map((hit) => hit.content);
}

const stateOf = async (store: Store, model = MODEL, scope: Scope = ANN) =>
  (await store.vectorStates(scope, model)).map(({ scope: _, ...state }) => state);

/** Vectors of memories: they wait, serve, give way and go. */
export function vectorContract(openStore: OpenStore): void {
  describe("vectors", () => {
    it("find what shares no word, the nearest first, and say how in the features", async () => {
      const store = await openStore();
      for (const text of ["at 10", "at 80", "at 40"]) await save(store, ANN, text);
      expect(await embed(store, ANN)).toEqual(["at 10", "at 80", "at 40"]);
      expect(await near(store, 30)).toEqual(["at 40", "at 10", "at 80"]);
      const vectors = [{ model: MODEL, values: towards(80) }];
      const [best, next] = await store.searchMemories([ANN], asking("10", 9, { vectors }));
      expect(best).toMatchObject({ content: "at 10", features: { turn: expect.any(Number) } });
      expect(next).toMatchObject({ content: "at 80", features: { vector: expect.any(Number) } });
      expect(best?.score).toBeGreaterThan(next?.score ?? 0);
      await store.close();
    });

    it("find the newest first of those that are as near", async () => {
      const store = await openStore();
      for (const text of ["at 10, one", "at 10, two", "at 40", "at 10, three"]) await save(store, ANN, text);
      await embed(store, ANN);
      expect(await near(store, 10)).toEqual(["at 10, three", "at 10, two", "at 10, one", "at 40"]);
      await store.close();
    });

    it("speak for a memory that lies much nearer than is usual, and not for one that is as near as all", async () => {
      const store = await openStore();
      for (let n = 0; n < 10; n++) await save(store, ANN, `at ${60 + n}`);
      await save(store, ANN, "at 2");
      await embed(store, ANN);
      const vectors = [{ model: MODEL, values: towards(0) }];
      const hits = await store.searchMemories([ANN], asking("zzz", 9, { vectors }));
      expect(hits.map(({ evidence }) => evidence > 0.5)).toEqual([true, ...hits.slice(1).map(() => false)]);
      expect(hits.slice(1).map(({ evidence }) => evidence)).toEqual(hits.slice(1).map(() => 0));
      await store.close();
    });

    it("wait for all that is saved, and for what is saved after them", async () => {
      const store = await openStore();
      expect(await store.waitingTexts(ANN, MODEL, 9)).toBeUndefined();
      expect(await stateOf(store)).toEqual([]);
      const first = await save(store, ANN, "at 10");
      expect(await stateOf(store)).toEqual([{ model: MODEL, vectors: 0, waiting: 1, serving: false }]);
      expect(await store.servingModels([ANN])).toEqual([]);
      await embed(store, ANN);
      expect(await stateOf(store)).toEqual([{ model: MODEL, vectors: 1, waiting: 0, serving: true }]);
      expect(await store.servingModels([ANN, OWN])).toEqual([MODEL]);
      // The last row is free again, and taken by the next.
      await store.forgetMemory(ANN, first);
      await save(store, ANN, "at 20", { tags: ["slope", "low"] });
      expect(await embed(store, ANN)).toEqual(["at 20\nslope, low"]);
      expect(await near(store, 0)).toEqual(["at 20"]);
      await store.close();
    });

    it("wait for messages as for all else", async () => {
      const store = await openStore();
      await exchange(store, await open(store, ANN), "at 30");
      const [before = 0] = await revisionsOf(store, [ANN]);
      expect(await embed(store, ANN)).toContain("at 30");
      expect((await revisionsOf(store, [ANN]))[0]).toBeGreaterThan(before);
      expect(await near(store, 30)).toContain("at 30");
      await store.close();
    });

    it("are several of a long memory, which is found once by its nearest part", async () => {
      const store = await openStore();
      const sentence = "This one says a good deal about nothing. ".repeat(40);
      const long = `at 10. ${sentence}at 80. ${sentence}`;
      await save(store, ANN, long);
      await save(store, ANN, "at 60");
      await save(store, ANN, " \u2028…");
      const texts = await embed(store, ANN);
      expect(texts.slice(0, -1).join(" ").replace(/\s+/g, " ")).toBe(long.trim());
      expect(texts.length).toBeGreaterThan(2);
      expect((await near(store, 85)).map((text) => text.slice(0, 5))).toEqual(["at 10", "at 60"]);
      await store.close();
    });

    it("pass by the filters of a search", async () => {
      const store = await openStore();
      await save(store, ANN, "at 10", { tags: ["a"], at: NOW });
      await save(store, ANN, "at 20", { kind: "message", at: NOW + 5 });
      await save(store, ANN, "at 30", { trust: "operator", at: NOW + 9 });
      await embed(store, ANN);
      expect(await near(store, 0, { tags: ["a"] })).toEqual(["at 10"]);
      expect(await near(store, 0, { kinds: ["message"] })).toEqual(["at 20"]);
      expect(await near(store, 0, { trust: "operator" })).toEqual(["at 30"]);
      expect(await near(store, 0, { since: NOW + 1, before: NOW + 9 })).toEqual(["at 20"]);
      await store.close();
    });

    it("go with what is forgotten and with what is superseded", async () => {
      const store = await openStore();
      const [one, two] = [await save(store, ANN, "at 10"), await save(store, ANN, "at 20")];
      await embed(store, ANN);
      await store.forgetMemory(ANN, one);
      expect(await stateOf(store)).toMatchObject([{ vectors: 1 }]);
      await save(store, ANN, "at 70", { supersedes: two });
      expect(await stateOf(store)).toMatchObject([{ vectors: 0, waiting: 1 }]);
      expect(await near(store, 15)).toEqual([]);
      await store.close();
    });

    it("go with a contact that is erased, and are not there for whoever comes after", async () => {
      const store = await openStore();
      await open(store, ANN);
      await save(store, ANN, "at 10");
      await save(store, OWN, "at 11");
      for (const scope of [ANN, OWN]) await embed(store, scope);
      await store.eraseContact(ANN, { org: ANN.org, id: actorId("token:operator"), role: "operator" }, NOW);
      expect(await store.servingModels([ANN])).toEqual([]);
      expect(await near(store, 10, {}, [ANN, OWN])).toEqual(["at 11"]);
      await open(store, ANN);
      await save(store, ANN, "at 50");
      expect(await near(store, 10)).toEqual([]);
      expect(await embed(store, ANN)).toEqual(["at 50"]);
      await store.close();
    });

    it("that were made of what was forgotten meanwhile are not kept", async () => {
      const store = await openStore();
      const [one] = [await save(store, ANN, "at 10"), await save(store, ANN, "at 20")];
      const waiting = await store.waitingTexts(ANN, MODEL, 9);
      await store.forgetMemory(ANN, one);
      const vectors = (waiting?.texts ?? []).map((text) => ({ ...text, values: vectorOf(text) }));
      await store.saveVectors(ANN, MODEL, { from: 0, upto: 9, vectors });
      expect(await near(store, 10)).toEqual(["at 20"]);
      await store.close();
    });

    it("of another model serve when they are complete, and until then the old ones do", async () => {
      const store = await openStore();
      for (const text of ["at 10", "at 20", "at 30"]) await save(store, ANN, text);
      await embed(store, ANN);
      const other = "test:two";
      const wanted = { from: 0, upto: 2, memories: 2 };
      const waiting = await store.waitingTexts(ANN, other, 2);
      expect(waiting).toMatchObject(wanted);
      const vectors = (waiting?.texts ?? []).map((text) => ({ ...text, values: towards(5) }));
      await store.saveVectors(ANN, other, { from: 0, upto: 2, vectors });
      expect(await store.servingModels([ANN])).toEqual([MODEL]);
      expect(await stateOf(store, other)).toEqual([
        { model: other, vectors: 2, waiting: 1, serving: false },
        { model: MODEL, vectors: 3, waiting: 0, serving: true },
      ]);
      expect(await near(store, 10)).toHaveLength(3);
      await embed(store, ANN, other, () => towards(5));
      expect(await store.servingModels([ANN])).toEqual([other]);
      expect(await stateOf(store, other)).toEqual([{ model: other, vectors: 3, waiting: 0, serving: true }]);
      expect(await stateOf(store)).toMatchObject([{ vectors: 0, waiting: 3 }, { model: other }]);
      // A query vector of the old model is not valid for the new one.
      expect(await near(store, 10)).toEqual([]);
      await store.close();
    });

    it("of a model that is wanted no more are dropped, and those that serve stay", async () => {
      const store = await openStore();
      for (const text of ["at 10", "at 20"]) await save(store, ANN, text);
      await embed(store, ANN);
      await store.saveVectors(ANN, "test:two", { from: 0, upto: 1, vectors: [] });
      await store.dropVectors(ANN, MODEL);
      expect((await store.waitingTexts(ANN, "test:two", 9))?.from).toBe(0);
      await store.dropVectors(ANN, "test:two");
      expect(await near(store, 10)).toHaveLength(2);
      await store.close();
    });

    it("of another length than before make their model begin again, and are never compared", async () => {
      const store = await openStore();
      for (const text of ["at 10", "at 20", "at 30"]) await save(store, ANN, text);
      await embed(store, ANN);
      await save(store, ANN, "at 40");
      const longer = (text: WaitingText) => Float32Array.from([...vectorOf(text), 0]);
      expect(await embed(store, ANN, MODEL, longer)).toEqual(["at 40", "at 10", "at 20", "at 30"]);
      expect(await near(store, 10)).toEqual([]);
      const vectors = [{ model: MODEL, values: towards(10, [0]) }];
      expect(await store.searchMemories([ANN], asking("zzz", 9, { vectors }))).toHaveLength(4);
      await store.close();
    });

    it("of two that work at once are kept once", async () => {
      const store = await openStore();
      for (const text of ["at 10", "at 20"]) await save(store, ANN, text);
      const waiting = await store.waitingTexts(ANN, MODEL, 9);
      const vectors = (waiting?.texts ?? []).map((text) => ({ ...text, values: vectorOf(text) }));
      for (let n = 0; n < 2; n++) await store.saveVectors(ANN, MODEL, { from: 0, upto: 2, vectors });
      expect(await stateOf(store)).toEqual([{ model: MODEL, vectors: 2, waiting: 0, serving: true }]);
      // Somebody who began before others were done has not seen what came between.
      await save(store, ANN, "at 30");
      await store.saveVectors(ANN, MODEL, { from: 5, upto: 9, vectors: [] });
      expect(await embed(store, ANN)).toEqual(["at 30"]);
      await store.close();
    });

    it("law 5 of one scope are found from no other, whatever is asked", async () => {
      const store = await openStore();
      const scopes: readonly Scope[] = [
        ANN,
        OWN,
        scopeOf("bob"),
        scopeOf("ann", "sovereign"),
        scopeOf("ann", "companion", "away"),
        scopeOf("nobody"),
      ];
      const mine = (scope: Scope): string => JSON.stringify(scope);
      for (const [n, scope] of scopes.slice(0, -1).entries()) {
        for (let i = 0; i < 5; i++) await save(store, scope, `${mine(scope)} at ${(n * 7 + i * 31) % 360}`);
        await embed(store, scope);
      }
      const some = fc.subarray([...scopes], { minLength: 1 });
      await fc.assert(
        fc.asyncProperty(some, fc.nat(360), fc.nat(30), async (asked, degrees, limit) => {
          const vectors = [{ model: MODEL, values: towards(degrees) }];
          const hits = await store.searchMemories(asked, asking("companion", limit, { vectors }));
          const allowed = new Set(asked.map(mine));
          for (const { content, scope } of hits)
            expect([allowed.has(content.split(" at ")[0] ?? ""), allowed.has(mine(scope))]).toEqual([true, true]);
        }),
        { numRuns: 60 },
      );
      expect(await stateOf(store, MODEL, scopeOf("nobody"))).toEqual([]);
      await store.close();
    });

    it("are counted for one contact, or for all of an agent and its own", async () => {
      const store = await openStore();
      for (const scope of [ANN, OWN, scopeOf("bob"), scopeOf("ann", "sovereign")]) await save(store, scope, "at 10");
      const all = await store.vectorStates(OWN, MODEL);
      expect(all.map(({ scope }) => scope)).toEqual([ANN, OWN, scopeOf("bob")]);
      expect((await store.vectorStates(ANN, MODEL)).map(({ scope }) => scope)).toEqual([ANN]);
      await store.close();
    });
  });
}
