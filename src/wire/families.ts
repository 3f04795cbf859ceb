import { AUTOMATIC, COMPATIBLE, DEEPSEEK, GOOGLE } from "./automatic.ts";
import { ANTHROPIC } from "./claude.ts";
import { automatic, type Family } from "./family.ts";
import { BEDROCK, OPENROUTER } from "./gateways.ts";
import { OPENAI } from "./gpt.ts";

/** For a model nobody wrote a card for: a small window, no cache and no price, so that nothing is promised. */
export const UNKNOWN: Family = {
  ...AUTOMATIC,
  family: "unknown",
  window: 32_000,
  longestReply: 4_096,
  cache: "none",
  lifetimes: { short: 0 },
  metadata: "strata",
};

/** What answers for people without a key, and what plays a recording, costs nothing, and that is known. */
const FREE: readonly Family[] = ["rehearsal", "recording"].map((family) => ({
  ...UNKNOWN,
  family,
  price: automatic(0, 0),
}));

/** In any order. */
export const FAMILIES: readonly Family[] = [
  ...FREE,
  ...ANTHROPIC,
  ...OPENAI,
  ...GOOGLE,
  ...DEEPSEEK,
  ...COMPATIBLE,
  ...OPENROUTER,
  ...BEDROCK,
];
