import type { ActorId, MemoryId, TurnId } from "./ids.ts";
import type { Role } from "./scope.ts";
import type { Trust, Untrusted } from "./trust.ts";

/** The kinds of memories: messages, saved facts, longer texts stored whole, and summaries. */
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
  /** Who wrote it down; if omitted, the agent. */
  readonly by?: Role;
  readonly byId?: ActorId;
  /** The speaker, by the name that a question would use: the contact's or the agent's. */
  readonly speaker?: string;
  /** Its session: memories of one session are read together. If omitted, it is on its own. */
  readonly session?: string;
  /** Where it was written down. */
  readonly turn?: TurnId;
  /** Its sources: memories, events, lines of an import. */
  readonly sources?: readonly string[];
  /** When it was said or saved. */
  readonly at: number;
  /** When its content was true: from, and until. Left out: always. */
  readonly validFrom?: number;
  readonly validUntil?: number;
  /** The memory that it replaces: that one stays in the record, dated, and is no longer found. */
  readonly supersedes?: MemoryId;
}

/** A stored memory. */
export interface Memory extends NewMemory {
  readonly id: MemoryId;
  readonly kind: MemoryKind;
  /** How often the same text was saved. */
  readonly support: number;
  readonly supersededBy?: { readonly memory: MemoryId; readonly at: number };
}

/** Whether the content of a memory is true at a given time. */
export function isValidAt({ validFrom, validUntil }: Pick<Memory, "validFrom" | "validUntil">, at: number): boolean {
  return (validFrom === undefined || validFrom <= at) && (validUntil === undefined || validUntil > at);
}

/** Which memories a search may return. Left out: all. */
export interface MemoryFilter {
  readonly kinds?: readonly MemoryKind[];
  /** Having at least one of these tags. */
  readonly tags?: readonly string[];
  /** Said or saved since then, and before then. */
  readonly since?: number;
  readonly before?: number;
  /** At least this trust. */
  readonly trust?: Trust;
}

/** The query as a vector. Vectors of two models are never compared. */
export interface QueryVector {
  /** The embedder's `ref`. */
  readonly model: string;
  /** Of length 1. */
  readonly values: Float32Array;
}

/** A search for memories. */
export interface MemoryQuery extends MemoryFilter {
  /** The texts to search for, the newest first: the question, and earlier ones. `weight` is 1 for the first and less for the others. */
  readonly texts: readonly { readonly text: string; readonly weight: number }[];
  /** The name of the asker, for "I" and "my". */
  readonly asker?: string;
  /** The time of the question, for "yesterday" and "last week". Left out: these are ordinary words. */
  readonly at?: number;
  /** The query as vectors, one for each model in use in the scopes; created by the runtime. Left out: only words are compared. */
  readonly vectors?: readonly QueryVector[];
  /** Only memories that are true at that time, by `validFrom` and `validUntil`. Left out: all. */
  readonly validAt?: number;
  /** The maximum number. */
  readonly limit: number;
  readonly signal?: AbortSignal;
}
