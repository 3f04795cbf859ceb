/** How much one scope may hold. Messages have no limit but the range. */
export interface MemoryLimits {
  /** Characters of one saved memory, and of one message. */
  readonly length: number;
  readonly message: number;
  /** Memories that were saved on purpose, and their characters. */
  readonly saved: number;
  readonly characters: number;
  /** Units ever: the width of a scope's range in the index. */
  readonly range: number;
}

export const MEMORY_LIMITS: MemoryLimits = {
  length: 50_000,
  message: 1_000_000,
  saved: 20_000,
  characters: 20_000_000,
  range: 2 ** 26,
};
