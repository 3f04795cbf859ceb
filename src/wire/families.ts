/** Prices in US dollars per million tokens. `cacheWrite` is that of the short lifetime. */
export interface Price {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
}

/** Dated data on one model family: what Strata must know of it to plan a request. */
export interface Family {
  /** What the names of its models begin with; the rest is a version, or anything where it ends in a dash. */
  readonly family: string;
  /** The day the data was checked. */
  readonly checked: string;
  /** Tokens of context, and of the longest reply. */
  readonly window: number;
  readonly longestReply: number;
  /** What o200k counts is multiplied by this to begin with; above 1 where the model's own tokenizer is not public. */
  readonly tokenFactor: number;
  /** A prefix below this many tokens is not cached. Where sources differ, the larger figure. */
  readonly minimumPrefix: number;
  /** Left out where nobody looked it up. */
  readonly price?: Price;
}

/** Where a longer prompt costs more per token, the window ends there, so that a price is one price. */
type Shape = Omit<Family, "family" | "price">;

/** A write of the short lifetime costs 1.25 times the input; a read is a share of it. */
const price = (input: number, output: number, read = 0.1, write = 1.25): Price => ({
  input,
  output,
  cacheRead: rounded(input * read),
  cacheWrite: rounded(input * write),
});

/** Floating point must not show in a price: a tenth of 3 is 0.3. */
const rounded = (dollars: number): number => Math.round(dollars * 1e6) / 1e6;

/** Claude counts more than o200k on the same text: 1.09 times on English prose, so 1.2 is the safe side. */
const CLAUDE_4: Shape = {
  checked: "2026-11-20",
  window: 200_000,
  longestReply: 64_000,
  tokenFactor: 1.2,
  minimumPrefix: 4_096,
};
/** From Opus 4.7 on it counts up to a third more again. */
const CLAUDE_5: Shape = { ...CLAUDE_4, tokenFactor: 1.5, minimumPrefix: 512 };

const ANTHROPIC: readonly Family[] = [
  { family: "anthropic:claude-", ...CLAUDE_4, longestReply: 4_096, tokenFactor: 1.5 },
  { family: "anthropic:claude-3-5-haiku", ...CLAUDE_4, longestReply: 8_192, price: price(0.8, 4) },
  { family: "anthropic:claude-sonnet-4", ...CLAUDE_4, minimumPrefix: 1_024, price: price(3, 15) },
  { family: "anthropic:claude-sonnet-4-5", ...CLAUDE_4, minimumPrefix: 1_024, price: price(3, 15) },
  { family: "anthropic:claude-sonnet-4-6", ...CLAUDE_4, minimumPrefix: 2_048, price: price(3, 15) },
  { family: "anthropic:claude-sonnet-5", ...CLAUDE_5, minimumPrefix: 1_024, price: price(2, 10) },
  { family: "anthropic:claude-sonnet-5-5", ...CLAUDE_5, price: price(2, 10, 0.05) },
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
  { family: "anthropic:claude-opus-4-7", ...CLAUDE_5, minimumPrefix: 2_048, price: price(5, 25) },
  { family: "anthropic:claude-opus-4-8", ...CLAUDE_5, minimumPrefix: 4_096, price: price(5, 25) },
  { family: "anthropic:claude-opus-5", ...CLAUDE_5, price: price(5, 25) },
  { family: "anthropic:claude-opus-5-5", ...CLAUDE_5, price: price(4, 20, 0.05) },
  { family: "anthropic:claude-fable-5", ...CLAUDE_5, price: price(10, 50) },
  { family: "anthropic:claude-fable-5-1", ...CLAUDE_5, price: price(10, 50, 0.025) },
];

/** o200k is the tokenizer of these models; the factor leaves room for what stands around each message. */
const GPT: Shape = {
  checked: "2026-11-21",
  window: 272_000,
  longestReply: 128_000,
  tokenFactor: 1.05,
  minimumPrefix: 1_024,
};
const O_SERIES: Shape = { ...GPT, window: 200_000, longestReply: 100_000 };
const GPT_4O: Shape = { ...GPT, window: 128_000, longestReply: 16_384 };
const GPT_41: Shape = { ...GPT, window: 1_000_000, longestReply: 32_768 };
/** Whether their tokenizer is still o200k was not told. */
const GPT_6: Shape = { ...GPT, tokenFactor: 1.2 };

const OPENAI: readonly Family[] = [
  { family: "openai:gpt-", ...GPT_4O, tokenFactor: 1.2 },
  { family: "openai:gpt-4o", ...GPT_4O, price: price(2.5, 10, 0.5, 1) },
  { family: "openai:gpt-4o-mini", ...GPT_4O, price: price(0.15, 0.6, 0.5, 1) },
  { family: "openai:gpt-4.1", ...GPT_41, price: price(2, 8, 0.25, 1) },
  { family: "openai:gpt-4.1-mini", ...GPT_41, price: price(0.4, 1.6, 0.25, 1) },
  { family: "openai:gpt-4.1-nano", ...GPT_41, price: price(0.1, 0.4, 0.25, 1) },
  { family: "openai:o3", ...O_SERIES, price: price(2, 8, 0.25, 1) },
  { family: "openai:o4-mini", ...O_SERIES, price: price(1.1, 4.4, 0.25, 1) },
  { family: "openai:gpt-5", ...GPT, price: price(1.25, 10, 0.1, 1) },
  { family: "openai:gpt-5-mini", ...GPT, price: price(0.25, 2, 0.1, 1) },
  { family: "openai:gpt-5-nano", ...GPT, price: price(0.05, 0.4, 0.1, 1) },
  { family: "openai:gpt-5.1", ...GPT, price: price(1.25, 10, 0.1, 1) },
  { family: "openai:gpt-5.2", ...GPT, price: price(1.75, 14, 0.1, 1) },
  { family: "openai:gpt-5.4", ...GPT, price: price(2.5, 15, 0.1, 1) },
  { family: "openai:gpt-5.4-mini", ...GPT, price: price(0.75, 4.5, 0.1, 1) },
  { family: "openai:gpt-5.4-nano", ...GPT, price: price(0.2, 1.25, 0.1, 1) },
  { family: "openai:gpt-5.5", ...GPT, price: price(5, 30, 0.1, 1) },
  // The price from 2026-11-22 on, when a promotion ends.
  { family: "openai:gpt-5.6-sol", ...GPT, price: price(5, 30) },
  { family: "openai:gpt-5.6-terra", ...GPT, price: price(2, 12) },
  { family: "openai:gpt-5.6-luna", ...GPT, price: price(0.2, 1.2) },
  { family: "openai:gpt-6-astra", ...GPT_6, price: price(10, 50) },
  { family: "openai:gpt-6-sol", ...GPT_6, price: price(2, 10) },
  { family: "openai:gpt-6-luna", ...GPT_6, price: price(0.1, 0.5) },
  { family: "openai:gpt-6.1-sol", ...GPT_6, price: price(2, 10, 0.05) },
];

/** For a model nobody wrote a card for: a small window and no price, so that nothing is promised. */
export const UNKNOWN: Family = {
  family: "unknown",
  checked: "2026-11-20",
  window: 32_000,
  longestReply: 4_096,
  tokenFactor: 1.3,
  minimumPrefix: 4_096,
};

/** What answers for people without a key, and what plays a recording, costs nothing, and that is known. */
const FREE: readonly Family[] = ["rehearsal", "recording"].map((family) => ({
  ...UNKNOWN,
  family,
  price: price(0, 0),
}));

/** In any order. */
export const FAMILIES: readonly Family[] = [...FREE, ...ANTHROPIC, ...OPENAI];
