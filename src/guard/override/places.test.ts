import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { placeOf, weightsIn, written } from "./places.ts";

describe("weights", () => {
  it("are read as they were written, in steps of an eighth", () => {
    const weights = fc.array(fc.tuple(fc.string(), fc.integer({ min: -32, max: 31 })));
    fc.assert(
      fc.property(weights, (all) => {
        const given = new Map(all.map(([feature, steps]) => [placeOf(feature), steps / 8]));
        const heavy = [...given].filter(([, weight]) => weight !== 0).sort(([a], [b]) => a - b);
        expect([...weightsIn(written(given))]).toEqual(heavy);
      }),
    );
  });

  it("stand in text that may be broken anywhere", () => {
    const weights = new Map([1, 40, 2_000, 1_000_000].map((place) => [place, 1.5]));
    expect(weightsIn([...written(weights)].join("\n"))).toEqual(weights);
  });
});
