import { describe, expect, it } from "vitest";
import { type Conversation, type FoldRates, whenToFold } from "./index.ts";

const multipliers = { read: 0.1, write5m: 1.25 };
const near: Conversation = { tokens: 9_000, at: 10_000, keep: 4_000, each: 250, prefix: 3_000 };
const chosen = (conversation: Partial<Conversation> = {}, rates: Partial<FoldRates> = {}) =>
  whenToFold({ ...near, ...conversation }, { multipliers, pauses: 0.1, ...rates });

describe("a cut at a cold cache", () => {
  it("is made when it would have to be made before the thread's next long pause", () => {
    expect(chosen()).toMatchObject({ now: true, turns: 4 });
    expect(chosen({ tokens: 7_750 })).toMatchObject({ now: true, turns: 9 });
    expect(chosen({ tokens: 7_500 })).toMatchObject({ now: false, turns: 10 });
    expect(chosen({ tokens: 7_500 }, { pauses: 0.05 })).toMatchObject({ now: true, turns: 10 });
  });

  it("saves what is not written, nor read until then, nor written once more", () => {
    const { saves } = chosen({}, { pauses: 0 });
    expect(saves).toBeCloseTo(1.25 * 5_000 + 0.1 * 5_000 * 4 + 1.15 * 4_000);
  });

  it("with a summary saves less: what goes is written for it, and its words are paid for now instead of then", () => {
    const saves = chosen({}, { pauses: 0, summary: 5_000 }).saves;
    expect(saves).toBeCloseTo(0.1 * 5_000 * 4 + 1.15 * 4_000 + 0.1 * (3_000 + 5_000 + 1_000) - 0.1 * 3_000);
    expect(chosen({}, { summary: 5_000 }).now).toBe(true);
  });

  it("waits where a summary costs more than is likely to be saved", () => {
    expect(chosen({ keep: 8_000, prefix: 30_000 }, { summary: 5_000 }).now).toBe(true);
    expect(chosen({ keep: 500, tokens: 8_000, prefix: 1_000 }, { summary: 9_000, pauses: 0.12 })).toMatchObject({
      now: false,
      turns: 8,
      saves: expect.any(Number),
    });
  });

  it("is none where nothing would go", () => {
    expect(chosen({ tokens: 3_900 }, { pauses: 0 })).toMatchObject({ now: false });
  });
});
