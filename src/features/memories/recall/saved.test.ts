import { describe, expect, it } from "vitest";
import { type FreezeCase, freezeChoice } from "./saved.ts";

const LIMIT = 100_000;

/** A case in which the layer's own limits do not matter. */
const caseOf = (changes: Pick<FreezeCase, "stored" | "perTurn" | "read"> & Partial<FreezeCase>): FreezeCase => ({
  memories: 10,
  most: { memories: 50, tokens: 20_000 },
  limit: LIMIT,
  ...changes,
});

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
    expect(freezeChoice(caseOf({ stored, perTurn, read })).freezes).toBe(freezes);
  });

  it("never gives more than an eighth of what may be sent, and says so", () => {
    expect(freezeChoice(caseOf({ stored: 5_000, perTurn: 600, read: 0.1, limit: 39_000 }))).toEqual({
      freezes: false,
      because:
        "more than the 4875 tokens that may be frozen: 5000 tokens stored, 600 a turn by recall, a cached token costs 0.1",
    });
  });

  it("never gives more than the layer may show by recall: as many memories, and as many tokens", () => {
    const one = caseOf({ stored: 500, perTurn: 500, read: 0.1, memories: 5, most: { memories: 5, tokens: 500 } });
    expect(freezeChoice(one).freezes).toBe(true);
    expect(freezeChoice({ ...one, memories: 6 })).toMatchObject({
      freezes: false,
      because: expect.stringMatching(/^6 memories are saved and the layer's limit is 5: /),
    });
    expect(freezeChoice({ ...one, stored: 501 })).toMatchObject({
      freezes: false,
      because: expect.stringMatching(/^more than the layer's budget of 500 tokens: /),
    });
  });

  it("says its figures", () => {
    expect(freezeChoice(caseOf({ stored: 800, perTurn: 150, read: 0.1 })).because).toBe(
      "frozen costs less: 800 tokens stored, 150 a turn by recall, a cached token costs 0.1",
    );
  });
});
