import type { Actor, Memory, MemoryFilter, MemoryId, NewMemory, Scope } from "../protocol/index.ts";
import type { MemoryHit, MemoryStats, SavedMemory } from "../stores/index.ts";

/** What is searched for among the memories. */
export interface MemoryWish extends MemoryFilter {
  readonly query: string;
  /** At most so many. */
  readonly limit: number;
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

/** What every door calls for memories. A scope without a contact is the agent's own, which all its contacts' turns may read. */
export interface MemoryDoors {
  /** Newest first. */
  memories(actor: Actor, scope: Scope, limit: number, listing?: MemoryListing): Promise<readonly Memory[]>;
  memory(actor: Actor, scope: Scope, id: MemoryId): Promise<Memory | undefined>;
  /** Best first; of a contact and, where the actor reaches them, of the agent's own. */
  searchMemories(actor: Actor, scope: Scope, wish: MemoryWish): Promise<readonly MemoryHit[]>;
  /** Saves a memory on a person's behalf, with that person's trust. Operators only.
   * @throws StrataError `memory_not_found` for what it supersedes, `invalid_input` */
  remember(actor: Actor, scope: Scope, note: Note): Promise<SavedMemory>;
  /** False when the scope has no such memory. Operators only. */
  forget(actor: Actor, scope: Scope, id: MemoryId): Promise<boolean>;
  memoryStats(actor: Actor, scope: Scope): Promise<readonly MemoryStats[]>;
}
