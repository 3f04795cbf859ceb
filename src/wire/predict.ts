import {
  type Breakpoint,
  type CountTokens,
  type Parameters,
  type Prediction,
  type Request,
  shownTools,
} from "../protocol/index.ts";
import { carrierOf, reasoningSetting, seenOf } from "./cache/read-request.ts";
import { rulesOf } from "./cache/rules.ts";
import type { SeenBlock, SeenRequest } from "./cache/seen.ts";
import { simulate } from "./cache/simulate.ts";
import type { ModelCard } from "./cards.ts";

/** An earlier request of the thread: what it wrote, and how far the next one still begins like it. */
export interface EarlierRequest {
  readonly at: number;
  readonly breakpoints: readonly Breakpoint[];
  /** Messages that both begin with. */
  readonly same: number;
  /** Blocks of tools and system that both begin with, where that is not all of them: then no message is the same. */
  readonly blocks?: number;
  /** The reasoning effort. */
  readonly reasoning?: NonNullable<Parameters["reasoning"]>;
}

/** The input of a prediction in addition to the requests. */
export interface Foresight {
  readonly card: ModelCard;
  readonly count: CountTokens;
  /** When the request is sent. */
  readonly at: number;
}

/** The newest requests wrote or read everything that is held; older ones add nothing. */
const ENOUGH = 6;

/**
 * What the provider will bill for a request, by the rules of its card and from what the thread's requests before it wrote; other threads'
 * writes are not known. Pure.
 */
export function predict(
  request: Request,
  earlier: readonly EarlierRequest[],
  { card, count, at }: Foresight,
): Prediction {
  // Only beginnings of this very request are compared: its blocks need no other name than their place.
  let place = 0;
  const sent = seenOf(request, count, { at, model: "", keyOf: () => String(place++), card });
  const ends = endsOf(request);
  const before = earlier.slice(-ENOUGH).map((one): SeenRequest => {
    const prefix = Math.min(one.blocks ?? ends(0), ends(0));
    const same = prefix < ends(0) ? 0 : Math.min(one.same, request.messages.length);
    const blocks = sent.blocks
      .slice(0, same === 0 ? prefix : ends(same))
      .map(({ breakpoint: _, ...block }): SeenBlock => block);
    for (const { after, lifetime } of one.breakpoints) {
      const marked = after.zone === "system" ? ends(0) - request.prefix.system.length + after.block : undefined;
      const message = after.zone === "message" && after.index < same ? request.messages[after.index] : undefined;
      const index = message && after.zone === "message" ? ends(after.index) + carrierOf(message) : marked;
      const block = index === undefined ? undefined : blocks[index];
      if (index !== undefined && block !== undefined) blocks[index] = { ...block, breakpoint: lifetime };
    }
    const setting = reasoningSetting(one, card);
    return { at: one.at, model: "", ...setting, ...(one.breakpoints.length > 0 && { mode: "explicit" }), blocks };
  });
  const bill = simulate([...before, sent], rulesOf(card)).at(-1);
  if (bill === undefined) return { read: 0, write: 0, writeLong: 0, input: 0 };
  return { read: bill.read, write: bill.write5m + bill.write1h, writeLong: bill.write1h, input: bill.input };
}

/** The number of blocks at the end of the given number of messages. */
function endsOf({ prefix, messages }: Request): (messages: number) => number {
  const ends = [shownTools(prefix.tools).length + prefix.system.length];
  // A part that the provider has cleared is not a block.
  for (const { role, parts } of messages) ends.push((ends.at(-1) ?? 0) + (role === "system" ? 0 : parts.length));
  return (count) => ends[count] ?? 0;
}
