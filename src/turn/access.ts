import {
  type Action,
  type Actor,
  type Agent,
  type AgentName,
  authorize,
  type ContactScope,
  reaches,
  type Scope,
  StrataError,
  type ThreadId,
  type TurnId,
} from "../protocol/index.ts";
import type { AgentOwner, Thread, TurnRecord } from "../store/index.ts";
import type { Parts } from "./parts.ts";
import type { Conversation } from "./runtime.ts";

/** Whose data a conversation is. */
export const scopeOf = (actor: Actor, { agent, contact }: Conversation): ContactScope => ({
  org: actor.org,
  agent,
  contact,
});

/** The declared agent of that name. @throws StrataError `agent_not_found` */
export function agentNamed({ agents }: Parts, actor: Actor, name: AgentName): Agent {
  const agent = agents.all.find((one) => one.name === name && one.org === actor.org);
  if (agent !== undefined) return agent;
  const names = agents.all.filter((one) => one.org === actor.org).map((one) => one.name);
  throw new StrataError(
    "agent_not_found",
    `there is no agent ${JSON.stringify(name)} in ${actor.org}; the declared ones are: ${names.join(", ") || "none"}`,
    {
      agent: name,
      agents: names,
    },
  );
}

/** The thread, if the actor may see it. A thread of somebody else is not found, like one that does not exist. */
export async function threadOf(parts: Parts, actor: Actor, id: ThreadId, action: Action): Promise<Thread> {
  const thread = await foundIn(parts, actor, action, (scope) => parts.store.thread(scope, id));
  if (thread === undefined) throw threadNotFound(id);
  return thread;
}

/** The scope of a thread that the caller has: not read from the store, which looks the thread up in this scope anyway. */
export function scopeOfThread(actor: Actor, { id, scope }: Pick<Thread, "id" | "scope">, action: Action): ContactScope {
  if (!reaches(actor, scope)) throw threadNotFound(id);
  authorize(actor, action, scope);
  return scope;
}

const threadNotFound = (id: ThreadId): StrataError =>
  new StrataError(
    "thread_not_found",
    `there is no thread ${id} in your reach; \`strata thread list\` or \`GET /v1/threads\` lists those there are`,
    { thread: id },
  );

export async function turnOf(parts: Parts, actor: Actor, id: TurnId): Promise<TurnRecord> {
  const turn = await foundIn(parts, actor, "explain", (scope) => parts.store.turn(scope, id));
  if (turn !== undefined) return turn;
  throw new StrataError(
    "turn_not_found",
    `there is no turn ${id} in your reach; \`strata explain THREAD\` or \`GET /v1/threads/THREAD/turns\` lists a thread's`,
    { turn: id },
  );
}

/** What is found in the actor's reach, if they may do that with it; undefined for what is somebody else's. @throws StrataError `not_allowed` */
export async function foundIn<Found extends { readonly scope: Scope }>(
  parts: Parts,
  actor: Actor,
  action: Action,
  find: (scope: Scope) => Promise<Found | undefined>,
): Promise<Found | undefined> {
  for await (const scope of scopesOf(parts, actor)) {
    const found = await find(scope);
    if (found === undefined || !reaches(actor, found.scope)) continue;
    authorize(actor, action, found.scope);
    return found;
  }
  return undefined;
}

/**
 * Where an actor may look, one agent after the other: no read covers more than one agent. Declared agents come first; the record is
 * asked for agents that are no longer declared only if nothing was found before.
 */
async function* scopesOf({ agents, store }: Parts, actor: Actor): AsyncGenerator<Scope> {
  const scopeIn = (agent: AgentName): Scope => ({ org: actor.org, agent, contact: actor.contact ?? null });
  if (actor.agent !== undefined) return yield scopeIn(actor.agent);
  const declared = new Set(agents.all.filter(({ org }) => org === actor.org).map(({ name }) => name));
  for (const name of declared) yield scopeIn(name);
  for (const name of await store.agents(actor.org)) if (!declared.has(name)) yield scopeIn(name);
}

/** What an operator works on one agent with: who asks, the agent as declared, and whose data it is. */
export interface AgentAccess {
  readonly parts: Parts;
  readonly actor: Actor;
  readonly agent: Agent;
  readonly owner: AgentOwner;
}

/** Operators only, and in their own organization. @throws StrataError `not_allowed`, `agent_not_found` */
export function accessTo(parts: Parts, actor: Actor, name: AgentName): AgentAccess {
  authorize(actor, "operate", { org: actor.org, agent: name, contact: null });
  return { parts, actor, agent: agentNamed(parts, actor, name), owner: { org: actor.org, agent: name } };
}

/** The same for the agent that was named, else for each in the actor's reach. @throws StrataError as `accessTo` */
export function accessToEach(parts: Parts, actor: Actor, name: AgentName | undefined): readonly AgentAccess[] {
  const one = name ?? actor.agent;
  if (one !== undefined) return [accessTo(parts, actor, one)];
  return parts.agents.all.filter(({ org }) => org === actor.org).map((agent) => accessTo(parts, actor, agent.name));
}

/** Records what the operator did: which act, and on what, without anybody's text or name. */
export function recordAct({ parts, owner, actor }: AgentAccess, what: string, about: string): Promise<void> {
  return parts.store.noteAct(owner, { actor, what, about, at: parts.clock() });
}
