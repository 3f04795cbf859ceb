import type { Features } from "../memory/index.ts";
import type {
  Memory,
  MemoryFilter,
  MemoryId,
  MemoryKind,
  MemoryQuery,
  ModelRef,
  NewMemory,
  Scope,
  TurnId,
} from "../protocol/index.ts";
import type { Position } from "./records.ts";

/**
 * The result of the same search before, if nothing has changed since; undefined if that is not known. The revision of each scope grows with
 * every change that could affect a search; it is 0 if nothing was ever remembered.
 */
export type FoundBefore = (revisions: readonly number[]) => readonly MemoryHit[] | undefined;

/** A memory that was found: where, and why. */
export interface MemoryHit extends Memory {
  readonly scope: Scope;
  /** Higher is better. */
  readonly score: number;
  /** How far the words alone speak for it, from 0. */
  readonly evidence: number;
  readonly features: Features;
  /** Hits of the same conversation share it. */
  readonly session: string;
  /** Grows in the order in which things were said. */
  readonly place: number;
}

/** A memory with its future id. */
export interface AddedMemory {
  readonly id: MemoryId;
  readonly memory: NewMemory;
  /**
   * How it was stored in another record: its support, and whether it was superseded there. What it supersedes need not be available here
   * then.
   */
  readonly kept?: Pick<Memory, "support" | "supersededBy">;
}

/** The result of saving: the stored memory, and what was deleted to make room for it. */
export interface SavedMemory {
  /** If the same memory existed already, that one. */
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

/** Which memories are grouped by subject. */
export interface TopicWish extends Pick<MemoryFilter, "kinds" | "before"> {
  /** The fewest memories of a topic. */
  readonly least: number;
  /** Memories that are no longer true at that time are left out. */
  readonly validAt: number;
  /** These are left out, too. */
  readonly except: ReadonlySet<string>;
}

/** The memories about one subject. */
export interface MemoryTopic {
  /** The word that the memories share; if they share only a kind, its two most frequent words. */
  readonly topic: string;
  /** Oldest first. */
  readonly memories: readonly Memory[];
}

/** What needs no search, because it is seen anyway. */
export interface SeenMemories {
  /** All that was said and saved in these turns. */
  readonly turns: readonly TurnId[];
  readonly memories: readonly MemoryId[];
}

/** Which memories are listed. */
export interface MemoryListing extends MemoryFilter {
  /** Also what another memory replaced. */
  readonly superseded?: true;
  readonly after?: Position | undefined;
}

export interface MemoryStore {
  /**
   * Saves a memory. The same text again (folded) counts as support of the existing one. A superseded memory stays in the record and is no
   * longer found. If the scope is full, the least useful memories are deleted; those that a person saved go last.
   * @throws StrataError `memory_not_found` for what it supersedes, `invalid_input` for a text that is too long
   */
  saveMemory(scope: Scope, id: MemoryId, memory: NewMemory): Promise<SavedMemory>;
  /** Saves many at once, in order, all or none: for imports. */
  saveMemories(scope: Scope, memories: readonly AddedMemory[]): Promise<readonly SavedMemory[]>;
  /** Best first; on ties the newest first. Any text is a valid query. Only memories of these scopes, each ranked by its own statistics. */
  searchMemories(scopes: readonly Scope[], query: MemoryQuery, before?: FoundBefore): Promise<readonly MemoryHit[]>;
  /** At most this many memories of these scopes that a search could find, besides those already seen; in no particular order. */
  memoriesBeside(
    scopes: readonly Scope[],
    seen: SeenMemories,
    most: number,
  ): Promise<readonly (Memory & Pick<MemoryHit, "scope">)[]>;
  /** Newest first. Messages are included only if `filter.kinds` names them, superseded memories only with `superseded`. */
  memories(scope: Scope, limit: number, filter?: MemoryListing): Promise<readonly Memory[]>;
  /**
   * The deliberately saved memories of these scopes, the newest of each first; of more than `most` in a scope, the newest and those that
   * were saved again most often. `more`: how many others there are.
   */
  savedMemories(
    scopes: readonly Scope[],
    most: number,
  ): Promise<{ readonly saved: readonly Memory[]; readonly more: number }>;
  /** The subjects of the scope's memories, by their words alone; no memory belongs to two. Only the 5,000 newest are examined. */
  memoryTopics(scope: Scope, wish: TopicWish): Promise<readonly MemoryTopic[]>;
  memory(scope: Scope, id: MemoryId): Promise<Memory | undefined>;
  forgetMemory(scope: Scope, id: MemoryId): Promise<boolean>;
  /** How many memories of each kind the scope holds, and their characters. */
  memoryStats(scope: Scope): Promise<readonly MemoryStats[]>;
}

/** How far the memories of one scope have vectors of one model. */
export interface VectorState {
  readonly scope: Scope;
  readonly model: ModelRef;
  /** Texts that have one. A long memory consists of several texts. */
  readonly vectors: number;
  /** Memories that wait for vectors, at most. */
  readonly waiting: number;
  /** Whether searches of the scope use the vectors of this model. */
  readonly serving: boolean;
}

/** A text that waits for its vector: a memory, or a part of a long one. */
export interface WaitingText {
  readonly memory: MemoryId;
  readonly part: number;
  readonly text: string;
}

/** The next texts in line: all that wait between two places of a scope. */
export interface WaitingTexts {
  readonly from: number;
  readonly upto: number;
  /** How many memories these texts belong to. */
  readonly memories: number;
  readonly texts: readonly WaitingText[];
}

/** Vectors for texts that waited. A text that is missing here gets none. */
export interface NewVectors extends Pick<WaitingTexts, "from" | "upto"> {
  readonly vectors: readonly (Pick<WaitingText, "memory" | "part"> & { readonly values: Float32Array })[];
}

/**
 * The vectors of memories, by the name of the model that made them. They are made outside of the commit that stores a memory, and after it:
 * everything after the last place that was examined waits. They are deleted with their memory. The first model of a scope serves at once;
 * another one replaces it when it has caught up, and only then are the vectors of the first deleted.
 */
export interface VectorStore {
  /** The models that serve in any of these scopes. */
  servingModels(scopes: readonly Scope[]): Promise<readonly ModelRef[]>;
  /**
   * For each scope with memories: the state of `model`, and that of the model that serves meanwhile. A scope with `contact: null` includes
   * all contacts of the agent and the agent's own.
   */
  vectorStates(scope: Scope, model: ModelRef): Promise<readonly VectorState[]>;
  /** The oldest texts of this scope without a vector of the model; undefined if all have one. */
  waitingTexts(scope: Scope, model: ModelRef, memories: number): Promise<WaitingTexts | undefined>;
  /** Stores them and moves on. If their length differs from that of earlier vectors, the model begins again in this scope. */
  saveVectors(scope: Scope, model: ModelRef, made: NewVectors): Promise<void>;
  /** Deletes the vectors of all models except this one and the one that serves. */
  dropVectors(scope: Scope, model: ModelRef): Promise<void>;
}
