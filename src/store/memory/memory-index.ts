/**
 * The part of finding memories that a database does its own way: which units have a word, and which vectors are near. Everything
 * else (what is counted, ranked, fused) is the same for all. Each lives as long as its transaction.
 */
export interface MemoryIndex {
  /** By term, the ids of the units in the range that have it, once each. */
  unitsWith(terms: readonly string[], range: IdRange): Promise<ReadonlyMap<string, readonly number[]>>;
  /** The words of units come in with their rows: one text each, terms with spaces between them. */
  addWords(units: readonly { readonly id: number; readonly terms: string }[]): Promise<void>;
  /** They go while the row is still there, and leave no trace in the file. */
  removeWords(unit: number, terms: string): Promise<void>;
  /** The words of all units in the range, whose rows are still there. */
  removeRange(range: IdRange): Promise<void>;
  /** Empties it. */
  clear(): Promise<void>;
  /**
   * The nearest vectors of the range, at most `limit`, as the database compares them; they are ranked once more.
   * Nothing where it cannot: then they are compared here, all of them.
   */
  nearest(range: IdRange, wanted: WantedVectors): Promise<readonly StoredVector[] | undefined>;
}

/** Ids from one on, up to one that is the next range's. */
export interface IdRange {
  readonly from: number;
  readonly to: number;
}

/** What a filter asks of a row of `memory`, with its values. */
export interface Condition {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** What is looked for. */
export interface WantedVectors {
  /** Of length 1. */
  readonly values: Float32Array;
  /** At most so many. */
  readonly limit: number;
  readonly condition?: Condition | undefined;
}

/** A vector as its row has it. `memory` is the memory's row. */
export interface StoredVector {
  readonly memory: number;
  readonly part: number;
  readonly value: Uint8Array;
}
