import { type Compilation, roomLeft } from "../../compiler/index.ts";
import {
  type CallPart,
  type Json,
  lowestTrust,
  type Message,
  REPLY_TOOL,
  type Reply,
  type ResultPart,
  type StopReason,
  spoken,
  TAINTED,
  type Tainted,
  type Tool,
  type ToolContext,
  type ToolName,
  type ToolOutcome,
  type ToolSchema,
  type TranscriptMessage,
  type Trust,
  type TurnEvent,
  type Untrusted,
  untrusted,
} from "../../protocol/index.ts";
import { retryWhileBusy } from "../intake/lease.ts";
import type { Parts } from "../parts.ts";
import type { RecordedResult } from "../runtime.ts";
import { mayCallAgain } from "../spending/reserve-call.ts";
import { goneOf } from "../spending/spend.ts";
import { deferredOf, isLoaded, meantBy, RECORDING_HAS_NO_ANSWER } from "../tools/index.ts";
import { onlySenderOf, unansweredOf } from "../variants/batch-turn.ts";
import {
  afterOutsideText,
  LAST_REPLIES,
  LAST_REPLY,
  laterForSeveral,
  NOT_AGAIN,
  noSuchTool,
  notForThisMessage,
  notLoaded,
  notNow,
  notRun,
  tooOften,
} from "../wording.ts";
import { type FramesResult, framingResults, keptIn } from "./kept-results.ts";
import { withoutPrivate } from "./reply-guard.ts";
import { hidden, IN_TURN, limitsOf, outOfState, redacted, runTool, type ToolRun } from "./run-tool.ts";
import type { Answer } from "./send.ts";
import type { LaterAnswer } from "./steps.ts";
import { add, claimOf, isCalled, journalKey, plan, type TurnState, usedOf } from "./turn-state.ts";
import { leftOpen, withWord } from "./waits.ts";

/** The outcome of a round: why the turn ends, or what goes into the next request. */
export interface Round {
  readonly stop: StopReason | undefined;
  readonly messages: readonly TranscriptMessage[];
  /** Calls are open whose answers come later: the turn ends here. */
  readonly waits?: true;
}

/** Answers the reply's calls, one after the other. Every call gets its result, also where a limit keeps it from running. */
export async function* answerCalls(
  state: TurnState,
  compilation: Compilation,
  { reply, said, tooLong }: Answer,
): AsyncGenerator<TurnEvent, Round> {
  const { tools } = state.parts;
  const calls = reply.parts.filter((part) => part.type === "call");
  if (calls.length === 0) return { stop: stopOf(reply), messages: said };

  const stop = limitReached(state) ?? (state.isLast ? "toolCalls" : undefined);
  const results: ((frames: FramesResult, room: number) => ResultPart)[] = [];
  const trusts: Trust[] = [];
  for (const made of calls) {
    const call = meantBy(tools, made);
    const limit = stop ?? (usedOf(state).toolCalls >= state.setup.limits.toolCalls ? "toolCalls" : undefined);
    yield { type: "tool-start", call: call.id, tool: call.tool };
    const isRun = limit === undefined || isReply(state, call, limit);
    const long = tooLong?.get(call.id);
    const { outcome, trust, later } = !isRun
      ? refuseCall(notRun(limit))
      : long !== undefined
        ? refusedUnread(state, long)
        : yield* withProgress(call, (progress) => answerCall(state, compilation, call, progress));
    const { resultMedia: takes } = state.setup.model;
    const came = { ...outcome, trust, at: state.parts.clock.recorded(), ...(takes && { takes }) };
    if (later !== undefined) state.leftOpen.push(leftOpen(state.parts, state.lease.claim, call, later));
    else {
      results.push((frames, room) => frames(made, came, room, call.tool));
      trusts.push(trust);
    }
    const skipped = !isRun && stop !== undefined;
    const ended = { type: "tool-end", call: call.id, tool: call.tool, failed: outcome.failed } as const;
    yield { ...ended, ...(skipped && { skipped }), ...(outcome.failed && !skipped && { message: outcome.text }) };
  }
  const waits = state.leftOpen.length > 0;
  const word = stop === undefined && !waits ? lastWord(state) : undefined;
  state.isLast = word !== undefined;
  if (results.length === 0) return { stop: undefined, messages: said, waits: true };
  const parts = frameResults(state, compilation, { results, word });
  const answered = add(state, { role: "tool", parts }, lowestTrust(trusts));
  const messages = [...said, answered];
  return waits ? { stop: undefined, messages, waits } : { stop: stop && stopReasonFor(state, stop), messages };
}

/** Shown while a call runs; of what comes faster than it is heard, the last. */
async function* withProgress<T>(
  { id: call, tool }: CallPart,
  run: (progress: (sentence: Untrusted) => void) => Promise<T>,
): AsyncGenerator<TurnEvent, T> {
  let sentence: Untrusted | undefined;
  let wake = Promise.withResolvers<void>();
  let isOver = false;
  const running = run((words) => {
    sentence = words;
    wake.resolve();
  }).finally(() => {
    isOver = true;
    wake.resolve();
  });
  const settled = running.catch(() => undefined);
  try {
    while (!isOver) {
      await wake.promise;
      wake = Promise.withResolvers<void>();
      if (sentence !== undefined) yield { type: "tool-progress", call, tool, message: sentence };
      sentence = undefined;
    }
    return await running;
  } finally {
    // Whoever listened may have left: the call has its end all the same, and its journal, before the turn has.
    await settled;
  }
}

/** All results, each in its share of the budget; the last with the platform's note, if there is one. */
function frameResults(
  state: TurnState,
  compilation: Compilation,
  {
    results,
    word,
  }: {
    readonly results: readonly ((frames: FramesResult, room: number) => ResultPart)[];
    readonly word: string | undefined;
  },
): readonly ResultPart[] {
  const room = roomFor(state, compilation, results.length);
  const last = room - (word === undefined ? 0 : state.setup.count(`\n${word}`));
  const frames = framingResults(state, shownMessages(state, compilation));
  return results.map((one, i) => (i < results.length - 1 ? one(frames, room) : withWord(one(frames, last), word)));
}

function stopOf({ finish }: Reply): StopReason {
  if (finish === "recording-ended") return "recording ended";
  return finish === "length" || finish === "refused" ? finish : "answered";
}

/** The limit that keeps the turn from calling its model again. */
export function limitReached(state: TurnState): StopReason | undefined {
  // This comes first: a turn that runs out of funds before it has said anything fails, and its messages keep waiting.
  const gone = goneOf(state.left);
  if (gone !== undefined) return gone.of.stop.reason;
  if (usedOf(state).modelCalls >= state.setup.limits.modelCalls) return "modelCalls";
  return !mayCallAgain(state) || state.left.allowed <= 0 ? "maxCost" : undefined;
}

/** A result may take its budget, or its share of the room that is left; then the next request fits. */
function roomFor(state: TurnState, compilation: Compilation, calls: number): number {
  const reply = state.added.at(-1)?.tokens ?? 0;
  return Math.min(state.setup.agent.budgets.result, Math.floor((roomLeft(compilation) - reply) / (calls + 1)));
}

interface AnsweredCall {
  readonly outcome: ToolOutcome;
  readonly trust: Trust;
  readonly later?: LaterAnswer;
}

/** The platform's words. With the model's own in them, what it called and with what input, they are not the platform's alone. */
const refuseCall = (text: string, trust: Trust = "platform"): AnsweredCall => ({
  outcome: { text: untrusted(text), failed: true },
  trust,
});

/** It counts as a call: a model that writes on and on is stopped like any other. */
function refusedUnread(state: TurnState, sentence: string): AnsweredCall {
  state.calls++;
  return refuseCall(sentence);
}

/** The conversation as the next request shows it. */
const shownMessages = ({ added }: TurnState, { epoch, own }: Compilation): readonly Message[] =>
  [...epoch.transcript, ...own, ...added].map(({ message }) => message);

/** Whether a tool can be called, or must be found first, and by which tool. */
function deferral(state: TurnState, compilation: Compilation, name: ToolName) {
  const {
    parts: { tools },
    setup: { agent },
  } = state;
  const deferred = deferredOf(tools, agent);
  const isReady = !deferred.includes(name) || isLoaded(tools, shownMessages(state, compilation), name);
  return { isReady, finder: agent.tools.find((one) => tools.get(one)?.forwards !== undefined) ?? name };
}

/** Argument check, then the run; what a tool throws becomes an answer that says so. */
async function answerCall(
  state: TurnState,
  compilation: Compilation,
  call: CallPart,
  progress: (sentence: Untrusted) => void,
): Promise<AnsweredCall> {
  state.calls++;
  const tool = state.setup.agent.tools.includes(call.tool) ? state.parts.tools.get(call.tool) : undefined;
  if (state.recorded !== undefined) return recorded(state.parts, state.recorded.get(call.id));
  if (tool === undefined) {
    return refuseCall(noSuchTool(call.tool, state.setup.agent.tools), "agent");
  }
  const only = state.setup.parameters?.tools;
  // The tool that finds others is allowed wherever they are.
  if (only !== undefined && !only.includes(call.tool) && tool.forwards === undefined)
    return refuseCall(notForThisMessage(call.tool, only));
  const { finder, isReady } = deferral(state, compilation, call.tool);
  if (!isReady) return refuseCall(notLoaded(call.tool, finder));
  const wrongState = outOfState(tool, IN_TURN);
  if (wrongState !== undefined) return refuseCall(notNow(call.tool, wrongState));
  const problem = tool.check(call.input);
  if (problem !== undefined) return refuseCall(problem, "agent");
  const limits = limitsOf(state.setup.agent, tool);
  const used = state.used.get(call.tool) ?? 0;
  if (used >= limits.calls) return refuseCall(tooOften(call.tool, limits.calls));
  const { taint } = compilation;
  const tainted = whenTainted(state, tool, call.input, taint);
  if (tainted === "refuse") return refuseCall(afterOutsideText(call.tool));
  const mustAsk = tainted === "ask";
  const instead = state.parts.steps.beforeCall(state, { call, tool, taint, mustAsk });
  if (instead === undefined && mustAsk) return refuseCall(afterOutsideText(call.tool));
  if (instead !== undefined) {
    if ("refuses" in instead) return refuseCall(instead.refuses);
    state.used.set(call.tool, used + 1);
    const said = { outcome: { text: "message" in instead ? instead.message : untrusted(""), failed: false } } as const;
    return { ...said, trust: "platform", ...("later" in instead && { later: instead.later }) };
  }
  const kept = tool.readsResults && readable(state, compilation);
  const { outcome, later } = await runOnce(state, tool, call, { taint, progress, ...(kept && { kept }) });
  if (later !== undefined && state.lease.claim.batchMembers !== undefined)
    return refuseCall(laterForSeveral(call.tool));
  // What failed inside has changed nothing and may be mended; what acts outside may have acted all the same.
  if (!outcome.failed || tool.effect === "external") state.used.set(call.tool, used + 1);
  if (!outcome.failed) plan(state, outcome.writes ?? []);
  if (outcome.reply !== undefined) {
    const { sender, text } = outcome.reply;
    state.replies.set(sender, spoken(withoutPrivate(state.setup.agent, text)));
  }
  return { outcome, trust: outcome.trust ?? tool.trust, ...(later && { later }) };
}

/**
 * What happens to a call in this turn. If words from outside may have led to it, the declaration decides, or the tool; if the tool
 * throws or answers anything else, a person is asked.
 */
function whenTainted({ setup, lease }: TurnState, tool: Tool, input: Json, taint: Trust): Tainted {
  if (lowestTrust([taint, "agent"]) === "agent") return "run";
  const declared = setup.agent.rules?.find((rule) => rule.tool === tool.schema.name)?.tainted;
  if (declared !== undefined) return declared;
  if (tool.tainted === undefined) return "run";
  try {
    const sentence = tool.tainted(input, lease.claim.thread.scope);
    return TAINTED.includes(sentence) ? sentence : "ask";
  } catch {
    return "ask";
  }
}

/** A recording answers for all tools, and nothing acts: what came from a file is trusted like any contact. */
async function recorded(parts: Parts, result: RecordedResult | undefined): Promise<AnsweredCall> {
  if (result === undefined) return refuseCall(RECORDING_HAS_NO_ANSWER);
  const outcome = hidden(parts, result);
  return { outcome: { ...outcome, text: await redacted(outcome.text) }, trust: "contact" };
}

/** A call that acts outside the store is journaled first, so that a turn that is run again does not act again (law 7). */
async function runOnce(
  state: TurnState,
  tool: Tool,
  call: CallPart,
  how: How,
): Promise<Pick<ToolRun, "outcome" | "later">> {
  if (tool.effect !== "external") return runCall(state, tool, call, how);
  const { store, clock } = state.parts;
  const { scope } = state.lease.claim.thread;
  const key = journalKey(state, { tool: tool.schema.name, input: call.input });
  const journal = await store.beginCall(scope, key, clock.recorded());
  if (journal.state === "done") return { outcome: journal.outcome };
  if (journal.state !== "new") return refuseCall(NOT_AGAIN[journal.state]);
  const { outcome, isKnown } = await runCall(state, tool, call, how);
  if (isKnown) await retryWhileBusy(() => store.endCall(scope, key, outcome, clock.recorded()));
  state.lease.signal.throwIfAborted();
  return { outcome };
}

/** Tokens of a result beside its text: the header, and a note behind it. */
const AROUND_RESULT = 100;

/** The long results that a call may read, and how much of them. */
function readable(state: TurnState, compilation: Compilation): NonNullable<ToolContext["kept"]> {
  const calls = state.added.at(-1)?.message.parts.filter(({ type }) => type === "call").length ?? 1;
  const room = roomFor(state, compilation, calls) - AROUND_RESULT;
  return {
    results: keptIn(shownMessages(state, compilation)),
    // As a frame shows it.
    fits: (answer) => state.setup.count(answer.replaceAll("\n", "\n| ")) <= room,
  };
}

/** Who had a say in a call, and who hears how far it has come. */
interface How extends Pick<ToolContext, "kept"> {
  readonly taint: Trust;
  readonly progress: (sentence: Untrusted) => void;
}

async function runCall(state: TurnState, tool: Tool, call: CallPart, { taint, progress, kept }: How): Promise<ToolRun> {
  const { parts, lease, setup } = state;
  const { thread, turn } = lease.claim;
  const events = claimOf(state).events.map(({ id }) => id);
  const unanswered = unansweredOf(state);
  const only = setup.agent.output === undefined && !isCalled(state) ? onlySenderOf(state) : undefined;
  const ran = await runTool(parts, tool, call.input, {
    caller: state,
    context: {
      scope: thread.scope,
      thread: thread.id,
      turn,
      call: call.id,
      events,
      ...(unanswered && { unanswered }),
      ...(only !== undefined && { onlySender: only }),
      answered: [...state.replies.keys()],
      ...(tool.forwards && { deferred: deferredSchemas(state) }),
      ...(kept && { kept }),
      ...(state.writes.length > 0 && { pending: state.writes }),
      at: parts.clock.recorded(),
      taint,
      state: IN_TURN,
    },
    seconds: limitsOf(setup.agent, tool).seconds,
    signal: lease.signal,
    progress,
  });
  // An external effect is journaled first, even if its turn has ended in the meantime.
  if (tool.effect !== "external") lease.signal.throwIfAborted();
  return ran;
}

function deferredSchemas({ parts: { tools }, setup: { agent } }: TurnState): readonly ToolSchema[] {
  const { defer: _, ...reader } = agent;
  return tools.schemas(deferredOf(tools, agent), reader);
}

/**
 * A model that is stopped between a call and its answer leaves a sender without a reply. So a note tells it when it is called for the
 * last time in a turn. Its tools and their settings stay in the request, so that the provider's cache stays valid.
 */
export function lastWord(state: TurnState): string | undefined {
  const { modelCalls, toolCalls } = state.setup.limits;
  const used = usedOf(state);
  if (used.modelCalls + 1 < modelCalls && used.toolCalls < toolCalls) return undefined;
  return unansweredOf(state) === undefined ? LAST_REPLY : LAST_REPLIES;
}

/** Whether a call is a reply to one of several senders: these run in the last round too, because their results need no reply. */
const isReply = (state: TurnState, { tool }: CallPart, limit: StopReason): boolean =>
  tool === REPLY_TOOL && (limit === "modelCalls" || limit === "toolCalls") && unansweredOf(state) !== undefined;

/** Why a turn ends that a limit ends. Where each of several senders has a reply, nothing is missing. */
function stopReasonFor(state: TurnState, limit: StopReason): StopReason {
  const isWhole = (limit === "modelCalls" || limit === "toolCalls") && unansweredOf(state)?.length === 0;
  return isWhole ? "answered" : limit;
}
