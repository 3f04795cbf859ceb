import type { MemoryId, TurnId } from "./ids.ts";
import type { Trust, Untrusted } from "./trust.ts";

/** A text to remember. */
export interface NewMemory {
  readonly content: Untrusted;
  readonly tags: readonly string[];
  /** The lowest trust of what it was made from. */
  readonly trust: Trust;
  readonly turn?: TurnId;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A remembered text. */
export interface Memory extends NewMemory {
  readonly id: MemoryId;
}
