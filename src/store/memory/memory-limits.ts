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
