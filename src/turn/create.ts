import { type ApprovalId, authorize, reaches, type ThreadId } from "../protocol/index.ts";
import { agentNamed, approvalOf, scopeOf, threadOf, turnOf } from "./access.ts";
import { compose } from "./compose.ts";
import { decide } from "./decide.ts";
import { erase } from "./erase.ts";
import { fork, regenerate } from "./fork.ts";
import { type Line, openLine } from "./line.ts";
import { newestApprovals, newestThreads } from "./listing.ts";
import { changesSince, migrate } from "./migrate.ts";
import { checkTalk } from "./own-channels.ts";
import type { Parts } from "./parts.ts";
import { openThread, post } from "./receive.ts";
import type { Run } from "./run-options.ts";
import type { CoreRuntime } from "./runtime.ts";
import { contactFor, reach } from "./senders.ts";
import { upToDate } from "./setup.ts";
import { openSpendTracker } from "./spend-tracker.ts";
import { inOrder, type TurnParts, type TurnSteps } from "./steps.ts";
import { toldTo } from "./told-to.ts";
import { runTurn } from "./turn.ts";

/** The core: what doors call, and what features run their turns by. */
export interface Core {
  readonly runtime: CoreRuntime;
  readonly turnParts: () => TurnParts;
  readonly run: Run;
}

/** The runtime over its parts, without what features add but their steps: those are taken in the order of the list. */
export function createRuntime(parts: Parts, features: readonly TurnSteps[]): Core {
  const { store } = parts;
  const [spending, steps] = [openSpendTracker(), inOrder(features)];
  const line = openLine();
  // Made for each turn: what a reload replaces is another from then on.
  const turnParts = (): TurnParts => ({ ...parts, spending, steps, line });
  const running = new Map<ThreadId, AbortController>();
  const acting = new Set<ApprovalId>();
  const run: Run = async function* (held, options) {
    const stop = new AbortController();
    const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
    // Of two runs at once only one gets the thread: the other ends before it could be cancelled.
    if (!running.has(held.id)) running.set(held.id, stop);
    try {
      yield* line.watch(held.id, runTurn(turnParts(), held, { ...options, signal }));
    } finally {
      if (running.get(held.id) === stop) running.delete(held.id);
    }
  };
  const runtime: CoreRuntime = {
    agents: (actor) =>
      parts.agents.all.filter((agent) =>
        reaches(actor, { org: agent.org, agent: agent.name, contact: actor.contact ?? null }),
      ),
    agent: (actor, name) => agentNamed(parts, actor, name),
    keeps: (actor, { action, scope }, part) => {
      authorize(actor, action, scope);
      return store.part(part);
    },
    ...threadDoors(parts, line),
    async *run(actor, thread, options = {}) {
      const held = await threadOf(parts, actor, thread.id, "run");
      checkTalk(held);
      // What of the prompt is left out is not for those who write to the agent to say.
      if (options.mode !== undefined) authorize(actor, "operate", held.scope);
      yield* toldTo(actor, run(held, options));
    },
    cancel: async (actor, id) => {
      const { scope } = await threadOf(parts, actor, id, "run");
      const stop = running.get(id);
      stop?.abort();
      return stop !== undefined || store.askStop(scope, id, { now: parts.wall(), alive: parts.alive });
    },
    fork: (actor, id, options) => fork(parts, actor, id, options),
    async *regenerate(actor, id, options = {}) {
      yield* toldTo(actor, regenerate(turnParts(), actor, id, options));
    },
    compose: async (actor, conversation, message, options = {}) => {
      const agent = agentNamed(parts, actor, conversation.agent);
      const scope = { ...scopeOf(actor, conversation), contact: await contactFor(agent, conversation.contact) };
      authorize(actor, "explain", scope);
      checkTalk(conversation);
      return compose(turnParts(), agent, scope, { ...conversation, ...options, message });
    },
    turn: (actor, id) => turnOf(parts, actor, id),
    turns: async (actor, id) => {
      const { scope } = await threadOf(parts, actor, id, "explain");
      return store.turns(scope, id);
    },
    rebuilt: async (actor, id, n) => store.rebuild((await turnOf(parts, actor, id)).scope, id, n),
    approvals: async (actor, scope, filter, limit) =>
      store.approvals(await reach(parts, actor, { scope, action: "read" }), filter, limit),
    newestApprovals: (actor, wish) => newestApprovals(parts, actor, wish),
    approval: (actor, id) => approvalOf(parts, actor, id, "read"),
    decide: (actor, id, verdict) => decide({ ...parts, acting }, actor, id, verdict),
    erase: (actor, whose) => erase(parts, actor, whose),
    usage: async (actor, scope) => store.usage(await reach(parts, actor, { scope, action: "read" })),
  };
  return { runtime, turnParts, run };
}

type ThreadDoors = Pick<
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
  | "pending"
  | "withdraw"
>;

/** Conversations, and what is said in them before a turn answers it. */
function threadDoors(parts: Parts, line: Line): ThreadDoors {
  const { store } = parts;
  return {
    contact: (actor, agent, contact) => contactFor(agentNamed(parts, actor, agent), contact),
    open: (actor, conversation) => openThread(parts, actor, conversation),
    thread: (actor, id) => threadOf(parts, actor, id, "read"),
    nextRun: async (actor, id) => upToDate(parts, await threadOf(parts, actor, id, "read")),
    threads: async (actor, scope, limit) => store.threads(await reach(parts, actor, { scope, action: "read" }), limit),
    newestThreads: (actor, whose) => newestThreads(parts, actor, whose),
    slots: async (actor, id) => store.slots((await threadOf(parts, actor, id, "read")).scope, id),
    changes: (actor, id) => changesSince(parts, actor, id),
    migrate: (actor, id) => migrate(parts, actor, id),
    post: (actor, thread, events, { handed = false } = {}) => {
      line.wake(thread.id);
      if (handed) line.hand(thread.id);
      return post(parts, actor, thread, events);
    },
    pending: async (actor, thread) => store.pending((await threadOf(parts, actor, thread.id, "read")).scope, thread.id),
    withdraw: async (actor, id) => {
      const { scope } = await threadOf(parts, actor, id, "operate");
      return store.withdraw(scope, id, { now: parts.wall(), at: parts.clock(), alive: parts.alive });
    },
  };
}
