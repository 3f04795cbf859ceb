import type { Actor, AgentName, Memory, MemoryId, Scope, Usage } from "../protocol/index.ts";

/** What is summed up. */
export interface ConsolidateWish {
  /** At most so many stretches. Left out, all that there are. */
  readonly limit?: number;
  /** Milliseconds that must have passed since a stretch's last word; half an hour at the least, which is also the default. */
  readonly gap?: number;
  readonly signal?: AbortSignal;
}

/** What came of one stretch of talk, and what it took. */
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
) & {
  /** The thread, or the conversation of an import. */
  readonly session: string;
  /** How many messages it is about. */
  readonly messages: number;
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
   * Has the agent's own model sum up the stretches of talk that have ended and are in no summary yet, oldest first, and saves each
   * summary as a memory beside them. Ends early when a turn of the scope runs. Nothing is deleted: what is forgotten of the summaries
   * is as if it had never been made. Operators only.
   * @throws StrataError `agent_not_found`, `spend_limit`, `invalid_input` for a model that sums nothing up, what the model throws;
   * what was saved before stays, and nothing of the stretch that failed
   */
  consolidate(actor: Actor, scope: Scope, wish?: ConsolidateWish): AsyncGenerator<Consolidated>;
  /**
   * The same for all contacts of the agents that declare `consolidate`, where nobody has said anything for so long. An agent whose
   * model fails rests for an hour, and the others go on. Operators only.
   */
  consolidateIdle(actor: Actor, signal?: AbortSignal): Promise<readonly ConsolidationTrouble[]>;
}
