import type { ModelRef } from "../../protocol/index.ts";
import type { ModelCard } from "../cards.ts";
import type { CacheRules } from "./seen.ts";

const MINUTE = 60_000;

/** What differs between models of one provider. `read` is the price of a read token. */
interface Figures {
  readonly minimum?: number;
  readonly read?: number;
}

/** Anthropic's cache. */
export const anthropicRules = ({ minimum = 1_024, read = 0.1 }: Figures = {}): CacheRules => ({
  kind: "marks",
  most: 4,
  lookback: 20,
  minimum,
  multipliers: { read, write5m: 1.25, write1h: 2 },
});

/** OpenAI's cache before GPT-5.6. It keeps for 5 to 10 idle minutes; 5 are counted on. */
export const openaiRules = ({ minimum = 1_024, read = 0.1 }: Figures = {}): CacheRules => ({
  kind: "longest",
  minimum,
  step: 128,
  idle: 5 * MINUTE,
  multipliers: { read, write5m: 1, write1h: 1 },
});

/** OpenAI's cache from GPT-5.6 on. */
export const openaiMarkedRules = ({ minimum = 1_024, read = 0.1 }: Figures = {}): CacheRules => ({
  kind: "exact",
  mode: "implicit",
  writes: 4,
  reads: 50,
  minimum,
  idle: 30 * MINUTE,
  multipliers: { read, write5m: 1.25, write1h: 1.25 },
});

/** The prefix cache of a server of one's own (vLLM): full blocks of 16 tokens, kept while there is room. */
export const serverRules = ({ minimum = 16, read = 0 }: Figures = {}): CacheRules => ({
  kind: "longest",
  minimum,
  step: 16,
  idle: Number.POSITIVE_INFINITY,
  multipliers: { read, write5m: 1, write1h: 1 },
});

/** OpenAI's models that read at breakpoints only. */
const MARKED = /^gpt-(?:5\.(?:[6-9]|\d\d)|[6-9]|\d\d)/;

/** The rules of a model's cache, with the figures of its card. A provider without rules of its own is taken for a server of one's own. */
export function rulesOf(model: ModelRef, card: Pick<ModelCard, "minimumPrefix" | "price">): CacheRules {
  const [provider = "", name = ""] = model.split(":");
  const { input, cacheRead } = card.price;
  const figures = { minimum: card.minimumPrefix, read: input > 0 ? rounded(cacheRead / input) : 0.1 };
  if (provider === "anthropic") return anthropicRules(figures);
  if (provider === "openai") return MARKED.test(name) ? openaiMarkedRules(figures) : openaiRules(figures);
  return serverRules();
}

/** Floating point must not show in a share: 0.3 of 3 is a tenth. */
const rounded = (share: number): number => Math.round(share * 1e6) / 1e6;
