import { automatic, type Family, price, type Shape } from "./family.ts";

/** An automatic cache; prices for the shorter part of the window. */
export const AUTOMATIC: Shape = {
  checked: "2026-11-24",
  contextWindow: 200_000,
  maxOutputTokens: 65_536,
  tokenFactor: 1.3,
  cache: "automatic",
  minimumPrefix: 4_096,
  step: 1,
  breakpoints: 0,
  lookback: 0,
  lifetimes: { short: 180 },
  tailMode: "ephemeral",
  metadata: "google",
};

/** Google says 1,024 to 4,096 tokens by model, each page otherwise; and nothing of how long: others saw three to five minutes. */
const GEMINI_PRO: Shape = AUTOMATIC;
const GEMINI: Shape = { ...AUTOMATIC, contextWindow: 1_048_576 };

export const GOOGLE: readonly Family[] = [
  { family: "google:gemini-", ...GEMINI_PRO },
  // From 200,000 tokens on the prompt costs twice.
  { family: "google:gemini-2.5-pro", ...GEMINI_PRO, minimumPrefix: 2_048, price: automatic(1.25, 10) },
  { family: "google:gemini-2.5-flash", ...GEMINI, minimumPrefix: 2_048, price: automatic(0.3, 2.5) },
  { family: "google:gemini-2.5-flash-lite", ...GEMINI, minimumPrefix: 2_048, price: automatic(0.1, 0.4) },
  { family: "google:gemini-3-flash-preview", ...GEMINI, price: automatic(0.5, 3) },
  { family: "google:gemini-3.1-pro-preview", ...GEMINI_PRO, price: automatic(2, 12) },
  { family: "google:gemini-3.1-flash-lite", ...GEMINI, price: automatic(0.25, 1.5) },
  { family: "google:gemini-3.5-flash", ...GEMINI, price: automatic(1.5, 9) },
  { family: "google:gemini-3.5-flash-lite", ...GEMINI, price: automatic(0.3, 2.5) },
  // Half of it until the end of 2026.
  { family: "google:gemini-3.6-flash", ...GEMINI, price: automatic(1.5, 7.5) },
  { family: "google:gemini-3.7-flash", ...GEMINI, price: automatic(1.5, 7.5) },
  { family: "google:gemini-3.8-flash", ...GEMINI, price: automatic(1.5, 7.5) },
  // Half of it until the end of November 2026.
  { family: "google:gemini-4-argon", ...GEMINI, maxOutputTokens: 64_000, price: automatic(4, 20, 0.05) },
];

/** DeepSeek keeps what it finds common for hours to days, in units of 64 tokens. Its price is that of the busy hours, twice the other. */
const DEEPSEEK_V4: Shape = {
  ...AUTOMATIC,
  contextWindow: 1_000_000,
  maxOutputTokens: 384_000,
  minimumPrefix: 1_024,
  step: 64,
  lifetimes: { short: 3_600 },
  metadata: "deepseek",
};

export const DEEPSEEK: readonly Family[] = [
  { family: "deepseek:deepseek-", ...DEEPSEEK_V4, contextWindow: 128_000, maxOutputTokens: 8_192 },
  { family: "deepseek:deepseek-flash", ...DEEPSEEK_V4, price: automatic(0.3, 1.2, 0.02) },
  { family: "deepseek:deepseek-v4-flash", ...DEEPSEEK_V4, price: automatic(0.3, 1.2, 0.02) },
  { family: "deepseek:deepseek-v4-pro", ...DEEPSEEK_V4, price: automatic(1.32, 3.96, 1 / 30) },
];

/**
 * vLLM, SGLang, llama.cpp and similar servers: whole blocks of 16 tokens for as long as there is room, without a guarantee. Their owner's
 * costs are not known.
 */
export const COMPATIBLE: readonly Family[] = [
  {
    family: "openai-compatible:",
    ...AUTOMATIC,
    contextWindow: 32_000,
    maxOutputTokens: 4_096,
    minimumPrefix: 16,
    step: 16,
    metadata: "openaiCompatible",
  },
];

/**
 * Claude counts more than o200k on the same text: 1.09 times on English prose, so 1.2 is the safe side. At most four breakpoints,
 * from each of which twenty positions are looked back, the breakpoint's own among them; a run of calls is one, and so is one of results.
 */
const CLAUDE_4: Shape = {
  checked: "2026-11-24",
  contextWindow: 200_000,
  maxOutputTokens: 64_000,
  tokenFactor: 1.2,
  cache: "lookback",
  minimumPrefix: 4_096,
  step: 1,
  breakpoints: 4,
  lookback: 20,
  lifetimes: { short: 300, long: 3_600 },
  tailMode: "ephemeral",
  metadata: "anthropic",
};
/** Reasoning models have a budget until 4.5, and a level since then. While they reason, they take no temperature. */
const BUDGETED: Shape = { ...CLAUDE_4, reasoning: "budget", sampling: "unless-reasoning" };
/** From 4.5 on, a result may name declared tools, whose schemas come where it stands. */
const CLAUDE_45: Shape = { ...BUDGETED, loadsTools: true };
const LEVELLED: Shape = { ...CLAUDE_45, reasoning: "effort" };
/**
 * From Opus 4.7 on it counts up to a third more again; most of these clear a message of one turn by themselves. A temperature is an error
 * there.
 */
const CLAUDE_5: Shape = {
  ...LEVELLED,
  tokenFactor: 1.5,
  minimumPrefix: 512,
  tailMode: "turn-scoped",
  sampling: "never",
};
/** These bind their reasoning to the history before it: there a tail that goes away again would be an edit. */
const BINDING: Shape = { ...CLAUDE_5, reasoningBoundToHistory: true };
/** An edited beginning is an error there, for every account. No page says from how many tokens on they cache. */
const POINT_2: Shape = { ...BINDING, contextWindow: 1_000_000, maxOutputTokens: 128_000, minimumPrefix: 4_096 };

/** Prices of platform.claude.com, minimums of its page on prompt caching. In any order. */
export const ANTHROPIC: readonly Family[] = [
  // An unknown one may bind its reasoning to the history, and may not clear messages.
  {
    family: "anthropic:claude-",
    ...CLAUDE_4,
    maxOutputTokens: 4_096,
    tokenFactor: 1.5,
    tailMode: "delta",
    reasoningBoundToHistory: true,
    sampling: "never",
  },
  // Anthropic says 2,048.
  { family: "anthropic:claude-3-5-haiku", ...CLAUDE_4, maxOutputTokens: 8_192, price: price(0.8, 4) },
  { family: "anthropic:claude-sonnet-4", ...BUDGETED, minimumPrefix: 1_024, price: price(3, 15) },
  {
    family: "anthropic:claude-sonnet-4-5",
    ...CLAUDE_45,
    minimumPrefix: 1_024,
    price: price(3, 15),
    retires: "2026-11-30",
  },
  // Anthropic says 1,024; its older pages and measurements say 2,048.
  { family: "anthropic:claude-sonnet-4-6", ...LEVELLED, minimumPrefix: 2_048, price: price(3, 15) },
  {
    family: "anthropic:claude-sonnet-5",
    ...CLAUDE_5,
    tailMode: "ephemeral",
    minimumPrefix: 1_024,
    price: price(2, 10),
  },
  { family: "anthropic:claude-sonnet-5-5", ...BINDING, price: price(2, 10) },
  { family: "anthropic:claude-haiku-4-5", ...CLAUDE_45, price: price(1, 5) },
  // From 100,000 tokens on the prompt costs five times as much.
  { family: "anthropic:claude-haiku-5-5", ...BINDING, contextWindow: 100_000, price: price(0.1, 0.5) },
  {
    family: "anthropic:claude-opus-4",
    ...BUDGETED,
    maxOutputTokens: 32_000,
    minimumPrefix: 1_024,
    price: price(15, 75),
  },
  {
    family: "anthropic:claude-opus-4-1",
    ...BUDGETED,
    maxOutputTokens: 32_000,
    minimumPrefix: 1_024,
    price: price(15, 75),
  },
  { family: "anthropic:claude-opus-4-5", ...CLAUDE_45, price: price(5, 25), retires: "2027-01-22" },
  { family: "anthropic:claude-opus-4-6", ...LEVELLED, price: price(5, 25) },
  {
    family: "anthropic:claude-opus-4-7",
    ...CLAUDE_5,
    tailMode: "ephemeral",
    minimumPrefix: 2_048,
    price: price(5, 25),
  },
  // Anthropic says 1,024; its older pages say 4,096.
  { family: "anthropic:claude-opus-4-8", ...CLAUDE_5, minimumPrefix: 4_096, price: price(5, 25) },
  { family: "anthropic:claude-opus-5", ...CLAUDE_5, price: price(5, 25) },
  { family: "anthropic:claude-opus-5-5", ...BINDING, price: price(4, 20, { read: 0.05 }) },
  { family: "anthropic:claude-mythos-preview", ...BINDING, tailMode: "delta", minimumPrefix: 2_048 },
  { family: "anthropic:claude-mythos-5", ...CLAUDE_5 },
  { family: "anthropic:claude-mythos-5-1", ...BINDING },
  { family: "anthropic:claude-mythos-5-2", ...POINT_2, price: price(8, 40, { read: 0.025 }) },
  { family: "anthropic:claude-fable-5", ...CLAUDE_5, price: price(10, 50) },
  { family: "anthropic:claude-fable-5-1", ...BINDING, price: price(10, 50, { read: 0.025 }) },
  { family: "anthropic:claude-fable-5-2", ...POINT_2, price: price(8, 40, { read: 0.025 }) },
];

/**
 * o200k is the tokenizer of these models; the factor leaves room for the overhead of each message. The cache lives five to ten minutes
 * without use, of a whole prefix in steps of 128 tokens.
 */
const GPT: Shape = {
  checked: "2026-11-24",
  contextWindow: 272_000,
  maxOutputTokens: 128_000,
  tokenFactor: 1.05,
  cache: "automatic",
  minimumPrefix: 1_024,
  step: 128,
  breakpoints: 0,
  lookback: 0,
  lifetimes: { short: 300 },
  tailMode: "ephemeral",
  metadata: "openai",
};
/** Some models cache for a day if `prompt_cache_retention` requests it. */
const DAY: Shape["lifetimes"] = { short: 300, long: 86_400 };
/** Reasoning models have a setting for the effort, and take no temperature; from 5.1 to 5.6 they do without any effort. */
const REASONING: Shape = { ...GPT, reasoning: "effort", sampling: "never" };
const GPT_51: Shape = { ...REASONING, sampling: "if-off" };
const O_SERIES: Shape = { ...REASONING, contextWindow: 200_000, maxOutputTokens: 100_000 };
const GPT_4O: Shape = { ...GPT, contextWindow: 128_000, maxOutputTokens: 16_384 };
const GPT_41: Shape = { ...GPT, contextWindow: 1_000_000, maxOutputTokens: 32_768 };
/** From GPT-5.4 on, further tools may be defined between the items of the input. */
const GPT_54: Shape = { ...GPT_51, loadsTools: true };
/** From GPT-5.6 on the cache is read exactly at a breakpoint and its writing is paid for: the last four breakpoints of a request are written. */
const GPT_56: Shape = {
  ...GPT_54,
  cache: "exact",
  step: 1,
  breakpoints: 4,
  lookback: 80,
  lifetimes: { short: 1_800 },
};
/** It is not published whether their tokenizer is still o200k. */
const GPT_6: Shape = { ...GPT_56, tokenFactor: 1.2, sampling: "never" };
/**
 * Its reasoning is dropped, without an error, once anything before it was edited. Its `instructions` come after the input, for one request.
 */
const GPT_62: Shape = { ...GPT_6, tailMode: "turn-scoped", reasoningBoundToHistory: true };

/** Prices of developers.openai.com. In any order. */
export const OPENAI: readonly Family[] = [
  // An unknown one may bind its reasoning to what was sent before.
  {
    family: "openai:gpt-",
    ...GPT_4O,
    tokenFactor: 1.2,
    tailMode: "delta",
    reasoningBoundToHistory: true,
    sampling: "never",
  },
  { family: "openai:gpt-4o", ...GPT_4O, price: automatic(2.5, 10, 0.5) },
  { family: "openai:gpt-4o-mini", ...GPT_4O, price: automatic(0.15, 0.6, 0.5) },
  { family: "openai:gpt-4.1", ...GPT_41, lifetimes: DAY, price: automatic(2, 8, 0.25) },
  { family: "openai:gpt-4.1-mini", ...GPT_41, price: automatic(0.4, 1.6, 0.25) },
  { family: "openai:gpt-4.1-nano", ...GPT_41, price: automatic(0.1, 0.4, 0.25) },
  { family: "openai:o3", ...O_SERIES, price: automatic(2, 8, 0.25) },
  { family: "openai:o4-mini", ...O_SERIES, price: automatic(1.1, 4.4, 0.25) },
  { family: "openai:gpt-5", ...REASONING, lifetimes: DAY, price: automatic(1.25, 10) },
  { family: "openai:gpt-5-mini", ...REASONING, price: automatic(0.25, 2) },
  { family: "openai:gpt-5-nano", ...REASONING, price: automatic(0.05, 0.4) },
  { family: "openai:gpt-5.1", ...GPT_51, lifetimes: DAY, price: automatic(1.25, 10) },
  { family: "openai:gpt-5.2", ...GPT_51, lifetimes: DAY, price: automatic(1.75, 14) },
  { family: "openai:gpt-5.4", ...GPT_54, lifetimes: DAY, price: automatic(2.5, 15) },
  { family: "openai:gpt-5.4-mini", ...GPT_54, price: automatic(0.75, 4.5) },
  { family: "openai:gpt-5.4-nano", ...GPT_54, price: automatic(0.2, 1.25) },
  { family: "openai:gpt-5.5", ...GPT_54, price: automatic(5, 30) },
  { family: "openai:gpt-5.6", ...GPT_56 },
  { family: "openai:gpt-6", ...GPT_6 },
  { family: "openai:gpt-6.1", ...GPT_6 },
  { family: "openai:gpt-6.2", ...GPT_62 },
  // The price from 2026-11-22 on, when a promotion ends.
  { family: "openai:gpt-5.6-sol", ...GPT_56, price: price(5, 30, { long: 1.25 }) },
  { family: "openai:gpt-5.6-terra", ...GPT_56, price: price(2, 12, { long: 1.25 }) },
  { family: "openai:gpt-5.6-luna", ...GPT_56, price: price(0.2, 1.2, { long: 1.25 }) },
  { family: "openai:gpt-6-astra", ...GPT_6, price: price(10, 50, { long: 1.25 }) },
  { family: "openai:gpt-6-sol", ...GPT_6, price: price(2, 10, { long: 1.25 }) },
  { family: "openai:gpt-6-luna", ...GPT_6, price: price(0.1, 0.5, { long: 1.25 }) },
  { family: "openai:gpt-6.1-sol", ...GPT_6, price: price(2, 10, { read: 0.05, long: 1.25 }) },
  { family: "openai:gpt-6.1-terra", ...GPT_6, price: price(1, 5, { read: 0.05, long: 1.25 }) },
  // For the others, the price of twelve hours is undocumented.
  {
    family: "openai:gpt-6.2-sol",
    ...GPT_62,
    lifetimes: { short: 1_800, long: 43_200 },
    price: price(2, 10, { read: 0.05, long: 2.5 }),
  },
  { family: "openai:gpt-6.2-astra", ...GPT_62, price: price(8, 40, { long: 1.25 }) },
];
