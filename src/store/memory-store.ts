import type { Features } from "../memory/index.ts";
import type { Memory, MemoryFilter, MemoryId, MemoryKind, MemoryQuery, NewMemory, Scope } from "../protocol/index.ts";

/**
 * What the same search gave before, where nothing has changed since: the revision of each scope grows with every change of what a search
 * of it could give, and is 0 where nothing was ever remembered. Nothing where that is not known.
 */
export type FoundBefore = (revisions: readonly number[]) => readonly MemoryHit[] | undefined;

/** A memory that was found: where, and why. */
export interface MemoryHit extends Memory {
  readonly scope: Scope;
  /** Higher is better. */
  readonly score: number;
  /** How far the words alone speak for it: 0 for nothing. */
  readonly evidence: number;
  readonly features: Features;
  /** Hits of one stretch of talk share it. */
  readonly session: string;
  /** Hits count up by it as they were said. */
  readonly place: number;
}

/** A memory with the id it shall have. */
export interface AddedMemory {
  readonly id: MemoryId;
  readonly memory: NewMemory;
  /**
   * How it was kept in another record: so often, and put away where something replaced it there. What it names as superseded
   * need not be in reach then.
   */
  readonly kept?: Pick<Memory, "support" | "supersededBy">;
}

/** What came of saving: the memory as it is kept now, and what had to go to make room for it. */
export interface SavedMemory {
  /** The one that was there, where it says the very same. */
  readonly memory: Memory;
  readonly merged: boolean;
  readonly evicted: readonly MemoryId[];
}

/** How much of one kind is remembered. */
export interface MemoryStats {
  readonly kind: MemoryKind;
  readonly memories: number;
  readonly characters: number;
  /** Milliseconds since 1970. */
  readonly newest: number;
}

/** Which memories are looked through for what they are about. */
export interface TopicWish extends Pick<MemoryFilter, "kinds" | "before"> {
  /** So many of a topic at the least. */
  readonly least: number;
  /** What is so no more at that time is left out. */
  readonly validAt: number;
  /** These are left out, too. */
  readonly except: ReadonlySet<string>;
}

/** What is remembered of one thing. */
export interface MemoryTopic {
  /** The word that the memories share, or the two that are said most often where they share only the kind. */
  readonly topic: string;
  /** Oldest first. */
  readonly memories: readonly Memory[];
}

/** What a store keeps of memories, each in its scope. What is said in turns becomes one with the turn's commit. */
export interface MemoryStore {
  /**
   * Keeps a memory. The very same text again (folded) counts as support of the one that is there. What is superseded is found no
   * more and stays in the record. Where the scope is full the least useful go; what a person saved goes last.
   * @throws StrataError `memory_not_found` for what it supersedes, `invalid_input` for a text that is too long
   */
  saveMemory(scope: Scope, id: MemoryId, memory: NewMemory): Promise<SavedMemory>;
  /** Keeps many at once, in order, all or none: for imports. */
  saveMemories(scope: Scope, memories: readonly AddedMemory[]): Promise<readonly SavedMemory[]>;
  /** Best first, newest first on ties; any text is a valid query; only the own of these scopes, each ranked by its own statistics. */
  searchMemories(scopes: readonly Scope[], query: MemoryQuery, before?: FoundBefore): Promise<readonly MemoryHit[]>;
  /** Newest first. What was said as a message is one only where `filter.kinds` names it; what is superseded only with `superseded`. */
  memories(
    scope: Scope,
    limit: number,
    filter?: MemoryFilter & { readonly superseded?: true },
  ): Promise<readonly Memory[]>;
  /** All that was saved on purpose in these scopes, of each the newest first; nothing where that is more than `most`. */
  savedMemories(scopes: readonly Scope[], most: number): Promise<readonly Memory[] | undefined>;
  /**
   * What the scope's memories are about, by their words alone; no memory is in two topics. The 5,000 newest are looked through.
   */
  memoryTopics(scope: Scope, wish: TopicWish): Promise<readonly MemoryTopic[]>;
  memory(scope: Scope, id: MemoryId): Promise<Memory | undefined>;
  forgetMemory(scope: Scope, id: MemoryId): Promise<boolean>;
  /** How many memories of each kind the scope holds, and their characters. */
  memoryStats(scope: Scope): Promise<readonly MemoryStats[]>;
}
