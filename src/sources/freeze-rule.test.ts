import { describe, expect, it } from "vitest";
import { freezeChoice } from "./freeze-rule.ts";

const LIMIT = 100_000;

describe("the rule of freezing (r S < D)", () => {
  it.each([
    [0.1, 290, 2_899, true],
    [0.1, 290, 2_900, false],
    [0.05, 290, 5_799, true],
    [0.05, 290, 5_801, false],
    [0.025, 290, 11_599, true],
    [0.025, 290, 11_601, false],
    [1, 290, 289, true],
    [1, 290, 290, false],
  ])("at a read price of %d, %d tokens recalled a turn and %d stored it says %s", (read, perTurn, stored, freezes) => {
    expect(freezeChoice({ stored, perTurn, read, limit: LIMIT }).freezes).toBe(freezes);
  });

  it("never gives more than an eighth of what may be sent, and says so", () => {
    expect(freezeChoice({ stored: 5_000, perTurn: 600, read: 0.1, limit: 39_000 })).toEqual({
      freezes: false,
      because:
        "more than the 4875 tokens that may be frozen: 5000 tokens stored, 600 a turn by recall, a cached token costs 0.1",
    });
  });

  it("says its figures", () => {
    expect(freezeChoice({ stored: 800, perTurn: 150, read: 0.1, limit: LIMIT }).because).toBe(
      "frozen costs less: 800 tokens stored, 150 a turn by recall, a cached token costs 0.1",
    );
  });
});
