import type { z } from "zod";
import type { SummaryGroup } from "../../compiler/index.ts";
import type {
  AgentName,
  Allowed,
  Memory,
  MemoryFilter,
  MemoryId,
  MemoryKind,
  ModelRef,
  NewMemory,
  Scope,
  TurnId,
  Usage,
} from "../../protocol/index.ts";
import type { MemoryHit, MemoryListing, MemoryStats, SavedMemory } from "../../store/index.ts";
import { featureApi } from "../../turn/index.ts";
import type { MemoryText } from "./formats/read.ts";
import type { IMPORTED, VECTORS } from "./shapes.ts";

/** A search among the memories. */
export interface MemoryWish extends MemoryFilter {
  readonly query: string;
  /** The maximum number of results. */
  readonly limit: number;
  /** Also memories that are no longer valid, or not yet, by their `validFrom` and `validUntil`. */
  readonly invalid?: true;
  /** Without messages that are only greetings, thanks and other small talk. */
  readonly withoutChatter?: true;
}

/** What a person wants remembered; the platform stamps the rest. */
export type Note = Pick<
  NewMemory,
  "content" | "tags" | "kind" | "speaker" | "sources" | "validFrom" | "validUntil" | "supersedes"
>;

/** A file of memories to import, and how to import it. */
export interface MemoryImport extends MemoryText {
  /** Only memories of this user of the source system. */
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

/** The result of an import: every entry of the file is counted as saved, known or refused. */
export type ImportReport = Readonly<z.output<typeof IMPORTED>>;

/** How memories are written down, and which. */
export interface MemoryExport extends MemoryListing {
  /** `jsonl` loses nothing and can be imported again; `markdown` is for people. */
  readonly format: "jsonl" | "markdown";
}

/** Memories for every door. A scope without a contact is the agent's own, which all its contacts' turns may read. */
export interface MemoryApi {
  /** Newest first. */
  memories(actor: Allowed<"read">, scope: Scope, limit: number, listing?: MemoryListing): Promise<readonly Memory[]>;
  memory(actor: Allowed<"read">, scope: Scope, id: MemoryId): Promise<Memory | undefined>;
  /** Best first; of a contact and, if the actor may see them, the agent's own. */
  searchMemories(actor: Allowed<"read">, scope: Scope, wish: MemoryWish): Promise<readonly MemoryHit[]>;
  /** The same with an explanation: each hit with the parts of its score. */
  explainMemories(actor: Allowed<"explain">, scope: Scope, wish: MemoryWish): Promise<readonly MemoryHit[]>;
  /**
   * Saves a memory on a person's behalf, with that person's trust. Operators only.
   * @throws StrataError `memory_not_found` if the memory it supersedes does not exist, `invalid_input` if that memory was already
   * superseded, or if the text is too long or holds a secret
   */
  remember(actor: Allowed<"operate">, scope: Scope, note: Note): Promise<SavedMemory>;
  /** False when the scope has no such memory. Operators only. */
  forget(actor: Allowed<"operate">, scope: Scope, id: MemoryId): Promise<boolean>;
  memoryStats(actor: Allowed<"read">, scope: Scope): Promise<readonly MemoryStats[]>;
  /**
   * Saves what a file holds, entry by entry: what cannot be kept is listed in the report, the rest is saved. Importing the same file again
   * saves nothing. Operators only. @throws StrataError `invalid_input` if nothing in the file can be read
   */
  importMemories(
    actor: Allowed<"operate">,
    scope: Scope,
    file: MemoryImport,
  ): AsyncGenerator<ImportProgress, ImportReport>;
  /** The memories as text, oldest first, piece by piece. */
  exportMemories(actor: Allowed<"read">, scope: Scope, wish: MemoryExport): AsyncGenerator<string>;
}

/** What to summarize. */
export interface ConsolidateWish {
  /** By stretch of talk or by subject; stretches by default. */
  readonly groupBy?: SummaryGroup;
  /** The maximum number of summaries; all by default. */
  readonly limit?: number;
  /**
   * Milliseconds that must have passed since a stretch's last message, or since the memories of a subject; at least half an hour, which is
   * also the default.
   */
  readonly gap?: number;
  readonly signal?: AbortSignal;
}

/** The result for one stretch of talk or one subject, and its cost. */
export type Consolidated = (
  | {
      readonly summary: Memory;
      /** Less useful memories that had to go to make room. */
      readonly evicted: readonly MemoryId[];
    }
  | {
      /** Why there is no summary: the model's answer could not be kept. */
      readonly because: string;
    }
) &
  (
    | {
        /** The thread, or the conversation of an import. */
        readonly session: string;
      }
    | {
        /** The subject, in a word or two. */
        readonly topic: string;
      }
  ) & {
    /** How many messages or other memories it is about. */
    readonly sources: number;
    /** The turn with the request and the answer. */
    readonly turn: TurnId;
    readonly usage: Usage;
    readonly dollars: number;
  };

/** Why an agent's conversations could not be summarized in idle time. */
export interface ConsolidationTrouble {
  readonly agent: AgentName;
  readonly because: string;
}

/** Summaries of conversations, for people and programs. */
export interface ConsolidateApi {
  /**
   * Has the agent's own model summarize what was said in stretches of talk that have ended, or what is remembered of a subject, as far as
   * no such summary covers it yet, and saves each summary as a memory beside its sources. Each is a separate turn on a thread without a
   * conversation, recorded like any other. Ends early when another turn of the scope runs. Nothing is deleted: forgetting a summary undoes
   * it completely. Operators only.
   * @throws StrataError `agent_not_found`, `spend_limit`, `invalid_input` if the model cannot summarize, or for the agent's own memories;
   * and whatever the model throws. What was saved before stays; nothing is kept of what failed
   */
  consolidate(actor: Allowed<"operate">, scope: Scope, wish?: ConsolidateWish): AsyncGenerator<Consolidated>;
  /**
   * The same for all contacts of the agents that declare `consolidate`, or of the named agent, once they have been silent long enough. An
   * agent whose model fails pauses for an hour, and the others continue. Operators only.
   */
  consolidateIdle(
    actor: Allowed<"operate">,
    signal?: AbortSignal,
    agent?: AgentName,
  ): Promise<readonly ConsolidationTrouble[]>;
}

/** How far an agent's vectors have come. */
export interface EmbedProgress {
  readonly agent: AgentName;
  readonly model: ModelRef;
  /** Memories that had none at the start, and how many of them were looked at. */
  readonly total: number;
  readonly done: number;
  /** Vectors made, texts that the provider refused, and the tokens it reports. */
  readonly made: number;
  readonly refused: number;
  readonly tokens: number;
}

/** How far an agent's memories have vectors. */
export type VectorReport = Readonly<Omit<z.output<typeof VECTORS>, "agent">>;

/** Vectors of memories, for people and programs. */
export interface EmbedApi {
  /** @throws StrataError `agent_not_found` */
  vectorReport(actor: Allowed<"read">, agent: AgentName): Promise<VectorReport>;
  /** Why an agent's memories are currently found by words alone, although they should not be. @throws StrataError `agent_not_found` */
  vectorTrouble(actor: Allowed<"read">, agent: AgentName): string | undefined;
  /**
   * Makes the vectors that an agent's memories lack, and reports after each step; nothing without an embedder. Operators only.
   * @throws StrataError `agent_not_found`, what opening the embedder throws, and what it throws
   */
  embedMemories(actor: Allowed<"operate">, agent: AgentName, signal?: AbortSignal): AsyncGenerator<EmbedProgress>;
  /** The same for all agents in the background, one step after the other. Operators only. */
  embedLater(actor: Allowed<"operate">): Promise<void>;
}

/** The functions of memories, as `runtime.use` gives them. */
export const MEMORY_API = featureApi<MemoryApi & EmbedApi & ConsolidateApi>("memories");
