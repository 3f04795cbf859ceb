import { never } from "../../protocol/index.ts";
import type { ModelCard } from "../cards.ts";
import { rounded } from "../family.ts";
import type { CacheRules, Multipliers } from "./seen.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** What differs between models of one provider. `read` is the price of a read token. */
interface Figures {
  readonly minimum?: number;
  readonly read?: number;
}

/** Anthropic's cache. */
export const anthropicRules = ({ minimum = 1_024, read = 0.1 }: Figures = {}): CacheRules => ({
  kind: "lookback",
  most: 4,
  lookback: 20,
  minimum,
  lifetimes: { "5m": 5 * MINUTE, "1h": 60 * MINUTE },
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
export const openaiExactRules = ({ minimum = 1_024, read = 0.1 }: Figures = {}): CacheRules => ({
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

type CacheFields = Pick<
  ModelCard,
  "cache" | "minimumPrefix" | "step" | "breakpoints" | "lookback" | "lifetimes" | "metadata" | "price"
>;

/** The rules of a model's cache, from its card; without a cache, the minimum is never reached. */
export function rulesOf(card: CacheFields): CacheRules {
  const { minimumPrefix: minimum, step, breakpoints, lookback, lifetimes } = card;
  const [short, long] = [lifetimes.short * SECOND, (lifetimes.long ?? lifetimes.short) * SECOND];
  const multipliers = sharesOf(card);
  switch (card.cache) {
    case "lookback":
      return {
        kind: "lookback",
        most: breakpoints,
        lookback,
        minimum,
        lifetimes: { "5m": short, "1h": long },
        multipliers,
      };
    case "exact":
      return {
        kind: "exact",
        mode: "implicit",
        writes: breakpoints,
        reads: lookback,
        minimum,
        idle: short,
        ...(lifetimes.long !== undefined && { idleLong: long }),
        multipliers,
      };
    case "automatic":
      return { kind: "longest", minimum, step, idle: short, multipliers };
    case "none":
      return { kind: "longest", minimum: Number.POSITIVE_INFINITY, step: 1, idle: 0, multipliers };
    default:
      return never(card.cache);
  }
}

/** Defaults if the card has no price. Cached reads on a self-hosted server cost nothing. */
function usualShares({ cache, metadata }: CacheFields): Multipliers {
  if (cache === "lookback") return { read: 0.1, write5m: 1.25, write1h: 2 };
  if (cache === "exact") return { read: 0.1, write5m: 1.25, write1h: 1.25 };
  return { read: metadata === "openaiCompatible" ? 0 : 0.1, write5m: 1, write1h: 1 };
}

function sharesOf(card: CacheFields): Multipliers {
  const { input, cacheRead, cacheWrite, cacheWriteLong } = card.price;
  if (input === 0) return usualShares(card);
  const long = card.lifetimes.long === undefined ? cacheWrite : cacheWriteLong;
  return { read: rounded(cacheRead / input), write5m: rounded(cacheWrite / input), write1h: rounded(long / input) };
}
