import {
  ANSWER_KIND,
  type CallLimits,
  type CallPart,
  callId,
  type ErrorCode,
  type EventPart,
  eventId,
  isCoreError,
  isMedia,
  issueId,
  lowestTrust,
  type Model,
  NO_USAGE,
  outboxId,
  type PayloadPart,
  partText,
  type ResultPart,
  type StoredEvent,
  StrataError,
  type ToolContext,
  type ToolName,
  type ToolOutcome,
  type TranscriptMessage,
  type Trust,
  type TurnEvent,
  type TurnId,
  trusted,
  untrusted,
} from "../../protocol/index.ts";
import type { Claim, ForCaller, NewOpenCall, OpenCall, Start, Thread, TurnRecord } from "../../store/index.ts";
import { hold, retryWhileBusy } from "../intake/lease.ts";
import type { Parts } from "../parts.ts";
import { askedFailed, CANCELLED, NO_ANSWER, NOT_YET } from "../wording.ts";
import type { FramesResult } from "./kept-results.ts";
import type { Ending, LaterAnswer, TurnParts } from "./steps.ts";

/**
 * Calls whose answers come later, as a turn sees them: those that it leaves open when it ends `waiting`, and those that an earlier turn
 * of its run has left open, each of which gets a result before all else.
 */

const laterAnswers = new WeakMap<ToolContext, LaterAnswer>();

/** The outcome of a tool whose answer comes later. The tool itself has no effect outside: what begins elsewhere begins with the commit. */
export function answersLater(context: ToolContext, later: LaterAnswer): ToolOutcome {
  laterAnswers.set(context, later);
  return { text: untrusted(""), failed: false };
}

/** The tool's result for this call, if its answer comes later. */
export const laterIn = (context: ToolContext): LaterAnswer | undefined => laterAnswers.get(context);

/** A call that the turn leaves open, with what begins for it. */
export interface LeftOpen {
  readonly open: NewOpenCall;
  readonly starts: readonly Start[];
}

export function leftOpen(
  { clock, random }: Parts,
  { thread }: Claim,
  { id: call, tool }: CallPart,
  later: LaterAnswer,
): LeftOpen {
  const now = clock.real();
  const id = callId(issueId("call", now, random(10)));
  const { waitsFor, keeps = waitsFor === "agent", seconds, reserved, starts } = later;
  const due = seconds === undefined ? {} : { due: now + Math.ceil(seconds * 1_000) };
  return {
    open: { id, call, tool, waitsFor, keeps, ...due, ...(reserved && { reserved }) },
    starts: starts?.({ thread: thread.id, agent: thread.scope.agent, call: id }) ?? [],
  };
}

/** The events of a claim: the results of its open calls, and what is said besides. */
export function partedEvents({ open, events }: Pick<Claim, "open" | "events">): {
  readonly answers: ReadonlyMap<OpenCall["id"], StoredEvent>;
  readonly others: readonly StoredEvent[];
} {
  const answers = new Map<OpenCall["id"], StoredEvent>();
  for (const { id } of open) {
    const answer = events.find((event) => event.answers === id);
    if (answer !== undefined) answers.set(id, answer);
  }
  const used = new Set([...answers.values()].map(({ id }) => id));
  return { answers, others: events.filter(({ id }) => !used.has(id)) };
}

/**
 * How results are framed: the run whose calls they answer, so that a cut takes both or neither, the token limit for all of them together,
 * how they are framed and counted, and what the model's API accepts.
 */
interface Framing {
  readonly turn: TurnId;
  readonly room: number;
  readonly frames: FramesResult;
  readonly countMessage: (message: TranscriptMessage["message"]) => number;
  readonly at: number;
  readonly takes?: readonly string[] | undefined;
  /** The messages with the calls, which name the tools as the model called them. */
  readonly made: readonly Pick<TranscriptMessage, "message">[];
  /** The platform's note behind the last of them. */
  readonly word?: string | undefined;
}

/** A tool's result, in its frame, followed by the platform's note. */
export function withWord({ loads, ...result }: ResultPart, word: string | undefined): ResultPart {
  if (word === undefined) return { ...result, ...(loads && { loads }) };
  // The frame holds all that the tool said; the line outside of it is the platform's. It must be read, so the text is sent as it is.
  return { ...result, text: trusted(`${result.text}\n${word}`) };
}

/** The message with the results of the calls that an earlier turn left open; undefined if it left none. Each call has exactly one. */
export function resultsOf(
  claim: Pick<Claim, "open" | "events">,
  { turn, room, frames, countMessage, at, takes, made, word }: Framing,
): readonly TranscriptMessage[] {
  const { open } = claim;
  if (open.length === 0) return [];
  const { answers } = partedEvents(claim);
  const share = Math.floor(room / open.length);
  const trusts: Trust[] = [];
  const parts = open.map((call, i): ResultPart => {
    const answer = answers.get(call.id);
    const said = answer === undefined ? withoutAnswer(call, at) : saidBy(answer);
    trusts.push(said.trust);
    const answered = { id: call.call, tool: calledIn(made, call) };
    const result = frames(answered, { ...said, ...(takes && { takes }) }, share, call.tool);
    return i === open.length - 1 ? withWord(result, word) : result;
  });
  const message = { role: "tool", parts } as const;
  return [{ message, trust: lowestTrust(trusts), tokens: countMessage(message), turn }];
}

/** An open call names the tool that was meant, and a result the one that was called: a provider compares the two. */
function calledIn(made: Framing["made"], { call, tool }: OpenCall): ToolName {
  const calls = made.flatMap(({ message }) =>
    message.role === "assistant" ? message.parts.filter((part) => part.type === "call") : [],
  );
  return calls.findLast(({ id }) => id === call)?.tool ?? tool;
}

type CallResult = Pick<ToolOutcome, "text" | "failed" | "media"> & { readonly trust: Trust; readonly at: number };

function saidBy({ content, trust, at, failed }: StoredEvent): CallResult {
  const texts = content.flatMap((part) => (isMedia(part) ? [] : [partText(part)]));
  const media = content.filter(isMedia);
  return { text: untrusted(texts.join("\n")), failed: failed === true, trust, at, ...(media.length > 0 && { media }) };
}

/** Providers require a result for each call: the platform's sentence, if there is no answer. */
const withoutAnswer = ({ state }: OpenCall, at: number): CallResult => ({
  text: untrusted(state === "cancelled" ? CANCELLED : NOT_YET),
  failed: true,
  trust: "platform",
  at,
});

/** Errors that say nothing of the turn: whoever is asked again may be lucky. */
const UNRELATED: readonly string[] = ["turn_cancelled", "lease_lost", "thread_busy", "store_busy", "store_failed"];
/** Errors that pass where a turn is tried again by itself, and how often it is for a caller that waits. */
const PASSING: readonly string[] = ["rate_limited", "model_failed", "source_failed"];
const TRIES = 3;

/** Whether a turn that failed so has certainly ended its run. */
export const endsRun = (code: ErrorCode): boolean =>
  isCoreError(code) && ![...UNRELATED, ...PASSING, "spend_limit"].includes(code);

/** Whether a failed turn is not retried: its run ends, and the caller of its thread gets the error. */
export async function isFinalFailure(
  { store, steps }: TurnParts,
  { thread: { scope, id, caller, turns } }: Pick<Claim, "thread">,
  error: StrataError,
): Promise<boolean> {
  if (UNRELATED.includes(error.code)) return false;
  // A calling agent learns that the called one has no money. A person's message keeps waiting until it has some.
  if (error.traits.isPause || error.code === "spend_limit" || steps.funds.some((one) => one.error.is(error)))
    return caller !== undefined;
  if (!PASSING.includes(error.code)) return true;
  if (caller === undefined) return false;
  const page = { limit: TRIES, after: { at: turns - TRIES + 1, id: "" } };
  const before = (await store.turns(scope, id, page)).filter(({ end }) => end !== undefined);
  return before.length === TRIES - 1 && before.every(({ end }) => end?.status === "failed" && isPassing(end));
}

const isPassing = ({ code }: { readonly code: string }): boolean => PASSING.includes(code);

/** What a caller reads besides how the turn ended. */
interface CallerFacts {
  readonly trust: Trust;
  readonly used: CallLimits;
  readonly isFinal: boolean;
  /** In a feature's words, or as it puts the answer. */
  readonly message?: string | PayloadPart | undefined;
}

/** How a turn on a called thread ends for its caller: with its answer, or with a sentence if there is none. */
export function forCaller(
  { clock, random }: Parts,
  { thread }: Claim,
  ending: Ending,
  { trust, used, isFinal, message: said }: CallerFacts,
): ForCaller | undefined {
  if (thread.caller === undefined || ending.status === "waiting") return undefined;
  if (ending.status === "failed" && !isFinal) return undefined;
  const says = said ?? (ending.status === "failed" ? askedFailed(ending.error.message) : ending.reply);
  const answer = {
    id: eventId(issueId("event", clock.real(), random(10))),
    kind: ANSWER_KIND,
    trust: says === null ? "platform" : trust,
    channel: thread.channel,
    name: untrusted(thread.parties?.target ?? thread.scope.agent),
    content: [answerPart(says ?? NO_ANSWER)],
    at: clock.recorded(),
    used,
    ...((ending.status === "failed" || ending.reply === null) && { failed: true as const }),
  } as const;
  return { way: ending.status === "failed" || ending.reply === null ? "ends" : "responds", answer };
}

const answerPart = (says: string | PayloadPart): EventPart =>
  typeof says === "string" ? { type: "text", text: untrusted(says) } : says;

/** The tools whose answers the turn waits for, for a sentence. */
export const toolsIn = (calls: readonly { readonly tool: ToolName }[]): string =>
  [...new Set(calls.map(({ tool }) => tool))].join(", ");

/** @throws StrataError where a tool that acts outside says that its answer comes later: run again, it would act again */
export function checkLater(tool: { readonly schema: { readonly name: ToolName }; readonly effect: string }): void {
  if (tool.effect !== "external") return;
  const says = `${tool.schema.name} acts outside and says that its answer comes later: let it begin what it begins with the turn's commit`;
  throw new StrataError("unexpected", says, { tool: tool.schema.name });
}

/** Errors of a turn whose agent's version or model is not there: no turn of its run can ever begin. */
const GONE: readonly string[] = ["agent_not_found", "model_unknown"];

/**
 * Ends a run that cannot continue with the version or the model that it began with, or that another agent waits for and that cannot begin:
 * nothing is sent, and the turn that reports it is recorded as failed, like any other.
 * @param none names a turn's model if there was none
 * @throws StrataError the given one, if no run on the thread is waited for, or if the error may pass
 */
export async function* endRun(
  parts: TurnParts,
  thread: Thread,
  error: StrataError,
  { signal, none }: { readonly signal: AbortSignal | undefined; readonly none: Pick<Model, "ref" | "wire"> },
): AsyncGenerator<TurnEvent> {
  if (!GONE.includes(error.code)) throw error;
  const began = await turnBefore(parts, thread);
  if (began === undefined && thread.caller === undefined) throw error;
  const { model = none.ref, wire = none.wire, mode = "full" } = began ?? {};
  const lease = await hold(parts, thread, { signal, seconds: Number.POSITIVE_INFINITY });
  if (lease === undefined || "movedTo" in lease) return;
  lease.stop();
  const { claim } = lease;
  const { turn } = claim;
  yield { type: "turn-start", turn, thread: thread.id, model, events: claim.events.length };
  const totals = { modelCalls: 0, toolCalls: 0, usage: NO_USAGE, dollars: 0, milliseconds: 0 };
  const ending = { status: "failed", error } as const;
  const used = { modelCalls: 0, toolCalls: 0, dollars: 0 };
  const answer = forCaller(parts, claim, ending, { trust: "platform", used, isFinal: true });
  await retryWhileBusy(() =>
    parts.store.settle(claim, {
      end: { status: "failed", code: error.code, message: error.message },
      at: parts.clock.recorded(),
      model,
      wire,
      mode,
      epochs: [],
      messages: [],
      requests: [],
      writes: [],
      extras: {},
      totals,
      replyId: outboxId(issueId("outbox", parts.clock.real(), parts.random(10))),
      unremembered: [],
      endsRun: true,
      ...(answer && { forCaller: answer }),
    }),
  );
  yield { type: "failed", turn, error, isOver: true, totals };
}

/**
 * The turn whose open calls the thread's next one continues; undefined if nothing waits for them. `turns`: how many had ended on the
 * thread, for a caller that checks again whether these are all (`hold`): then less is read.
 */
export async function turnBefore(
  { store }: Parts,
  { scope, id }: Thread,
  turns?: number,
): Promise<TurnRecord | undefined> {
  const open = (await store.openCalls(scope, id, turns)).find(({ state }) => state !== "cancelled");
  return open && store.turn(scope, open.turn);
}
