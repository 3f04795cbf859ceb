import { type Family, price, type Shape } from "./family.ts";

/**
 * Claude counts more than o200k on the same text: 1.09 times on English prose, so 1.2 is the safe side. At most four marks,
 * from each of which twenty positions are looked back, the mark's own among them; a run of calls is one, and so is one of results.
 */
const CLAUDE_4: Shape = {
  checked: "2026-11-21",
  window: 200_000,
  longestReply: 64_000,
  tokenFactor: 1.2,
  cache: "marks",
  minimumPrefix: 4_096,
  step: 1,
  marks: 4,
  lookback: 20,
  lifetimes: { short: 300, long: 3_600 },
  tail: "ephemeral",
  metadata: "anthropic",
};
/** From Opus 4.7 on it counts up to a third more again; most of these clear a message of one turn by themselves. */
const CLAUDE_5: Shape = { ...CLAUDE_4, tokenFactor: 1.5, minimumPrefix: 512, tail: "turn-scoped" };
/** These bind their reasoning to the history before it: there a tail that goes away again would be an edit. */
const BINDING: Shape = { ...CLAUDE_5, binds: true };

/** Prices of platform.claude.com, minimums of its page on prompt caching. In any order. */
export const ANTHROPIC: readonly Family[] = [
  // An unknown one may bind its reasoning to the history, and may not clear messages.
  { family: "anthropic:claude-", ...CLAUDE_4, longestReply: 4_096, tokenFactor: 1.5, tail: "delta", binds: true },
  // Anthropic says 2,048.
  { family: "anthropic:claude-3-5-haiku", ...CLAUDE_4, longestReply: 8_192, price: price(0.8, 4) },
  { family: "anthropic:claude-sonnet-4", ...CLAUDE_4, minimumPrefix: 1_024, price: price(3, 15) },
  { family: "anthropic:claude-sonnet-4-5", ...CLAUDE_4, minimumPrefix: 1_024, price: price(3, 15) },
  // Anthropic says 1,024; its older pages and measurements say 2,048.
  { family: "anthropic:claude-sonnet-4-6", ...CLAUDE_4, minimumPrefix: 2_048, price: price(3, 15) },
  { family: "anthropic:claude-sonnet-5", ...CLAUDE_5, tail: "ephemeral", minimumPrefix: 1_024, price: price(2, 10) },
  // Reads at a twentieth, as the overview of models says; one list of others says a tenth.
  { family: "anthropic:claude-sonnet-5-5", ...BINDING, price: price(2, 10, { read: 0.05 }) },
  { family: "anthropic:claude-haiku-4-5", ...CLAUDE_4, price: price(1, 5) },
  { family: "anthropic:claude-haiku-5-5", ...CLAUDE_5, window: 100_000, price: price(0.1, 0.5) },
  { family: "anthropic:claude-opus-4", ...CLAUDE_4, longestReply: 32_000, minimumPrefix: 1_024, price: price(15, 75) },
  {
    family: "anthropic:claude-opus-4-1",
    ...CLAUDE_4,
    longestReply: 32_000,
    minimumPrefix: 1_024,
    price: price(15, 75),
  },
  { family: "anthropic:claude-opus-4-5", ...CLAUDE_4, price: price(5, 25) },
  { family: "anthropic:claude-opus-4-6", ...CLAUDE_4, price: price(5, 25) },
  { family: "anthropic:claude-opus-4-7", ...CLAUDE_5, tail: "ephemeral", minimumPrefix: 2_048, price: price(5, 25) },
  // Anthropic says 1,024; its older pages say 4,096.
  { family: "anthropic:claude-opus-4-8", ...CLAUDE_5, minimumPrefix: 4_096, price: price(5, 25) },
  { family: "anthropic:claude-opus-5", ...CLAUDE_5, price: price(5, 25) },
  { family: "anthropic:claude-opus-5-5", ...BINDING, price: price(4, 20, { read: 0.05 }) },
  { family: "anthropic:claude-mythos-preview", ...BINDING, tail: "delta", minimumPrefix: 2_048 },
  { family: "anthropic:claude-mythos-5", ...CLAUDE_5 },
  { family: "anthropic:claude-mythos-5-1", ...BINDING },
  { family: "anthropic:claude-fable-5", ...CLAUDE_5, price: price(10, 50) },
  { family: "anthropic:claude-fable-5-1", ...BINDING, price: price(10, 50, { read: 0.025 }) },
];
