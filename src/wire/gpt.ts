import { automatic, type Family, price, type Shape } from "./family.ts";

/**
 * o200k is the tokenizer of these models; the factor leaves room for what stands around each message. The cache lives five to
 * ten minutes without use, of a whole prefix in steps of 128 tokens.
 */
const GPT: Shape = {
  checked: "2026-11-21",
  window: 272_000,
  longestReply: 128_000,
  tokenFactor: 1.05,
  cache: "automatic",
  minimumPrefix: 1_024,
  step: 128,
  marks: 0,
  lookback: 0,
  lifetimes: { short: 300 },
  tail: "ephemeral",
  metadata: "openai",
};
/** Some models keep for a day what is asked for with `prompt_cache_retention`. */
const DAY: Shape["lifetimes"] = { short: 300, long: 86_400 };
const O_SERIES: Shape = { ...GPT, window: 200_000, longestReply: 100_000 };
const GPT_4O: Shape = { ...GPT, window: 128_000, longestReply: 16_384 };
const GPT_41: Shape = { ...GPT, window: 1_000_000, longestReply: 32_768 };
/**
 * From GPT-5.6 on the cache is read exactly at a mark and its writing is paid for: the last four marks of a request are written.
 * For reading the guide says that fifty marks are looked at, the specification eighty: here the smaller figure is the cautious one.
 */
const GPT_56: Shape = { ...GPT, cache: "breakpoints", step: 1, marks: 4, lookback: 50, lifetimes: { short: 1_800 } };
/** Whether their tokenizer is still o200k was not told. */
const GPT_6: Shape = { ...GPT_56, tokenFactor: 1.2 };

/** Prices of developers.openai.com. In any order. */
export const OPENAI: readonly Family[] = [
  { family: "openai:gpt-", ...GPT_4O, tokenFactor: 1.2 },
  { family: "openai:gpt-4o", ...GPT_4O, price: automatic(2.5, 10, 0.5) },
  { family: "openai:gpt-4o-mini", ...GPT_4O, price: automatic(0.15, 0.6, 0.5) },
  { family: "openai:gpt-4.1", ...GPT_41, lifetimes: DAY, price: automatic(2, 8, 0.25) },
  { family: "openai:gpt-4.1-mini", ...GPT_41, price: automatic(0.4, 1.6, 0.25) },
  { family: "openai:gpt-4.1-nano", ...GPT_41, price: automatic(0.1, 0.4, 0.25) },
  { family: "openai:o3", ...O_SERIES, price: automatic(2, 8, 0.25) },
  { family: "openai:o4-mini", ...O_SERIES, price: automatic(1.1, 4.4, 0.25) },
  { family: "openai:gpt-5", ...GPT, lifetimes: DAY, price: automatic(1.25, 10) },
  { family: "openai:gpt-5-mini", ...GPT, price: automatic(0.25, 2) },
  { family: "openai:gpt-5-nano", ...GPT, price: automatic(0.05, 0.4) },
  { family: "openai:gpt-5.1", ...GPT, lifetimes: DAY, price: automatic(1.25, 10) },
  { family: "openai:gpt-5.2", ...GPT, lifetimes: DAY, price: automatic(1.75, 14) },
  { family: "openai:gpt-5.4", ...GPT, lifetimes: DAY, price: automatic(2.5, 15) },
  { family: "openai:gpt-5.4-mini", ...GPT, price: automatic(0.75, 4.5) },
  { family: "openai:gpt-5.4-nano", ...GPT, price: automatic(0.2, 1.25) },
  { family: "openai:gpt-5.5", ...GPT, price: automatic(5, 30) },
  { family: "openai:gpt-5.6", ...GPT_56 },
  { family: "openai:gpt-6", ...GPT_6 },
  { family: "openai:gpt-6.1", ...GPT_6 },
  // The price from 2026-11-22 on, when a promotion ends.
  { family: "openai:gpt-5.6-sol", ...GPT_56, price: price(5, 30, { long: 1.25 }) },
  { family: "openai:gpt-5.6-terra", ...GPT_56, price: price(2, 12, { long: 1.25 }) },
  { family: "openai:gpt-5.6-luna", ...GPT_56, price: price(0.2, 1.2, { long: 1.25 }) },
  { family: "openai:gpt-6-astra", ...GPT_6, price: price(10, 50, { long: 1.25 }) },
  { family: "openai:gpt-6-sol", ...GPT_6, price: price(2, 10, { long: 1.25 }) },
  { family: "openai:gpt-6-luna", ...GPT_6, price: price(0.1, 0.5, { long: 1.25 }) },
  { family: "openai:gpt-6.1-sol", ...GPT_6, price: price(2, 10, { read: 0.05, long: 1.25 }) },
];
