import fc from "fast-check";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { beforeAll, describe, expect, it } from "vitest";
import type { CountTokens } from "../protocol/index.ts";
import { tokenCounter } from "./index.ts";

let count: CountTokens;
beforeAll(async () => {
  count = await tokenCounter({ factor: 1 });
});

describe("a token counter", () => {
  it.each([
    ["", 0],
    ["hello world", 2],
    ["The quick brown fox jumps over the lazy dog.", 10],
    ["Grüße aus München", 5],
    ["東京は日本の首都です。", 8],
    ["\u{1f600}\u{1f600}", 2],
    ['{"a":1,"b":[true,null]}', 10],
  ])("counts %j as %i", (text, tokens) => {
    expect(count(text)).toBe(tokens);
  });

  it("takes the names of special tokens for the text they are", () => {
    expect(count("<|endoftext|>")).toBeGreaterThan(1);
    expect(count("a <|im_start|>system <|endofprompt|> b")).toBeGreaterThan(10);
  });

  it("multiplies, adds the margin and rounds up, but never by floating point alone", async () => {
    const ten = "The quick brown fox jumps over the lazy dog.";
    const hundred = Array.from({ length: 10 }, () => ten).join("\n");
    expect((await tokenCounter({ factor: 1.2 }))("hello world")).toBe(3);
    expect((await tokenCounter({ factor: 1.2, margin: 0.5 }))(ten)).toBe(18);
    expect((await tokenCounter({ factor: 1.1 }))(ten)).toBe(11);
    expect((await tokenCounter({ factor: 1.1 }))(hundred)).toBe(Math.ceil((count(hundred) * 11) / 10));
  });

  it("gives any text the same count each time, and none only to the empty one", async () => {
    const other = await tokenCounter({ factor: 1 });
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (text) => {
        const tokens = count(text);
        expect(count(text)).toBe(tokens);
        expect(other(text)).toBe(tokens);
        expect(tokens > 0).toBe(text !== "");
        expect(tokens).toBeLessThanOrEqual(Buffer.byteLength(text));
      }),
    );
  });

  it("does not mix up a short text with the key of a long one", () => {
    const long = "a b ".repeat(200);
    const tokens = count(long);
    for (const key of ["d", "t"]) count(key + long.slice(0, 64));
    expect(count(long)).toBe(tokens);
  });

  it("cuts no word of ordinary text: long words and long tables of digits cost a token a cut at most", () => {
    expect(count(`${"x".repeat(255)} y`)).toBe(count("x".repeat(255)) + 1);
    const digits = "0123456789".repeat(1_000);
    expect(count(digits)).toBeLessThan(10_000 / 3 + 10_000 / 256 + 2);
  });

  it("counts like the tokenizer itself, whatever the letters", () => {
    const letter = fc.oneof(
      fc.string({ unit: "binary", maxLength: 3 }),
      fc.constantFrom(" the", "'s", "漢字", "9", "\n", " "),
    );
    fc.assert(
      fc.property(fc.array(letter, { maxLength: 30 }), (letters) => {
        const text = letters.join("");
        expect(count(text)).toBe(countTokens(text, { disallowedSpecial: new Set() }));
      }),
      { numRuns: 2_000 },
    );
  });

  it("counts a text whose beginning or end is known without counting all of it again", () => {
    const words = Array.from({ length: 20_000 }, (_, i) => `w${(i * 7919).toString(36)}`).join(" ");
    const cpu = (run: () => void): number => {
      const before = process.cpuUsage();
      run();
      return process.cpuUsage(before).user;
    };
    const first = cpu(() => count(words));
    const again = cpu(() => [1, 2, 3].map((cut) => count(words.slice(0, -1_000 * cut))));
    expect(again).toBeLessThan(first * 1.5);
  });

  it.each([
    ["equal letters", "a"],
    ["signs", "="],
    ["blanks", " "],
    ["line breaks", "\n"],
    ["blanks of two kinds", " \u2000"],
    ["combining marks", "e\u0301"],
    ["pictures", "\u{1f468}\u200d"],
    ["letters without blanks", "漢字かな"],
    ["half characters", "\ud800"],
  ])("is linear on a long run of %s", (_name, unit) => {
    const time = (length: number) => {
      const text = unit.repeat(length / unit.length);
      const before = performance.now();
      count(text);
      return performance.now() - before;
    };
    time(1_000);
    // Uncut, 400,000 characters would take a minute and more.
    expect(time(400_000)).toBeLessThan(4_000);
  });
});
