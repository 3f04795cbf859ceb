import type { Actor, AgentName, ContactId, Scope } from "../../protocol/index.ts";
import type { Runtime } from "../../turn/index.ts";

/** Whose data a request names. */
export interface Whose {
  readonly agent: AgentName;
  readonly contact?: ContactId | undefined;
}

/**
 * The scope that a request names. An agent that is not declared is told, and not taken for one that holds nothing.
 * @throws StrataError `agent_not_found`
 */
export function scopeOf(runtime: Runtime, actor: Actor, { agent, contact }: Whose): Scope {
  const { org, name } = runtime.agent(actor, agent);
  return { org, agent: name, contact: contact ?? null };
}
