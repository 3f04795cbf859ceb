import type { SummaryBy } from "../../compiler/index.ts";
import type { Actor, AgentName, Memory, MemoryId, Scope, TurnId, Usage } from "../../protocol/index.ts";

/** What is summed up. */
export interface ConsolidateWish {
  /** Each stretch of talk, or what is remembered of each subject. Left out, the stretches. */
  readonly by?: SummaryBy;
  /** At most so many summaries. Left out, all that there are. */
  readonly limit?: number;
  /**
   * Milliseconds that must have passed since a stretch's last word, or since what is remembered of a subject; half an hour at the
   * least, which is also the default.
   */
  readonly gap?: number;
  readonly signal?: AbortSignal;
}

/** What came of one stretch of talk or one subject, and what it took. */
export type Consolidated = (
  | {
      readonly summary: Memory;
      /** Less useful memories that had to go to make room. */
      readonly evicted: readonly MemoryId[];
    }
  | {
      /** Why there is none: the model's answer could not be kept. */
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
    /** Where the request and the answer are recorded. */
    readonly turn: TurnId;
    readonly usage: Usage;
    readonly dollars: number;
  };

/** Why what was said with an agent could not be summed up in idle time. */
export interface ConsolidationTrouble {
  readonly agent: AgentName;
  readonly because: string;
}

/** What people and programs do to have sums of what was said. */
export interface ConsolidateDoors {
  /**
   * Has the agent's own model sum up what was said in stretches of talk that have ended, or what is remembered of a subject, as far
   * as it is in no such summary yet, and saves each summary as a memory beside its sources. Each is a turn of its own on a thread
   * that nobody talks on, recorded like any other. Ends early when another turn of the scope runs. Nothing is deleted: what is
   * forgotten of the summaries is as if it had never been made. Operators only.
   * @throws StrataError `agent_not_found`, `spend_limit`, `invalid_input` for a model that sums nothing up and for the agent's own
   * memories, what the model throws; what was saved before stays, and nothing of what failed
   */
  consolidate(actor: Actor, scope: Scope, wish?: ConsolidateWish): AsyncGenerator<Consolidated>;
  /**
   * The same for all contacts of the agents that declare `consolidate`, or of the one that is named, where nobody has said anything for so long. An agent whose
   * model fails rests for an hour, and the others go on. Operators only.
   */
  consolidateIdle(actor: Actor, signal?: AbortSignal, agent?: AgentName): Promise<readonly ConsolidationTrouble[]>;
}
