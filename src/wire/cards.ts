import type { ModelRef, Usage } from "../protocol/index.ts";

/** Dated data on one model family: what Strata must know of it to plan a request. Prices in US dollars per million tokens. */
export interface ModelCard {
  readonly family: string;
  /** The day the data was checked. */
  readonly checked: string;
  /** Tokens of context, and of the longest reply. */
  readonly window: number;
  readonly longestReply: number;
  /** What o200k counts is multiplied by this; above 1 where the model's own tokenizer is not public. */
  readonly tokenFactor: number;
  /** A prefix below this many tokens is not cached. */
  readonly minimumPrefix: number;
  readonly price: {
    readonly input: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
    readonly output: number;
  };
}

/** Claude counts more tokens than o200k on the same text; measured estimates are 1.09 on English prose, so 1.2 is the safe side. */
const CLAUDE = { checked: "2026-11-20", window: 200_000, longestReply: 64_000, tokenFactor: 1.2 } as const;

const claude = (family: string, minimumPrefix: number, input: number, output: number, read = 0.1): ModelCard => ({
  family,
  ...CLAUDE,
  minimumPrefix,
  price: { input, cacheRead: input * read, cacheWrite: input * 1.25, output },
});

/** The first card whose family begins the model's name is its card: the longer family stands before the shorter. */
const CARDS: readonly ModelCard[] = [
  claude("anthropic:claude-opus-4-5", 4_096, 5, 25),
  claude("anthropic:claude-opus", 4_096, 5, 25),
  claude("anthropic:claude-haiku-4-5", 4_096, 1, 5),
  claude("anthropic:claude-haiku", 4_096, 1, 5),
  claude("anthropic:claude-sonnet", 2_048, 3, 15),
];

/** For a model nobody wrote a card for: a small window and no price, so that nothing is promised. */
const UNKNOWN: ModelCard = {
  family: "unknown",
  checked: "2026-11-20",
  window: 32_000,
  longestReply: 4_096,
  tokenFactor: 1.3,
  minimumPrefix: 4_096,
  price: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 },
};

/** The card of a model by its `provider:name`; a cautious one for a model that has none. */
export function cardOf(model: ModelRef): ModelCard {
  return CARDS.find((card) => model.startsWith(card.family)) ?? UNKNOWN;
}

/** What a call cost in US dollars by the card's prices. */
export function dollars(usage: Usage, { price }: ModelCard): number {
  const fresh = Math.max(usage.input - usage.cacheRead - usage.cacheWrite, 0);
  const sum =
    fresh * price.input +
    usage.cacheRead * price.cacheRead +
    usage.cacheWrite * price.cacheWrite +
    usage.output * price.output;
  return sum / 1_000_000;
}
