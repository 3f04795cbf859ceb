import type { Generated } from "kysely";
import type {
  ActorId,
  AgentName,
  ContactId,
  Digest,
  MemoryId,
  MemoryKind,
  OrgId,
  Role,
  Trust,
  TurnId,
  Untrusted,
} from "../protocol/index.ts";

/** Whose it is: of no contact, the agent's own. */
interface OwnedOrAgents {
  readonly org: OrgId;
  readonly agent: AgentName;
  readonly contact: ContactId | "";
}

/** One scope of memories. Its units start at `number << 26`, the next one is at `next`; the counts are those of what can be found. */
interface MemoryScopeTable extends OwnedOrAgents {
  readonly number: Generated<number>;
  readonly next: number;
  readonly units: number;
  readonly terms: number;
  /** Deliberately saved memories, which count against the limits. */
  readonly saved: number;
  readonly characters: number;
  readonly revision: number;
}

/**
 * `slot` is the place of a turn's message in its thread: such a memory has no text of its own. `first` is its first unit, none if it is no
 * longer found. `folded` identifies the very same text, `worth` decides what is deleted first when the scope is full.
 */
interface MemoryTable {
  readonly row: Generated<number>;
  readonly scope: number;
  readonly id: MemoryId;
  readonly kind: MemoryKind;
  readonly trust: Trust;
  readonly at: number;
  readonly turn: TurnId | null;
  readonly slot: number | null;
  readonly first: number | null;
  readonly units: number;
  readonly support: number;
  readonly content: Untrusted | null;
  readonly tags: string | null;
  readonly speaker: string | null;
  readonly session: string | null;
  readonly by: Role | null;
  readonly by_id: ActorId | null;
  readonly sources: string | null;
  readonly valid_from: number | null;
  readonly valid_until: number | null;
  readonly supersedes: MemoryId | null;
  readonly superseded_by: MemoryId | null;
  readonly superseded_at: number | null;
  readonly worth: number | null;
  readonly folded: Uint8Array | null;
  readonly digest: Digest | null;
}

/** How many memories of a kind the scope has, without those that were superseded: asked for with every message. */
interface MemoryCountTable {
  readonly scope: number;
  readonly kind: MemoryKind;
  readonly memories: number;
  readonly characters: number;
  readonly newest: number;
}

/** A part of a memory that is found as one. `terms` are its words as the index has them, `session` a number of the scope. */
interface UnitTable {
  readonly id: number;
  readonly memory: number;
  readonly session: number;
  readonly speaker: string;
  readonly flags: number;
  readonly terms: string;
}

/** In how many units of the scope a term appears. */
interface UnitTermTable {
  readonly scope: number;
  readonly term: string;
  readonly units: number;
}

/** How many units of the scope a speaker has. */
interface UnitSpeakerTable {
  readonly scope: number;
  readonly speaker: string;
  readonly units: number;
}

/** The newest stretch of talk of a thread, or the one of that name. */
interface TalkTable {
  readonly scope: number;
  readonly name: string;
  readonly session: number;
  readonly at: number;
}

/** Each save, in full: the memories of a scope are rebuilt from these. `said` is JSON; it became `memory`. No contact: the agent's own. */
interface MemorySaveTable extends OwnedOrAgents {
  readonly n: number;
  readonly id: MemoryId;
  readonly memory: MemoryId;
  readonly turn: TurnId | null;
  readonly said: string;
}

/** The tables of what is remembered. */
export interface MemoryTables {
  readonly memory_scope: MemoryScopeTable;
  readonly memory: MemoryTable;
  readonly memory_count: MemoryCountTable;
  readonly memory_save: MemorySaveTable;
  readonly unit: UnitTable;
  readonly unit_term: UnitTermTable;
  readonly unit_speaker: UnitSpeakerTable;
  readonly talk: TalkTable;
}
