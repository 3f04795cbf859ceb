import type {
  Breakpoint,
  Ledger,
  ModelRef,
  Parameters,
  Prediction,
  Sampling,
  TailWay,
  Usage,
} from "../protocol/index.ts";
import { longShare } from "./cache/agreement.ts";
import { FAMILIES, UNKNOWN } from "./families.ts";
import { type CacheWay, type Family, type Price, rounded, type SamplingRule } from "./family.ts";

/** What Strata must know of one model to plan a request. Prices in US dollars per million tokens. */
export interface ModelCard extends Omit<Family, "price"> {
  readonly price: Price;
  /** False if the price is unknown: `price` is then 0, or that of the closest family. */
  readonly priced: boolean;
  /** Whether `contextWindow` is a guess, because the model has no card and no declared window. */
  readonly guessed: boolean;
}

/** Says that a model's window is a guess, and which key sets it; undefined if it is known. */
export function guessedWindow(
  model: ModelRef,
  { guessed, contextWindow }: Pick<ModelCard, "guessed" | "contextWindow">,
) {
  if (!guessed) return undefined;
  return `the window of ${model} is not known: ${inThousands(contextWindow)} tokens are a guess; set it in strata.yaml as \`models: { "${model}": { contextWindow: … } }\``;
}

/** The declared data of a model; what is left out comes from the built-in card. Units and meanings are those of `Family`. */
export interface CardOverride {
  readonly contextWindow?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly tokenFactor?: number | undefined;
  readonly cache?: CacheWay | undefined;
  readonly minimumPrefix?: number | undefined;
  readonly step?: number | undefined;
  readonly breakpoints?: number | undefined;
  readonly lookback?: number | undefined;
  /** If `long` is omitted, there is only one lifetime. */
  readonly lifetimes?: { readonly short: number; readonly long?: number | undefined } | undefined;
  readonly tailMode?: TailWay | undefined;
  readonly loadsTools?: boolean | undefined;
  readonly reasoningBoundToHistory?: boolean | undefined;
  readonly reasoning?: "effort" | "budget" | undefined;
  readonly sampling?: SamplingRule | undefined;
  readonly metadata?: string | undefined;
  /**
   * Omitted prices have the built-in card's ratio to `input`, so they are the card's own prices if `input` is. Without a built-in price
   * `cacheRead` and `cacheWrite` cost the same as `input`, `cacheWriteLong` the same as `cacheWrite`.
   */
  readonly price?:
    | {
        readonly input?: number | undefined;
        readonly output?: number | undefined;
        readonly cacheRead?: number | undefined;
        readonly cacheWrite?: number | undefined;
        readonly cacheWriteLong?: number | undefined;
      }
    | undefined;
}

const inThousands = (n: number): string => String(n).replace(/(?<=\d)(?=(?:\d{3})+$)/g, ",");

/** The card of a model by its `provider:name`; `known` is its built-in name, if that differs. */
export type CardBook = (model: ModelRef, known?: ModelRef) => ModelCard;

/** A book of cards: the declared one laid over the built-in one. */
export function cardBook(
  overrides: Readonly<Record<ModelRef, CardOverride>>,
  families: readonly Family[] = FAMILIES,
): CardBook {
  const longestFirst = families.toSorted((a, b) => b.family.length - a.family.length);
  return (model, known = model) => {
    const name = withoutRegion(known);
    const card = cardFrom(longestFirst.find((row) => belongs(name, row)) ?? UNKNOWN, name);
    return Object.hasOwn(overrides, model) ? overlaid(card, overrides[model]) : card;
  };
}

/** The built-in card of a model; a cautious one for a model that has none. */
export const cardOf: (model: ModelRef) => ModelCard = cardBook({});

/** Bedrock names a model also by its region, and by the profile of an account. */
const REGION = /^bedrock:(?:arn:\S*\/)?(?:(?:us|us-gov|eu|apac|jp|au|ca|sa|me|af)\.)?/;

const withoutRegion = (model: ModelRef): ModelRef => model.replace(REGION, "bedrock:");

/**
 * A family's name ends where a version begins: `gpt-5.9` does not belong to `gpt-5`, nor `claude-fable-5-9` to `claude-fable-5`. A point
 * release may bind its reasoning, cache or cost otherwise than its neighbour, so without a card it gets its maker's cautious one.
 */
function belongs(model: ModelRef, { family }: Family): boolean {
  if (!model.startsWith(family)) return false;
  const rest = model.slice(family.length);
  return /[-:]$/.test(family) || SAME_MODEL.test(rest) || /^(?:-(?!\d)|:)/.test(rest);
}

const FREE: Price = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0, output: 0 };

/** Suffixes of a family's name that do not make it another model: a date or `latest`, and Bedrock's version number. */
const SAME_MODEL = /^(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest|0))?(?:-v\d+(?::\d+)?)?$/;

function cardFrom({ price, ...row }: Family, model: ModelRef): ModelCard {
  const same = SAME_MODEL.test(model.slice(row.family.length));
  return { ...row, price: price ?? FREE, priced: price !== undefined && same, guessed: isAnybodys(row) };
}

/** A family whose name is only a prefix is used for all models without their own card. */
const isAnybodys = ({ family }: Pick<Family, "family">): boolean => family === UNKNOWN.family || /[-:]$/.test(family);

function overlaid(card: ModelCard, { price, lifetimes, ...plain }: CardOverride = {}): ModelCard {
  return {
    ...card,
    ...givenFields(plain),
    ...(plain.contextWindow !== undefined && { guessed: false }),
    ...(lifetimes && {
      lifetimes: { short: lifetimes.short, ...(lifetimes.long !== undefined && { long: lifetimes.long }) },
    }),
    ...(price && { priced: card.priced || isWhole(price), price: wholePrice(price, card.price) }),
  };
}

/** A missing field hides nothing. */
function givenFields({
  contextWindow,
  maxOutputTokens,
  tokenFactor,
  ...of
}: Omit<CardOverride, "price" | "lifetimes">) {
  const {
    cache,
    minimumPrefix,
    step,
    breakpoints,
    lookback,
    tailMode,
    loadsTools,
    reasoningBoundToHistory,
    reasoning,
    sampling,
    metadata,
  } = of;
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(tokenFactor !== undefined && { tokenFactor }),
    ...(cache !== undefined && { cache }),
    ...(minimumPrefix !== undefined && { minimumPrefix }),
    ...(step !== undefined && { step }),
    ...(breakpoints !== undefined && { breakpoints }),
    ...(lookback !== undefined && { lookback }),
    ...(tailMode !== undefined && { tailMode }),
    ...(loadsTools !== undefined && { loadsTools }),
    ...(reasoning !== undefined && { reasoning }),
    ...(sampling !== undefined && { sampling }),
    ...(reasoningBoundToHistory !== undefined && { reasoningBoundToHistory }),
    ...(metadata !== undefined && { metadata }),
  };
}

type PriceOverride = NonNullable<CardOverride["price"]>;

const isWhole = ({ input, output }: PriceOverride): boolean => input !== undefined && output !== undefined;

function wholePrice(said: PriceOverride, card: Price): Price {
  const { input = card.input } = said;
  const known = card.input > 0;
  const share = (dollars: number): number => (input === card.input ? dollars : rounded((dollars / card.input) * input));
  const usual = known ? share(card.cacheWrite) : input;
  const {
    output = known ? share(card.output) : 0,
    cacheRead = known ? share(card.cacheRead) : input,
    cacheWrite = usual,
  } = said;
  const { cacheWriteLong = known ? share(card.cacheWriteLong) : cacheWrite } = said;
  return { input, output, cacheRead, cacheWrite, cacheWriteLong };
}

const REFUSES: Readonly<Record<SamplingRule, string>> = {
  never: "its API refuses it",
  "unless-reasoning": "its API refuses it while the model reasons",
  "if-off": "its API takes it only with reasoning turned off",
};

/** Those of the parameters that the model's API takes at this level of reasoning, and why it gets none of the others. */
export function samplingFor(
  { sampling }: Pick<ModelCard, "sampling">,
  { temperature, topP }: Sampling,
  reasoning: Parameters["reasoning"],
): { readonly sent: Sampling; readonly omitted: NonNullable<Ledger["omitted"]> } {
  const level = reasoning?.level ?? (sampling === "unless-reasoning" ? "off" : undefined);
  const wanted = { ...(temperature !== undefined && { temperature }), ...(topP !== undefined && { topP }) };
  if (sampling === undefined || (sampling !== "never" && level === "off")) return { sent: wanted, omitted: [] };
  const because = REFUSES[sampling];
  const omitted = (["temperature", "topP"] as const).filter((one) => one in wanted);
  return { sent: {}, omitted: omitted.map((parameter) => ({ parameter, because })) };
}

/**
 * A call's cost in US dollars by the card's prices. If the provider does not report the lifetime of its writes, the prediction decides.
 */
export function dollars(usage: Usage, { price }: Pick<ModelCard, "price">, prediction?: Prediction): number {
  const fresh = Math.max(usage.input - usage.cacheRead - usage.cacheWrite, 0);
  const long = usage.cacheWrite * longShare(usage, prediction);
  const sum =
    fresh * price.input +
    usage.cacheRead * price.cacheRead +
    (usage.cacheWrite - long) * price.cacheWrite +
    long * price.cacheWriteLong +
    usage.output * price.output;
  return sum / 1_000_000;
}

/** The most that a call of this many tokens can cost in US dollars: nothing is found in the cache, and all of it is written there. */
export function mostDollars(
  { input, output }: Pick<Usage, "input" | "output">,
  { price }: Pick<ModelCard, "price">,
  breakpoints: readonly Breakpoint[],
): number {
  const written = breakpoints.some(({ lifetime }) => lifetime === "1h") ? price.cacheWriteLong : price.cacheWrite;
  return (input * Math.max(price.input, written) + output * price.output) / 1_000_000;
}
