import {
  type Agent,
  errorKind,
  eventId,
  isAllowed,
  issueId,
  ownKind,
  type ThreadId,
  untrusted,
} from "../../protocol/index.ts";
import type { Store, Thread } from "../../store/index.ts";
import { agentNamed, closedChannels, type Outside, type Parts } from "../../turn/index.ts";
import type { Job, JobWorld, Notice, Task } from "../../work/index.ts";
import { PEER } from "../subagents/index.ts";
import { PEER_API, type PeerApi } from "./api.ts";
import { LIFETIME } from "./config.ts";
import { warningText } from "./wording.ts";

/** The platform's message on an idle thread. */
const WARNING = ownKind("warning");

/** An agent has as many threads as it may have. */
export const BUFFER_FULL = errorKind("buffer_full", {
  status: 429,
  exit: 12,
  retry: true,
  message: "the agent has as many conversations as it may have",
});

/** A thread holds all that it may: it never has room again. */
export const THREAD_FULL = errorKind("thread_full", {
  status: 409,
  exit: 12,
  retry: false,
  message: "the conversation has as many messages as it may have",
});

/** A thread on which nothing happened any more, not even after a warning. */
export const THREAD_PRUNED = errorKind("thread_pruned", {
  status: 410,
  exit: 3,
  retry: false,
  message: "the conversation was closed because nothing happened on it",
});

type Rules = NonNullable<Agent["buffer"]>;

const HOUR = 3_600_000;
const MINUTE = 60_000;

/** `busy`: a turn is due, or a call is open. `over`: it was warned, and nothing came before the time was up. */
type State = "busy" | "live" | "idle" | "warned" | "over";

/** A thread's state, derived from its record alone: nothing else is kept, so nothing has to be freed. */
async function bufferState(store: Store, thread: Thread, rules: Rules, now: number): Promise<State> {
  const { ttlHours = Number.POSITIVE_INFINITY, graceMinutes } = { ...LIFETIME, ...rules };
  const { scope, id, turns, lastActivity } = thread;
  if ((await store.untaken(scope, id)).length > 0) return "busy";
  if ((await store.openCalls(scope, id)).length > 0) return "busy";
  const last = (await store.turns(scope, id, { limit: 1, after: { at: turns - 1, id: "" } })).at(-1);
  if (last?.status === "running") return "busy";
  const warned = last?.events.at(-1);
  if (warned?.kind === WARNING) return now >= warned.at + graceMinutes * MINUTE ? "over" : "warned";
  return now - lastActivity >= ttlHours * HOUR ? "idle" : "live";
}

/**
 * Refuses messages on a thread that is over or full, and a new thread if the agent already has the most it may have: then the thread that
 * has been inactive for longest is warned.
 * @throws StrataError `buffer_full`, `thread_full`, `thread_pruned`
 */
export async function admitToBuffer(
  parts: Parts,
  { actor, agent, scope, thread, opens, events }: Outside,
): Promise<void> {
  const { buffer } = agent;
  if (buffer === undefined) return;
  // The present thread: the caller may have read it long ago.
  const known = thread
    ? await parts.store.thread(scope, thread.id)
    : opens && (await parts.store.threadNamed(scope, opens));
  if (known === undefined && thread !== undefined) return;
  if (known === undefined) return checkThreads(parts, actor, agent);
  if ((await bufferState(parts.store, known, buffer, parts.clock.recorded())) === "over") {
    const message = `nothing happened on ${known.id} for so long that it was closed: start another conversation, with another key, or with \`/new\` in a chat`;
    throw THREAD_PRUNED.of(message, { thread: known.id });
  }
  const { slots } = { ...LIFETIME, ...buffer };
  const beyond = await parts.store.slots(known.scope, known.id, { limit: 1, after: { at: slots - 2, id: "" } });
  if (events.length === 0 || beyond.length === 0) return;
  const most = isAllowed(actor, "read")
    ? `as many as \`buffer.slots\` of ${agent.name} allows`
    : "as many as it is allowed";
  const message = `${known.id} holds ${slots} messages, ${most}: start another conversation, with another key, or with \`/new\` in a chat`;
  throw THREAD_FULL.of(message, { thread: known.id, slots });
}

async function checkThreads(parts: Parts, actor: Outside["actor"], agent: Agent): Promise<void> {
  const { buffer: rules = {} } = agent;
  const { threads, ttlHours, graceMinutes } = { ...LIFETIME, ...rules };
  const now = parts.clock.recorded();
  // Older ones have been warned, and are over.
  const since = ttlHours === undefined ? 0 : now - ttlHours * HOUR - graceMinutes * MINUTE;
  const owner = { org: agent.org, agent: agent.name };
  const live = await parts.store.liveThreads(owner, since);
  if (live.count < threads) return;
  // Those that were warned in vain are over: their places are free.
  const { open, over } = await parts.store.warnedThreads(owner, { since, before: now - graceMinutes * MINUTE });
  const count = live.count - over;
  if (count < threads) return;
  // One at a time, so that a flood of openings does not warn conversation after conversation.
  const { oldest } = live;
  if (open === 0 && oldest !== undefined && (await bufferState(parts.store, oldest, rules, now)) === "live")
    await warn(parts, oldest);
  const again = "try again later, when an idle one is closed";
  if (!isAllowed(actor, "read"))
    throw BUFFER_FULL.of(`${agent.name} has as many conversations as it is allowed: ${again}`, { agent: agent.name });
  const message = `${agent.name} has ${count} conversations, as many as \`buffer.threads\` allows: ${again}`;
  throw BUFFER_FULL.of(message, { agent: agent.name, threads });
}

/** The warning is an event like any other: its turn may say something, and a message meanwhile keeps the thread open. */
async function warn({ store, clock, random }: Parts, { scope, id, turns }: Thread): Promise<void> {
  const text = untrusted(warningText());
  // Several programs may warn it at once: it is stored once. No contact can take the id, since nobody can post on this channel.
  const [channel, externalId] = [PEER.name, `warning of ${id} after ${turns}`];
  const event = { kind: WARNING, trust: "platform", channel, externalId, content: [{ type: "text", text }] } as const;
  const at = clock.recorded();
  await store.receive(scope, id, [{ ...event, at, id: eventId(issueId("event", clock.real(), random(10))) }]);
}

/** How many long-inactive threads are checked for idleness at a time. */
const PAGE = 100;
const PAGES = 10;

export const bufferApi = (parts: Parts): Pick<PeerApi, "idle" | "closed" | "warn"> => ({
  idle: async (actor, name) => {
    const agent = agentNamed(parts, actor, name);
    const { buffer } = agent;
    if (buffer?.ttlHours === undefined) return [];
    const now = parts.clock.recorded();
    const scope = { org: agent.org, agent: agent.name, contact: null };
    const except = closedChannels(parts);
    const found: Thread[] = [];
    // The most recently active of the idle ones first: those idle for longer were warned before.
    let after = { at: now - buffer.ttlHours * HOUR + 1, id: "" };
    for (let page = 0; page < PAGES && found.length < PAGE; page++) {
      const threads = await parts.store.threads(scope, PAGE, { except, after });
      for (const one of threads) if ((await bufferState(parts.store, one, buffer, now)) === "idle") found.push(one);
      const last = threads.at(-1);
      if (last === undefined || threads.length < PAGE) break;
      after = { at: last.lastActivity, id: last.id };
    }
    return found;
  },
  closed: async (_, threads) => {
    const found: ThreadId[] = [];
    for (const { id, scope } of threads) {
      const rules = parts.agents.all.find(({ org, name }) => org === scope.org && name === scope.agent)?.buffer;
      const thread = rules && (await parts.store.thread(scope, id));
      if (thread === undefined || rules === undefined) continue;
      if ((await bufferState(parts.store, thread, rules, parts.clock.recorded())) === "over") found.push(id);
    }
    return found;
  },
  warn: (_, thread) => warn(parts, thread),
});

/** Warns inactive threads. Ending one later needs no work: its record shows it. */
export const idleThreads: Job = {
  name: "peers.idle",
  every: 30_000,
  due: async ({ runtime, operator }) => {
    const agents = runtime.agents(operator).filter(({ buffer }) => buffer?.ttlHours !== undefined);
    const tasks: Task[] = [];
    for (const { name } of agents)
      for (const thread of await runtime.use(PEER_API).idle(operator, name))
        tasks.push(warningOf({ runtime, operator }, thread));
    return { tasks };
  },
};

const warningOf = ({ runtime, operator }: Pick<JobWorld, "runtime" | "operator">, thread: Thread): Task => ({
  agent: thread.scope.agent,
  key: thread.id,
  trouble: `${thread.scope.agent} was not warned of an idle conversation`,
  async *run(): AsyncGenerator<Notice> {
    await runtime.use(PEER_API).warn(operator, thread);
    yield { message: "" };
  },
});
