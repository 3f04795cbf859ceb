import type { ModelRef } from "./agent.ts";
import type { AssistantPart, CallPart } from "./message.ts";
import type { Request } from "./request.ts";

/** What a call used, in tokens as reported. `input` is all of the prompt; the cached part of it is also told apart. */
export interface Usage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Of `cacheWrite`, what is kept for the long lifetime; left out where the provider does not tell lifetimes apart. */
  readonly cacheWriteLong?: number;
  readonly output: number;
}

/** What a call is expected to be billed, told before it is made. In tokens as Strata counts them; they add up to the request. */
export interface Prediction {
  readonly read: number;
  readonly write: number;
  /** Of `write`, what is kept for the long lifetime. */
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

/** Why the model stopped. `recording-ended`: a recording speaks for the model and has nothing more to say. */
export type FinishReason = "stop" | "calls" | "length" | "refused" | "recording-ended" | "other";

/** A whole answer. `parts` is empty when there is nothing to say. */
export interface Reply {
  readonly parts: readonly AssistantPart[];
  readonly finish: FinishReason;
  /** As reported. */
  readonly usage: Usage;
  /** There where Strata ended the stream, which went on past all that was asked for: no usage was reported then. */
  readonly capped?: true;
  /** What it is billed by instead of `usage`, which cannot be or did not come: Strata's own count of the request and the answer. */
  readonly estimated?: Usage;
}

/** What an answer is billed by. */
export const billedUsage = ({ usage, estimated }: Reply): Usage => estimated ?? usage;

/** A call that failed before its first word and is repeated after that pause. `attempt` counts the tries that failed. */
export interface RetryEvent {
  readonly type: "retry";
  readonly attempt: number;
  readonly milliseconds: number;
  readonly because: string;
}

/** What streams from a model: words as they come, then exactly one `reply`. A `retry` stands before all words. */
export type ModelEvent =
  | RetryEvent
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly text: string }
  | { readonly type: "call"; readonly call: CallPart }
  | { readonly type: "reply"; readonly reply: Reply };

/** A model as the runtime sees it. The provider's shapes stay behind it. */
export interface Model {
  /** Who answers: `anthropic:claude-sonnet-4-5`, `rehearsal`, `recording`. */
  readonly ref: ModelRef;
  /** Whose request shape the dumps show: a `provider:name`. */
  readonly wire: ModelRef;
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
