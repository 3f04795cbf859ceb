import type { Actor, AgentName, ModelRef } from "../../protocol/index.ts";

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
export interface VectorReport {
  /** None: its memories are found by their words alone. */
  readonly embedder?: ModelRef;
  /** Of all contacts and its own: texts with a vector of this model, memories that may still need one. */
  readonly vectors: number;
  readonly waiting: number;
  /** The models that searches use, each in so many scopes: another than the embedder until that one has caught up. */
  readonly serving: Readonly<Record<ModelRef, number>>;
  /** Why words alone are searched just now. */
  readonly trouble?: string;
}

/** What people and programs do with vectors of memories. */
export interface EmbedDoors {
  /** @throws StrataError `agent_not_found` */
  vectorReport(actor: Actor, agent: AgentName): Promise<VectorReport>;
  /** Why an agent's memories are found by their words alone just now, where they should not be. @throws StrataError `agent_not_found` */
  vectorTrouble(actor: Actor, agent: AgentName): string | undefined;
  /** Makes the vectors that an agent's memories lack, and tells after each step; nothing without an embedder. Operators only.
   * @throws StrataError `agent_not_found`, what opening the embedder throws, and what it throws */
  embedMemories(actor: Actor, agent: AgentName, signal?: AbortSignal): AsyncGenerator<EmbedProgress>;
  /** The same for all agents in the background, one step after the other. Operators only. */
  embedLater(actor: Actor): Promise<void>;
}
