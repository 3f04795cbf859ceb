import { type Actor, type AgentName, authorize } from "../protocol/index.ts";
import { agentNamed } from "./access.ts";
import type { Parts } from "./parts.ts";
import type { Forgotten } from "./runtime.ts";

/** Erases a contact with everything derived of them, agent by agent. Gives the agents that knew them. */
export async function erase(parts: Parts, actor: Actor, { contact, agent }: Forgotten): Promise<readonly AgentName[]> {
  const erased: AgentName[] = [];
  for (const name of await agentsOf(parts, actor, agent)) {
    const scope = { org: actor.org, agent: name, contact };
    authorize(actor, "operate", scope);
    if (await parts.store.eraseContact(scope, actor, parts.clock())) erased.push(name);
  }
  return erased;
}

async function agentsOf(parts: Parts, actor: Actor, agent: AgentName | undefined): Promise<readonly AgentName[]> {
  const recorded = await parts.store.agents(actor.org);
  // A name that was never heard of is told, and not taken for an agent that knows nobody.
  if (agent !== undefined && !recorded.includes(agent)) agentNamed(parts, actor, agent);
  const one = agent ?? actor.agent;
  if (one !== undefined) return [one];
  const declared = parts.agents.all.filter(({ org }) => org === actor.org).map(({ name }) => name);
  return [...new Set([...recorded, ...declared])].sort();
}
