import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cardBook, cardOf, dollars, FAMILIES } from "./index.ts";

describe("a model's card", () => {
  it.each([
    ["anthropic:claude-sonnet-4-5", "anthropic:claude-sonnet-4-5"],
    ["anthropic:claude-sonnet-4-5-20250929", "anthropic:claude-sonnet-4-5"],
    ["anthropic:claude-sonnet-4-20250514", "anthropic:claude-sonnet-4"],
    ["anthropic:claude-opus-5-5", "anthropic:claude-opus-5-5"],
    ["openai:gpt-4o-mini-2024-07-18", "openai:gpt-4o-mini"],
    ["openai:gpt-5", "openai:gpt-5"],
    ["openai:gpt-5.1", "openai:gpt-5.1"],
    ["rehearsal", "rehearsal"],
    ["recording", "recording"],
  ])("%s is that of %s, with a price", (model, family) => {
    expect(cardOf(model)).toMatchObject({ family, priced: true });
  });

  it.each([
    ["anthropic:claude-sonnet-9", "anthropic:claude-"],
    ["anthropic:claude-opus-5-9", "anthropic:claude-opus-5"],
    ["openai:gpt-5-pro", "openai:gpt-5"],
    ["openai:gpt-5.9", "openai:gpt-"],
    ["openai:gpt-50", "openai:gpt-"],
    ["openai:whisper", "unknown"],
    ["local:llama3.1", "unknown"],
    ["scripted", "unknown"],
    ["anthropic:", "unknown"],
    ["toString", "unknown"],
  ])("%s is cautiously that of %s, without a price", (model, family) => {
    expect(cardOf(model)).toMatchObject({ family, priced: false });
  });

  it("is that of the longest family that fits, whatever the order of the rows", () => {
    const names = FAMILIES.map(({ family }) => `${family}${family.endsWith("-") ? "x" : ""}`);
    const reordered = fc.shuffledSubarray([...FAMILIES], { minLength: FAMILIES.length });
    fc.assert(
      fc.property(reordered, fc.constantFrom(...names), (rows, model) => {
        expect(cardBook({}, rows)(model)).toEqual(cardOf(model));
      }),
    );
  });

  it("promises no more than there is: cautious where nothing is known", () => {
    const known = FAMILIES.filter(({ family }) => family.includes(":"));
    const unknown = cardOf("local:llama3.1");
    expect(unknown.price).toEqual({ input: 0, cacheRead: 0, cacheWrite: 0, output: 0 });
    for (const row of known) {
      expect(unknown.window).toBeLessThanOrEqual(row.window);
      expect(unknown.longestReply).toBeLessThanOrEqual(row.longestReply);
      expect(unknown.minimumPrefix).toBeGreaterThanOrEqual(row.minimumPrefix);
    }
  });

  it.each(FAMILIES.map((row) => [row.family, row] as const))("of %s is dated and whole", (_family, row) => {
    expect(row.checked).toMatch(/^2026-\d\d-\d\d$/);
    expect(row.longestReply).toBeLessThan(row.window);
    if (row.price === undefined) return;
    expect(row.price.cacheRead).toBeLessThanOrEqual(row.price.input);
    expect(row.price.cacheWrite).toBeGreaterThanOrEqual(row.price.input);
    expect(row.price.output).toBeGreaterThanOrEqual(row.price.input);
  });
});

describe("a declared card", () => {
  it("is laid over the built-in one", () => {
    const book = cardBook({ "local:llama3.1": { window: 8_192, tokenFactor: 1.1, price: undefined } });
    expect(book("local:llama3.1")).toEqual({ ...cardOf("local:llama3.1"), window: 8_192, tokenFactor: 1.1 });
    expect(book("local:llama3.1-big")).toEqual(cardOf("local:llama3.1-big"));
    expect(book("toString")).toEqual(cardOf("toString"));
  });

  it("makes the price known; what it leaves out costs what the prompt costs", () => {
    const book = cardBook({
      "local:a": { price: { input: 1, output: 2 } },
      "local:b": { price: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 0 } },
      "anthropic:claude-sonnet-4-5": { price: { input: 0, output: 0 } },
    });
    expect(book("local:a")).toMatchObject({
      priced: true,
      price: { input: 1, cacheRead: 1, cacheWrite: 1, output: 2 },
    });
    expect(book("local:b").price).toEqual({ input: 1, cacheRead: 0.1, cacheWrite: 0, output: 2 });
    expect(book("anthropic:claude-sonnet-4-5")).toMatchObject({ priced: true, price: { input: 0, cacheRead: 0 } });
  });
});

describe("dollars", () => {
  it("count what was read, written and fresh each at its price", () => {
    const usage = { input: 1_000_000, cacheRead: 700_000, cacheWrite: 200_000, output: 10_000 };
    expect(dollars(usage, cardOf("anthropic:claude-sonnet-4-5"))).toBeCloseTo(0.3 + 0.21 + 0.75 + 0.15, 10);
    expect(dollars(usage, cardOf("openai:gpt-5"))).toBeCloseTo(0.125 + 0.0875 + 0.25 + 0.1, 10);
    expect(dollars(usage, cardOf("rehearsal"))).toBe(0);
  });
});
