import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { ANN, asking, newMemory, remembered } from "../contract/sample.contract.ts";
import { vectorContract } from "../contract/vectors.contract.ts";
import { openSqlite, type Store, vectorExtension } from "../index.ts";

const MODEL = "test:one";

describe("vectors compared in JavaScript", () => vectorContract(() => openSqlite(":memory:", { vectors: false })));

describe.runIf("version" in vectorExtension())("vectors compared by sqlite-vec", () => {
  const unit = (numbers: readonly number[]): Float32Array => {
    const length = Math.hypot(...numbers) || 1;
    return Float32Array.from(numbers, (number) => number / length);
  };
  const vector = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 5, maxLength: 5 }).map(unit);

  async function holding(store: Store, vectors: readonly Float32Array[]): Promise<Store> {
    for (const n of vectors.keys()) await store.saveMemory(ANN, newMemory(), remembered(`number ${n}`));
    const { from = 0, upto = 0, texts = [] } = (await store.waitingTexts(ANN, MODEL, 99)) ?? {};
    const made = texts.map((one, i) => ({ ...one, values: vectors[i] ?? unit([]) }));
    await store.saveVectors(ANN, MODEL, { from, upto, vectors: made });
    return store;
  }

  it("are found in the very order in which JavaScript has them, equal ones too", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(vector, { minLength: 1, maxLength: 40 }),
        vector,
        fc.integer({ min: 1, max: 9 }),
        async (vectors, values, limit) => {
          const stores = [openSqlite(":memory:"), openSqlite(":memory:", { vectors: false })];
          const found = await Promise.all(
            stores.map(async (opened) => {
              const store = await holding(await opened, vectors);
              const hits = await store.searchMemories(
                [ANN],
                asking("…", limit, { vectors: [{ model: MODEL, values }] }),
              );
              await store.close();
              return hits.map(({ content, evidence }) => [content, evidence]);
            }),
          );
          expect(found[0]).toHaveLength(Math.min(limit, vectors.length));
          expect(found[1]).toEqual(found[0]);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("are the nearest of more than are looked at, too", async () => {
    const count = 300;
    const vectors = Array.from({ length: count }, (_, n) =>
      unit([Math.cos((n * 37) % count), Math.sin((n * 37) % count), count - n]),
    );
    const [bySqlite, byHand] = await Promise.all(
      [true, false].map(async (inSqlite) => {
        const store = await openSqlite(":memory:", { vectors: inSqlite });
        const all = vectors.map((_, n) => ({ id: newMemory(), memory: remembered(`number ${n}`) }));
        await store.saveMemories(ANN, all);
        const { from = 0, upto = 0, texts = [] } = (await store.waitingTexts(ANN, MODEL, count)) ?? {};
        const made = texts.map((one, i) => ({ ...one, values: vectors[i] ?? unit([]) }));
        await store.saveVectors(ANN, MODEL, { from, upto, vectors: made });
        const asked = [{ model: MODEL, values: unit([1, 0, 0]) }];
        const hits = await store.searchMemories([ANN], asking("…", 9, { vectors: asked }));
        await store.close();
        return hits.map(({ content }) => content);
      }),
    );
    const likeness = (n: number): number => vectors[n]?.[0] ?? 0;
    const nearest = [...vectors.keys()].sort((a, b) => likeness(b) - likeness(a)).slice(0, 9);
    expect(bySqlite).toEqual(nearest.map((n) => `number ${n}`));
    expect(byHand).toEqual(bySqlite);
  });
});

/** Gives all that waits the same vector; tells what waited. */
async function embed(store: Store): Promise<readonly string[]> {
  const seen: string[] = [];
  for (;;) {
    const waiting = await store.waitingTexts(ANN, MODEL, 2);
    if (waiting === undefined) return seen;
    const { from, upto, texts } = waiting;
    seen.push(...texts.map(({ text }) => text));
    const vectors = texts.map((one) => ({ ...one, values: Float32Array.of(1, 0) }));
    await store.saveVectors(ANN, MODEL, { from, upto, vectors });
  }
}

describe("vectors in a file", () => {
  it("stay when the index of words is made again, and what comes later waits as before", async () => {
    const folder = mkdtempSync(join(tmpdir(), "strata-vectors-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, "strata.db");
    const before = await openSqlite(file);
    const gone = newMemory();
    await before.saveMemory(ANN, gone, remembered("gone"));
    for (const text of ["one", "two", "three"]) await before.saveMemory(ANN, newMemory(), remembered(text));
    expect(await embed(before)).toEqual(["gone", "one", "two", "three"]);
    await before.forgetMemory(ANN, gone);
    await before.close();
    const raw = new BetterSqlite3(file);
    raw.exec("update memory_index set version = 0");
    raw.close();
    const store = await openSqlite(file);
    expect(await embed(store)).toEqual([]);
    await store.saveMemory(ANN, newMemory(), remembered("four"));
    expect(await embed(store)).toEqual(["four"]);
    expect(await store.vectorStates(ANN, MODEL)).toMatchObject([{ vectors: 4, waiting: 0, serving: true }]);
    await store.close();
  });

  it("go with what a full scope lets go", async () => {
    const store = await openSqlite(":memory:", { limits: { saved: 2 } });
    for (const text of ["one", "two", "three"]) {
      await store.saveMemory(ANN, newMemory(), remembered(text));
      await embed(store);
    }
    expect(await store.vectorStates(ANN, MODEL)).toMatchObject([{ vectors: 2, waiting: 0 }]);
    await store.close();
  });
});

describe("sqlite-vec", () => {
  it("is there, or it is said why not", () => {
    const found = vectorExtension();
    if ("version" in found) expect(found.version).toMatch(/^v\d/);
    else expect(found.missing).not.toBe("");
  });
});
