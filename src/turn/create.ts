import {
  type Actor,
  asStrataError,
  authorize,
  type ErrorCode,
  may,
  reaches,
  type Scope,
  StrataError,
  type ThreadId,
  type TurnEvent,
} from "../protocol/index.ts";
import { agentNamed, scopeOf, scopeOfThread, threadOf, turnOf } from "./access.ts";
import { compose } from "./compose.ts";
import { erase } from "./erase.ts";
import { fork, regenerate } from "./fork.ts";
import { type Line, openLine } from "./line.ts";
import { changesSince, migrate } from "./migrate.ts";
import { checkTalk } from "./own-channels.ts";
import type { Parts } from "./parts.ts";
import { openAndPost, openThread, post } from "./receive.ts";
import type { CoreRuntime, Run, Whose } from "./runtime.ts";
import { contactFor, knownScopes, reach } from "./senders.ts";
import { upToDate } from "./setup.ts";
import { openSpendTracker } from "./spend-tracker.ts";
import { inOrder, type TurnParts, type TurnSteps } from "./steps.ts";
import { runTurn } from "./turn.ts";

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
  const line = openLine();
  // Made anew for each turn: a reload may have replaced some of the parts.
  const turnParts = (): TurnParts => ({ ...parts, spending, steps, line });
  const running = new Map<ThreadId, AbortController>();
  const run: Run = async function* (held, options) {
    const stop = new AbortController();
    const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
    // Of two runs at once only one gets the thread; the other ends at once and need not be cancelled.
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
      const scope = scopeOfThread(actor, thread, "run");
      checkTalk(thread);
      // Contacts must not choose how much of the prompt is sent.
      if (options.mode !== undefined) authorize(actor, "operate", scope);
      yield* toldTo(actor, run(thread, options));
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
  | "openAndPost"
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
    newestThreads: (actor, { limit, channel, except, ...whose }) =>
      newestOf(
        parts,
        actor,
        { ...whose, limit },
        {
          find: (scope) => store.threads(scope, limit, { channel, except }),
          at: ({ lastActivity }) => lastActivity,
        },
      ),
    slots: async (actor, id) => store.slots((await threadOf(parts, actor, id, "read")).scope, id),
    changes: (actor, id) => changesSince(parts, actor, id),
    migrate: (actor, id) => migrate(parts, actor, id),
    post: (actor, thread, events, { handed = false } = {}) => {
      line.wake(thread.id);
      if (handed) line.hand(thread.id);
      return post(parts, actor, thread, events);
    },
    openAndPost: async (actor, conversation, events) => {
      const posted = await openAndPost(parts, actor, conversation, events);
      line.wake(posted.thread.id);
      return posted;
    },
    pending: async (actor, thread) => store.pending((await threadOf(parts, actor, thread.id, "read")).scope, thread.id),
    withdraw: async (actor, id) => {
      const { scope } = await threadOf(parts, actor, id, "operate");
      return store.withdraw(scope, id, { now: parts.wall(), at: parts.clock(), alive: parts.alive });
    },
  };
}

/** The newest of what is found for one agent or for all, newest first. */
export async function newestOf<One>(
  parts: Parts,
  actor: Actor,
  { limit, ...whose }: Pick<Whose, "agent" | "contact" | "limit">,
  { find, at }: { readonly find: (scope: Scope) => Promise<readonly One[]>; readonly at: (one: One) => number },
): Promise<readonly One[]> {
  const found = await Promise.all((await scopesOf(parts, actor, whose)).map(find));
  return found
    .flat()
    .sort((a, b) => at(b) - at(a))
    .slice(0, limit);
}

/** One scope for each agent, because no read covers more. Agents that are no longer declared count if they have a record. */
async function scopesOf(
  parts: Parts,
  actor: Actor,
  { agent, contact }: Omit<Whose, "limit">,
): Promise<readonly Scope[]> {
  const recorded = await parts.store.agents(actor.org);
  // A name that nobody knows is an error, not an agent without data.
  if (agent !== undefined && !recorded.includes(agent)) agentNamed(parts, actor, agent);
  const one = agent ?? actor.agent;
  const asked = contact ?? actor.contact ?? null;
  const names = one === undefined ? recorded : [one];
  const scopes = await knownScopes(
    parts,
    names.map((name): Scope => ({ org: actor.org, agent: name, contact: asked })),
  );
  for (const scope of scopes) authorize(actor, "read", scope);
  return scopes;
}

type Kind = TurnEvent["type"];

/** Deny by default: what a turn tells somebody who may not read the record of it. Thoughts may quote the prompt. */
const TO_CONTACTS: readonly Kind[] = ["turn-start", "text-delta", "unanswered", "done", "failed"];

/** What names layers or shows the ledger: for those who may have a request explained. */
const EXPLAINS: readonly Kind[] = ["note", "compiled", "refused", "reasoning-delta", "withheld", "overtaken"];

/** What a contact may know of a refusal, word for word: nothing of the inside stands in these. */
const OPEN: readonly ErrorCode[] = ["thread_busy", "thread_not_found", "not_allowed", "turn_cancelled"];

/** The turn as the actor may hear of it: all to an operator, no ledger to a member, and to a contact only what is said to it. */
function toldTo(actor: Actor, events: AsyncIterable<TurnEvent>): AsyncIterable<TurnEvent> {
  return may(actor, "explain") ? events : cutFor(actor, events);
}

async function* cutFor(actor: Actor, events: AsyncIterable<TurnEvent>): AsyncGenerator<TurnEvent> {
  if (may(actor, "read")) {
    for await (const event of events) if (!EXPLAINS.includes(event.type)) yield event;
    return;
  }
  try {
    for await (const event of events) if (TO_CONTACTS.includes(event.type)) yield withoutInside(event);
  } catch (thrown) {
    throw withoutReason(asStrataError(thrown));
  }
}

function withoutInside(event: TurnEvent): TurnEvent {
  switch (event.type) {
    case "turn-start": {
      const { model: _, ...rest } = event;
      return rest;
    }
    case "done": {
      const { totals: _, ...rest } = event;
      return rest;
    }
    case "failed":
      return { type: "failed", turn: event.turn, error: withoutReason(event.error) };
    default:
      return event;
  }
}

/** The code says enough to try again or not; the sentence is for whoever runs the agent, who finds it in the record. */
function withoutReason(error: StrataError): StrataError {
  if (OPEN.includes(error.code)) return error;
  return new StrataError(
    error.code,
    "the message could not be answered; it keeps waiting, and the operator can see why",
  );
}
