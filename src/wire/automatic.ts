import { automatic, type Family, type Shape } from "./family.ts";

/** A cache that finds by itself what was sent before; prices of the window's shorter part. */
export const AUTOMATIC: Shape = {
  checked: "2026-11-21",
  window: 200_000,
  longestReply: 65_536,
  tokenFactor: 1.3,
  cache: "automatic",
  minimumPrefix: 4_096,
  step: 1,
  marks: 0,
  lookback: 0,
  lifetimes: { short: 180 },
  tail: "ephemeral",
  metadata: "google",
};

/** Google says 1,024 to 4,096 tokens by model, each page otherwise; and nothing of how long: others saw three to five minutes. */
const GEMINI_PRO: Shape = AUTOMATIC;
const GEMINI: Shape = { ...AUTOMATIC, window: 1_048_576 };

export const GOOGLE: readonly Family[] = [
  { family: "google:gemini-", ...GEMINI_PRO },
  // From 200,000 tokens on the prompt costs twice.
  { family: "google:gemini-2.5-pro", ...GEMINI_PRO, price: automatic(1.25, 10) },
  { family: "google:gemini-2.5-flash", ...GEMINI, price: automatic(0.3, 2.5) },
  { family: "google:gemini-2.5-flash-lite", ...GEMINI, price: automatic(0.1, 0.4) },
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
  { family: "google:gemini-4-argon", ...GEMINI, longestReply: 64_000, price: automatic(4, 20, 0.05) },
];

/** DeepSeek keeps what it finds common for hours to days, in units of 64 tokens. Its price is that of the busy hours, twice the other. */
const DEEPSEEK_V4: Shape = {
  ...AUTOMATIC,
  window: 1_000_000,
  longestReply: 384_000,
  minimumPrefix: 1_024,
  step: 64,
  lifetimes: { short: 3_600 },
  metadata: "deepseek",
};

export const DEEPSEEK: readonly Family[] = [
  { family: "deepseek:deepseek-", ...DEEPSEEK_V4, window: 128_000, longestReply: 8_192 },
  { family: "deepseek:deepseek-flash", ...DEEPSEEK_V4, price: automatic(0.3, 1.2, 0.02) },
  { family: "deepseek:deepseek-v4-flash", ...DEEPSEEK_V4, price: automatic(0.3, 1.2, 0.02) },
  { family: "deepseek:deepseek-v4-pro", ...DEEPSEEK_V4, price: automatic(1.32, 3.96, 1 / 30) },
];

/**
 * vLLM, SGLang, llama.cpp and their like: whole blocks of 16 tokens for as long as there is room, which nobody promises. What
 * they cost their owner is not known.
 */
export const COMPATIBLE: readonly Family[] = [
  {
    family: "openai-compatible:",
    ...AUTOMATIC,
    window: 32_000,
    longestReply: 4_096,
    minimumPrefix: 16,
    step: 16,
    metadata: "openaiCompatible",
  },
];
