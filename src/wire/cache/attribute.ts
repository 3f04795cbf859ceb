import { type EpochReason, never, type Prediction, type Usage } from "../../protocol/index.ts";
import { AGREES, agreed, longShare, stretched, type Taken, takenOf } from "./agreement.ts";
import {
  type Base,
  basesOf,
  type Cause,
  dearestFirst,
  type Least,
  leastOf,
  type Reaches,
  reachesOf,
} from "./causes.ts";
import type { CacheRules, SeenBlock, SeenRequest } from "./seen.ts";

/** A thread's request data besides the content, in the same order. */
export interface RequestFacts {
  /** The provider's report for each; undefined if it reported nothing. */
  readonly billed?: readonly (Usage | undefined)[];
  /** The prediction before each call; if it is missing, it is made now. */
  readonly predicted?: readonly (Prediction | undefined)[];
  /** In which epoch of the thread each was sent. */
  readonly epochs?: readonly KnownEpoch[];
  /** US dollars per million tokens of plain input. */
  readonly inputPrice?: number;
}

/** `cut`: how much of the conversation was cut away before it. */
interface KnownEpoch {
  readonly n: number;
  readonly reason: EpochReason;
  readonly cut?: number;
}

/** A place in a request: a block, counted from 0, whose it is, and the tokens before it. */
export interface BlockPlace {
  readonly block: number;
  readonly section: string;
  readonly token: number;
}

/** Tokens of a request that were not read, and why. */
export interface Caused {
  readonly cause: Cause;
  readonly tokens: number;
  /** What they cost above the least, in tokens of plain input; below 0 where the least is paid to save later. */
  readonly cost: number;
  readonly dollars: number;
  /** Where they begin; for a change, where it begins. */
  readonly begins: BlockPlace;
}

/** A request's cost, its lowest possible cost, and why it cost more. */
export interface AttributedRequest {
  readonly at: number;
  /** All of it: as billed, else as counted. */
  readonly tokens: number;
  /** By the documented rules, from what was known before the call; in the provider's tokens if it reported them. */
  readonly predicted: Taken;
  readonly billed?: Taken;
  /** 1 where as much was read as predicted, 0 where all of it is off. None without a bill. */
  readonly agreement?: number;
  /** Of what was billed, else of the prediction. In tokens of plain input. */
  readonly cost: number;
  readonly optimum: number;
  readonly efficiency: number;
  /** All tokens that were not read, by cause: the dearest that could have been avoided first, what could not last. */
  readonly causes: readonly Caused[];
  /** The earlier request that it continues from, counted from 0. */
  readonly base?: { readonly n: number; readonly gap: number };
  /** Where it first differs from that one, except by continuing it. */
  readonly differs?: BlockPlace;
  readonly dollars: number;
}

/**
 * Tells of each request of a thread, oldest first, what was predicted, what was billed, and of every token that was not read why
 * it was not. Providers count otherwise than Strata: a prediction is stretched to the tokens that were billed. Pure.
 */
export function attribute(
  requests: readonly SeenRequest[],
  rules: CacheRules,
  known: RequestFacts = {},
): readonly AttributedRequest[] {
  const [bases, reaches, least] = [basesOf(requests), reachesOf(requests, rules), leastOf(requests)];
  return requests.flatMap((request, n): readonly AttributedRequest[] => {
    const reach = reaches[n];
    if (reach === undefined) return [];
    const base = bases[n];
    const begun = base && begunBy(known.epochs?.[base.n], known.epochs?.[n]);
    const paid = paidFor(request, reach, { rules, usage: known.billed?.[n], forecast: known.predicted?.[n] });
    const cast: Case = { request, reach, base, paid, rules, begun, least: least[n] ?? [] };
    return [attributedRequest(cast, requests, (known.inputPrice ?? 0) / 1_000_000)];
  });
}

/** Why another epoch lies between a request and the one that it continues from; undefined if none does. */
function begunBy(was: KnownEpoch | undefined, is: KnownEpoch | undefined): Cause | undefined {
  if (is === undefined || was?.n === is.n) return undefined;
  switch (is.reason) {
    case "first":
      return undefined;
    case "cut":
      return "trim";
    case "forgotten":
    case "retracted":
      return "forgotten";
    case "edited":
    case "migrated":
    case "model":
    case "mode":
    case "resized":
      return "prefix edit";
    case "alone":
      // A message of another turn is not continued from: repeated here, it is new.
      return "first";
    case "refused":
      // Reasoning that was refused once stays away, and so does the reason: whatever else ends such an epoch.
      if (was?.cut !== is.cut) return "trim";
      return was?.reason === "refused" ? "forgotten" : "refused";
    default:
      return never(is.reason);
  }
}

/** A request's bill or, without one, its expected bill; and its prices. */
interface Paid {
  readonly tokens: number;
  /** Counted tokens as billed ones. */
  readonly scaled: (tokens: number) => number;
  readonly predicted: Taken;
  readonly billed: Taken | undefined;
  readonly taken: Taken;
  readonly agreement: number;
  readonly writePrice: number;
}

interface CostInputs {
  readonly rules: CacheRules;
  readonly usage: Usage | undefined;
  /** The prediction before the call. */
  readonly forecast: Prediction | undefined;
}

function paidFor({ blocks }: SeenRequest, { bill }: Reaches, { rules, usage, forecast }: CostInputs): Paid {
  const counted = blocks.reduce((sum, { tokens }) => sum + tokens, 0);
  const reported = usage !== undefined && usage.input > 0 && counted > 0 ? usage : undefined;
  const tokens = reported?.input ?? counted;
  const scaled = (part: number): number => (counted === 0 ? 0 : Math.round((part / counted) * tokens));
  const now = { read: bill.read, write: bill.write5m + bill.write1h, writeLong: bill.write1h, input: bill.input };
  // A bill is compared with the prediction before the call; without one, the whole thread gives a better estimate than was possible then.
  const expected = reported === undefined ? now : (forecast ?? now);
  const predicted = stretched(expected, tokens);
  const billed = reported && takenOf(reported);
  const { write5m, write1h } = rules.multipliers;
  const long = longShare(reported, expected);
  return {
    tokens,
    scaled,
    predicted,
    billed,
    taken: billed ?? predicted,
    agreement: billed === undefined || tokens === 0 ? 1 : agreed(predicted, billed),
    writePrice: (1 - long) * write5m + long * write1h,
  };
}

/** One request with all that is known of it. */
interface Case {
  readonly request: SeenRequest;
  readonly reach: Reaches;
  readonly base: Base | undefined;
  readonly paid: Paid;
  readonly rules: CacheRules;
  /** Why it is of another epoch than the one that it continues from. */
  readonly begun: Cause | undefined;
  readonly least: readonly Least[];
}

function attributedRequest(of: Case, requests: readonly SeenRequest[], price: number): AttributedRequest {
  const { request, base, paid, rules } = of;
  const { tokens, taken, predicted, billed, agreement } = paid;
  const spans = spansOf(of);
  const cost = taken.input + taken.read * rules.multipliers.read + taken.write * paid.writePrice;
  const best = spans.reduce((sum, span) => sum + span.tokens * span.least, 0);
  const differs = base?.differs && blockPlace(of, base.blocks);
  const before = base && requests[base.n];
  return {
    at: request.at,
    tokens,
    predicted,
    ...(billed && { billed, agreement }),
    cost,
    optimum: best,
    efficiency: efficiency(best, cost),
    causes: causesOf(spans, { price, differs, of }),
    ...(base && before && { base: { n: base.n, gap: request.at - before.at } }),
    ...(differs && { differs }),
    dollars: cost * price,
  };
}

/** 1 if nothing cost more than the minimum. */
export const efficiency = (best: number, cost: number): number => (cost === 0 ? 1 : best / cost);

/** Tokens in a row that were paid alike, for one cause. Prices of a token. */
interface PaidSpan {
  readonly block: number;
  readonly tokens: number;
  readonly cause: Cause | "read";
  readonly price: number;
  readonly least: number;
}

/** A request in spans, in its order: every token in exactly one. */
function spansOf(of: Case): readonly PaidSpan[] {
  const { request, reach, base, paid, rules } = of;
  const { taken, scaled, predicted } = paid;
  const { read, write5m } = rules.multipliers;
  const limits = [taken.read, taken.read + taken.write, predicted.read];
  const farther = [reach.alive, reach.found, reach.ready, base?.tokens ?? 0].map(scaled);
  const leastPrice = { read, kept: write5m, once: 1 } as const;
  let counted = 0;
  return request.blocks.flatMap((block, at) => {
    const [from, to] = [scaled(counted), scaled(counted + block.tokens)];
    counted += block.tokens;
    const least = of.least[at] ?? "once";
    const cuts = [...limits, ...farther].filter((place) => place > from && place < to);
    const places = [...new Set([from, ...cuts, to])].toSorted((a, b) => a - b);
    return places.slice(1).map((end, index): PaidSpan => {
      const begin = places[index] ?? 0;
      return { block: at, tokens: end - begin, ...paidAt(begin, block, { of, least }), least: leastPrice[least] };
    });
  });
}

/** The cost of the token at a place, and the cause. */
function paidAt(
  place: number,
  block: SeenBlock,
  { of, least }: { readonly of: Case; readonly least: Least },
): Pick<PaidSpan, "cause" | "price"> {
  const { taken, writePrice } = of.paid;
  if (place < taken.read) return { cause: "read", price: of.rules.multipliers.read };
  const price = place < taken.read + taken.write ? writePrice : 1;
  if (block.tail === true) return { cause: "tail", price };
  return { cause: least === "read" ? causeAt(place, of) : "first", price };
}

/** Why a token that the thread had sent before was not read. */
function causeAt(place: number, { reach, base, paid, rules, begun }: Case): Cause {
  const { scaled, predicted, agreement } = paid;
  if (place < predicted.read) return agreement >= AGREES ? "unknown" : "gateway";
  if (place < scaled(reach.alive)) return "cold";
  if (place < scaled(reach.found)) return "lookback";
  if (base === undefined) return "first";
  if (place < scaled(base.tokens)) {
    if (base.tokens < rules.minimum) return "below minimum";
    return place < scaled(reach.ready) ? "unknown" : "not written";
  }
  // It continues, and repeats text from elsewhere: here it is new.
  if (base.differs === undefined) return "first";
  // The same words under another setting.
  if (base.differs.was?.key === base.differs.is?.key) return "reasoning";
  const kinds = [base.differs.was?.kind, base.differs.is?.kind];
  if (kinds.includes("tool")) return "tools";
  return begun === undefined || kinds.includes("system") ? "prefix edit" : begun;
}

function blockPlace({ request, base, paid }: Case, block: number): BlockPlace {
  const before = request.blocks.slice(0, block).reduce((sum, { tokens }) => sum + tokens, 0);
  const section = request.blocks[block]?.section ?? base?.differs?.was?.section ?? "";
  return { block, section, token: paid.scaled(before) };
}

/** These begin where the change does, which may be before the first token that they cost. */
const CHANGES: readonly Cause[] = ["trim", "forgotten", "refused", "prefix edit", "reasoning", "tools"];

function causesOf(
  spans: readonly PaidSpan[],
  { price, differs, of }: { readonly price: number; readonly differs: BlockPlace | undefined; readonly of: Case },
): readonly Caused[] {
  const found = new Map<Cause, Caused>();
  for (const { cause, block, ...span } of spans) {
    if (cause === "read" || span.tokens === 0) continue;
    const before = found.get(cause);
    const cost = (before?.cost ?? 0) + span.tokens * (span.price - span.least);
    const begins = before?.begins ?? (CHANGES.includes(cause) ? differs : undefined) ?? blockPlace(of, block);
    found.set(cause, { cause, tokens: (before?.tokens ?? 0) + span.tokens, cost, dollars: cost * price, begins });
  }
  return [...found.values()].toSorted(dearestFirst);
}
