import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asking, newMemory, remembered, scopeOf } from "../contract/sample.contract.ts";
import { vectorContract } from "../contract/vectors.contract.ts";
import { openSqlite, type Store, vectorExtension } from "../index.ts";

const ANN = scopeOf("ann");
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
});

describe("sqlite-vec", () => {
  it("is there, or it is said why not", () => {
    const found = vectorExtension();
    if ("version" in found) expect(found.version).toMatch(/^v\d/);
    else expect(found.missing).not.toBe("");
  });
});
