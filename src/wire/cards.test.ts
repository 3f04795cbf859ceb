import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cardBook, cardOf, dollars, FAMILIES, samplingFor } from "./index.ts";

describe("a model's card", () => {
  it.each([
    ["anthropic:claude-sonnet-4-5", "anthropic:claude-sonnet-4-5"],
    ["anthropic:claude-sonnet-4-5-20250929", "anthropic:claude-sonnet-4-5"],
    ["anthropic:claude-sonnet-4-20250514", "anthropic:claude-sonnet-4"],
    ["anthropic:claude-opus-5-5", "anthropic:claude-opus-5-5"],
    ["openai:gpt-4o-mini-2024-07-18", "openai:gpt-4o-mini"],
    ["openai:gpt-5", "openai:gpt-5"],
    ["openai:gpt-5.1", "openai:gpt-5.1"],
    ["google:gemini-2.5-flash-lite", "google:gemini-2.5-flash-lite"],
    ["deepseek:deepseek-v4-pro", "deepseek:deepseek-v4-pro"],
    ["openrouter:anthropic/claude-sonnet-4.5", "openrouter:anthropic/claude-sonnet-4.5"],
    ["openrouter:openai/gpt-6.1-sol", "openrouter:openai/gpt-6.1-sol"],
    ["bedrock:anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock:anthropic.claude-sonnet-4-5"],
    ["bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock:anthropic.claude-sonnet-4-5"],
    ["bedrock:us-gov.anthropic.claude-opus-4-6-v1", "bedrock:anthropic.claude-opus-4-6"],
    ["bedrock:global.anthropic.claude-opus-4-7", "bedrock:global.anthropic.claude-opus-4-7"],
    [
      "bedrock:arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-haiku-4-5-20251001-v1:0",
      "bedrock:anthropic.claude-haiku-4-5",
    ],
    ["rehearsal", "rehearsal"],
    ["recording", "recording"],
  ])("%s is that of %s, with a price", (model, family) => {
    expect(cardOf(model)).toMatchObject({ family, priced: true });
  });

  it.each([
    ["anthropic:claude-sonnet-9", "anthropic:claude-"],
    ["anthropic:claude-opus-5-9", "anthropic:claude-"],
    ["anthropic:claude-fable-5-9-20270101", "anthropic:claude-"],
    ["openai:gpt-6.9-sol", "openai:gpt-"],
    ["bedrock:us.anthropic.claude-fable-5-9-v1:0", "bedrock:anthropic.claude-"],
    ["openrouter:anthropic/claude-fable-5.9", "openrouter:anthropic/claude-"],
    ["openai:gpt-5-pro", "openai:gpt-5"],
    ["openai:gpt-5.9", "openai:gpt-"],
    ["openai:gpt-50", "openai:gpt-"],
    ["openai:whisper", "unknown"],
    ["openai:gpt-6-nova", "openai:gpt-6"],
    ["openrouter:anthropic/claude-sonnet-4.5:thinking", "openrouter:anthropic/claude-sonnet-4.5"],
    ["openrouter:deepseek/deepseek-v4-pro", "openrouter:deepseek/deepseek-v4-pro"],
    ["openrouter:qwen/qwen3-max", "openrouter:"],
    ["bedrock:amazon.nova-pro-v1:0", "bedrock:"],
    ["bedrock:anthropic.claude-opus-9-v1:0", "bedrock:anthropic.claude-"],
    ["openai-compatible:qwen3", "openai-compatible:"],
    ["local:llama3.1", "unknown"],
    ["scripted", "unknown"],
    ["anthropic:", "unknown"],
    ["toString", "unknown"],
  ])("%s is cautiously that of %s, without a price", (model, family) => {
    expect(cardOf(model)).toMatchObject({ family, priced: false });
  });

  it.each([
    [
      "anthropic:claude-fable-5-2",
      { reasoningBoundToHistory: true, contextWindow: 1_000_000, price: { input: 8, cacheRead: 0.2, output: 40 } },
    ],
    ["anthropic:claude-mythos-5-2", { reasoningBoundToHistory: true, price: { input: 8, output: 40 } }],
    ["anthropic:claude-haiku-5-5", { reasoningBoundToHistory: true, contextWindow: 100_000 }],
    ["anthropic:claude-sonnet-5-5", { price: { cacheRead: 0.2 } }],
    [
      "openai:gpt-6.2-sol",
      {
        cache: "exact",
        reasoningBoundToHistory: true,
        tailMode: "turn-scoped",
        lifetimes: { short: 1_800, long: 43_200 },
        price: { input: 2, cacheRead: 0.1, cacheWrite: 2.5, cacheWriteLong: 5 },
      },
    ],
    ["openai:gpt-6.2-astra", { reasoningBoundToHistory: true, price: { input: 8, output: 40 } }],
    ["openai:gpt-6.1-terra", { price: { input: 1, cacheRead: 0.05, output: 5 } }],
    ["google:gemini-2.5-flash", { minimumPrefix: 2_048 }],
    ["google:gemini-2.5-pro", { minimumPrefix: 2_048 }],
  ])("25.14 of %s is the one of autumn 2026", (model, card) => {
    expect(cardOf(model)).toMatchObject({ family: model, priced: true, ...card });
  });

  it("25.14 of a point release that nobody wrote a card for binds, wherever its maker's newer models do", () => {
    const makers = ["anthropic:claude-fable-5-9", "openai:gpt-6.9-sol", "openrouter:anthropic/claude-opus-5.9"];
    for (const model of makers)
      expect(cardOf(model)).toMatchObject({ reasoningBoundToHistory: true, tailMode: "delta", priced: false });
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
    expect(unknown.price).toEqual({ input: 0, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0, output: 0 });
    expect(unknown).toMatchObject({ cache: "none", breakpoints: 0, lifetimes: { short: 0 } });
    for (const row of known) {
      expect(unknown.contextWindow).toBeLessThanOrEqual(row.contextWindow);
      expect(unknown.maxOutputTokens).toBeLessThanOrEqual(row.maxOutputTokens);
      expect(unknown.minimumPrefix).toBeGreaterThanOrEqual(row.minimumPrefix);
    }
  });

  it.each(FAMILIES.map((row) => [row.family, row] as const))("of %s is dated and whole", (_family, row) => {
    expect(row.checked).toMatch(/^2026-\d\d-\d\d$/);
    expect(new Date(row.checked).toISOString()).toContain(row.checked);
    expect(row.maxOutputTokens).toBeLessThan(row.contextWindow);
    expect(row.step).toBeGreaterThanOrEqual(1);
    expect(row.minimumPrefix).toBeGreaterThanOrEqual(row.step);
    expect(row.metadata).toMatch(/^[a-zA-Z]+$/);
    // What takes breakpoints says how many and how far it looks; what takes none has none.
    const marked = row.cache === "lookback" || row.cache === "exact";
    expect([row.breakpoints > 0, row.lookback > 0]).toEqual([marked, marked]);
    expect(row.lifetimes.short > 0).toBe(row.cache !== "none" || row.family.startsWith("bedrock:"));
    if (row.lifetimes.long !== undefined) expect(row.lifetimes.long).toBeGreaterThan(row.lifetimes.short);
    if (row.tailMode === "turn-scoped") expect(row.family).toMatch(/^anthropic:|^openai:gpt-6\.2/);
    // If a provider binds reasoning to the history, nothing may be removed that it has not cleared itself.
    if (row.reasoningBoundToHistory === true) expect(row.tailMode).not.toBe("ephemeral");
    if (row.tailMode === "delta") expect(row.reasoningBoundToHistory).toBe(true);
    if (row.price === undefined) return;
    expect(row.price.cacheRead).toBeLessThanOrEqual(row.price.input);
    expect(row.price.cacheWrite).toBeGreaterThanOrEqual(row.price.input);
    expect(row.price.cacheWriteLong).toBeGreaterThanOrEqual(row.price.cacheWrite);
    expect(row.price.output).toBeGreaterThanOrEqual(row.price.input);
  });

  it("is never that of a larger family where there is a smaller one; no two have one name", () => {
    const names = FAMILIES.map(({ family }) => family);
    expect(new Set(names).size).toBe(names.length);
    for (const row of FAMILIES) {
      const { price: _, ...rest } = row;
      expect(cardOf(row.family)).toMatchObject(rest);
      for (const dated of ["-20260102", "-2026-01-02"]) expect(cardOf(row.family + dated)).toMatchObject(rest);
    }
  });

  it("tells how the cache is written, and what a long lifetime costs", () => {
    expect(cardOf("anthropic:claude-sonnet-4-5")).toMatchObject({
      cache: "lookback",
      breakpoints: 4,
      lookback: 20,
      step: 1,
      lifetimes: { short: 300, long: 3_600 },
      tailMode: "ephemeral",
      metadata: "anthropic",
      price: { input: 3, cacheRead: 0.3, cacheWrite: 3.75, cacheWriteLong: 6, output: 15 },
    });
    expect(cardOf("anthropic:claude-opus-5-5").tailMode).toBe("turn-scoped");
    expect(cardOf("openai:gpt-6.1-sol")).toMatchObject({ cache: "exact", breakpoints: 4, lookback: 80 });
    expect(cardOf("openai:gpt-5-mini")).toMatchObject({ cache: "automatic", breakpoints: 0, step: 128 });
    expect(cardOf("openai-compatible:qwen3")).toMatchObject({ cache: "automatic", step: 16, priced: false });
  });

  it("of a gateway is its maker's, with the gateway's own levers and minimums", () => {
    const [sonnet, routed] = ["anthropic:claude-sonnet-4-5", "openrouter:anthropic/claude-sonnet-4.5"].map((ref) =>
      cardOf(ref),
    );
    const { loadsTools, retires, ...passed } = sonnet ?? {};
    expect([loadsTools, retires]).toEqual([true, "2026-11-30"]);
    expect(routed).toEqual({ ...passed, family: routed?.family, metadata: "openrouter" });
    // It may end on Bedrock, whose minimum is the larger one.
    for (const ref of ["openrouter:anthropic/claude-opus-4.7", "bedrock:anthropic.claude-opus-4-7"]) {
      expect(cardOf(ref).minimumPrefix).toBe(4_096);
    }
    expect(cardOf("anthropic:claude-opus-4-7").minimumPrefix).toBe(2_048);
    // Neither clears a message by itself: bound reasoning leaves changed lines only.
    expect(cardOf("openrouter:anthropic/claude-opus-5").tailMode).toBe("ephemeral");
    expect(cardOf("bedrock:anthropic.claude-opus-5-5").tailMode).toBe("delta");
    expect(cardOf("openrouter:openai/gpt-6-sol").cache).toBe("exact");
    expect(cardOf("bedrock:amazon.nova-pro-v1:0")).toMatchObject({ cache: "none", breakpoints: 0 });
    // A region's endpoint costs a tenth more than the global one.
    expect(cardOf("bedrock:us.anthropic.claude-opus-4-6-v1").price).toMatchObject({ input: 5.5, cacheRead: 0.55 });
    expect(cardOf("bedrock:global.anthropic.claude-opus-4-6-v1").price).toMatchObject({ input: 5, output: 25 });
  });
});

describe("a declared card", () => {
  it("is laid over the built-in one", () => {
    const book = cardBook({ "local:llama3.1": { contextWindow: 8_192, tokenFactor: 1.1, price: undefined } });
    const said = { contextWindow: 8_192, guessed: false, tokenFactor: 1.1 };
    expect(book("local:llama3.1")).toEqual({ ...cardOf("local:llama3.1"), ...said });
    expect(cardOf("local:llama3.1").guessed).toBe(true);
    expect(book("local:llama3.1-big")).toEqual(cardOf("local:llama3.1-big"));
    expect(book("toString")).toEqual(cardOf("toString"));
  });

  it("sets each value by itself, and takes a lifetime away", () => {
    const changed = {
      contextWindow: 100,
      maxOutputTokens: 10,
      tokenFactor: 2,
      cache: "exact",
      minimumPrefix: 7,
      step: 3,
      breakpoints: 2,
      lookback: 5,
      lifetimes: { short: 60 },
      tailMode: "delta",
      reasoningBoundToHistory: true,
      metadata: "mine",
    } as const;
    const model = "anthropic:claude-sonnet-4-5";
    for (const [key, value] of Object.entries(changed)) {
      const book = cardBook({ [model]: { [key]: value } });
      expect(book(model)).toEqual({ ...cardOf(model), [key]: value });
    }
    expect(cardBook({ [model]: { lifetimes: { short: 60, long: undefined } } })(model).lifetimes).toEqual({
      short: 60,
    });
  });

  it("is laid over the card that the model is known by under another name", () => {
    const book = cardBook({ "proxy:claude-sonnet-4-5": { contextWindow: 100_000 } });
    const known = "anthropic:claude-sonnet-4-5";
    expect(book("proxy:claude-sonnet-4-5", known)).toEqual({ ...cardOf(known), contextWindow: 100_000 });
    expect(book("other:claude-sonnet-4-5", known)).toEqual(cardOf(known));
  });

  it("keeps of a built-in price what it leaves out: as it is, or its share of another input", () => {
    const model = "anthropic:claude-sonnet-4-5";
    const priced = (price: object) => cardBook({ [model]: { price } })(model);
    const own = cardOf(model).price;
    expect(priced({ input: 3, output: 15, cacheRead: 0.15 }).price).toEqual({ ...own, cacheRead: 0.15 });
    expect(priced({ cacheRead: 0.15 })).toMatchObject({ priced: true, price: { ...own, cacheRead: 0.15 } });
    expect(priced({ input: 6, output: 20 }).price).toEqual({
      input: 6,
      output: 20,
      cacheRead: 0.6,
      cacheWrite: 7.5,
      cacheWriteLong: 12,
    });
    expect(cardBook({ "local:a": { price: { cacheRead: 1 } } })("local:a").priced).toBe(false);
  });

  it("makes the price known; what it leaves out of an unknown one costs what the prompt costs", () => {
    const book = cardBook({
      "local:a": { price: { input: 1, output: 2 } },
      "local:b": { price: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 0 } },
      "anthropic:claude-sonnet-4-5": { price: { input: 0, output: 0 } },
    });
    expect(book("local:a")).toMatchObject({
      priced: true,
      price: { input: 1, cacheRead: 1, cacheWrite: 1, output: 2 },
    });
    expect(book("local:b").price).toEqual({ input: 1, cacheRead: 0.1, cacheWrite: 0, cacheWriteLong: 0, output: 2 });
    expect(cardBook({ "a:b": { price: { input: 1, output: 2, cacheWriteLong: 2 } } })("a:b").price).toMatchObject({
      cacheWrite: 1,
      cacheWriteLong: 2,
    });
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

  it("count what was written for an hour at its own price, as reported or else as predicted", () => {
    const card = cardOf("anthropic:claude-sonnet-4-5");
    const usage = { input: 1_000_000, cacheRead: 0, cacheWrite: 1_000_000, output: 0 };
    const half = { read: 0, write: 1_000, writeLong: 500, input: 9 };
    expect(dollars(usage, card)).toBeCloseTo(3.75, 10);
    expect(dollars({ ...usage, cacheWriteLong: 1_000_000 }, card)).toBeCloseTo(6, 10);
    expect(dollars(usage, card, half)).toBeCloseTo(4.875, 10);
    expect(dollars({ ...usage, cacheWriteLong: 0 }, card, half)).toBeCloseTo(3.75, 10);
  });
});

describe("temperature and top-p", () => {
  const LEVELS = [undefined, "off", "low"] as const;

  it.each([
    ["openai:gpt-4.1", [true, true, true]],
    ["openai-compatible:qwen3", [true, true, true]],
    ["google:gemini-2.5-flash", [true, true, true]],
    ["anthropic:claude-sonnet-4-5", [true, true, false]],
    ["openrouter:anthropic/claude-opus-4.6", [true, true, false]],
    ["anthropic:claude-opus-4-7", [false, false, false]],
    ["bedrock:us.anthropic.claude-sonnet-5-v1:0", [false, false, false]],
    ["anthropic:claude-sonnet-9", [false, false, false]],
    ["openai:o3", [false, false, false]],
    ["openai:gpt-5", [false, false, false]],
    ["openai:gpt-5.1", [false, true, false]],
    ["openai:gpt-5.6-sol", [false, true, false]],
    ["openai:gpt-6.2-sol", [false, false, false]],
    ["openai:gpt-7", [false, false, false]],
  ] as const)("%s: sent without a level, with reasoning off and with a low one: %j", (model, sent) => {
    for (const [i, level] of LEVELS.entries()) {
      const found = samplingFor(cardOf(model), { temperature: 0.2 }, level && { level });
      expect(found.sent).toEqual(sent[i] ? { temperature: 0.2 } : {});
      expect(found.omitted.map(({ parameter }) => parameter)).toEqual(sent[i] ? [] : ["temperature"]);
    }
  });
});
