import { setImmediate } from "node:timers/promises";
import { extend } from "../compiler/index.ts";
import { asStrataError, StrataError, type TurnEvent } from "../protocol/index.ts";
import type { Settled, Thread } from "../store/index.ts";
import { compileBatch, leftUnanswered, occasionOf } from "./batch-turn.ts";
import { answerCalls } from "./calls.ts";
import { coldCache } from "./early-cut.ts";
import { finalAnswer, stoppedBy } from "./final-answer.ts";
import { renewalOf } from "./gather.ts";
import { hold } from "./lease.ts";
import { pastOf } from "./plan-request.ts";
import { retryWhileBusy } from "./retry.ts";
import type { RunOptions } from "./runtime.ts";
import { send } from "./send.ts";
import { broughtUpToDate, setupOf } from "./setup.ts";
import { afforded, checkSpend } from "./spend.ts";
import type { Ending, TurnParts } from "./steps.ts";
import { cutInTurn, withSummary } from "./summarise.ts";
import { claimOf, newWork, outcomeOf, totalsOf, type Work, withoutWords } from "./work.ts";

/**
 * One turn, from the waiting events to the commit. Read this file first. A turn claims the thread, gathers and compiles, sends,
 * answers the model's calls and sends again until the end, commits everything at once, and reports. A problem after the claim becomes
 * a failed end; both ends are recorded (law 14).
 */
export async function* runTurn(parts: TurnParts, waiting: Thread, options: RunOptions): AsyncGenerator<TurnEvent> {
  const thread = await broughtUpToDate(parts, waiting);
  const setup = await setupOf(parts, thread, options);
  const waits = async () => (await parts.store.pending(thread.scope, thread.id)).length > 0;
  await parts.steps.mayBegin(parts, { agent: setup.agent, thread, waits, recorded: options.recorded });
  const lease = await hold(parts, thread, {
    signal: options.signal,
    seconds: setup.limits.seconds,
    seen: waiting.version,
  });
  if (lease === undefined) return;
  if ("movedTo" in lease) return yield* runTurn(parts, lease.movedTo, options);

  const work = newWork(parts, setup, lease, options);
  const { turn, events } = lease.claim;
  let committed = false;
  try {
    yield { type: "turn-start", turn, thread: thread.id, model: setup.model.ref, events: events.length };
    const ending = yield* converse(work);
    committed = true;
    yield* commit(work, ending);
  } finally {
    // The reader stopped before the end: the turn ends here, and its events keep waiting.
    if (!committed) await abandon(work);
    work.tracked.close();
    lease.stop();
  }
}

/** Round after round until the model, a limit or a failure ends it. Never throws. */
async function* converse(work: Work): AsyncGenerator<TurnEvent, Ending> {
  const { claim, signal } = work.lease;
  const { steps } = work.parts;
  try {
    if (work.recorded === undefined) await steps.prepare(work.parts, work.setup.agent, signal);
    await steps.begun(work);
    await checkSpend(work);
    const { id: thread, scope } = claim.thread;
    work.past = await pastOf(work.parts, work.setup, { scope, thread, epoch: claim.epoch });
    const prepared = await compileBatch(work.parts, work.setup, {
      ...claim,
      ...occasionOf(claim),
      scope,
      cold: coldCache(work.setup, work.past, work.parts.clock()),
      renewal: renewalOf(claim.epoch, claim.thread.version, work.setup),
      signal,
    });
    work.taken = prepared.taken;
    if (prepared.since !== undefined) work.past = { ...work.past, since: prepared.since };
    for (const note of prepared.notes) yield { type: "note", ...note };
    steps.phase(work, "asking");
    let compilation = yield* afforded(work, prepared.compilation, withSummary(work, prepared));
    for (;;) {
      // A recording answers at once and SQLite never waits: without this, a replay would handle no signal or timer until its end.
      await setImmediate();
      signal.throwIfAborted();
      steps.phase(work, "asking");
      const reply = yield* afforded(work, compilation, send(work, compilation));
      compilation = reply.compilation;
      if (reply.reply.parts.some(({ type }) => type === "call")) steps.phase(work, "acting");
      const { stop, messages } = yield* answerCalls(work, compilation, reply);
      const said = stop === undefined ? undefined : finalAnswer(work, stop);
      if (said?.reply !== undefined) return { status: "done", stop: said.stop, reply: said.reply };
      const again = said === undefined ? [] : [said.again];
      const next = extend(compilation, [...messages, ...again], work.setup.count);
      yield* cutInTurn(compilation, next);
      compilation = next;
    }
  } catch (thrown) {
    return stoppedBy(work, asStrataError(signal.aborted ? signal.reason : thrown));
  }
}

/** The one commit, then the end: `done` only once it is on disk. The reply counts as delivered once `done` was read. */
async function* commit(work: Work, ending: Ending): AsyncGenerator<TurnEvent> {
  const { parts, lease } = work;
  const { turn } = lease.claim;
  // With long texts the next step takes long: other turns may run before and after it.
  await setImmediate();
  const outcome = outcomeOf(work, ending);
  await setImmediate();
  const totals = totalsOf(work);
  if (ending.status === "done") parts.steps.phase(work, "committing");
  let settled: Settled;
  try {
    settled = await retryWhileBusy(() => parts.store.settle(claimOf(work), outcome));
    work.tracked.close();
    await setImmediate();
    await parts.steps.ended(work, ending, "recorded");
  } catch (thrown) {
    const error = asStrataError(thrown, "store_failed");
    await recordFailed(work, error);
    await parts.steps.ended(work, { status: "failed", error }, "lost");
    yield { type: "failed", turn, error, totals };
    return;
  }
  if (ending.status === "failed") {
    yield { type: "failed", turn, error: ending.error, totals };
    return;
  }
  if (settled.evicted) yield { type: "evicted", memories: settled.evicted };
  if (settled.overtaken) yield { type: "overtaken", texts: settled.overtaken };
  const left = leftUnanswered(work, ending);
  if (left !== undefined) yield left;
  // Not before the commit: from now on the call can be approved.
  for (const { id, tool, input } of work.approvals) yield { type: "approval", approval: id, tool, input };
  yield {
    type: "done",
    turn,
    text: ending.reply ?? "",
    because: ending.stop,
    ...(left && { unanswered: left.senders }),
    totals,
  };
  if (ending.reply === null || work.noReader) return;
  // The turn is done, whatever happens here.
  await parts.steps.heard(work).catch(() => undefined);
}

/**
 * If the commit cannot be written, the turn is recorded as failed, with its cost: with its messages if possible, otherwise without. If
 * neither can be written, the lease expires by itself and the turn runs again.
 */
async function recordFailed(work: Work, error: StrataError): Promise<void> {
  // Whoever took the thread over, or erased its contact, has ended the turn.
  if (error.code === "lease_lost" || error.code === "thread_not_found") return;
  const whole = outcomeOf(work, { status: "failed", error });
  for (const outcome of [whole, withoutWords(whole)]) {
    try {
      await retryWhileBusy(() => work.parts.store.settle(claimOf(work), outcome));
      work.tracked.close();
      return;
    } catch {
      // Tried again without its messages.
    }
  }
}

async function abandon(work: Work): Promise<void> {
  const error = new StrataError("turn_cancelled", "the turn was abandoned before its end; its messages keep waiting");
  try {
    await work.parts.store.settle(claimOf(work), outcomeOf(work, { status: "failed", error }));
  } catch {
    // The lease expires by itself and the turn runs again: nothing is lost.
  }
  await work.parts.steps.ended(work, { status: "failed", error }, "recorded");
}
