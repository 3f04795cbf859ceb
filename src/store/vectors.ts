import type { MemoryId, ModelRef, Scope } from "../protocol/index.ts";

/** How far the memories of one scope have vectors of one model. */
export interface VectorState {
  readonly scope: Scope;
  readonly model: ModelRef;
  /** Texts that have one. A long memory consists of several texts. */
  readonly vectors: number;
  /** Memories that wait for vectors, at most. */
  readonly waiting: number;
  /** Whether searches of the scope use the vectors of this model. */
  readonly serving: boolean;
}

/** A text that waits for its vector: a memory, or a part of a long one. */
export interface WaitingText {
  readonly memory: MemoryId;
  readonly part: number;
  readonly text: string;
}

/** The next texts in line: all that wait between two places of a scope. */
export interface WaitingTexts {
  readonly from: number;
  readonly upto: number;
  /** How many memories these texts belong to. */
  readonly memories: number;
  readonly texts: readonly WaitingText[];
}

/** Vectors for texts that waited. A text that is missing here gets none. */
export interface NewVectors extends Pick<WaitingTexts, "from" | "upto"> {
  readonly vectors: readonly (Pick<WaitingText, "memory" | "part"> & { readonly values: Float32Array })[];
}

/**
 * The vectors of memories, by the name of the model that made them. They are made outside of the commit that stores a memory, and after it:
 * everything after the last place that was examined waits. They are deleted with their memory. The first model of a scope serves at once;
 * another one replaces it when it has caught up, and only then are the vectors of the first deleted.
 */
export interface VectorStore {
  /** The models that serve in any of these scopes. */
  servingModels(scopes: readonly Scope[]): Promise<readonly ModelRef[]>;
  /**
   * For each scope with memories: the state of `model`, and that of the model that serves meanwhile. A scope with `contact: null` includes
   * all contacts of the agent and the agent's own.
   */
  vectorStates(scope: Scope, model: ModelRef): Promise<readonly VectorState[]>;
  /** The oldest texts of this scope without a vector of the model; undefined if all have one. */
  waitingTexts(scope: Scope, model: ModelRef, memories: number): Promise<WaitingTexts | undefined>;
  /** Stores them and moves on. If their length differs from that of earlier vectors, the model begins again in this scope. */
  saveVectors(scope: Scope, model: ModelRef, made: NewVectors): Promise<void>;
  /** Deletes the vectors of all models except this one and the one that serves. */
  dropVectors(scope: Scope, model: ModelRef): Promise<void>;
}
