import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { layerId } from "../../src/protocol/index.ts";
import { lintSubject, lintText, measured, paddingPays, type Subject } from "../../src/wire/index.ts";
import { FIRES, PASSES } from "./lint-texts.ts";

const rulesIn = (text: string) => lintText(text).map(({ rule }) => rule);

describe("a text of the prefix", () => {
  const cases = Object.entries(FIRES).flatMap(([rule, texts]) => texts.map((text) => ({ rule, text })));

  it.each(cases)("$rule: $text", ({ rule, text }) => {
    expect(rulesIn(text)).toEqual([rule]);
  });

  it.each(PASSES)("passes: %s", (text) => {
    expect(lintText(text)).toEqual([]);
  });

  it("is judged the same wherever ordinary prose stands around it, and the line is reported", () => {
    const prose = fc.array(fc.constantFrom(...PASSES), { maxLength: 4 });
    fc.assert(
      fc.property(prose, fc.constantFrom(...cases), prose, (before, { rule, text }, after) => {
        const [hit, ...more] = lintText([...before, text, ...after].join("\n"));
        expect(hit).toMatchObject({ rule, spot: { line: before.length + 1 }, more: 0 });
        expect(more).toEqual([]);
      }),
    );
  });

  it("is reported once for each rule, with how many more there are", () => {
    const text = "The hall is currently closed.\nThe bar is currently closed. It is 10:00:01.";
    expect(lintText(text)).toEqual([
      { rule: "word-of-now", spot: { line: 1, column: 13 }, words: "currently", more: 1 },
      { rule: "seconds", spot: { line: 2, column: 36 }, words: "10:00:01", more: 0 },
    ]);
  });

  it("of any kind is read to its end in linear time", () => {
    for (const part of ["a1", "0", "f", "2026-", "1:", "e.g. ", "Z9a", "now ", "\n", "an hour "]) {
      expect(Array.isArray(lintText(part.repeat((256 * 1024) / part.length)))).toBe(true);
    }
  });
});

describe("the multiplier", () => {
  it("is that of CACHING §3.6, on the line between 50 and 200 turns", () => {
    const at = (turns: number, read = 0.1) => measured("minutes", turns, { read }).times;
    expect([8, 50, 125, 200, 1_000].map((turns) => at(turns))).toEqual([3.72, 3.72, 4.58, 5.44, 5.44]);
    expect(at(50, 0.05)).toBe(8.52);
    expect(at(50, 0.025)).toBe(8.52);
    expect(at(200, 0.25)).toBe(5.44);
    expect(measured("minutes", 125, { read: 0.1 }).message).toContain("3.72 at 50 turns, 5.44 at 200");
    expect(measured("day", 200, { read: 0.05 }).times).toBe(1.04);
  });

  it("of padding is that of CACHING §3.5 where the conversation does not grow: 1,625 tokens pay from the 4th request on", () => {
    const rates = { read: 0.1, write: 1.25, minimum: 4_096 };
    const still = { events: 0, grows: 0, tail: 0 };
    expect(paddingPays(1_625, still, rates)?.from).toBe(4);
    // As long as nothing is kept, sending 409 tokens costs less than reading 4,096.
    expect(paddingPays(409, still, rates)?.from).toBeGreaterThan(100);
  });

  it("of padding ends where both are kept: in longer threads each request reads the padding for nothing", () => {
    const rates = { read: 0.1, write: 1.25, minimum: 1_024 };
    const growth = { events: 80, grows: 114, tail: 36 };
    const pays = paddingPays(330, growth, rates);
    expect(pays?.from).toBeLessThan(10);
    expect(pays?.to).toBeGreaterThan(10);
    expect(paddingPays(10, { ...growth, grows: 2_000 }, rates)).toBeUndefined();
  });

  it("of padding is right: from the first to the last of these requests padding is cheaper, outside them it is not", () => {
    const count = fc.integer({ min: 1, max: 5_000 });
    fc.assert(
      fc.property(count, count, fc.integer({ min: 20, max: 900 }), (tokens, minimum, grows) => {
        fc.pre(tokens < minimum);
        const rates = { read: 0.1, write: 1.25, minimum };
        const growth = { events: Math.floor(grows / 3), grows, tail: 36 };
        const pays = paddingPays(tokens, growth, rates);
        const lead = (turns: number) =>
          billed(tokens, turns, growth, minimum) - billed(minimum, turns, growth, minimum);
        if (pays === undefined) for (const turns of [1, 2, 5, 20, 200]) expect(lead(turns)).toBeLessThan(1e-6);
        else {
          for (const turns of [pays.from, pays.to]) expect(lead(turns)).toBeGreaterThan(-1e-6);
          for (const turns of [pays.from - 1, pays.to + 1]) expect(lead(turns)).toBeLessThan(1e-6);
        }
      }),
    );
  });
});

/** A thread's bill by the documented rules: uncached below the minimum, then what the request before held is read. */
function billed(
  prefix: number,
  turns: number,
  growth: { events: number; grows: number; tail: number },
  minimum: number,
) {
  const sizes = Array.from({ length: turns }, (_, n) => prefix + growth.events + n * growth.grows);
  return sizes.reduce((sum, size, n) => {
    const before = sizes[n - 1] ?? 0;
    const kept = before >= minimum ? before : 0;
    return sum + growth.tail + (size < minimum ? size : 0.1 * kept + 1.25 * (size - kept));
  }, 0);
}

const entry = (section: string, tokens: number, fate: object = { fate: "kept" }, wanted = tokens) =>
  ({
    section: layerId(section),
    place: "system",
    trust: "operator",
    tokens,
    wanted,
    ...fate,
  }) as Subject["prefix"][number];

const CLEAN: Subject = {
  texts: [{ section: "layer rules", text: "Sell well." }],
  layers: [],
  prefix: [entry("rules", 2_000)],
  unstable: [],
  rates: { read: 0.1, write: 1.25, minimum: 1_024 },
  length: { turns: 50, from: "default" },
  observed: {},
  paidTwice: "nothing",
};

const found = (change: Partial<Subject>) => lintSubject({ ...CLEAN, ...change });

describe("a declaration and a record", () => {
  it("a word of now is a claim in a layer, and none in what a tool says of its answers; a clock is one in both", () => {
    const said = (section: string, text: string) => found({ texts: [{ section, text }] }).map(({ rule }) => rule);
    expect(said("layer rules", "Three are currently open.")).toEqual(["word-of-now"]);
    expect(said("tool list", "Lists the currently open orders.")).toEqual([]);
    expect(said("tool list", "Lists the orders. It is now 10:15.")).toEqual(["clock"]);
  });

  it("with nothing to say about is clean", () => {
    expect(found({})).toEqual([]);
  });

  it("a versioned layer before an immutable one of its scope is warned about; behind it, or wider, it is not", () => {
    const layer = (
      id: string,
      rank: number,
      mutability: "versioned" | "immutable",
      scope: "org" | "agent" = "agent",
    ) => ({
      id: layerId(id),
      rank,
      mutability,
      scope,
    });
    const rules = layer("rules", 20, "immutable");
    expect(found({ layers: [layer("mood", 10, "versioned"), rules] })).toMatchObject([
      { rule: "changing-above-stable", severity: "warning", section: "layer mood", cost: { times: 1.71 } },
    ]);
    expect(found({ layers: [rules, layer("mood", 30, "versioned")] })).toEqual([]);
    expect(found({ layers: [layer("mood", 10, "versioned", "org"), rules] })).toEqual([]);
    // One that is put behind another stands there on purpose.
    const soul = { ...layer("soul", 30, "versioned"), after: layerId("core") };
    expect(found({ layers: [layer("core", 0, "immutable"), soul, rules] })).toEqual([]);
  });

  it("a layer that is cut says what it loses", () => {
    const cut = { fate: "truncated", because: "budget" };
    expect(found({ prefix: [entry("rules", 2_000), entry("more", 300, cut, 900)] })).toMatchObject([
      { rule: "cut-prefix", section: "layer more", stands: "300 of 900 tokens are sent" },
    ]);
  });

  it("001.14 a `budgets.system` below what is never cut says both", () => {
    const at = (budget: number) => found({ prefix: [entry("rules", 2_000)], system: { budget, least: 2_000 } });
    expect(at(500)).toMatchObject([
      {
        rule: "small-system",
        severity: "warning",
        stands: "budgets.system is 500, and what is never cut has 2000 tokens",
      },
    ]);
    expect(at(2_000)).toEqual([]);
  });

  it("a prefix below the minimum says the gap and in which threads padding pays; at the minimum it is kept", () => {
    const rates = { read: 0.1, write: 1.25, minimum: 4_096 };
    const prefix = [entry("rules", 1_625)];
    const [warning] = found({ prefix, rates });
    expect(warning).toMatchObject({ rule: "below-minimum", severity: "warning", cost: { basis: "computed" } });
    expect(warning?.stands).toMatch(
      /2471 too few; with 233 tokens more a turn \(as measured on other threads\) filling it up pays in threads of about \d+ to \d+ requests$/,
    );
    expect(warning?.remedy).toMatch(/^fill it up/);
    expect(found({ prefix: [entry("rules", 4_096)], rates })).toEqual([]);
  });

  it("a prefix below the minimum is advised to be filled up only in threads in which that pays", () => {
    const prefix = [entry("rules", 330)];
    const observed = { turn: { events: 80, grows: 114 }, tail: 36 };
    const at = (turns: number) => found({ prefix, observed, length: { turns, from: "record" } })[0];
    // Such a thread of 49 requests was billed 1.05 times what it is with a prefix that reaches the minimum, not 2.6 times.
    expect(at(49)?.cost?.times ?? 1).toBeLessThan(1.1);
    expect(at(49)?.remedy).toMatch(/^leave it, .* in threads of 49 requests filling it up saves little or nothing$/);
    expect(at(8)?.cost?.times).toBeGreaterThan(1.1);
    expect(at(8)?.remedy).toMatch(/^fill it up/);
    for (const turns of [1, 200]) {
      expect(at(turns)?.cost).toBeUndefined();
      expect(at(turns)?.remedy).toMatch(/^leave it/);
    }
  });

  it("a tail that costs more than reading the prefix is warned about, one that costs as much is not", () => {
    expect(found({ observed: { tail: 290 } })).toMatchObject([{ rule: "large-tail", cost: { times: 1.45 } }]);
    expect(found({ observed: { tail: 200 } })).toEqual([]);
    expect(found({ observed: { tail: 200 }, rates: { ...CLEAN.rates, read: 0.05 } })).toHaveLength(1);
  });

  it("a tail before the events is reported with its price: what it costs that the events are not kept at once", () => {
    const turn = { events: 100, grows: 300 };
    const early = (change: Partial<Subject> = {}) => found({ paidTwice: "events", observed: { turn }, ...change });
    // 2,000 tokens of prefix and 50 turns: 0.9 x 100 on 0.1 x (2,000 + 7,350) + 1.25 x 300 + 290.
    expect(early()).toMatchObject([
      { rule: "tail-before-events", severity: "warning", section: "tail", cost: { times: 1.06, basis: "computed" } },
    ]);
    expect(early({ paidTwice: "events and answer" })[0]?.cost?.times).toBe(1.17);
    expect(early({ length: { turns: 200, from: "record" } })[0]?.cost?.times).toBe(1.02);
    expect(early({ observed: {} })[0]?.stands).toContain("116 tokens a turn (events; as measured on other threads)");
    expect(early({ paidTwice: "nothing" })).toEqual([]);
  });

  it("memories that would cost less frozen are warned about: at a tenth, up to ten times what is recalled", () => {
    const recall = (stored: number) => found({ observed: { recall: { perTurn: 100, stored } } });
    expect(recall(999)).toMatchObject([{ rule: "freeze-instead", severity: "warning" }]);
    expect(recall(1_000)).toEqual([]);
    expect(recall(0)).toEqual([]);
  });

  it("threads that more than one model answered are warned about", () => {
    const mixed = { threads: 2, of: 5, models: ["a:b", "a:c"] };
    expect(found({ observed: { mixed } })).toMatchObject([
      {
        rule: "model-toggle",
        stands: "2 of 5 threads were answered by more than one of a:b, a:c",
        cost: { times: 1.58 },
      },
    ]);
  });
});
