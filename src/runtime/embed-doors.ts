import { type Actor, type AgentName, authorize, type ModelRef } from "../protocol/index.ts";
import { agentNamed } from "./access.ts";
import type { EmbedProgress } from "./embed.ts";
import type { Parts } from "./parts.ts";

/** How far an agent's memories have vectors. */
export interface VectorReport {
  /** None: its memories are found by their words alone. */
  readonly embedder?: ModelRef;
  /** Of all contacts and its own: texts that have a vector of that model, memories that may wait for theirs. */
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
  /** Makes the vectors that an agent's memories lack, and tells after each step; nothing without an embedder. Operators only.
   * @throws StrataError `agent_not_found`, what opening the embedder throws, and what it throws */
  embedMemories(actor: Actor, agent: AgentName, signal?: AbortSignal): AsyncGenerator<EmbedProgress>;
  /** The same for all agents in the background, one step after the other. Operators only. */
  embedLater(actor: Actor): Promise<void>;
}

export function embedDoors(parts: Parts): EmbedDoors {
  const { vectors } = parts;
  return {
    vectorReport: async (actor, name) => {
      const agent = agentNamed(parts, actor, name);
      authorize(actor, "read", { org: agent.org, agent: name, contact: null });
      const { embedder } = agent;
      const states = (await vectors?.states(agent)) ?? [];
      const own = states.filter(({ model }) => model === embedder);
      const serving: Record<ModelRef, number> = {};
      for (const one of states) if (one.serving) serving[one.model] = (serving[one.model] ?? 0) + 1;
      const trouble = vectors?.trouble(name);
      return {
        ...(embedder !== undefined && { embedder }),
        vectors: own.reduce((sum, one) => sum + one.vectors, 0),
        waiting: own.reduce((sum, { waiting }) => sum + waiting, 0),
        serving,
        ...(trouble !== undefined && { trouble }),
      };
    },
    async *embedMemories(actor, name, signal = new AbortController().signal) {
      const agent = agentNamed(parts, actor, name);
      authorize(actor, "operate", { org: agent.org, agent: name, contact: null });
      if (vectors !== undefined) yield* vectors.catchUp(agent, signal);
    },
    embedLater: async (actor) => {
      for (const agent of parts.agents.all) {
        if (agent.org !== actor.org || agent.embedder === undefined) continue;
        authorize(actor, "operate", { org: agent.org, agent: agent.name, contact: null });
        await vectors?.later(agent);
      }
    },
  };
}
