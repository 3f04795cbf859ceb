import {
  type Action,
  type Actor,
  type Agent,
  type AgentName,
  authorize,
  type ContactScope,
  eventId,
  issueId,
  type NewEvent,
  reaches,
  type Scope,
  StrataError,
  type ThreadId,
  TRUSTS,
  type TurnId,
  threadId,
} from "../protocol/index.ts";
import type { Thread, TurnRecord } from "../stores/index.ts";
import { compose } from "./compose.ts";
import type { Parts } from "./parts.ts";
import type { Conversation, Runtime } from "./runtime.ts";
import { runTurn } from "./turn.ts";

/** All texts of one event together may have this many characters; more is a file, not a message. */
const LONGEST_EVENT = 1_000_000;

/** The runtime over its parts: what every door calls. */
export function createRuntime(parts: Parts): Runtime {
  const { store } = parts;
  const reach = (actor: Actor, scope: Scope, action: Action): Scope => {
    authorize(actor, action, scope);
    return scope;
  };
  return {
    agents: (actor) =>
      parts.agents.all.filter((agent) =>
        reaches(actor, { org: agent.org, agent: agent.name, contact: actor.contact ?? null }),
      ),
    agent: (actor, name) => agentNamed(parts, actor, name),
    open: (actor, conversation) => open(parts, actor, conversation),
    thread: (actor, id) => threadOf(parts, actor, id, "read"),
    threads: async (actor, scope, limit) => store.threads(reach(actor, scope, "read"), limit),
    slots: async (actor, id) => store.slots((await threadOf(parts, actor, id, "read")).scope, id),
    post: (actor, thread, events) => post(parts, actor, thread, events),
    pending: async (actor, thread) => store.pending((await threadOf(parts, actor, thread.id, "read")).scope, thread.id),
    async *run(actor, thread, options = {}) {
      yield* runTurn(parts, await threadOf(parts, actor, thread.id, "run"), options);
    },
    compose: async (actor, conversation, message) => {
      const scope = scopeOf(actor, conversation);
      authorize(actor, "explain", scope);
      return compose(parts, agentNamed(parts, actor, conversation.agent), scope, conversation, message);
    },
    turn: (actor, id) => turnOf(parts, actor, id),
    turns: async (actor, id) => {
      const { scope } = await threadOf(parts, actor, id, "explain");
      return store.turns(scope, id);
    },
    rebuilt: async (actor, id, n) => store.rebuild((await turnOf(parts, actor, id)).scope, id, n),
    memories: async (actor, scope, limit) => store.memories(reach(actor, scope, "read"), limit),
    searchMemories: async (actor, scope, query, limit) =>
      store.searchMemories(reach(actor, scope, "read"), query, limit),
    usage: async (actor, scope) => store.usage(reach(actor, scope, "read")),
  };
}

const scopeOf = (actor: Actor, { agent, contact }: Conversation): ContactScope => ({ org: actor.org, agent, contact });

function agentNamed({ agents }: Parts, actor: Actor, name: AgentName): Agent {
  const agent = agents.all.find((one) => one.name === name && one.org === actor.org);
  if (agent !== undefined) return agent;
  const names = agents.all.filter((one) => one.org === actor.org).map((one) => one.name);
  throw new StrataError(
    "agent_not_found",
    `there is no agent ${JSON.stringify(name)} in ${actor.org}; declared are: ${names.join(", ") || "none"}`,
    {
      agent: name,
      agents: names,
    },
  );
}

async function open(parts: Parts, actor: Actor, conversation: Conversation): Promise<Thread> {
  const scope = scopeOf(actor, conversation);
  authorize(actor, "post", scope);
  const agent = agentNamed(parts, actor, conversation.agent);
  const at = parts.clock();
  await parts.store.saveAgentVersion(agent.org, agent.name, agent.version, parts.agents.spec(agent), at);
  const id = threadId(issueId("thread", parts.wall(), parts.random(10)));
  return parts.store.openThread(scope, {
    id,
    channel: conversation.channel,
    key: conversation.key,
    version: agent.version,
    at,
  });
}

/** The thread, when it is in the actor's reach. A thread of somebody else is not found, like one that never was. */
async function threadOf(parts: Parts, actor: Actor, id: ThreadId, action: Action): Promise<Thread> {
  for (const scope of scopesOf(parts, actor)) {
    const thread = await parts.store.thread(scope, id);
    if (thread === undefined || !reaches(actor, thread.scope)) continue;
    authorize(actor, action, thread.scope);
    return thread;
  }
  throw new StrataError(
    "thread_not_found",
    `there is no thread ${id} in your reach; \`strata explain\` lists the threads there are`,
    { thread: id },
  );
}

async function turnOf(parts: Parts, actor: Actor, id: TurnId): Promise<TurnRecord> {
  for (const scope of scopesOf(parts, actor)) {
    const turn = await parts.store.turn(scope, id);
    if (turn === undefined || !reaches(actor, turn.scope)) continue;
    authorize(actor, "explain", turn.scope);
    return turn;
  }
  throw new StrataError(
    "turn_not_found",
    `there is no turn ${id} in your reach; \`strata explain THREAD\` lists a thread's turns`,
    { turn: id },
  );
}

/** Where an actor may look, one agent after the other: no read is wider than an agent. */
function scopesOf({ agents }: Parts, actor: Actor): readonly Scope[] {
  const names =
    actor.agent === undefined
      ? agents.all.filter((agent) => agent.org === actor.org).map((agent) => agent.name)
      : [actor.agent];
  return names.map((agent) => ({ org: actor.org, agent, contact: actor.contact ?? null }));
}

async function post(
  parts: Parts,
  actor: Actor,
  { id }: Thread,
  events: readonly NewEvent[],
): ReturnType<Runtime["post"]> {
  const thread = await threadOf(parts, actor, id, "post");
  for (const event of events) checkEvent(actor, event);
  const stamped = events.map((event) => ({ ...event, id: eventId(issueId("event", parts.wall(), parts.random(10))) }));
  return parts.store.receive(thread.scope, thread.id, stamped);
}

function checkEvent(actor: Actor, event: NewEvent): void {
  const own = TRUSTS.find((trust) => trust === actor.role) ?? "contact";
  if (TRUSTS.indexOf(event.trust) < TRUSTS.indexOf(own)) {
    throw new StrataError(
      "not_allowed",
      `a ${actor.role} may not speak as ${event.trust}; post the event as ${own} or less`,
      { trust: event.trust },
    );
  }
  const length = event.content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
  if (event.content.length === 0 || length > LONGEST_EVENT) {
    throw new StrataError("invalid_input", `an event has 1 to ${LONGEST_EVENT} characters; this one has ${length}`, {
      length,
    });
  }
}
