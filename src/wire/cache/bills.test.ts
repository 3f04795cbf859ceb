import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  anthropicRules,
  type CacheRules,
  openaiExactRules,
  openaiRules,
  optimum,
  type SeenBlock,
  type SeenRequest,
  serverRules,
  simulate,
} from "../index.ts";
import { block, blocks, request } from "./thread.contract.ts";

const anyBlock: fc.Arbitrary<SeenBlock> = fc
  .record({
    key: fc.constantFrom("a", "b", "c", "d", "e"),
    kind: fc.constantFrom("text", "tool-use", "tool-result", "system", "tool"),
    breakpoint: fc.option(fc.constantFrom("5m" as const, "1h" as const), { freq: 4 }),
  })
  .map(({ key, kind, breakpoint }) => ({
    key: `${kind} ${key}`,
    tokens: 300 + key.charCodeAt(0) * 7,
    kind,
    ...(breakpoint !== null && { breakpoint }),
  }));

/** Threads that share beginnings, as real ones do, with some blocks changed. */
const anyThread: fc.Arbitrary<readonly SeenRequest[]> = fc
  .record({
    base: fc.array(anyBlock, { minLength: 1, maxLength: 30 }),
    requests: fc.array(
      fc.record({
        length: fc.nat({ max: 30 }),
        more: fc.array(anyBlock, { maxLength: 4 }),
        gap: fc.constantFrom(0, 1_000, 45_000, 400_000, 4_000_000),
        took: fc.option(fc.nat({ max: 200_000 }), { nil: undefined }),
      }),
      { minLength: 1, maxLength: 12 },
    ),
  })
  .map(({ base, requests }) => {
    let at = 0;
    return requests.map(({ length, more, gap, took }) => {
      at += gap;
      return request([...base.slice(0, length), ...more], { at, ...(took !== undefined && { took }) });
    });
  });

const anyRules = fc.constantFrom<CacheRules>(anthropicRules(), openaiRules(), openaiExactRules(), serverRules());

const tokensOf = ({ blocks }: SeenRequest) => blocks.reduce((sum, { tokens }) => sum + tokens, 0);

describe("any bill", () => {
  it("accounts for every token once", () => {
    fc.assert(
      fc.property(anyThread, anyRules, (thread, rules) => {
        for (const [n, bill] of simulate(thread, rules).entries()) {
          const parts = [bill.input, bill.read, bill.write5m, bill.write1h];
          expect(Math.min(...parts)).toBeGreaterThanOrEqual(0);
          expect(parts.reduce((sum, part) => sum + part, 0)).toBe(tokensOf(thread[n] ?? request([])));
        }
      }),
    );
  });

  it("has the same sum wherever a breakpoint is added", () => {
    const sums = (thread: readonly SeenRequest[]) =>
      simulate(thread, anthropicRules()).map(({ input, read, write5m, write1h }) => input + read + write5m + write1h);
    fc.assert(
      fc.property(anyThread, fc.nat(), fc.nat(), (thread, n, at) => {
        const chosen = n % thread.length;
        const more = thread.map((one, index) =>
          index !== chosen
            ? one
            : {
                ...one,
                blocks: one.blocks.map((b, i) =>
                  i === at % one.blocks.length ? { ...b, breakpoint: "5m" as const } : b,
                ),
              },
        );
        expect(sums(more)).toEqual(sums(thread));
      }),
    );
  });

  it("is never below the optimum", () => {
    fc.assert(
      fc.property(anyThread, anyRules, (thread, rules) => {
        const { read, write5m } = rules.multipliers;
        const billed = simulate(thread, rules).reduce((sum, { cost }) => sum + cost, 0);
        const best = optimum(thread, { r: read, w: write5m }).reduce((sum, cost) => sum + cost, 0);
        expect(billed).toBeGreaterThanOrEqual(best - 1e-6);
      }),
      { numRuns: 400 },
    );
  });

  it("is the same for the same requests, in whatever order they are given", () => {
    fc.assert(
      fc.property(anyThread, anyRules, (thread, rules) => {
        const apart = thread.map((one, n) => ({ ...one, at: one.at + n }));
        const backwards = simulate(apart.toReversed(), rules).toReversed();
        expect(backwards).toEqual(simulate(apart, rules));
      }),
    );
  });
});

describe("the optimum", () => {
  const rw = { r: 0.1, w: 1.25 };

  it("reads what was sent before, writes what comes again, and takes the rest as it is", () => {
    const thread = [
      request([block("a"), block("once")]),
      request([block("a"), block("b")]),
      request([block("a"), block("b")]),
    ];
    expect(optimum(thread, rw)).toEqual([1_250 + 1_000, 100 + 1_250, 100 + 100]);
  });

  it("asks for content alone: neither order nor time count", () => {
    const thread = [request([block("a"), block("b")]), request([block("b"), block("a")], { at: 1e9 })];
    expect(optimum(thread, rw)).toEqual([2_500, 200]);
  });

  it("is reached by a thread that only grows and marks its end", () => {
    const thread = [10, 15, 20, 25].map((n) => request(blocks(n)));
    const billed = simulate(thread, anthropicRules()).reduce((sum, { cost }) => sum + cost, 0);
    const best = optimum(thread, rw).reduce((sum, cost) => sum + cost, 0);
    // The end of the last request is written but never read.
    expect(billed - best).toBeCloseTo(5_000 * 0.25);
  });
});
