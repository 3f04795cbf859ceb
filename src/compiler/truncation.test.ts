import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CallPart, type CountTokens, readFrames, toolName, untrusted } from "../protocol/index.ts";
import { compile, frameResult } from "./index.ts";
import {
  AT,
  agentOf,
  bytes3,
  entryOf,
  event,
  immutable,
  inputOf,
  layer,
  request,
  said,
  systemText,
  unlessTooSmall,
} from "./samples.contract.ts";

/** Letters of one to four bytes, pairs of surrogates, joined families, flags, accents put together from two. */
const LETTERS = ["a", "é", "ß", "語", "한", "😀", "👩‍👩‍👧‍👦", "🇨🇭", "e\u0301", "நி", "a\n", " "];
const letters = fc.array(fc.constantFrom(...LETTERS), { minLength: 30, maxLength: 400 }).map((all) => all.join(""));

/** One that counts bytes, one that takes many characters for one token, one that is dear. */
const counters: fc.Arbitrary<CountTokens> = fc.constantFrom(
  bytes3,
  (text: string) => Math.ceil(text.length / 37),
  (text: string) => [...text].length,
);

/** `beginning` ends where a reader sees a character of `text` end. */
function expectBeginning(text: string, beginning: string): void {
  expect(text.startsWith(beginning)).toBe(true);
  expect(beginning.isWellFormed()).toBe(true);
  const ends = new Set([0]);
  for (const { index, segment } of new Intl.Segmenter("en").segment(text)) ends.add(index + segment.length);
  expect(ends.has(beginning.length)).toBe(true);
}

describe("S19", () => {
  it("S19 truncation of a layer: between characters, never inside a safety layer, said in the text and in the ledger", () => {
    let cuts = 0;
    fc.assert(
      fc.property(letters, letters, counters, fc.integer({ min: 1, max: 99 }), (safe, text, count, percent) => {
        const safety = immutable("safety", { rank: 9, budget: 1, text: `Safe: ${safe}` });
        const agent = agentOf(safety, layer("style", { rank: 2, budget: 60, minimum: 40, text: `Style: ${text}` }));
        const input = inputOf({ agent, events: [event("hi")], count, limit: 1_000_000 });
        const whole = compile(input);
        const limit = whole.ledger.tokens - Math.ceil((entryOf(whole, "style").tokens * percent) / 100);
        const made = unlessTooSmall(() => compile({ ...input, limit }));
        if (made === undefined) return;
        expect(systemText(made)).toContain(`# Layer 9 · safety\nSafe: ${safe}`);
        expect(entryOf(made, "safety").fate).toBe("kept");
        const style = entryOf(made, "style");
        const body = systemText(made).split("# Layer 2 · style\n")[1]?.split("\n\n# Layer 9 · safety")[0] ?? "";
        if (style.fate === "dropped") return expectBeginning("", body);
        cuts++;
        const mark = "\n(Truncated: style exceeds its budget.)";
        expect(style).toMatchObject({ fate: "truncated", because: "budget" });
        expect(body.endsWith(mark)).toBe(true);
        expectBeginning(`Style: ${text}`, body.slice(0, -mark.length));
      }),
      { numRuns: 300 },
    );
    expect(cuts).toBeGreaterThan(20);
  });

  it("S19 truncation of a message: between characters, said in the text and in the ledger", () => {
    let cuts = 0;
    fc.assert(
      fc.property(letters, counters, fc.integer({ min: 280, max: 900 }), (text, count, limit) => {
        const long = text.repeat(6);
        const made = unlessTooSmall(() => compile(inputOf({ events: [event(long)], count, limit })));
        if (made === undefined) return;
        const [frame] = readFrames(said(made));
        const { fate } = entryOf(made, "message");
        expect(/^\(The message above is truncated: /m.test(said(made))).toBe(fate === "truncated");
        if (fate === "kept") return;
        cuts++;
        expectBeginning(long, frame?.text ?? "");
        expect(said(made)).toContain(`its first ${frame?.text.length} of ${long.length} characters are shown`);
      }),
      { numRuns: 200 },
    );
    expect(cuts).toBeGreaterThan(20);
  });

  it("S19 truncation of a tool's result: between characters, said behind the frame, never above its room", () => {
    const call: CallPart = { type: "call", id: "c", tool: toolName("find"), input: {} };
    fc.assert(
      fc.property(letters, counters, fc.integer({ min: 120, max: 600 }), (text, count, room) => {
        const long = text.repeat(3);
        const answer = { text: untrusted(long), failed: false, trust: "contact", at: AT } as const;
        const part = frameResult(call, answer, room, count);
        expect(count(part.text)).toBeLessThanOrEqual(Math.max(room, count(frameResult(call, answer, 0, count).text)));
        const [frame] = readFrames(part.text);
        const mark = /\n\(The result above is truncated: its first (\d+) of (\d+) characters are shown\.\)$/.exec(
          part.text,
        );
        expectBeginning(long, frame?.text ?? "");
        if (mark === null) expect(frame?.text).toBe(long);
        else expect([Number(mark[1]), Number(mark[2])]).toEqual([frame?.text.length, long.length]);
      }),
      { numRuns: 200 },
    );
  });

  it("S19 truncation is found in every request that has it: the last system text sent is what the ledger tells", () => {
    const agent = agentOf(layer("style", { budget: 50, text: "word ".repeat(100) }));
    const whole = compile(inputOf({ agent }));
    const made = compile(inputOf({ agent, limit: whole.ledger.tokens - 1 }));
    expect(made.epoch.prefixEntries).toContainEqual(entryOf(made, "style"));
    expect(bytes3(request(made).prefix.system[0]?.text ?? "") + 4).toBe(entryOf(made, "style").tokens);
    const later = compile(inputOf({ agent, epoch: made.epoch }));
    expect(entryOf(later, "style")).toEqual(entryOf(made, "style"));
  });
});
