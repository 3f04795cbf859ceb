import type { Actor, Memory, MemoryFilter, MemoryId, MemoryKind, NewMemory, Scope } from "../protocol/index.ts";
import type { MemoryHit, MemoryStats, SavedMemory } from "../store/index.ts";
import type { RefusedEntry } from "./memory-files/draft.ts";
import type { MemoryText } from "./memory-files/read.ts";

/** What is searched for among the memories. */
export interface MemoryWish extends MemoryFilter {
  readonly query: string;
  /** At most so many. */
  readonly limit: number;
  /** Also what is no longer so, or not yet, by its `validFrom` and `validUntil`. */
  readonly invalid?: true;
  /** Without messages that are only greetings, thanks and other small talk. */
  readonly withoutChatter?: true;
}

/** Which memories are listed. */
export interface MemoryListing extends MemoryFilter {
  /** Also what another memory took the place of. */
  readonly superseded?: true;
}

/** What a person wants remembered: the rest is stamped by the platform. */
export type Note = Pick<
  NewMemory,
  "content" | "tags" | "kind" | "speaker" | "sources" | "validFrom" | "validUntil" | "supersedes"
>;

/** What is imported, and how. */
export interface MemoryImport extends MemoryText {
  /** Only what belongs to this user of the system it comes from. */
  readonly user?: string;
  /** Only these kinds: `["fact"]` leaves conversations out. */
  readonly kinds?: readonly MemoryKind[];
  /** Reads and checks all of it, and saves nothing. */
  readonly check?: true;
}

/** How far an import is. */
export interface ImportProgress {
  readonly done: number;
  readonly total: number;
}

/** What came of an import: every entry of the file is counted as saved, known or refused. */
export interface ImportReport {
  readonly saved: number;
  /** Were there already, from this file or another. */
  readonly known: number;
  /** Cannot be read or may not be kept; the rest of the file is saved all the same. */
  readonly refused: readonly RefusedEntry[];
  /** Less useful memories that had to go to make room. */
  readonly evicted: number;
  /** What the file could have said and did not, where that costs something. Left out where there is nothing. */
  readonly notes?: readonly string[];
}

/** How memories are written down, and which. */
export interface MemoryExport extends MemoryListing {
  /** `jsonl` loses nothing and can be imported again; `markdown` is for people. */
  readonly format: "jsonl" | "markdown";
}

/** What every door calls for memories. A scope without a contact is the agent's own, which all its contacts' turns may read. */
export interface MemoryDoors {
  /** Newest first. */
  memories(actor: Actor, scope: Scope, limit: number, listing?: MemoryListing): Promise<readonly Memory[]>;
  memory(actor: Actor, scope: Scope, id: MemoryId): Promise<Memory | undefined>;
  /** Best first; of a contact and, where the actor reaches them, of the agent's own. */
  searchMemories(actor: Actor, scope: Scope, wish: MemoryWish): Promise<readonly MemoryHit[]>;
  /** The same for those who ask why: each hit with what its score is made of. */
  explainMemories(actor: Actor, scope: Scope, wish: MemoryWish): Promise<readonly MemoryHit[]>;
  /** Saves a memory on a person's behalf, with that person's trust. Operators only.
   * @throws StrataError `memory_not_found` for what it supersedes, `invalid_input` where that was superseded before, for a text that is too long or holds a secret */
  remember(actor: Actor, scope: Scope, note: Note): Promise<SavedMemory>;
  /** False when the scope has no such memory. Operators only. */
  forget(actor: Actor, scope: Scope, id: MemoryId): Promise<boolean>;
  memoryStats(actor: Actor, scope: Scope): Promise<readonly MemoryStats[]>;
  /**
   * Saves what a file holds, entry by entry: what cannot be kept is told in the report, the rest is saved. The same file again
   * saves nothing. Operators only. @throws StrataError `invalid_input` for a file of which nothing can be read
   */
  importMemories(actor: Actor, scope: Scope, file: MemoryImport): AsyncGenerator<ImportProgress, ImportReport>;
  /** The memories as text, oldest first, piece by piece. */
  exportMemories(actor: Actor, scope: Scope, wish: MemoryExport): AsyncGenerator<string>;
}
