import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { calibration } from "./index.ts";

const WIRE = "local:llama3.1";
const factor = fc.double({ min: 0.6, max: 2.5, noNaN: true });
const size = fc.integer({ min: 500, max: 200_000 });
const sizes = (calls: number) => fc.array(size, { minLength: calls, maxLength: calls });

/** A model that counts `real` tokens for one of o200k, and calls of these sizes. */
function learned(real: number, o200k: readonly number[], told = calibration()) {
  for (const tokens of o200k) told.observe(WIRE, tokens, Math.round(tokens * real));
  return told;
}

describe("a calibration", () => {
  it("begins with the card's factor and moves after three calls", () => {
    const told = calibration();
    expect(told.factorOf(WIRE, 1.23)).toBe(1.23);
    learned(1.5, [1_000, 1_000], told);
    expect(told.factorOf(WIRE, 1.23)).toBe(1.23);
    learned(1.5, [1_000], told);
    expect(told.factorOf(WIRE, 1.23)).toBe(1.5);
  });

  it("keeps each model to itself", () => {
    const told = learned(2, [900, 900, 900]);
    expect(told.factorOf(WIRE, 1)).toBe(2);
    expect(told.factorOf("local:other", 1)).toBe(1);
  });

  it("comes from any start to the model's own factor, on the safe side by a step at most", () => {
    fc.assert(
      fc.property(fc.double({ min: 0.3, max: 4, noNaN: true }), factor, sizes(60), (start, real, calls) => {
        const found = learned(real, calls).factorOf(WIRE, start);
        // Counts are whole numbers: half a token of 500 either way.
        expect(found).toBeGreaterThanOrEqual(real - 0.005);
        expect(found).toBeLessThanOrEqual(real + 0.025);
      }),
    );
  });

  it("never leaves its bounds, whatever is reported, and moves in steps", () => {
    const figure = fc.oneof(fc.double(), fc.integer({ min: -10, max: 1_000_000 }));
    fc.assert(
      fc.property(fc.array(fc.tuple(figure, figure), { maxLength: 80 }), factor, (calls, start) => {
        const told = calibration();
        for (const [estimated, reported] of calls) {
          const found = told.factorOf(WIRE, start);
          expect(found).toBeGreaterThanOrEqual(0.6);
          expect(found).toBeLessThanOrEqual(2.5);
          if (found !== start) expect(found).toBe(Math.round(found * 50) / 50);
          told.observe(WIRE, estimated, reported);
        }
      }),
    );
  });

  it("is not moved by one outlier", () => {
    const outlier = fc.double({ min: 0.3, max: 4.9, noNaN: true });
    fc.assert(
      fc.property(factor, outlier, sizes(40), fc.nat({ max: 40 }), (real, wrong, calls, at) => {
        const without = learned(real, calls).factorOf(WIRE, 1.2);
        const told = learned(real, calls.slice(0, at));
        learned(wrong, [10_000], told);
        const found = learned(real, calls.slice(at), told).factorOf(WIRE, 1.2);
        expect(Math.abs(found - without)).toBeLessThanOrEqual(0.02 + 1e-9);
      }),
    );
  });

  it("stays on the safe side of calls that differ: at least four of five fit", () => {
    const reals = fc.array(factor, { minLength: 20, maxLength: 50 });
    fc.assert(
      fc.property(reals, (each) => {
        const told = calibration();
        for (const real of each) learned(real, [100_000], told);
        const found = told.factorOf(WIRE, 1.2);
        expect(each.filter((real) => real <= found + 0.001).length).toBeGreaterThanOrEqual(0.8 * each.length);
      }),
    );
  });

  it("forgets what is long ago", () => {
    const told = learned(2, Array(50).fill(1_000));
    learned(1, Array(50).fill(1_000), told);
    expect(told.factorOf(WIRE, 1.2)).toBe(1);
  });

  it.each([
    [0, 100],
    [100, 0],
    [100, -5],
    [-100, -120],
    [Number.NaN, 100],
    [100, Number.POSITIVE_INFINITY],
    [Number.POSITIVE_INFINITY, 100],
    [10_000, 12],
    [12, 10_000],
  ])("passes over nonsense: %d estimated, %d reported", (estimated, reported) => {
    const told = learned(1.5, [1_000, 1_000]);
    told.observe(WIRE, estimated, reported);
    expect(told.factorOf(WIRE, 1)).toBe(1);
    learned(1.5, [1_000], told);
    expect(told.factorOf(WIRE, 1)).toBe(1.5);
  });
});
