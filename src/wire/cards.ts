import type { ModelRef, Usage } from "../protocol/index.ts";
import { FAMILIES, type Family, type Price, UNKNOWN } from "./families.ts";

/** What Strata must know of one model to plan a request. Prices in US dollars per million tokens. */
export interface ModelCard extends Omit<Family, "price"> {
  readonly price: Price;
  /** False where the price is not known: `price` is then 0, or that of the family's next of kin. */
  readonly priced: boolean;
}

/** What a declaration says of a model; all it leaves out is as the built-in card says. */
export interface CardOverride {
  readonly window?: number | undefined;
  readonly longestReply?: number | undefined;
  readonly tokenFactor?: number | undefined;
  readonly minimumPrefix?: number | undefined;
  /** `cacheRead` and `cacheWrite` left out cost what `input` costs. */
  readonly price?:
    | {
        readonly input: number;
        readonly output: number;
        readonly cacheRead?: number | undefined;
        readonly cacheWrite?: number | undefined;
      }
    | undefined;
}

/** A model's card by its `provider:name`: the declared one laid over the built-in one. */
export function cardBook(
  overrides: Readonly<Record<ModelRef, CardOverride>>,
  families: readonly Family[] = FAMILIES,
): (model: ModelRef) => ModelCard {
  const longestFirst = families.toSorted((a, b) => b.family.length - a.family.length);
  return (model) => {
    const card = cardFrom(longestFirst.find((row) => belongs(model, row)) ?? UNKNOWN, model);
    return Object.hasOwn(overrides, model) ? overlaid(card, overrides[model]) : card;
  };
}

/** The built-in card of a model; a cautious one for a model that has none. */
export const cardOf: (model: ModelRef) => ModelCard = cardBook({});

/** A family's name ends where a version begins: `gpt-5.9` is none of `gpt-5`. */
function belongs(model: ModelRef, { family }: Family): boolean {
  if (!model.startsWith(family)) return false;
  return family.endsWith("-") || model.length === family.length || model[family.length] === "-";
}

const FREE: Price = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

/** What may follow a family's name without being another model: a date, or `latest`. */
const SAME_MODEL = /^(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest|0))?$/;

function cardFrom({ price, ...row }: Family, model: ModelRef): ModelCard {
  const same = SAME_MODEL.test(model.slice(row.family.length));
  return { ...row, price: price ?? FREE, priced: price !== undefined && same };
}

function overlaid(card: ModelCard, override: CardOverride = {}): ModelCard {
  const { price } = override;
  return {
    ...card,
    window: override.window ?? card.window,
    longestReply: override.longestReply ?? card.longestReply,
    tokenFactor: override.tokenFactor ?? card.tokenFactor,
    minimumPrefix: override.minimumPrefix ?? card.minimumPrefix,
    ...(price && {
      priced: true,
      price: {
        input: price.input,
        cacheRead: price.cacheRead ?? price.input,
        cacheWrite: price.cacheWrite ?? price.input,
        output: price.output,
      },
    }),
  };
}

/** What a call cost in US dollars by the card's prices. */
export function dollars(usage: Usage, { price }: Pick<ModelCard, "price">): number {
  const fresh = Math.max(usage.input - usage.cacheRead - usage.cacheWrite, 0);
  const sum =
    fresh * price.input +
    usage.cacheRead * price.cacheRead +
    usage.cacheWrite * price.cacheWrite +
    usage.output * price.output;
  return sum / 1_000_000;
}
