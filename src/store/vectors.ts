import type { MemoryId, ModelRef, Scope } from "../protocol/index.ts";

/** How far the memories of one scope have vectors of one model. */
export interface VectorState {
  readonly scope: Scope;
  readonly model: ModelRef;
  /** Texts that have one. A long memory has several texts. */
  readonly vectors: number;
  /** At most so many memories wait for theirs. */
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
  /** How many memories they are of. */
  readonly memories: number;
  readonly texts: readonly WaitingText[];
}

/** Vectors for what waited. What is left out stays without one. */
export interface NewVectors extends Pick<WaitingTexts, "from" | "upto"> {
  readonly vectors: readonly (Pick<WaitingText, "memory" | "part"> & { readonly values: Float32Array })[];
}

/**
 * The vectors of memories, each by the name of the model that made it. They are made outside and after the commit that keeps a
 * memory: whatever stands past the last place that was looked at waits. They go with their memory. The first model of a scope
 * serves at once; another replaces it when it has caught up, and only then do the vectors of the first go.
 */
export interface VectorStore {
  /** The models that serve in any of these scopes. */
  servingModels(scopes: readonly Scope[]): Promise<readonly ModelRef[]>;
  /**
   * Of every scope that holds a memory: the state of `model`, and that of the one that serves in its stead. A scope with
   * `contact: null` takes in all contacts of the agent and its own.
   */
  vectorStates(scope: Scope, model: ModelRef): Promise<readonly VectorState[]>;
  /** What has no vector of the model yet in this one scope, oldest first; nothing where all have theirs. */
  waitingTexts(scope: Scope, model: ModelRef, memories: number): Promise<WaitingTexts | undefined>;
  /** Keeps them and passes on to what comes next. Vectors of another length than before make the model begin again in the scope. */
  saveVectors(scope: Scope, model: ModelRef, made: NewVectors): Promise<void>;
  /** Forgets the vectors of all models but this one and the one that serves. */
  dropVectors(scope: Scope, model: ModelRef): Promise<void>;
}
