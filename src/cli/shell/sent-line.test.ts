import { expect, it } from "vitest";
import { type Fate, type Ledger, type LedgerEntry, layerId } from "../../protocol/index.ts";
import { cuts } from "./sent-line.ts";

const entry = (piece: string, tokens: number, fate: Fate): LedgerEntry => ({
  ...fate,
  piece: layerId(piece),
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

it("what was sent as its one line is not told as cut", () => {
  const lined = entry("identity", 53, { fate: "lined", because: "the mode is compact" });
  const short = entry("memory", 20, { fate: "truncated", because: "the budget" });
  expect(cuts(ledger(lined))).toBe("nothing cut · as one line each: identity");
  expect(cuts(ledger(lined, short))).toBe("cut: memory to 20 of 53 · as one line each: identity");
});
