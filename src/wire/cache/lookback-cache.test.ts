import { describe, expect, it } from "vitest";
import { anthropicRules, type SeenBlock, simulate } from "../index.ts";
import { block, blocks, MINUTE, request, SECOND } from "./thread.contract.ts";

const RULES = anthropicRules();

/** What each request reads, in blocks of a thousand tokens. */
const reads = (requests: Parameters<typeof simulate>[0]) => simulate(requests, RULES).map(({ read }) => read / 1_000);

describe("a cache with breakpoints looks back", () => {
  it("10, then 15, then 35 blocks: the second finds the first, the third finds nothing", () => {
    expect(reads([request(blocks(10)), request(blocks(15)), request(blocks(35))])).toEqual([0, 10, 0]);
  });

  it("35 blocks with a second breakpoint on the fifteenth find what the request before wrote there", () => {
    expect(reads([request(blocks(10)), request(blocks(15)), request(blocks(35, [15, 35]))])).toEqual([0, 10, 15]);
  });

  it("20 positions, of which the breakpoint's own is the first", () => {
    expect(reads([request(blocks(16)), request(blocks(35))])).toEqual([0, 16]);
    expect(reads([request(blocks(15)), request(blocks(35))])).toEqual([0, 0]);
  });

  it("counts calls in a row as one position, and results in a row as one", () => {
    const round = (n: number): readonly SeenBlock[] => [
      ...Array.from({ length: 30 }, (_, at) => block(`call ${n}.${at}`, { kind: "tool-use", role: "assistant" })),
      ...Array.from({ length: 30 }, (_, at) => block(`result ${n}.${at}`, { kind: "tool-result" })),
    ];
    const marked = (n: number) => [
      ...blocks(2, []),
      ...Array.from({ length: n }, (_, at) => round(at)).flat(),
      block("end", { breakpoint: "5m" }),
    ];
    expect(reads([request(blocks(2)), request(marked(9))])).toEqual([0, 2]);
    expect(reads([request(blocks(2)), request(marked(10))])).toEqual([0, 0]);
  });

  it("finds what was written inside a run of results", () => {
    const results = Array.from({ length: 40 }, (_, at) => block(`r${at}`, { kind: "tool-result" }));
    const upTo = (n: number) =>
      results.slice(0, n).map((one, at) => (at === n - 1 ? { ...one, breakpoint: "5m" as const } : one));
    expect(reads([request(upTo(3)), request(upTo(40))])).toEqual([0, 3]);
  });

  it("finds only what earlier requests wrote, and they write at breakpoints only", () => {
    expect(reads([request(blocks(10)), request(blocks(8))])).toEqual([0, 0]);
    expect(reads([request(blocks(10, [8, 10])), request(blocks(8))])).toEqual([0, 8]);
    expect(reads([request(blocks(10, [])), request(blocks(10))])).toEqual([0, 0]);
  });

  it("nothing where a block before was changed, or where another model is asked", () => {
    const changed = blocks(12).map((one, at) => (at === 0 ? { ...one, key: "other" } : one));
    expect(reads([request(blocks(10)), request(changed), request(blocks(12), { model: "other" })])).toEqual([0, 0, 0]);
  });
});

describe("a cache with breakpoints keeps", () => {
  const later = (at: number, rest = {}) => request(blocks(3), { at, ...rest });

  it("for five minutes from the start of the request", () => {
    expect(reads([later(0), later(5 * MINUTE - 1)])).toEqual([0, 3]);
    expect(reads([later(0), later(5 * MINUTE)])).toEqual([0, 0]);
  });

  it("a minute more after an answer that took four", () => {
    const slow = { took: 4 * MINUTE };
    expect(reads([later(0, slow), later(4 * MINUTE + 59 * SECOND)])).toEqual([0, 3]);
    expect(reads([later(0, slow), later(5 * MINUTE + SECOND)])).toEqual([0, 0]);
  });

  it("longer each time it is used", () => {
    expect(reads([later(0), later(4 * MINUTE), later(8 * MINUTE), later(14 * MINUTE)])).toEqual([0, 3, 3, 0]);
  });

  it("a beginning alive that is used, and not one that is passed by", () => {
    const [short, long] = [blocks(3), blocks(9, [3, 9])];
    const long9 = request(blocks(9), { at: 4 * MINUTE });
    expect(reads([request(long), long9, request(short, { at: 8 * MINUTE })])).toEqual([0, 9, 0]);
    const both = request(long, { at: 4 * MINUTE });
    expect(reads([request(long), both, request(short, { at: 8 * MINUTE })])).toEqual([0, 9, 3]);
  });

  it("a beginning alive that is found from a breakpoint further on", () => {
    const longer = request(blocks(9), { at: 4 * MINUTE });
    expect(reads([later(0), longer, later(8 * MINUTE)])).toEqual([0, 3, 3]);
  });

  it("what was written for five minutes no longer because an hour's breakpoint reads it for nothing", () => {
    const hour = (at: number) => request(blocks(3, [3], "1h"), { at });
    expect(reads([later(0), hour(MINUTE), hour(30 * MINUTE)])).toEqual([0, 3, 0]);
  });

  it("for an hour where the breakpoint says so", () => {
    const hour = (at: number) => request(blocks(3, [3], "1h"), { at });
    expect(reads([hour(0), hour(59 * MINUTE), hour(120 * MINUTE)])).toEqual([0, 3, 0]);
  });

  it("what others can read once its writer's answer has begun", () => {
    const wide = [later(0, { took: 3 * SECOND }), later(2 * SECOND), later(3 * SECOND), later(4 * SECOND)];
    expect(reads(wide)).toEqual([0, 0, 3, 3]);
  });
});

describe("a bill of a cache with breakpoints", () => {
  it("charges what was read, what each lifetime wrote, and the rest", () => {
    const mixed = [...blocks(2, [2], "1h"), block("3"), block("4", { breakpoint: "5m" }), block("5")];
    const [first, again] = simulate([request(mixed), request(mixed, { at: MINUTE })], RULES);
    expect(first).toEqual({
      input: 1_000,
      read: 0,
      write1h: 2_000,
      write5m: 2_000,
      cost: 1_000 + 4_000 + 2_500,
      problems: [],
    });
    expect(again).toMatchObject({ input: 1_000, read: 4_000, write1h: 0, write5m: 0, cost: 1_400 });
  });

  it("charges the hour's breakpoint for what follows the longest read, and the five minutes' breakpoint for what follows that", () => {
    const before = request(blocks(2, [2]));
    const next = request(
      [...blocks(2, []), block("3", { breakpoint: "1h" }), block("4", { breakpoint: "5m" }), block("5")],
      {
        at: SECOND,
      },
    );
    expect(simulate([before, next], RULES)[1]).toMatchObject({
      read: 2_000,
      write1h: 1_000,
      write5m: 1_000,
      input: 1_000,
    });
  });

  it("writes the hour's part again when only the shorter part is no longer found", () => {
    const mixed = (at: number) => request([...blocks(2, [2], "1h"), block("3", { breakpoint: "5m" })], { at });
    const bills = simulate([mixed(0), mixed(30 * MINUTE), mixed(100 * MINUTE)], RULES);
    expect(bills.map(({ read, write5m, write1h }) => [read, write5m, write1h])).toEqual([
      [0, 1_000, 2_000],
      [2_000, 1_000, 0],
      [0, 1_000, 2_000],
    ]);
  });

  it("charges no write below the minimum, and keeps nothing there", () => {
    const short = (tokens: number) => request([block("a", { tokens, breakpoint: "5m" }), block("b", { tokens: 10 })]);
    expect(simulate([short(1_023), short(1_023)], RULES)[1]).toMatchObject({ input: 1_033, read: 0, write5m: 0 });
    expect(simulate([short(1_024), short(1_024)], RULES)[1]).toMatchObject({ input: 10, read: 1_024 });
    expect(simulate([short(1_024), short(1_024)], anthropicRules({ minimum: 4_096 }))[1]).toMatchObject({ read: 0 });
  });

  it("is that of a request without caching where the provider refuses the fifth breakpoint", () => {
    const [bill, next] = simulate([request(blocks(5, [1, 2, 3, 4, 5])), request(blocks(5))], RULES);
    expect(bill).toMatchObject({ input: 5_000, cost: 5_000 });
    expect(bill?.problems).toEqual(["5 breakpoints, and a request may carry 4: the provider refuses it"]);
    expect(next).toMatchObject({ read: 0 });
    expect(simulate([request(blocks(5, [1, 2, 3, 4]))], RULES)[0]?.problems).toEqual([]);
  });

  it("tells of an hour behind five minutes, and of a breakpoint on reasoning", () => {
    const late = [block("1", { breakpoint: "5m" }), block("2", { breakpoint: "1h" })];
    expect(simulate([request(late)], RULES)[0]?.problems[0]).toContain("1h comes after one of 5m");
    const thought = [block("1", { kind: "reasoning", role: "assistant", breakpoint: "5m" })];
    expect(simulate([request(thought)], RULES)[0]?.problems[0]).toContain("reasoning");
  });

  it("reads for the model's own share of the price", () => {
    const cheap = anthropicRules({ read: 0.025 });
    expect(simulate([request(blocks(4)), request(blocks(4))], cheap)[1]?.cost).toBe(100);
  });
});
