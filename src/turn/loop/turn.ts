import { setImmediate } from "node:timers/promises";
import { countMessage, extend } from "../../compiler/index.ts";
import { asStrataError, isKept, type Message, StrataError, type TurnEvent } from "../../protocol/index.ts";
import type { Settled, Thread } from "../../store/index.ts";
import { awaitedCalls, unsentOf } from "../access.ts";
import { hold, retryWhileBusy } from "../intake/lease.ts";
import type { RunOptions, TurnOptions } from "../runtime.ts";
import { afforded, checkSpend } from "../spending/spend.ts";
import { compileBatch, fundsEnded, leftUnanswered, occasionOf } from "../variants/batch-turn.ts";
import { answerCalls, lastWord } from "./calls.ts";
import { coldCache } from "./early-cut.ts";
import { finalAnswer, saidSoFar, stoppedBy } from "./final-answer.ts";
import { type Occasion, renewalOf } from "./gather.ts";
import { framingResults } from "./kept-results.ts";
import { isHeld, toldOf, withOutgoing } from "./outgoing.ts";
import { pastOf } from "./plan-request.ts";
import { progressOf, restated } from "./restate.ts";
import { send } from "./send.ts";
import { broughtUpToDate, limitOf, NO_MODEL, runningSetup } from "./setup.ts";
import type { Ending, TurnParts, TurnSetup } from "./steps.ts";
import { cutInTurn, sumUpSaid, withSummary } from "./summarise.ts";
import { add, claimOf, newTurnState, outcomeOf, runIn, type TurnState, totalsOf, withoutWords } from "./turn-state.ts";
import { endRun, isFinalFailure, partedEvents, resultsOf } from "./waits.ts";

/**
 * One turn, from the waiting events to the commit. Read this file first. A turn claims the thread, gathers and compiles, sends,
 * answers the model's calls and sends again until the end, commits everything at once, and reports. A problem after the claim becomes
 * a failed end; both ends are recorded (law 14).
 */
export async function* runTurn(parts: TurnParts, waiting: Thread, options: TurnOptions): AsyncGenerator<TurnEvent> {
  const thread = await broughtUpToDate(parts, waiting);
  const setup = await runningSetup(parts, thread, options).catch(asStrataError);
  if (setup instanceof StrataError)
    return yield* endRun(parts, thread, setup, { signal: options.signal, none: NO_MODEL });
  const waits = async () => {
    await options.arriving?.stored();
    return parts.store.isDue(thread.scope, thread.id);
  };
  await parts.steps.checkStart(parts, { agent: setup.agent, thread, waits, recorded: options.recorded });
  const lease = await hold(parts, thread, {
    signal: options.signal,
    seconds: setup.limits.seconds,
    seen: waiting.version,
    turns: thread.turns,
    most: setup.messages,
    arriving: options.arriving,
  });
  if (lease === undefined) return;
  if ("movedTo" in lease) return yield* runTurn(parts, lease.movedTo, options);

  const state = newTurnState(parts, setup, lease, { ...options, sumUp: sumUpSaid });
  const { turn, events } = lease.claim;
  let committed = false;
  try {
    const held = isHeld(state) && { held: true as const };
    yield { type: "turn-start", turn, thread: thread.id, model: setup.model.ref, events: events.length, ...held };
    const ending = await withOutgoing(state, yield* converse(state));
    committed = true;
    yield* commit(state, ending, options.taken);
  } finally {
    // The reader stopped before the end: the turn ends here, and its events keep waiting.
    if (!committed) await abandon(state);
    state.tracked.close();
    lease.stop();
  }
}

/** Round after round until the model, a limit or a failure ends it. Never throws. */
async function* converse(state: TurnState): AsyncGenerator<TurnEvent, Ending> {
  const { claim, signal } = state.lease;
  const { steps } = state.parts;
  try {
    if (state.recorded === undefined) await steps.prepare(state.parts, state.setup.agent, signal);
    await steps.onStart(state);
    await checkSpend(state);
    const { id: thread, scope, turns } = claim.thread;
    state.past = await pastOf(state.parts, state.setup, { scope, thread, turns, epoch: claim.epoch });
    const prepared = await compileBatch(state.parts, continuedSetup(state), {
      ...claim,
      ...occasionOf(claim),
      ...(await continued(state)),
      scope,
      cold: coldCache(state.setup, state.past, state.parts.clock.recorded()),
      renewal: renewalOf(claim.epoch, claim.thread.version, state.setup),
      signal,
    });
    state.taken = prepared.taken + partedEvents(claim).answers.size;
    if (prepared.since !== undefined) state.past = { ...state.past, since: prepared.since };
    for (const note of prepared.notes) yield { type: "note", ...note };
    steps.phase(state, "asking");
    let compilation = yield* afforded(state, prepared.compilation, withSummary(state, prepared));
    for (;;) {
      // A recording answers at once and SQLite never waits: without this, a replay would handle no signal or timer until its end.
      await setImmediate();
      signal.throwIfAborted();
      steps.phase(state, "asking");
      const reply = yield* afforded(state, compilation, send(state, compilation));
      compilation = reply.compilation;
      if (reply.reply.parts.some(({ type }) => type === "call")) steps.phase(state, "acting");
      if (reply.interrupted) return { status: "done", stop: "answered", reply: null };
      const { stop, messages, waits } = yield* answerCalls(state, compilation, reply);
      if (waits) return waitingEnd(state);
      const said = stop === undefined ? undefined : finalAnswer(state, stop);
      if (said?.reply !== undefined) return { status: "done", stop: said.stop, reply: said.reply };
      const again = said === undefined ? [] : [said.again];
      const { compilation: now, added } = await restated(state, compilation);
      const anew = added === undefined ? [] : [add(state, { role: "user", parts: added.parts }, added.trust)];
      const next = extend(now, [...messages, ...anew, ...again], state.setup.count);
      yield* cutInTurn(compilation, next);
      compilation = next;
    }
  } catch (thrown) {
    return stoppedBy(state, asStrataError(signal.aborted ? signal.reason : thrown));
  }
}

/** With calls whose answers come later. All text so far has been sent. */
function waitingEnd(state: TurnState): Ending {
  const calls = state.leftOpen.map(({ open }) => open);
  return { status: "waiting", reply: state.setup.agent.output === undefined ? saidSoFar(state) : null, calls };
}

/** A run that continues keeps its transcript, even if messages are otherwise independent. */
const continuedSetup = ({ setup, lease }: TurnState): TurnSetup =>
  lease.claim.open.length === 0 ? setup : { ...setup, agent: { ...setup.agent, history: "transcript" } };

/** What a continued run needs: the results of the open calls, the transcript that a cut must not take them from, and its subject. */
async function continued(state: TurnState): Promise<Partial<Occasion>> {
  const {
    parts,
    setup,
    lease: { claim },
  } = state;
  if (claim.open.length === 0) return {};
  const { epoch, thread, continues } = claim;
  const { others } = partedEvents(claim);
  const taken =
    epoch === undefined
      ? 0
      : [...epoch.transcript, ...epoch.prefixEntries].reduce((sum, { tokens }) => sum + tokens, 0);
  const room = Math.min(
    claim.open.length * setup.agent.budgets.result,
    Math.max(LEAST_RESULT * claim.open.length, Math.floor((limitOf(setup) - taken) / 2)),
  );
  const takes = setup.model.resultMedia;
  const openRun = continues?.id ?? epoch?.transcript.at(-1)?.turn ?? claim.turn;
  // A run with one request left is warned, like a turn.
  const word = lastWord(state);
  state.isLast = word !== undefined;
  const framing = {
    turn: openRun,
    made: epoch?.transcript ?? [],
    word,
    room,
    frames: framingResults(
      state,
      (epoch?.transcript ?? []).map(({ message }) => message),
    ),
    at: parts.clock.recorded(),
    ...(takes && { takes }),
  };
  const countOf = (message: Message): number => countMessage(message, setup.count);
  const left = continues && (await parts.store.turn(thread.scope, continues.turn));
  const notices = toldOf(left, framing.at).map((one) => ({ ...one, tokens: countOf(one.message), turn: openRun }));
  const results = [...resultsOf(claim, { ...framing, countMessage: countOf }), ...notices];
  const about =
    others.length > 0 || continues === undefined
      ? undefined
      : (await parts.store.turn(thread.scope, continues.id))?.events;
  return {
    events: others,
    results,
    turn: runIn(claim),
    progress: progressOf(state),
    ...(epoch && { epoch: { ...epoch, openRun } }),
    ...(about && { about }),
  };
}

/** Tokens that the result of an open call needs at the least. */
const LEAST_RESULT = 150;

/** The one commit, then the end: `done` only once it is on disk. The reply counts as delivered once `done` was read. */
async function* commit(state: TurnState, ending: Ending, taken: RunOptions["taken"]): AsyncGenerator<TurnEvent> {
  const { parts, lease } = state;
  const { turn } = lease.claim;
  // With long texts the next step takes long: other turns may run before and after it.
  await setImmediate();
  const isFinal =
    ending.status === "failed" && (await isFinalFailure(parts, lease.claim, ending.error).catch(() => false));
  const outcome = outcomeOf(state, ending, { isFinal });
  await setImmediate();
  const totals = totalsOf(state);
  if (isKept(ending)) parts.steps.phase(state, "committing");
  let settled: Settled;
  try {
    settled = await retryWhileBusy(() => parts.store.settle(claimOf(state), outcome));
    state.tracked.close();
    await setImmediate();
    await parts.steps.ended(state, ending, "recorded");
  } catch (thrown) {
    const error = asStrataError(thrown, "store_failed");
    await recordFailed(state, error);
    await parts.steps.ended(state, { status: "failed", error }, "lost");
    yield { type: "failed", turn, error, totals };
    return;
  }
  if (!isKept(ending)) {
    yield { type: "failed", turn, error: ending.error, ...(outcome.endsRun && { isOver: true }), totals };
    return;
  }
  taken?.(claimOf(state).events.map(({ id }) => id));
  for (const report of settled.reports ?? []) yield { type: "report", ...report };
  if (ending.status === "waiting") {
    yield { type: "waiting", turn, text: ending.reply ?? "", calls: awaitedCalls(ending.calls), totals };
    if (ending.reply !== null && state.replyTo === "reader")
      await parts.steps.onReplyRead(state).catch(() => undefined);
    return;
  }
  const left = leftUnanswered(state, ending);
  const unpaid = fundsEnded(state, ending.stop);
  if (left !== undefined) yield left;
  yield {
    type: "done",
    turn,
    text: ending.reply ?? "",
    because: ending.stop,
    ...(unpaid && { message: unpaid.stop.message }),
    ...(left && { unanswered: left.senders }),
    ...(ending.reply === null && unsentOf(state)),
    totals,
  };
  if (ending.reply === null || state.replyTo !== "reader") return;
  // The turn is done, whatever happens here.
  await parts.steps.onReplyRead(state).catch(() => undefined);
}

/**
 * If the commit cannot be written, the turn is recorded as failed, with its cost: with its messages if possible, otherwise without. If
 * neither can be written, the lease expires by itself and the turn runs again.
 */
async function recordFailed(state: TurnState, error: StrataError): Promise<void> {
  // Whoever took the thread over, or erased its contact, has ended the turn.
  if (error.code === "lease_lost" || error.code === "thread_not_found") return;
  const whole = outcomeOf(state, { status: "failed", error });
  for (const outcome of [whole, withoutWords(whole)]) {
    try {
      await retryWhileBusy(() => state.parts.store.settle(claimOf(state), outcome));
      state.tracked.close();
      return;
    } catch {
      // Tried again without its messages.
    }
  }
}

async function abandon(state: TurnState): Promise<void> {
  const error = new StrataError("turn_cancelled", "the turn was abandoned before its end; its messages keep waiting");
  try {
    await state.parts.store.settle(claimOf(state), outcomeOf(state, { status: "failed", error }));
  } catch {
    // The lease expires by itself and the turn runs again: nothing is lost.
  }
  await state.parts.steps.ended(state, { status: "failed", error }, "recorded");
}
