import { describe, expect, it } from "vitest";
import { memoryId } from "../protocol/index.ts";
import { fuse, type Ranked } from "./index.ts";

const id = (number: number) => memoryId(`mem_${String(number).padStart(26, "0")}`);
const byWords = (number: number): Ranked => ({
  memory: id(number),
  place: number,
  score: 9,
  evidence: 1,
  features: { turn: 9 },
});
const byVector = (number: number) => ({ memory: id(number), place: number });
const numbers = (ranked: readonly Ranked[]) => ranked.map(({ memory }) => Number(memory.slice(4)));

describe("two lists in one", () => {
  it("count what the vectors say twice, and what both say most", () => {
    expect(numbers(fuse([1, 2, 3].map(byWords), [4, 2].map(byVector)))).toEqual([2, 4, 1, 3]);
  });

  it("are the one list where the other is empty", () => {
    expect(numbers(fuse([3, 1, 2].map(byWords), []))).toEqual([3, 1, 2]);
    expect(numbers(fuse([], [3, 1, 2].map(byVector)))).toEqual([3, 1, 2]);
  });

  it("say of each score what it is made of, and keep the evidence of the words", () => {
    const [first, second] = fuse([byWords(1)], [byVector(1), byVector(2)]);
    expect(first).toMatchObject({ features: { words: 1 / 61, vector: 2 / 61 }, evidence: 1 });
    expect(first?.score).toBeCloseTo(3 / 61);
    expect(second).toMatchObject({ features: { vector: 2 / 62 }, evidence: 0 });
  });

  it("count a memory once, by its nearest unit", () => {
    expect(numbers(fuse([], [{ memory: id(1), place: 5 }, { memory: id(1), place: 6 }, byVector(2)]))).toEqual([1, 2]);
  });
});
