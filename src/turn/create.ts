import {
  type AgentName,
  type Allowed,
  allow,
  authorize,
  isAllowed,
  reaches,
  type Scope,
  type ThreadId,
} from "../protocol/index.ts";
import type { Paging, Position, Slot, Thread } from "../store/index.ts";
import {
  accessTo,
  agentNamed,
  endedFor,
  eventsFor,
  recordedAgent,
  recordedAgents,
  recordedEnd,
  scopeOf,
  scopeOfThread,
  threadOf,
  turnOf,
} from "./access.ts";
import { erase } from "./erase.ts";
import { follow } from "./intake/follow.ts";
import { checkTalk } from "./intake/own-channels.ts";
import { arrivalOf, openAndPost, openThread, post } from "./intake/receive.ts";
import { contactFor, knownScopes, reach } from "./intake/senders.ts";
import { openTurnQueue } from "./intake/turn-queue.ts";
import { openWaitingThreads } from "./intake/waiting-threads.ts";
import { inOrder } from "./loop/join-steps.ts";
import { upToDate } from "./loop/setup.ts";
import type { TurnParts, TurnSteps } from "./loop/steps.ts";
import { runTurn } from "./loop/turn.ts";
import { changesSince, migrate } from "./migrate.ts";
import type { Parts } from "./parts.ts";
import type { CoreRuntime, PostOptions, Run, RunOptions, Whose } from "./runtime.ts";
import { openSpendTracker } from "./spending/spend-tracker.ts";
import { compose } from "./variants/compose.ts";
import { fork, regenerate } from "./variants/fork.ts";

/** The core: the functions that doors call, and what features need to run turns. */
export interface Core {
  readonly runtime: CoreRuntime;
  readonly turnParts: () => TurnParts;
  readonly run: Run;
}

/** The runtime made from its parts and the features' steps, which run in the order of the list. Other functions of features are added elsewhere. */
export function createRuntime(parts: Parts, features: readonly TurnSteps[]): Core {
  const { store } = parts;
  const [spending, steps] = [openSpendTracker(), inOrder(features)];
  const [waiting, queue] = [openWaitingThreads(), openTurnQueue(parts)];
  // Created for each turn: a reload may have replaced some of the parts.
  const turnParts = (): TurnParts => ({ ...parts, spending, steps, waiting, queue });
  const running = new Map<ThreadId, AbortController>();
  const run: Run = async function* (held, { goesOn = held.caller !== undefined, ...options }) {
    const stop = new AbortController();
    const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
    // Of two runs at once only one gets the thread; the other ends at once and need not be cancelled.
    if (!running.has(held.id)) running.set(held.id, stop);
    const atOnce = options.arriving !== undefined;
    const turn = queue.inPlace({ ...held.scope, goesOn, atOnce }, signal, () =>
      runTurn(turnParts(), held, { ...options, signal }),
    );
    try {
      yield* waiting.watch(held.id, turn);
    } finally {
      if (running.get(held.id) === stop) running.delete(held.id);
    }
  };
  /** Background work waits for its place without a time limit. */
  const checkRoom = (actor: Allowed<"run">, { scope }: Thread, { replyTo = "reader" }: RunOptions): void => {
    if (replyTo === "reader") queue.checkRoom(actor, scope);
  };
  const runtime: CoreRuntime = {
    agents: (actor) =>
      parts.agents.all.filter((agent) =>
        reaches(actor, { org: agent.org, agent: agent.name, contact: actor.contact ?? null }),
      ),
    agent: (actor, name) => agentNamed(parts, actor, name),
    recordedAgent: (actor, name) => recordedAgent(parts, actor, name),
    formerAgents: (actor) => (parts.agents.former ?? []).filter(({ org }) => org === actor.org),
    keeps: (actor, scope, part) => {
      authorize(actor, scope);
      return store.part(part);
    },
    ...threadFunctions(parts, { waiting, steps }),
    async *run(actor, thread, options = {}) {
      scopeOfThread(actor, thread);
      checkTalk(parts, thread);
      checkOptions(actor, options);
      checkRoom(actor, thread, options);
      yield* eventsFor(actor, run(thread, options));
    },
    ended: async (actor, event) => {
      const { scope } = await threadOf(parts, actor, event.thread);
      return endedFor(actor, await recordedEnd(parts, scope, event));
    },
    async *follow(actor, thread, options = {}) {
      scopeOfThread(actor, thread);
      checkTalk(parts, thread);
      checkOptions(actor, options);
      checkRoom(actor, thread, options);
      yield* eventsFor(actor, follow(parts, run, thread, options));
    },
    openCalls: async (actor, id) => store.openCalls((await threadOf(parts, actor, id)).scope, id),
    ...callFunctions(turnParts, run),
    cancel: async (actor, id) => cancel(parts, running, await threadOf(parts, actor, id)),
    fork: (actor, id, options) => fork(parts, actor, id, options),
    async *regenerate(actor, id, options = {}) {
      yield* eventsFor(actor, regenerate(turnParts(), actor, id, options));
    },
    compose: async (actor, conversation, message, options = {}) => {
      const agent = agentNamed(parts, actor, conversation.agent);
      const scope = { ...scopeOf(actor, conversation), contact: await contactFor(agent, conversation.contact) };
      authorize(actor, scope);
      checkTalk(parts, conversation);
      return compose(turnParts(), agent, scope, { ...conversation, ...options, message });
    },
    turn: (actor, id) => turnOf(parts, actor, id),
    turns: async (actor, id, page) => {
      const { scope } = await threadOf(parts, actor, id);
      return store.turns(scope, id, page);
    },
    rebuilt: async (actor, id, n) => store.rebuild((await turnOf(parts, actor, id)).scope, id, n),
    erase: (actor, whose) => erase(parts, actor, whose),
    usage: async (actor, scope) => store.usage(await reach(parts, actor, scope)),
    checkRoom: async (actor, scope) => {
      authorize(actor, scope);
      queue.checkRoom(actor, scope);
    },
    load: () => queue.load(),
    place: (scope) => queue.place(scope),
    onDisk: () => store.onDisk(),
  };
  return { runtime, turnParts, run };
}

/** Ends the turn that runs on the thread, or the wait for what it has asked: whoever was asked stops, too. */
async function cancel(
  parts: Parts,
  running: ReadonlyMap<ThreadId, AbortController>,
  { scope, id }: Thread,
): Promise<boolean> {
  const { store, clock, alive } = parts;
  const stop = running.get(id);
  stop?.abort();
  if (stop !== undefined) return true;
  if (await store.askStop(scope, id, { now: clock.real(), alive })) return true;
  const called = await store.calledThreads(scope, id);
  if ((await store.cancelCalls(scope, id)).length === 0) return false;
  for (const one of called) {
    await cancel(parts, running, one);
    // If its turn is still ending, its question stays, but no caller waits for the answer.
    const now = { now: clock.real(), at: clock.recorded(), alive };
    await store.withdraw(one.scope, one.id, now).catch(() => undefined);
  }
  return true;
}

/** Contacts must not choose how much of the prompt is sent, or how the model answers. */
function checkOptions(actor: Allowed<"run">, { mode, parameters }: RunOptions): void {
  if (mode !== undefined || parameters !== undefined) allow(actor, "operate");
}

/** What background work does for calls whose answers come later. */
function callFunctions(
  parts: () => TurnParts,
  run: Run,
): Pick<CoreRuntime, "answerOverdue" | "nextOverdue" | "dueRuns" | "runDue"> {
  const { store, clock } = parts();
  const owned = (actor: Allowed<"operate">, agent: AgentName) => accessTo(parts(), actor, agent).owner;
  return {
    answerOverdue: async (actor, agent) =>
      store.answerOverdue(owned(actor, agent), { now: clock.real(), at: clock.recorded() }),
    nextOverdue: async (actor, agent) => store.nextOverdue(owned(actor, agent)),
    dueRuns: async (actor, name) => {
      const due = await store.dueRuns(owned(actor, name));
      if (due.length === 0) return due;
      const blocked = await parts().steps.blockedThreads(parts(), agentNamed(parts(), actor, name));
      return due.filter(({ id }) => !blocked.has(id));
    },
    async *runDue(actor, thread, options = {}) {
      scopeOfThread(actor, thread);
      yield* eventsFor(actor, run(thread, { replyTo: "outbox", goesOn: true, ...options }));
    },
  };
}

type ThreadFunctions = Pick<
  CoreRuntime,
  | "contact"
  | "open"
  | "thread"
  | "nextRun"
  | "changes"
  | "migrate"
  | "threads"
  | "newestThreads"
  | "slots"
  | "post"
  | "arrival"
  | "openAndPost"
  | "pending"
  | "withdraw"
>;

/** Conversations, and what is said in them before a turn answers it. */
function threadFunctions(parts: Parts, { waiting, steps }: Pick<TurnParts, "waiting" | "steps">): ThreadFunctions {
  const { store } = parts;
  const stored = (actor: Allowed<"view">, agent: AgentName, also: PostOptions["also"]) =>
    steps.received(parts, agent, actor, also);
  return {
    contact: (actor, agent, contact) => contactFor(agentNamed(parts, actor, agent), contact),
    open: (actor, conversation) => openThread({ ...parts, steps }, actor, conversation),
    thread: (actor, id) => threadOf(parts, actor, id),
    nextRun: async (actor, id) => upToDate(parts, await threadOf(parts, actor, id)),
    threads: async (actor, scope, limit) => store.threads(await reach(parts, actor, scope), limit),
    newestThreads: (actor, { limit, channel, except, after, ...whose }) =>
      newestOf(
        parts,
        actor,
        { ...whose, limit },
        {
          find: (scope) => store.threads(scope, limit, { channel, except, after }),
          position: ({ lastActivity: at, id }) => ({ at, id }),
        },
      ),
    slots: async (actor, id, page) => {
      const thread = await threadOf(parts, actor, id);
      return isAllowed(actor, "read") ? store.slots(thread.scope, id, page) : slotsOfContact(parts, thread, page);
    },
    changes: (actor, id) => changesSince(parts, actor, id),
    migrate: (actor, id) => migrate(parts, actor, id),
    post: (actor, thread, events, { handed = false, also } = {}) => {
      waiting.wake(thread.id);
      if (handed) waiting.handOver(thread.id);
      return post({ ...parts, steps }, actor, thread, events, stored(actor, thread.scope.agent, also));
    },
    arrival: (actor, thread, events, { also } = {}) => {
      waiting.wake(thread.id);
      return arrivalOf({ ...parts, steps }, actor, thread, events, stored(actor, thread.scope.agent, also));
    },
    openAndPost: async (actor, conversation, events, { handed = false, also } = {}) => {
      const posted = await openAndPost(
        { ...parts, steps },
        actor,
        conversation,
        events,
        stored(actor, conversation.agent, also),
      );
      waiting.wake(posted.thread.id);
      if (handed) waiting.handOver(posted.thread.id);
      return posted;
    },
    pending: async (actor, thread) => {
      const waiting = await store.untaken((await threadOf(parts, actor, thread.id)).scope, thread.id);
      return waiting.filter(({ inHistory }) => !inHistory);
    },
    withdraw: async (actor, id) => {
      const { scope } = await threadOf(parts, actor, id);
      return store.withdraw(scope, id, { now: parts.clock.real(), at: parts.clock.recorded(), alive: parts.alive });
    },
  };
}

/** The messages from and to the contact; none where agents talk with each other. Every page but the last is full. */
async function slotsOfContact({ store }: Parts, { scope, id, parties }: Thread, page?: Paging) {
  const own: Slot[] = [];
  if (parties !== undefined) return own;
  for (let next = page; ; ) {
    const found = await store.slots(scope, id, next);
    own.push(...found.filter(({ role, kind }) => role === "contact" || kind === "reply"));
    const last = found.at(-1);
    if (page === undefined || last === undefined || found.length < page.limit) break;
    if (own.length >= page.limit) break;
    next = { limit: page.limit, after: { at: last.index, id: "" } };
  }
  return page === undefined ? own : own.slice(0, page.limit);
}

/** The newest of what is found for one agent or for all, newest first. Each search stops at the limit, and begins behind the position given. */
export async function newestOf<One>(
  parts: Parts,
  actor: Allowed<"view">,
  { limit, ...whose }: Pick<Whose, "agent" | "contact" | "limit">,
  {
    find,
    position,
  }: { readonly find: (scope: Scope) => Promise<readonly One[]>; readonly position: (one: One) => Position },
): Promise<readonly One[]> {
  const found = await Promise.all((await scopesToList(parts, actor, whose)).map(find));
  return found
    .flat()
    .map((one) => ({ one, ...position(one) }))
    .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
    .slice(0, limit)
    .map(({ one }) => one);
}

/** One scope for each agent, because no read covers more. Agents that are no longer declared count if they have a record. */
async function scopesToList(
  parts: Parts,
  actor: Allowed<"view">,
  { agent, contact }: Omit<Whose, "limit">,
): Promise<readonly Scope[]> {
  const asked = contact ?? actor.contact ?? null;
  const names = await recordedAgents(parts, actor, agent);
  const scopes = await knownScopes(
    parts,
    names.map((name): Scope => ({ org: actor.org, agent: name, contact: asked })),
  );
  for (const scope of scopes) authorize(actor, scope);
  return scopes;
}
