/**
 * The part of finding memories that differs between databases: which units have a word, and which vectors are near. Everything else
 * (counting, ranking, fusing) is the same for all. An instance lives as long as its transaction.
 */
export interface MemoryIndex {
  /** For each term, the ids of the units in the range that have it, once each. */
  unitsWith(terms: readonly string[], range: IdRange): Promise<ReadonlyMap<string, readonly number[]>>;
  /** Adds the words of units together with their rows: one text each, terms separated by spaces. */
  addWords(units: readonly { readonly id: number; readonly terms: string }[]): Promise<void>;
  /** Removes words while the row still exists, without a trace in the file. */
  removeWords(unit: number, terms: string): Promise<void>;
  /** Removes the words of all units in the range, whose rows still exist. */
  removeRange(range: IdRange): Promise<void>;
  /** Empties it. */
  clear(): Promise<void>;
  /**
   * The nearest vectors of the range, at most `limit`, as the database compares them; they are ranked again. Undefined if it cannot compare
   * vectors: then Strata compares all of them.
   */
  nearest(range: IdRange, wanted: WantedVectors): Promise<readonly StoredVector[] | undefined>;
}

/** A range of ids; the upper end belongs to the next range. */
export interface IdRange {
  readonly from: number;
  readonly to: number;
}

/** The condition of a filter on a row of `memory`, with its values. */
export interface Condition {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** The vectors that are looked for. */
export interface WantedVectors {
  /** Of length 1. */
  readonly values: Float32Array;
  /** At most this many. */
  readonly limit: number;
  readonly condition?: Condition | undefined;
}

/** A vector as it is stored. `memory` is the row number of the memory. */
export interface StoredVector {
  readonly memory: number;
  readonly part: number;
  readonly value: Uint8Array;
}

/** How much one scope may hold. Messages are limited only by the range. */
export interface MemoryLimits {
  /** Characters of one saved memory, and of one message. */
  readonly length: number;
  readonly message: number;
  /** The number of memories saved on purpose, and their characters. */
  readonly saved: number;
  readonly characters: number;
  /** Units over all time: the width of a scope's range in the index. */
  readonly range: number;
}

export const MEMORY_LIMITS: MemoryLimits = {
  length: 50_000,
  message: 1_000_000,
  saved: 20_000,
  characters: 20_000_000,
  range: 2 ** 26,
};
