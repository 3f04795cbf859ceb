import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nastyText } from "./clean-text.contract.ts";
import { LONGEST_LINE, lineStarts, truncateText } from "./index.ts";

const MARK = "…[cut]";

describe("truncateText", () => {
  it.each([
    ["a text that fits stays", "hello", 5, "", "hello"],
    ["the mark counts", "hello world", 8, "…", "hello w…"],
    ["a mark that does not fit is left out", "hello", 3, "[cut]", "hel"],
    ["never inside a surrogate pair", "ab😀", 3, "", "ab"],
    ["not before a combining mark", "cafe\u0301s", 4, "", "caf"],
    ["not inside a joined emoji", "x👩‍👩‍👧", 6, "", "x"],
    ["not before a skin tone", "x👍🏽", 3, "", "x"],
    ["not inside a flag", "🇩🇪🇫🇷", 6, "", "🇩🇪"],
    ["not before an emoji selector", "x❤️", 2, "", "x"],
    ["inside piled-up marks any code point will do", `a${"\u0301".repeat(90)}`, 50, "", `a${"\u0301".repeat(49)}`],
    ["to nothing", "hello", 0, "", ""],
  ])("S19 %s", (_, text, most, mark, expected) => expect(truncateText(text, most, mark)).toBe(expected));

  it("S19 any text cut anywhere stays well-formed, in its bounds and its own beginning", () => {
    fc.assert(
      fc.property(nastyText, fc.nat(60), fc.constantFrom("", "…", MARK), (raw, most, mark) => {
        const text = raw.toWellFormed();
        const cut = truncateText(text, most, mark);
        expect(cut.length).toBeLessThanOrEqual(Math.max(most, text.length <= most ? text.length : 0));
        expect(cut.isWellFormed()).toBe(true);
        const shown = cut !== text && mark.length <= most ? cut.slice(0, cut.length - mark.length) : cut;
        expect(text.startsWith(shown)).toBe(true);
      }),
      { numRuns: 10_000 },
    );
  });
});

describe("lineStarts", () => {
  it("divides a text into its lines, long ones between words, and loses nothing", () => {
    expect(lineStarts("")).toEqual([]);
    expect(lineStarts("a\nb\n\nc\n")).toEqual([0, 2, 4, 5]);
    expect(lineStarts(`${"word ".repeat(100)}\nend`)).toEqual([0, 200, 400, 501]);
    const text = fc.string({ unit: fc.constantFrom("a", "b c", "\n", "😀", "e\u0301", ","), maxLength: 3_000 });
    fc.assert(
      fc.property(text, (some) => {
        const starts = lineStarts(some);
        const lines = starts.map((at, i) => some.slice(at, starts[i + 1]));
        expect(lines.join("")).toBe(some);
        for (const line of lines) {
          expect(line.length).toBeGreaterThan(0);
          expect(line.length).toBeLessThanOrEqual(LONGEST_LINE + 1);
          expect(line.isWellFormed()).toBe(true);
        }
      }),
    );
  });
});
