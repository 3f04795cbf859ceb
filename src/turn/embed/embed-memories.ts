import { authorize, type ModelRef } from "../../protocol/index.ts";
import { agentNamed } from "../access.ts";
import type { Parts } from "../parts.ts";
import type { EmbedDoors } from "./embed-doors.ts";

/** What people and programs do with vectors, each under the actor who asks. */
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
    vectorTrouble: (actor, name) => vectors?.trouble(agentNamed(parts, actor, name).name),
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
