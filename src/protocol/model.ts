import type { ModelRef } from "./agent.ts";
import type { AssistantPart, CallPart } from "./message.ts";
import type { Request } from "./request.ts";

/** A call's usage, in tokens as reported. `input` is the whole prompt; its cached part is also listed separately. */
export interface Usage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** The part of `cacheWrite` with the long lifetime; left out if the provider does not report lifetimes. */
  readonly cacheWriteLong?: number;
  /** Set if the provider reported nothing about its cache: then `cacheRead` and `cacheWrite` are 0, and say nothing. */
  readonly cacheUnknown?: true;
  readonly output: number;
}

/** The expected bill of a call, before it is made. In tokens as Strata counts them; they add up to the request. */
export interface Prediction {
  readonly read: number;
  readonly write: number;
  /** The part of `write` with the long lifetime. */
  readonly writeLong: number;
  /** Neither read nor written. */
  readonly input: number;
}

export const NO_USAGE: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  const long = (a.cacheWriteLong ?? 0) + (b.cacheWriteLong ?? 0);
  return {
    input: a.input + b.input,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    ...(long > 0 && { cacheWriteLong: long }),
    output: a.output + b.output,
  };
}

/** Why the model stopped. `recording-ended`: a recording replaces the model and has no more replies. */
export type FinishReason = "stop" | "calls" | "length" | "refused" | "recording-ended" | "other";

/** A provider's finding after it compared a request with an earlier one, as requested. */
export interface Diagnosis {
  /**
   * `same`: the request continues the earlier one; `changed`: it differs; `pending`: not known yet; `forgotten`: the earlier one is no
   * longer known; `unavailable`: it cannot tell; `refused`: the provider does not accept the question.
   */
  readonly found: "same" | "changed" | "pending" | "forgotten" | "unavailable" | "refused";
  /** The change, in the provider's own word: `system_changed`. */
  readonly reason?: string;
  /** Tokens that were not read because of it, as reported. */
  readonly missed?: number;
}

/** A whole answer. `parts` is empty when there is nothing to say. */
export interface Reply {
  readonly parts: readonly AssistantPart[];
  readonly finish: FinishReason;
  /** As reported. */
  readonly usage: Usage;
  /** Set if Strata ended the stream, because it was much longer than allowed: then no usage was reported. */
  readonly capped?: true;
  /** Used for billing instead of `usage`, if that is impossible or missing: Strata's own count of the request and the answer. */
  readonly estimated?: Usage;
  /** The provider's id of the answer, kept if a later request may be compared with this one. */
  readonly id?: string;
  /** The request's `compare`, if the provider accepted it. */
  readonly compared?: string | null;
  /** Why the provider's cache missed, in its own words; left out if it was not asked or did not say. */
  readonly diagnosis?: Diagnosis;
}

/** The usage by which an answer is billed. */
export const billedUsage = ({ usage, estimated }: Reply): Usage => estimated ?? usage;

/** A call that failed before its first word and is repeated after a pause. `attempt` counts the failed tries. */
export interface RetryEvent {
  readonly type: "retry";
  readonly attempt: number;
  readonly milliseconds: number;
  readonly because: string;
}

/** The stream of a model: words as they arrive, then exactly one `reply`. A `retry` comes before any words. */
export type ModelEvent =
  | RetryEvent
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly text: string }
  | { readonly type: "call"; readonly call: CallPart }
  | { readonly type: "reply"; readonly reply: Reply };

/** A model as the runtime sees it. It hides the provider's formats. */
export interface Model {
  /** Who answers: `anthropic:claude-sonnet-5-5`, `rehearsal`, `recording`. */
  readonly ref: ModelRef;
  /** The `provider:name` whose request format the dumps show. */
  readonly wire: ModelRef;
  /** Media types that its API takes in a tool's result. Left out: it is not known, and nothing is left out for it. */
  readonly resultMedia?: readonly string[];
  /** Set if its provider can be asked why its cache missed. */
  readonly compares?: true;
  /** @throws StrataError `model_failed`, `rate_limited`, `key_refused`, `reasoning_refused` before anything of an answer came, `model_refused`, `turn_cancelled` */
  send(request: Request, options: SendOptions): AsyncIterable<ModelEvent>;
}

/** What ends a call. `count` lets a model see how many tokens it was sent already; without it, a reply is held to its bytes alone. */
export interface SendOptions {
  readonly signal: AbortSignal;
  readonly count?: CountTokens;
}

/** Tokens of a text as one model counts them (rounded up, safe side). Pure and cached by content. */
export type CountTokens = (text: string) => number;

/** The result of an embedder: one vector for each text, in the same order, each of length 1. */
export interface Embedded {
  readonly vectors: readonly Float32Array[];
  /** As reported by the provider; 0 if it does not report them. */
  readonly tokens: number;
}

/** How texts are asked for. */
export interface Embedding {
  readonly signal: AbortSignal;
  /** True: nothing is retried, because a caller is waiting. */
  readonly once?: boolean;
}

/** Turns texts into vectors, which are close to each other if the texts have a similar meaning. It hides the provider's formats. */
export interface Embedder {
  /** `openai:text-embedding-3-small`, `rehearsal`. Vectors of two models are never compared. */
  readonly ref: ModelRef;
  /**
   * Any number of texts, none of them blank: calls are as large as the model takes them.
   * @throws StrataError `model_failed`, `rate_limited`, `key_refused`, `model_refused`, `turn_cancelled`
   */
  embed(texts: readonly string[], options: Embedding): Promise<Embedded>;
}
