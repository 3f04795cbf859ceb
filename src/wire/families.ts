import type { TailWay } from "../protocol/index.ts";
import { automatic, type Family, type Price, rounded } from "./family.ts";
import { ANTHROPIC, AUTOMATIC, COMPATIBLE, DEEPSEEK, GOOGLE, OPENAI } from "./makers.ts";

/** For a model without a card: a small window, no cache and no price, so that nothing is promised. */
export const UNKNOWN: Family = {
  ...AUTOMATIC,
  family: "unknown",
  contextWindow: 32_000,
  maxOutputTokens: 4_096,
  cache: "none",
  lifetimes: { short: 0 },
  metadata: "strata",
};

/** What answers for people without a key, and what plays a recording, costs nothing, and that is known. */
const FREE: readonly Family[] = [
  ...["rehearsal", "recording"].map((family) => ({ ...UNKNOWN, family, price: automatic(0, 0) })),
  // If no model is asked, no window limits what is kept.
  { ...UNKNOWN, family: "none", contextWindow: 1_000_000, price: automatic(0, 0) },
];

/** Neither loads tools: Chat Completions has no such message, and of Converse nothing is documented. Neither passes a message on that clears itself: what is turn-scoped at its maker's is changed lines, or a plain end. */
const tailOf = ({ tailMode, reasoningBoundToHistory = false }: Family): TailWay =>
  tailMode === "turn-scoped" ? (reasoningBoundToHistory ? "delta" : "ephemeral") : tailMode;

/**
 * Bedrock and Claude on it have their own minimums; Bedrock documents them for some models, and the others have Anthropic's. Requests
 * through OpenRouter may end there.
 */
const minimumOf = ({ family, minimumPrefix }: Family): number =>
  family === "anthropic:claude-opus-4-7" ? 4_096 : minimumPrefix;

/** A model behind OpenRouter costs and caches as its maker's does, except on hosts of open models, which each have their own price. */
const passedOn = (row: Family, name: string): Family => {
  const { price, loadsTools: _, retires: _own, ...rest } = row;
  const card = { ...rest, family: `openrouter:${name}`, tailMode: tailOf(row), minimumPrefix: minimumOf(row) };
  return { ...card, metadata: "openrouter", ...(price !== undefined && { price }) };
};

const shortOnly = (row: Family): Family =>
  row.cache === "exact" ? { ...row, lifetimes: { short: row.lifetimes.short } } : row;

const withoutPrice = ({ price: _, ...row }: Family): Family => row;

/** OpenRouter takes breakpoints for all: Anthropic gets them unchanged, OpenAI as its own, and the others need none. */
const OPENROUTER: readonly Family[] = [
  { ...AUTOMATIC, family: "openrouter:", contextWindow: 32_000, maxOutputTokens: 4_096, metadata: "openrouter" },
  ...ANTHROPIC.map((row) => passedOn(row, `anthropic/${dotted(familyName(row))}`)),
  // It asks for OpenAI's short lifetime alone.
  ...OPENAI.map((row) => passedOn(shortOnly(row), `openai/${familyName(row)}`)),
  ...GOOGLE.map((row) => passedOn(row, `google/${familyName(row)}`)),
  ...DEEPSEEK.map((row) => withoutPrice(passedOn(row, `deepseek/${familyName(row)}`))),
];

function familyName({ family }: Family): string {
  return family.slice(family.indexOf(":") + 1);
}

/** Anthropic writes `claude-sonnet-4-5` where OpenRouter writes `claude-sonnet-4.5`. */
function dotted(name: string): string {
  return name.replace(/(\d)-(\d)/, "$1.$2");
}

/** Since Claude 4.5 an endpoint of a region costs a tenth more than the global one. */
const REGIONAL = 1.1;
const ONE_PRICE = /claude-(?:3-.*|sonnet-4|opus-4|opus-4-1|)$/;
/** Earlier models keep for five minutes only, and unknown ones are undocumented. */
const SHORT_ONLY = ONE_PRICE;

function onBedrock(row: Family): readonly Family[] {
  const { price, lifetimes, loadsTools: _, retires: _own, ...rest } = row;
  const card = {
    ...rest,
    tailMode: tailOf(row),
    minimumPrefix: minimumOf(row),
    lifetimes: SHORT_ONLY.test(row.family) ? { short: lifetimes.short } : lifetimes,
    metadata: "bedrock",
  };
  const cards = (factor: number) => ({ ...card, ...(price !== undefined && { price: times(price, factor) }) });
  const name = `anthropic.${familyName(row)}`;
  return [
    { ...cards(ONE_PRICE.test(row.family) ? 1 : REGIONAL), family: `bedrock:${name}` },
    { ...cards(1), family: `bedrock:global.${name}` },
  ];
}

const times = ({ input, cacheRead, cacheWrite, cacheWriteLong, output }: Price, factor: number): Price => ({
  input: rounded(input * factor),
  cacheRead: rounded(cacheRead * factor),
  cacheWrite: rounded(cacheWrite * factor),
  cacheWriteLong: rounded(cacheWriteLong * factor),
  output: rounded(output * factor),
});

/** Claude on Bedrock is marked by `cachePoint`; of other models Strata asks Bedrock for no cache. */
const BEDROCK: readonly Family[] = [
  {
    ...AUTOMATIC,
    family: "bedrock:",
    contextWindow: 32_000,
    maxOutputTokens: 4_096,
    cache: "none",
    metadata: "bedrock",
  },
  ...ANTHROPIC.flatMap(onBedrock),
];

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
