import type { MemoryId, TurnId } from "./ids.ts";
import type { Role } from "./scope.ts";
import type { Trust, Untrusted } from "./trust.ts";

/** What a memory is: what was said, what was saved on purpose, a longer text kept whole, what stands for many others. */
export const MEMORY_KINDS = ["message", "fact", "block", "summary"] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

/** A text to remember. All times are milliseconds since 1970. */
export interface NewMemory {
  /** Left out: a fact. */
  readonly kind?: MemoryKind;
  readonly content: Untrusted;
  readonly tags: readonly string[];
  /** The lowest trust of what it was made from. */
  readonly trust: Trust;
  /** Who wrote it down; left out, the agent. */
  readonly by?: Role;
  /** Who said it, by the name a question would use: the contact's or the agent's. */
  readonly speaker?: string;
  /** Which stretch of talk it is of: what shares it is read together. Left out, it stands alone. */
  readonly session?: string;
  /** Where it was written down. */
  readonly turn?: TurnId;
  /** What it was made from: memories, events, lines of an import. */
  readonly sources?: readonly string[];
  /** When it was said or saved. */
  readonly at: number;
  /** What it tells of was so from then on, and until then; left out, always. */
  readonly validFrom?: number;
  readonly validUntil?: number;
  /** The memory it takes the place of: that one stays in the record, dated, and is found no more. */
  readonly supersedes?: MemoryId;
}

/** A remembered text. */
export interface Memory extends NewMemory {
  readonly id: MemoryId;
  readonly kind: MemoryKind;
  /** How often the very same was saved: 1 for once. */
  readonly support: number;
  readonly supersededBy?: { readonly memory: MemoryId; readonly at: number };
}

/** Whether what a memory tells is so at a time. */
export function isValidAt({ validFrom, validUntil }: Pick<Memory, "validFrom" | "validUntil">, at: number): boolean {
  return (validFrom === undefined || validFrom <= at) && (validUntil === undefined || validUntil > at);
}

/** Which memories a search may give. Left out, all. */
export interface MemoryFilter {
  readonly kinds?: readonly MemoryKind[];
  /** Having at least one of these tags. */
  readonly tags?: readonly string[];
  /** Said or saved since then, and before then. */
  readonly since?: number;
  readonly before?: number;
  /** At least as trusted. */
  readonly trust?: Trust;
}

/** What is asked, as an embedder sees it. Vectors of two models are never compared. */
export interface QueryVector {
  /** The embedder's `ref`. */
  readonly model: string;
  /** Of length 1. */
  readonly values: Float32Array;
}

/** What is searched for. */
export interface MemoryQuery extends MemoryFilter {
  /** Any text, the newest and heaviest first: the question, and what was asked before it. `weight` is 1 for the first. */
  readonly texts: readonly { readonly text: string; readonly weight: number }[];
  /** The name of who asks, whom "I" and "my" mean. */
  readonly asker?: string;
  /** When it is asked: what "yesterday" and "last week" mean. Left out, they are words like any. */
  readonly at?: number;
  /** The same as vectors, one of each model that serves in the scopes; made by the runtime. Left out, words alone are compared. */
  readonly vectors?: readonly QueryVector[];
  /** Only what is so at that time, by its `validFrom` and `validUntil`. Left out, all. */
  readonly validAt?: number;
  /** At most so many. */
  readonly limit: number;
  readonly signal?: AbortSignal;
}
