import { type Actor, type Agent, type AgentName, authorize } from "../protocol/index.ts";
import type { AgentOwner } from "../store/index.ts";
import { agentNamed } from "./access.ts";
import type { Parts } from "./parts.ts";

/** Where an operator sits who looks after one agent. */
export interface Desk {
  readonly parts: Parts;
  readonly actor: Actor;
  readonly agent: Agent;
  readonly owner: AgentOwner;
}

/** Operators only, and in their own organization. @throws StrataError `not_allowed`, `agent_not_found` */
export function deskOf(parts: Parts, actor: Actor, name: AgentName): Desk {
  authorize(actor, "operate", { org: actor.org, agent: name, contact: null });
  return { parts, actor, agent: agentNamed(parts, actor, name), owner: { org: actor.org, agent: name } };
}

/** A desk for the agent that was named, else one for each in the actor's reach. @throws StrataError as `deskOf` */
export function desksOf(parts: Parts, actor: Actor, name: AgentName | undefined): readonly Desk[] {
  const one = name ?? actor.agent;
  if (one !== undefined) return [deskOf(parts, actor, one)];
  return parts.agents.all.filter(({ org }) => org === actor.org).map((agent) => deskOf(parts, actor, agent.name));
}

/** Keeps what was done: a name of what, and about what, without anybody's text or name. */
export function note({ parts, owner, actor }: Desk, what: string, about: string): Promise<void> {
  return parts.store.noteAct(owner, { actor, what, about, at: parts.clock() });
}
