import { describe, expect, it } from "vitest";
import { memoryId } from "../protocol/index.ts";
import { fuse, type Nearby, type Ranked } from "./index.ts";

const id = (number: number) => memoryId(`mem_${String(number).padStart(26, "0")}`);
/** The words' list, its scores one apart. */
const byWords = (...all: readonly number[]): readonly Ranked[] =>
  all.map((number, at) => {
    const score = all.length - at;
    return { memory: id(number), place: number, score, evidence: 1, features: { turn: score } };
  });
/** The nearest of this many, each at half the distance except the nearest. */
const nearby = (size: number, ...all: readonly number[]): Nearby => ({
  memories: all.map((number, at) => ({ memory: id(number), place: number, way: at === 0 ? 0.9 : 0.5, isSaved: true })),
  order: all.map(id),
  size,
});
const numbers = (ranked: readonly Ranked[]) => ranked.map(({ memory }) => Number(memory.slice(4)));

describe("two lists in one", () => {
  it("keep the order of the words where the vectors do not agree with them, and tell nothing of fit", () => {
    const fused = fuse(byWords(1, 2, 3, 4, 5, 6), nearby(200, 9, 6, 8));
    expect(numbers(fused)).toEqual([1, 2, 3, 4, 5, 6, 9, 8]);
    expect(fused.at(-1)?.evidence).toBe(0);
  });

  it("let a vector raise what the words found where both agree, and say by how much", () => {
    const fused = fuse(byWords(1, 2, 3, 4, 5, 6), nearby(200, 4, 1, 2, 3, 5, 6, 7));
    expect(numbers(fused)).toEqual([1, 2, 4, 3, 5, 6, 7]);
    expect(fused[2]).toMatchObject({ score: 5.7, features: { turn: 3, vector: 2.7 }, evidence: 1 });
    expect(fused.at(-1)?.evidence).toBe(0.5);
  });

  it("are the one list where the other is empty", () => {
    expect(numbers(fuse(byWords(3, 1, 2), nearby(0)))).toEqual([3, 1, 2]);
    expect(numbers(fuse([], nearby(3, 3, 1, 2)))).toEqual([3, 2, 1]);
  });

  it("put what only vectors find behind, and leave out what only stands beside", () => {
    const beside: Ranked = { memory: id(8), place: 8, score: 0, evidence: 0, features: { length: 1 } };
    const [first, second, ...rest] = fuse([...byWords(1), beside], nearby(9, 2, 1));
    expect(first).toMatchObject({ memory: id(1), features: { turn: 1 } });
    expect(second).toMatchObject({ memory: id(2), features: { behind: -1, vector: 0.45 }, evidence: 0.9 });
    expect(rest).toEqual([]);
  });
});
