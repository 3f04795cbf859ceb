import type { StrataError } from "../protocol/index.ts";
import type { MemoryIndex } from "./memory/memory-index.ts";
import type { MemoryLimits } from "./memory/memory-limits.ts";
import type { BackupProgress, Finding } from "./records.ts";
import type { Dialect, Ready, Statement } from "./statement.ts";

/**
 * What a store function may do: run statements inside one transaction. It awaits this and functions that take this, and nothing
 * else, so that a transaction never waits for the world. Made by `Transactions` alone: nothing is asked outside of a transaction.
 */
export interface Tx {
  /** For the few lines that differ. */
  readonly dialect: Dialect;
  /** Chance from outside: that many random bytes. */
  readonly random: (bytes: number) => Uint8Array;
  readonly limits: MemoryLimits;
  /** Memories by their words and vectors: each database has its own way. */
  readonly index: MemoryIndex;
  all<R>(statement: Statement<R>): Promise<R[]>;
  first<R>(statement: Statement<R>): Promise<R | undefined>;
  /** The first column alone, for many rows at little cost. */
  column<V>(statement: Ready<V>): Promise<V[]>;
  /** Gives how many rows were changed. */
  run(statement: Statement<unknown>): Promise<number>;
}

/**
 * Begins and ends transactions. What the work throws undoes it all. A function that needs a transaction takes a `Tx`; only the
 * outermost, the one that the contract names, begins one.
 */
export interface Transactions {
  /** One at a time writes: nobody is found inside another's transaction. */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** One snapshot for several reads; it never waits for a writer, and may not write. */
  read<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

/** A database: its transactions, and what each database does its own way outside of them. */
export interface Database extends Transactions {
  /** Whatever the driver threw, as a sentence with the next step. */
  failure(thrown: unknown): StrataError;
  /** What is wrong with the database itself, whatever its rows say. */
  check(): Promise<readonly Finding[]>;
  /** The sentence of damage that a statement met. @throws what is no damage */
  damageSaid(thrown: unknown): string;
  /** Takes erased text out of what the database keeps besides its rows. False where that has to wait. */
  flush(): Promise<boolean>;
  /** A copy of all as it stands at one moment, while others write. */
  backup(file: string, onProgress?: (progress: BackupProgress) => void): Promise<void>;
  /** Why nothing more can be kept; nothing where all is well. */
  trouble(): Promise<string | undefined>;
  close(): Promise<void>;
}

/** One after the other: the statements of a transaction have an order, also where each is awaited. */
export async function inOrder<T, R>(all: Iterable<T>, work: (one: T, i: number) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  let i = 0;
  for (const one of all) done.push(await work(one, i++));
  return done;
}
