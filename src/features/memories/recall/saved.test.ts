import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { freezeChoice } from "./saved.ts";

const anySaved = fc.array(
  fc.record({
    memory: fc.record({ at: fc.nat(1_000), support: fc.integer({ min: 1, max: 5 }) }),
    tokens: fc.integer({ min: 1, max: 400 }),
  }),
  { maxLength: 60 },
);

describe("what of the saved memories stands frozen", () => {
  it("fits its budget, and one more memory turns none of the others off that has room beside it", () => {
    fc.assert(
      fc.property(anySaved, fc.nat(3_000), (saved, budget) => {
        const chosen = freezeChoice(saved, budget);
        const spent = chosen.reduce((sum, { tokens }) => sum + tokens, 0);
        expect(spent).toBeLessThanOrEqual(budget);
        for (const one of saved) if (!chosen.includes(one)) expect(one.tokens).toBeGreaterThan(budget - spent);
        const more = freezeChoice([...saved, { memory: { at: 2_000, support: 1 }, tokens: 20 }], budget + 20);
        expect(more.length).toBeGreaterThan(0);
        if (chosen.length === saved.length) expect(more).toHaveLength(saved.length + 1);
      }),
    );
  });

  it("is what was saved most often first, and of equals the newest", () => {
    const one = (name: string, at: number, support: number) => ({ name, memory: { at, support }, tokens: 10 });
    const saved = [one("new", 9, 1), one("old", 1, 1), one("often", 2, 3)];
    expect(freezeChoice(saved, 20).map(({ name }) => name)).toEqual(["often", "new"]);
  });
});
