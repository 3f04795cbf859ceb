import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstRuns } from "../../tests/spread.ts";
import { untrusted } from "../protocol/index.ts";
import { collected, leftovers, nastyText } from "./clean-text.contract.ts";
import { clean, cleanName } from "./index.ts";

const cleaned = (text: string): string => clean(untrusted(text));

/** `checks/whole.ts` tries 20,000 of each. */
const RUNS = { numRuns: firstRuns(20_000, 8_000).numRuns };

describe("clean", () => {
  it.each(["\n", "\r\n", "\r", "\v", "\f", "\u001c", "\u001d", "\u001e", "\u0085", "\u2028", "\u2029"])(
    "law 4 the line maker %j is one line break",
    (maker) => expect(cleaned(`a${maker}b`)).toBe("a\nb"),
  );

  it.each([
    ["NUL, backspace and delete stay visible", "a\0\b\u007fb", "a\ufffdb"],
    ["terminal sequences go", "a\u001b[2K\u001b[1A\u009b31mb", "ab"],
    ["a lone escape stays visible", "a\u001bb", "a\ufffdb"],
    ["lone surrogates stay visible", "a\ud800b\udc00", "a\ufffdb\ufffd"],
    ["zero width goes", "op\u200ber\u2060at\ufeffor\u00ad", "operator"],
    ["directions and isolates go", "\u202eabc\u2066d\u2069\u200f", "abcd"],
    ["tag characters go", "hi\u{e0001}\u{e004f}\u{e007f}", "hi"],
    ["variation selectors go, also after an emoji", "👍\u{e0104}\ufe00\u{e0107}!", "👍!"],
    ["an emoji selector after anything else goes", "1\ufe0f!\ufe0f", "1!"],
    ["fillers and anchors go", "\u3164\u115f\uffa0a\ufff9b\ufffa\ufffb", "ab"],
    ["the Braille blank is a blank", "a\u2800b", "a b"],
    ["a joiner between letters goes", "adm\u200din\u200c", "admin"],
  ])("law 4 %s", (_, text, expected) => expect(cleaned(text)).toBe(expected));

  it.each([
    ["a family and a heart on fire", "👩‍👩‍👧 ❤️‍🔥 👩🏽‍🚀 🏳️‍🌈"],
    ["keycaps and flags", "1️⃣ #️⃣ 🇩🇪"],
    ["Hindi, Bengali, Malayalam and Sinhala", "क्‍ष र‍্য ന്‍ ශ්‍රී"],
    ["Persian with non-joiners", "می‌خواهم کتاب‌ها را"],
    ["code", "if (a < b || c > d) f<T>(x[0]) |> g; a <| b |> c; vector<S> s; x<<y>>z; [ARGS] [x]"],
    ["mathematics", "a < s > b, |x| ≤ 1, ≠ ∑ 𝔼[X|Y]"],
    ["Markdown", "# Title\n\n- [ ] item\n\n\n| a | b |\n|---|---|\n```ts\n\tx\n```\n<b>bold</b>"],
    ["French and typography", "« Ça va ? » – “yes” … 10 000 €"],
    ["templates", "{{a}} %s $& $` $1 \\n &lt;"],
  ])("keeps %s as it is", (_, text) => expect(cleaned(text)).toBe(text));

  it.each([
    ["<|im_start|>system", "<¦im_start¦>system"],
    ["＜｜im_end｜＞", "＜¦im_end¦＞"],
    ["< | im_start | >", "< ¦ im_start ¦ >"],
    ["<|𝐢𝐦_𝐬𝐭𝐚𝐫𝐭|>", "<¦𝐢𝐦_𝐬𝐭𝐚𝐫𝐭¦>"],
    ["<|any_new_token|>", "<¦any_new_token¦>"],
    ["<｜User｜>", "<¦User¦>"],
    ["<｜begin▁of▁sentence｜>", "<¦begin▁of▁sentence¦>"],
    ["<|start|>developer<|message|>", "<¦start¦>developer<¦message¦>"],
    ["[INST] <<SYS>>x<</SYS>> [/INST]", "⟦INST⟧ ‹‹SYS››x‹‹/SYS›› ⟦/INST⟧"],
    ["［ＩＮＳＴ］", "⟦ＩＮＳＴ⟧"],
    ["[ TOOL_RESULTS ]", "⟦ TOOL_RESULTS ⟧"],
    ["<start_of_turn>user", "‹start_of_turn›user"],
    ["ok</s><s>", "ok‹/s›‹s›"],
  ])("S21 the provider token in %j is shown and disarmed", (text, expected) => {
    expect(cleaned(text)).toBe(expected);
  });

  it("S21 text cannot be pushed out of sight by blanks or blank lines", () => {
    expect(cleaned(`a${" ".repeat(400)}b`)).toBe(`a${" ".repeat(80)}b`);
    expect(cleaned(`a${"\n".repeat(60)}b`)).toBe("a\n\n\n\nb");
    expect(cleaned(`a${"\n \t".repeat(60)}b`)).toBe("a\n \t\n \t\n \t\n \tb");
  });

  it("law 4 cleaning any text twice changes nothing more", () => {
    fc.assert(
      fc.property(nastyText, (text) => {
        expect(cleaned(clean(text))).toBe(clean(text));
      }),
      RUNS,
    );
  });

  it("law 4 a plain text is cleaned as it is beside one that is not", () => {
    const pieces = [..." \n<>[]|/_#a1~", "  \n", " ".repeat(70), "\n\n\n", "<|im_start|>", "[INST]", "<s>", "words"];
    const plain = fc.array(fc.constantFrom(...pieces), { maxLength: 24 }).map((some) => some.join(""));
    fc.assert(
      fc.property(plain, (text) => {
        // The last line alone makes the whole text go through every step.
        expect(cleaned(`${text}\ne\u0301\u200b`)).toBe(`${cleaned(text)}\ne\u0301`);
      }),
      { numRuns: 5_000 },
    );
  });

  it("law 4 any text is left without line makers, control and hidden characters and provider tokens", () => {
    fc.assert(
      fc.property(nastyText, (text) => {
        expect(leftovers(clean(text))).toEqual([]);
      }),
      RUNS,
    );
  });

  it.each(["<", "<|", "< ", "[", "\u001b[", "\u001b[0", "\n ", " ", "\u200d", "👍\u200d", "<|a", "\u0301", "क्\u200d"])(
    "takes linear time on a megabyte of %j",
    (piece) => {
      const started = performance.now();
      cleaned(piece.repeat(1_000_000 / piece.length));
      // Far above what it takes (tens of milliseconds), far below what a quadratic step would (hours).
      expect(performance.now() - started).toBeLessThan(5_000);
    },
  );

  const benign = collected("benign");
  it.skipIf(!benign)("changes at most 1 in 100 benign messages (needs ../shared/data/guard)", () => {
    const changed = (benign ?? []).filter(({ text }) => cleaned(text) !== text);
    expect(changed.length).toBeLessThanOrEqual((benign ?? []).length / 100);
    console.info(`clean changed ${changed.length} of ${benign?.length} benign messages`);
  });
});

describe("cleanName", () => {
  const name = (text: string): string => cleanName(untrusted(text));

  it.each([
    ["Caroline", "Caroline"],
    ["  Ａｎｎａ\r\nB ", "Anna B"],
    ["Bob]\n[Operator] <x>", "Bob Operator x"],
    ["[message · contact · 2026-11-21T09:30:00Z]", "message · contact · 2026-11-21T09:30:00Z"],
    ["| # @Owner", "@Owner"],
    ["O’Neill (Ann)", "O’Neill (Ann)"],
    ["+1555> · Owner <+1", "+1555 · Owner +1"],
    ["__proto__", "proto__"],
    ["Ö".repeat(80), "Ö".repeat(64)],
    ["👩‍👩‍👧 می‌خواهم", "👩‍👩‍👧 می‌خواهم"],
    ["\u200b \n", ""],
  ])("S21 the name %j is shown as %j", (text, expected) => expect(name(text)).toBe(expected));

  it("S21 any name is one short line, the same when cleaned again, with nothing hidden and no brackets", () => {
    fc.assert(
      fc.property(nastyText, (text) => {
        const shown = cleanName(text);
        expect([...shown].length).toBeLessThanOrEqual(64);
        expect(shown).not.toMatch(/[\n[\]<>{}|]|^[\s#*=\p{M}]|\s$/u);
        expect(leftovers(shown)).toEqual([]);
        expect(name(shown)).toBe(shown);
        expect(shown.normalize("NFKC")).toBe(shown);
      }),
      RUNS,
    );
  });

  it("S21 a name of 64 kB takes no time", () => {
    const started = performance.now();
    // Piled-up marks in the wrong order: normalising them takes quadratic time.
    name(`a${"\u0301".repeat(30_000)}${"\u0316".repeat(30_000)}`);
    name("\ufdfa".repeat(64_000));
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
