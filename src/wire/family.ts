import type { TailWay } from "../protocol/index.ts";

/** Prices in US dollars per million tokens, of the providers' price pages. */
export interface Price {
  readonly input: number;
  readonly cacheRead: number;
  /** For the short lifetime. */
  readonly cacheWrite: number;
  /** For the long lifetime; equal to `cacheWrite` if there is none. */
  readonly cacheWriteLong: number;
  readonly output: number;
}

/** When a model's API takes temperature and top-p. */
export type SamplingRule = "never" | "unless-reasoning" | "if-off";

/**
 * How a cache is written and read:
 *
 * - `lookback`: written at a breakpoint, read also some positions before one (Anthropic, and Claude elsewhere);
 * - `exact`: written and read exactly at a breakpoint (OpenAI from GPT-5.6 on);
 * - `automatic`: the longest beginning that was sent before is found without breakpoints;
 * - `none`: nothing is kept, or it is undocumented how.
 */
export type CacheWay = "lookback" | "exact" | "automatic" | "none";

/** Seconds that what was written is kept, counted from the start of the last request that used it. */
export interface Lifetimes {
  readonly short: number;
  /** Left out if there is only one lifetime. */
  readonly long?: number;
}

/** Dated data about one model family, needed to plan requests. If sources differ, the cautious figure. */
export interface Family {
  /** The prefix of its models' names; the rest is a version, or anything if the prefix ends in a dash. */
  readonly family: string;
  /** The day the data was checked. */
  readonly checked: string;
  /** The day on which its provider ends it, if that has been announced. */
  readonly retires?: string;
  /** Tokens of context, of the provider's table of models. A longer prompt that costs more per token ends it. */
  readonly contextWindow: number;
  /** Tokens of the longest reply, of the same table. */
  readonly maxOutputTokens: number;
  /** The initial factor for o200k's counts; above 1 if the model's own tokenizer is not public. Measured. */
  readonly tokenFactor: number;
  /** How its cache is written, of the provider's page on prompt caching. */
  readonly cache: CacheWay;
  /** The minimum tokens of a cached prefix, from the same page. If sources differ, the larger figure. */
  readonly minimumPrefix: number;
  /** The step in tokens by which the cached prefix grows: block caches store only whole blocks. From the same page; 1 if it names none. */
  readonly step: number;
  /** Breakpoints that a request may write, of the same page. One more is refused, or silently left out. */
  readonly breakpoints: number;
  /** Positions looked at for something to read: back from a breakpoint for `lookback`, back through the breakpoints for `exact`. */
  readonly lookback: number;
  /** From the same page. If sources differ or name none, the shorter figure. */
  readonly lifetimes: Lifetimes;
  /** Of the provider's pages on messages; the way that pays among those that the provider has. */
  readonly tailMode: TailWay;
  /**
   * Set if its API loads a tool into a running conversation, without changing what came before. Of the provider's pages on tool search; left
   * out where its API has no such thing, or nothing is documented.
   */
  readonly loadsTools?: boolean;
  /** Set if the model's reasoning is, or may be, bound to everything sent before it: then nothing of that may be removed. */
  readonly reasoningBoundToHistory?: boolean;
  /**
   * How the model's amount of reasoning is set: by a level (`effort`), or by a number of the reply's tokens (`budget`). Omitted if it has
   * no such setting, or none is documented: then a text may ask for it.
   */
  readonly reasoning?: "effort" | "budget";
  /**
   * When its API refuses temperature and top-p: always (`never`), while the model reasons (`unless-reasoning`), or if its reasoning is not
   * turned off expressly (`if-off`). Left out: it takes them.
   */
  readonly sampling?: SamplingRule;
  /** The provider's key in a part's options and metadata, of its package of the AI SDK. */
  readonly metadata: string;
  /** Left out if unknown. */
  readonly price?: Price;
}

/** The common beginning of one provider's rows. */
export type Shape = Omit<Family, "family" | "price">;

/** A cache's prices, as shares of the input's price. */
export interface Shares {
  readonly read?: number;
  readonly write?: number;
  readonly long?: number;
}

/** By default Anthropic's ratios: a read costs a tenth, a write with the short lifetime 1.25 times, with the long one twice the input. */
export const price = (input: number, output: number, { read = 0.1, write = 1.25, long = 2 }: Shares = {}): Price => ({
  input,
  output,
  cacheRead: rounded(input * read),
  cacheWrite: rounded(input * write),
  cacheWriteLong: rounded(input * long),
});

/** The price of a cache that writes for nothing more than the input, and has one price for all lifetimes. */
export const automatic = (input: number, output: number, read = 0.1): Price =>
  price(input, output, { read, write: 1, long: 1 });

/** Floating point must not show in a price or a share: a tenth of 3 is 0.3. */
export const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;
