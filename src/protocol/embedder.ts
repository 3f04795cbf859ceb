import type { ModelRef } from "./agent.ts";

/** What an embedder gave: one vector for each text, in their order, each of length 1. */
export interface Embedded {
  readonly vectors: readonly Float32Array[];
  /** As the provider reports them; 0 where it does not tell. */
  readonly tokens: number;
}

/** How texts are asked for. */
export interface Embedding {
  readonly signal: AbortSignal;
  /** True: nothing is tried twice, for somebody waits. */
  readonly once?: boolean;
}

/** Turns texts into vectors that lie near each other where the texts mean the like. The provider's shapes stay behind it. */
export interface Embedder {
  /** `openai:text-embedding-3-small`, `rehearsal`. Vectors of two models are never compared. */
  readonly ref: ModelRef;
  /**
   * Any number of texts, none of them blank: calls are as large as the model takes them.
   * @throws StrataError `model_failed`, `rate_limited`, `key_refused`, `model_refused`, `turn_cancelled`
   */
  embed(texts: readonly string[], options: Embedding): Promise<Embedded>;
}
