import { type Compilation, requestOf } from "../../compiler/index.ts";
import {
  type Allowed,
  asStrataError,
  type CommitReport,
  type ContactScope,
  type Epoch,
  type EventKind,
  eventId,
  issueId,
  type PlannedWrite,
  type Reply,
  type StoreWrite,
  StrataError,
  type Trust,
  type TurnEvent,
  type TurnId,
  type TurnTotals,
  threadId,
  trustOf,
  untrusted,
} from "../../protocol/index.ts";
import type { Thread } from "../../store/index.ts";
import { predict } from "../../wire/index.ts";
import { hold, retryWhileBusy } from "../intake/lease.ts";
import type { PlannedRequest } from "../loop/plan-request.ts";
import { askPlanned } from "../loop/send.ts";
import { keepVersion } from "../loop/setup.ts";
import type { Ending, TurnParts, TurnSetup } from "../loop/steps.ts";
import { add, claimOf, newTurnState, outcomeOf, plan, type TurnState, totalsOf } from "../loop/turn-state.ts";
import { afforded } from "../spending/spend.ts";

/** Who summarizes, for whom, and who asked for it: a person, or the clock. */
export interface Summing {
  readonly parts: TurnParts;
  readonly setup: TurnSetup;
  readonly scope: ContactScope;
  /** The feature's own, on which the threads of its summaries are. */
  readonly channel: string;
  /** The thread on that channel; if omitted, one for each version of the agent. */
  readonly key?: string;
  readonly actor: Allowed<"view">;
  readonly asked: Extract<EventKind, "instruction" | "scheduled">;
  readonly signal: AbortSignal;
}

/** One summary: what is asked, and what is kept of the answer. */
interface SummaryJob {
  /** The task, in a sentence, for the record. */
  readonly message: string;
  readonly maxTokens: number;
  /** @throws StrataError `budget_too_small` */
  readonly compile: (turn: TurnId, running: Epoch | undefined) => Compilation;
  /** The writes that the answer becomes, or why it becomes none. */
  readonly keep: (
    answer: Answer,
    from: { readonly taint: Trust; readonly turn: TurnId },
  ) => Promise<readonly StoreWrite[] | Refused>;
}

export type Answer = Pick<Reply, "parts" | "finish">;

interface Refused {
  readonly because: string;
}

/** What came of the turn: writes, an answer that could not be kept, or no answer. */
type Came = { readonly writes: readonly PlannedWrite[] } | Refused | { readonly failed: StrataError };

/** The turn after its commit. */
type Summed = Came & {
  readonly turn: TurnId;
  readonly totals: TurnTotals;
  readonly reports: readonly CommitReport[];
};

/**
 * Requests a summary and saves it, in a turn like any other: claimed, recorded with its request and its answer, committed at once and
 * linked. It runs on a separate thread, so no conversation waits for it. A failure is recorded, and not repeated.
 * @throws StrataError `thread_busy` while another program does the same for the contact, and what the store throws
 */
export async function summaryTurn(summing: Summing, job: SummaryJob): Promise<Summed | undefined> {
  const { parts, setup, scope } = summing;
  const thread = await ownThread(summing);
  const now = () => ({ now: parts.clock.real(), at: parts.clock.recorded(), alive: parts.alive });
  // Left behind by a program that ended midway.
  await parts.store.withdraw(scope, thread.id, now());
  await announce(summing, thread, job.message);
  const lease = await hold(parts, thread, { signal: summing.signal, seconds: setup.limits.seconds });
  if (lease === undefined || "movedTo" in lease) return undefined;
  try {
    const summed = await summedIn(newTurnState(parts, setup, lease, {}), job);
    if (!("writes" in summed)) await parts.store.withdraw(scope, thread.id, now());
    return summed;
  } finally {
    lease.stop();
  }
}

/** A thread is pinned to the version whose model answers on it. */
async function ownThread({ parts, setup, scope, channel, key = setup.agent.version }: Summing): Promise<Thread> {
  const { store, random, clock } = parts;
  const { version } = setup.agent;
  const at = clock.recorded();
  await keepVersion(parts, setup.agent);
  const id = threadId(issueId("thread", clock.real(), random(10)));
  return store.openThread(scope, { id, channel, key, version, at });
}

async function announce(
  { parts, scope, channel, actor, asked }: Summing,
  thread: Thread,
  message: string,
): Promise<void> {
  const { store, random, clock } = parts;
  const id = eventId(issueId("event", clock.real(), random(10)));
  const content = [{ type: "text", text: untrusted(message) }] as const;
  const event = { id, kind: asked, trust: trustOf(actor), channel, content, at: clock.recorded() };
  await store.receive(scope, thread.id, [event]);
}

async function summedIn(state: TurnState, job: SummaryJob): Promise<Summed> {
  const { parts, lease, tracked } = state;
  try {
    const came = await sumUp(state, job);
    const outcome = outcomeOf(state, endingOf(came));
    const { reports = [] } = await retryWhileBusy(() => parts.store.settle(claimOf(state), outcome));
    return { ...came, turn: lease.claim.turn, totals: totalsOf(state), reports };
  } finally {
    tracked.close();
  }
}

/** The answer is not a reply: it is not sent, and it goes into no history. */
function endingOf(came: Came): Ending {
  if ("writes" in came) return { status: "done", stop: "answered", reply: null };
  if ("failed" in came) return { status: "failed", error: came.failed };
  const message = `the answer cannot be used: ${came.because}`;
  return { status: "failed", error: new StrataError("model_failed", message) };
}

/** An error becomes the turn's end: this never throws. */
async function sumUp(state: TurnState, job: SummaryJob): Promise<Came> {
  const { claim, signal } = state.lease;
  try {
    const compilation = job.compile(claim.turn, claim.epoch);
    state.sent = compilation;
    const asking = askPlanned(state, compilation, (at) =>
      planned(state, compilation, { at, maxTokens: job.maxTokens }),
    );
    const { parts, finish } = await answerTo(afforded(state, compilation, asking));
    if (parts.length > 0) add(state, { role: "assistant", parts }, compilation.taint);
    const kept = await job.keep({ parts, finish }, { taint: compilation.taint, turn: claim.turn });
    signal.throwIfAborted();
    if ("because" in kept) return kept;
    return { writes: plan(state, kept) };
  } catch (thrown) {
    return { failed: asStrataError(signal.aborted ? signal.reason : thrown) };
  }
}

/** It is asked once and never again, so nothing of it is worth keeping in a provider's cache. */
function planned(
  { setup: { card, count } }: TurnState,
  compilation: Compilation,
  { at, maxTokens }: { readonly at: number; readonly maxTokens: number },
): PlannedRequest {
  const request = { ...requestOf(compilation, { maxTokens }), breakpoints: [] };
  return { request, prediction: predict(request, [], { card, count, at }) };
}

/** Its text is not streamed. */
async function answerTo<T>(asking: AsyncGenerator<TurnEvent, T>): Promise<T> {
  for (;;) {
    const { done, value } = await asking.next();
    if (done) return value;
  }
}
