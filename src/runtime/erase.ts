import { type Actor, type AgentName, authorize } from "../protocol/index.ts";
import { agentNamed } from "./access.ts";
import type { Parts } from "./parts.ts";
import type { Forgotten } from "./runtime.ts";
import { knownScopes } from "./senders.ts";

/** Erases a contact with everything derived of them, agent by agent. Gives the agents that knew them. */
export async function erase(parts: Parts, actor: Actor, { contact, agent }: Forgotten): Promise<readonly AgentName[]> {
  const names = await agentsOf(parts, actor, agent);
  // All are looked at before anything goes: half an erasure would pass for a whole one.
  const scopes = await knownScopes(
    parts,
    names.map((name) => ({ org: actor.org, agent: name, contact })),
  );
  for (const scope of scopes) authorize(actor, "operate", scope);
  const erased: AgentName[] = [];
  for (const scope of scopes) {
    if (await parts.store.eraseContact(scope, actor, parts.clock())) erased.push(scope.agent);
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
