import {
  type Agent,
  asStrataError,
  type Budgets,
  type ContactScope,
  type EventPart,
  eventId,
  issueId,
  lowestTrust,
  type Model,
  type OwnKind,
  type StopReason,
  type StrataError,
  type Trust,
  type TurnEvent,
  type TurnId,
  threadId,
  untrusted,
} from "../../protocol/index.ts";
import type { Thread } from "../../store/index.ts";
import { keepVersion } from "../loop/setup.ts";
import type { RunningTurn } from "../loop/steps.ts";
import { runTurn } from "../loop/turn.ts";
import { ASKED_BEFORE } from "../wording.ts";

/** Whom a turn's call asks, and what. */
export interface Called {
  readonly agent: Agent;
  /** The model that answers; left out, the agent's own. */
  readonly model?: Model;
  /** The feature's own channel and kind of event for what one agent asks another. */
  readonly channel: string;
  readonly kind: OwnKind;
  /** The call's key: one call is one question, however often its turn is tried. */
  readonly call: string;
  readonly content: readonly EventPart[];
  /** The trust of the question: the lowest of all that led to it. */
  readonly trust: Trust;
  /** The limits of the called agent. What is left of the caller's own limits counts, too. */
  readonly limits: Partial<Budgets["turn"]>;
  readonly signal: AbortSignal;
  /** Called with each event of its turn. */
  readonly onEvent: (event: TurnEvent) => void;
}

/** How it ended, with the lowest trust of all that was sent in that turn. */
export type CalledEnd =
  | { readonly turn: TurnId; readonly text: string; readonly because: StopReason; readonly trust: Trust }
  | { readonly turn?: TurnId; readonly error: StrataError; readonly trust: Trust };

/**
 * Runs a turn of another agent for a tool call: recorded, linked and explained like any other, in the scope of the caller's contact
 * and on a thread that names the call. It ends within the caller's limits, and when the caller ends. Nothing of it becomes a message
 * or a memory, and a question that could not be answered does not wait. Never throws.
 */
export async function callTurn(caller: RunningTurn, called: Called): Promise<CalledEnd> {
  const { parts, lease } = caller;
  let thread: Thread | undefined;
  try {
    thread = await asked(caller, called);
    return await answerOf(caller, called, thread);
  } catch (thrown) {
    return { error: asStrataError(thrown), trust: called.trust };
  } finally {
    if (thread !== undefined) {
      const now = { now: parts.clock.real(), at: parts.clock.recorded(), alive: parts.alive };
      // If this fails, the contact was erased or the program ends: nobody reads the thread then.
      await parts.store.withdraw(lease.claim.thread.scope, thread.id, now).catch(() => undefined);
    }
  }
}

/** At most this many threads are searched for calls that a killed program left behind. */
const MOST_LEFT = 100;

/** Ends the turns that a killed program had begun for this turn's calls: nobody waits for their answers any more. */
export async function endLeftCalls({ parts, lease }: RunningTurn, channel: string): Promise<void> {
  const { thread, turn, attempt } = lease.claim;
  if (attempt < 2) return;
  const called = await parts.store.threads(thread.scope, MOST_LEFT, { channel });
  const now = { now: parts.clock.real(), at: parts.clock.recorded(), alive: parts.alive };
  for (const { scope, id, key } of called)
    if (key.startsWith(`${turn} `)) await parts.store.withdraw(scope, id, now).catch(() => undefined);
}

/** The thread of this call, with its question. */
async function asked({ parts, setup, lease }: RunningTurn, called: Called): Promise<Thread> {
  const { store, random, clock } = parts;
  const { thread: own, turn } = lease.claim;
  const { org, name, version } = called.agent;
  const scope: ContactScope = { org, agent: name, contact: own.scope.contact };
  const at = clock.recorded();
  const key = `${turn} ${called.call}`;
  await keepVersion(parts, called.agent);
  const id = threadId(issueId("thread", clock.real(), random(10)));
  const opening = { id, channel: called.channel, key, version, at, parent: own.id };
  const first = await store.openThread(scope, opening);
  // The journal runs no call twice: if the thread exists already, a provider gave two calls of one turn the same id.
  const thread = first.id === id ? first : await store.openThread(scope, { ...opening, key: `${key} ${id}` });
  const question = {
    id: eventId(issueId("event", clock.real(), random(10))),
    kind: called.kind,
    trust: called.trust,
    name: untrusted(setup.agent.name),
    content: called.content,
    channel: called.channel,
    externalId: thread.key,
    at,
  } as const;
  await store.receive(scope, thread.id, [question]);
  return thread;
}

async function answerOf(caller: RunningTurn, called: Called, thread: Thread): Promise<CalledEnd> {
  const { trust, signal } = called;
  const limits = within(caller.inner.left(), called.limits);
  const options = {
    signal,
    limits,
    replyTo: "outbox" as const,
    used: caller.inner.ended,
    ...(called.model && { model: called.model }),
  };
  let turn: TurnId | undefined;
  for await (const event of runTurn(caller.parts, thread, options)) {
    called.onEvent(event);
    if (event.type === "turn-start") turn = event.turn;
    if (event.type !== "done" && event.type !== "failed") continue;
    if (event.totals !== undefined) caller.inner.ended(event.totals);
    const record = await caller.parts.store.turn(thread.scope, event.turn);
    const least = lowestTrust([trust, ...(record?.requests ?? []).map(({ taint }) => taint)]);
    if (event.type === "failed") return { turn: event.turn, error: event.error, trust: least };
    return { turn: event.turn, text: event.text, because: event.because, trust: least };
  }
  return { ...(turn && { turn }), error: asStrataError(new Error(ASKED_BEFORE)), trust };
}

/** The stricter of both, limit by limit. */
const within = (left: Budgets["turn"], own: Partial<Budgets["turn"]>): Budgets["turn"] => {
  const least = (key: keyof Budgets["turn"]): number =>
    Math.min(left[key] ?? Number.POSITIVE_INFINITY, own[key] ?? Number.POSITIVE_INFINITY);
  const maxCost = least("maxCost");
  return {
    modelCalls: least("modelCalls"),
    toolCalls: least("toolCalls"),
    seconds: least("seconds"),
    ...(Number.isFinite(maxCost) && { maxCost }),
  };
};
