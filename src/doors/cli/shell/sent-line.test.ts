import { expect, it } from "vitest";
import { cuts } from "../../../features/turns/index.ts";
import { type Fate, type Ledger, type LedgerEntry, layerId } from "../../../protocol/index.ts";
import { sentLine } from "./sent-line.ts";

const entry = (section: string, tokens: number, fate: Fate): LedgerEntry => ({
  ...fate,
  section: layerId(section),
  place: "system",
  trust: "operator",
  tokens,
  wanted: 53,
});

const ledger = (...entries: readonly LedgerEntry[]): Ledger => ({
  mode: "compact",
  epoch: { n: 1, reason: "first", opened: true, cut: 0 },
  entries,
  tokens: 100,
  limit: 1_000,
});

const TURN = {
  totals: {
    modelCalls: 2,
    toolCalls: 1,
    usage: { input: 9, cacheRead: 0, cacheWrite: 0, output: 9 },
    dollars: 0.0021,
    milliseconds: 3_400,
  },
  model: "anthropic:claude-sonnet-4-5",
};

it("the line of what was sent is one row of whole pieces, however wide it may be, and what matters more stays longer", () => {
  const cut = entry("learning", 10, { fate: "truncated", because: "budget" });
  const sent = ledger(entry("safety", 300, { fate: "kept" }), cut, {
    ...entry("recall", 0, { fate: "empty", because: "no memory fits the message" }),
    place: "tail",
  });
  const whole = sentLine(sent, { ...TURN, width: Number.POSITIVE_INFINITY });
  expect(whole).toBe(
    "· sent 100 tokens to anthropic:claude-sonnet-4-5: system 310 (2 layers) · tools 0 · transcript 0 · message 0 · recall 0 (no memory fits the message) · cut: learning to 10 of 53 · the last of 2 requests, 1 tool call, 3.4 s, $0.0021",
  );
  for (let width = 12; width < whole.length; width++) {
    const line = sentLine(sent, { ...TURN, width });
    expect(line.length).toBeLessThanOrEqual(width);
    expect(line).toMatch(
      /^· (?:sent )?100 tokens(?: to anthropic:claude-sonnet-4-5)?(?:: system 310 (?:\(2 layers\) )?· tools 0 · transcript 0 · message 0)?(?: · no memory| · recall 0 \(no memory fits the message\))?(?: · 1 section cut| · cut: learning to 10 of 53)?(?: · (?:(?:the last of )?2 requests, 1 tool call, )?3\.4 s, \$0\.0021)?$/,
    );
    if (width >= 58) expect(line).toMatch(/cut.* · .*3\.4 s/);
  }
});

it("a layer sent as its one-line summary does not count as cut", () => {
  const lined = entry("identity", 53, { fate: "lined", because: "the mode is compact" });
  const short = entry("memory", 20, { fate: "truncated", because: "the budget" });
  expect(cuts(ledger(lined))).toBe("nothing cut · as a one-line summary: identity");
  expect(cuts(ledger(lined, short))).toBe("cut: memory to 20 of 53 · as a one-line summary: identity");
});
