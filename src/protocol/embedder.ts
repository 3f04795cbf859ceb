import type { ModelRef } from "./agent.ts";

/** The result of an embedder: one vector for each text, in the same order, each of length 1. */
export interface Embedded {
  readonly vectors: readonly Float32Array[];
  /** As reported by the provider; 0 if it does not report them. */
  readonly tokens: number;
}

/** How texts are asked for. */
export interface Embedding {
  readonly signal: AbortSignal;
  /** True: nothing is retried, because somebody is waiting. */
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
