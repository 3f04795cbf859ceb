import {
  type Action,
  type Actor,
  type Agent,
  type AgentName,
  type Approval,
  type ApprovalId,
  authorize,
  type ContactScope,
  reaches,
  type Scope,
  StrataError,
  type ThreadId,
  type TurnId,
} from "../protocol/index.ts";
import type { Thread, TurnRecord } from "../store/index.ts";
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

/** The thread, when it is in the actor's reach. A thread of somebody else is not found, like one that never was. */
export async function threadOf(parts: Parts, actor: Actor, id: ThreadId, action: Action): Promise<Thread> {
  for await (const scope of scopesOf(parts, actor)) {
    const thread = await parts.store.thread(scope, id);
    if (thread === undefined || !reaches(actor, thread.scope)) continue;
    authorize(actor, action, thread.scope);
    return thread;
  }
  throw threadNotFound(id);
}

/** The scope of a thread as the caller has it: the store looks for the thread in it, so it is not read before. */
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
  for await (const scope of scopesOf(parts, actor)) {
    const turn = await parts.store.turn(scope, id);
    if (turn === undefined || !reaches(actor, turn.scope)) continue;
    authorize(actor, "explain", turn.scope);
    return turn;
  }
  throw new StrataError(
    "turn_not_found",
    `there is no turn ${id} in your reach; \`strata explain THREAD\` or \`GET /v1/threads/THREAD/turns\` lists a thread's`,
    { turn: id },
  );
}

export async function approvalOf(parts: Parts, actor: Actor, id: ApprovalId, action: Action): Promise<Approval> {
  for await (const scope of scopesOf(parts, actor)) {
    const approval = await parts.store.approval(scope, id);
    if (approval === undefined || !reaches(actor, approval.scope)) continue;
    authorize(actor, action, approval.scope);
    return approval;
  }
  throw new StrataError(
    "approval_not_found",
    `there is no approval ${id} in your reach; \`strata approval list\` or \`GET /v1/approvals?status=waiting\` lists those that wait`,
    { approval: id },
  );
}

/**
 * Where an actor may look, one agent after the other: no read is wider than an agent. Those that are declared come first; an agent that
 * is no longer declared counts, too, but the record is asked for its name only where nothing was found before.
 */
async function* scopesOf({ agents, store }: Parts, actor: Actor): AsyncGenerator<Scope> {
  const scopeIn = (agent: AgentName): Scope => ({ org: actor.org, agent, contact: actor.contact ?? null });
  if (actor.agent !== undefined) return yield scopeIn(actor.agent);
  const declared = new Set(agents.all.filter(({ org }) => org === actor.org).map(({ name }) => name));
  for (const name of declared) yield scopeIn(name);
  for (const name of await store.agents(actor.org)) if (!declared.has(name)) yield scopeIn(name);
}
