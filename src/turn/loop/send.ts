import { setImmediate } from "node:timers/promises";
import { type Compilation, clearedTail, countMessage, requestOf, roomLeft, unreasoned } from "../../compiler/index.ts";
import { truncateText } from "../../guard/index.ts";
import {
  type AssistantPart,
  asStrataError,
  billedUsage,
  isKept,
  type Json,
  type Message,
  NO_USAGE,
  never,
  type Parameters,
  type Prediction,
  type Reply,
  type Request,
  StrataError,
  sentIn,
  type TranscriptMessage,
  type TurnEvent,
} from "../../protocol/index.ts";
import type { RebuiltRequest } from "../../store/index.ts";
import { changedSection, dollars } from "../../wire/index.ts";
import { reserveCall } from "../spending/reserve-call.ts";
import { callTooLong, inAll } from "../wording.ts";
import { answerInPlace } from "./answer.ts";
import { callOf } from "./ask-once.ts";
import { type PlannedRequest, planRequest } from "./plan-request.ts";
import { replyGuard } from "./reply-guard.ts";
import { parametersOf, withOmitted } from "./setup.ts";
import type { ModelCall, TurnSetup } from "./steps.ts";
import { add, type TurnState } from "./turn-state.ts";

/** The outcome of a model call, and what remains of it: the tail that the provider has cleared, and the model's text. */
export interface Answer {
  readonly reply: Reply;
  /** Nothing where the model said nothing. */
  readonly said: readonly TranscriptMessage[];
  /** The sent request, from which the turn continues. */
  readonly compilation: Compilation;
  /** Work in place of the model acts outside and was interrupted before: the turn ends without an answer. */
  readonly interrupted?: true;
  /** Calls that are not run because they are too long for the next request: id to reason. */
  readonly tooLong?: ReadonlyMap<string, string>;
}

/**
 * Sends one request of the turn and streams the answer. If the provider rejects the model's earlier reasoning, the request is sent again
 * without it, in a new epoch; the cause is determined and recorded.
 * @throws StrataError as `ask`
 */
export async function* send(state: TurnState, compilation: Compilation): AsyncGenerator<TurnEvent, Answer> {
  try {
    return yield* sendOnce(state, compilation);
  } catch (thrown) {
    const { code, message, details } = asStrataError(thrown);
    const next = code === "reasoning_refused" ? unreasoned(compilation, state.setup.count) : undefined;
    if (next === undefined) throw thrown;
    const changed = await changedSince(state, compilation);
    yield { type: "refused", changed, because: String(details.because ?? message) };
    const answer = yield* sendOnce(state, { ...next, ledger: { ...next.ledger, refused: { changed } } });
    return { ...answer, compilation: next };
  }
}

async function* sendOnce(state: TurnState, compiled: Compilation): AsyncGenerator<TurnEvent, Answer> {
  const compilation = { ...compiled, ledger: withOmitted(state.setup, compiled.ledger) };
  state.sent = compilation;
  state.unsent = state.added.length;
  yield { type: "compiled", round: state.requests.length + 1, ledger: compilation.ledger };
  const parameters = parametersOf(state.setup);
  const call = callOf(state, compilation, parameters, ask);
  const inPlace = yield* answerInPlace(state, call);
  if (inPlace !== undefined && "interrupted" in inPlace)
    return { reply: NOTHING, said: [], compilation, interrupted: true };
  const reply = inPlace?.reply ?? (yield* askHeard(state, compilation, { parameters, call }));
  const { parts, tooLong } = callsWithin(state, compilation, reply.parts);
  if (parts.length === 0) return { reply, said: [], compilation };
  const cleared = clearedTail(compilation);
  const before = cleared === undefined ? [] : [add(state, cleared.message, cleared.trust)];
  const said = [...before, add(state, { role: "assistant", parts }, compilation.taint)];
  return { reply, said, compilation, ...(tooLong && { tooLong }) };
}

const NOTHING: Reply = { parts: [], finish: "stop", usage: NO_USAGE };

/** Asks the model, and tells the answer to the steps that listen to it. */
async function* askHeard(
  state: TurnState,
  compilation: Compilation,
  { parameters, call }: { readonly parameters: Parameters; readonly call: ModelCall },
): AsyncGenerator<TurnEvent, Reply> {
  const bare = requestOf(compilation, parameters);
  const plan = (at: number): PlannedRequest => planRequest(state, compilation, { bare, at });
  const reply = yield* askPlanned(state, compilation, plan, (prediction) => comparedWith(state, prediction));
  for (const { answered } of state.parts.steps.answers) await answered?.(state, call, reply);
  return reply;
}

/**
 * The answer with which the provider compares the request: the thread's newest, if a read is predicted, so that a miss would be
 * unexpected. Undefined if this provider cannot be asked.
 */
function comparedWith({ setup, past, requests }: TurnState, { read }: Prediction): string | null | undefined {
  if (setup.model.compares === undefined) return undefined;
  const newest = requests.findLast(({ reply }) => reply?.id !== undefined)?.reply?.id ?? past.answer;
  return read > 0 && newest !== undefined ? newest : null;
}

/** Tokens that an answer to a call needs at the least. */
const SHORT_RESULT = 150;
/** Characters that stay of each text in the input of a call that is too long. */
const BEGINNING = 200;

/**
 * The model's answer, as the next request holds it. If its calls leave no room for their results, only the beginnings of the longest ones'
 * arguments are kept, and the model reads that they were not run: the turn does not fail.
 */
function callsWithin(
  { setup: { count } }: TurnState,
  compilation: Compilation,
  parts: readonly AssistantPart[],
): { readonly parts: readonly AssistantPart[]; readonly tooLong?: ReadonlyMap<string, string> } {
  const tokens = (some: readonly AssistantPart[]): number => countMessage({ role: "assistant", parts: some }, count);
  const calls = parts.filter((part) => part.type === "call");
  const room = roomLeft(compilation) - SHORT_RESULT * calls.length;
  if (calls.length === 0 || tokens(parts) <= room) return { parts };
  const cut = new Map<string, string>();
  let kept = parts;
  for (const call of calls.toSorted((one, other) => tokens([other]) - tokens([one]))) {
    if (tokens(kept) <= room) break;
    const short = { ...call, input: shortened(call.input) };
    // A short call is run: cut, it would take no less room.
    if (tokens([short]) >= tokens([call])) continue;
    const most = Math.max(0, room - tokens(kept) + tokens([call]));
    cut.set(call.id, callTooLong(tokens([call]), most));
    kept = kept.map((part) => (part === call ? short : part));
  }
  return cut.size === 0 ? { parts } : { parts: kept, tooLong: cut };
}

/** The same input with the beginnings of its texts; without any fields if it is long because of something else. */
function shortened(input: Json): Json {
  const cut = (value: Json): Json => {
    if (typeof value !== "string") return value;
    return truncateText(value, BEGINNING, inAll(value.length));
  };
  if (typeof input !== "object" || input === null) return cut(input);
  const short = Object.fromEntries(Object.entries(input).map(([key, value]) => [key, cut(value)]));
  return JSON.stringify(short).length <= 5 * BEGINNING ? short : {};
}

/**
 * Calls the model. The request is recorded whatever happens.
 * @throws StrataError `model_failed`, `rate_limited`, `key_refused`, `reasoning_refused`, `model_refused`, `turn_cancelled`
 */
export async function* ask(
  state: TurnState,
  compilation: Compilation,
  parameters: Parameters,
): AsyncGenerator<TurnEvent, Reply> {
  const bare = requestOf(compilation, parameters);
  return yield* askPlanned(state, compilation, (at) => planRequest(state, compilation, { bare, at }));
}

/** The same for a request whose breakpoints are planned otherwise, or that the provider compares with an earlier one. */
export async function* askPlanned(
  state: TurnState,
  compilation: Compilation,
  plan: (at: number) => PlannedRequest,
  comparing: (prediction: Prediction) => string | null | undefined = () => undefined,
): AsyncGenerator<TurnEvent, Reply> {
  const { clock } = state.parts;
  const began = { at: clock.recorded(), real: clock.real() };
  const { request: planned, prediction } = plan(began.at);
  const compare = comparing(prediction);
  const request = { ...planned, ...(compare !== undefined && { compare }) };
  await setImmediate();
  const { parameters } = request;
  const { most, settle } = await reserveCall(state, compilation, request);
  // No provider says what it bills for a call that was broken off.
  let unknown = most;
  let reply: Reply | null = null;
  try {
    reply = credible(yield* listen(state, request), { ...state.setup, prediction, parameters });
    // A rehearsal or a recording makes its usage up; only a provider knows how its model counts.
    const { ref, wire } = state.setup.model;
    if (ref === wire && reply.estimated === undefined) state.parts.observe(wire, request, reply.usage.input);
    return reply;
  } catch (thrown) {
    if (!state.lease.signal.aborted) unknown = 0;
    throw thrown;
  } finally {
    const bill = recordRequest(state, compilation, request, { ...began, reply, prediction });
    await settle(reply === null ? unknown : bill);
  }
}

async function* listen({ setup, lease, parts }: TurnState, request: Request): AsyncGenerator<TurnEvent, Reply> {
  const guard = replyGuard(setup.agent, parts.vault);
  for await (const event of setup.model.send(request, { signal: lease.signal, count: setup.count })) {
    switch (event.type) {
      case "text-delta": {
        const text = guard.push(event.text);
        if (text !== "") yield { type: "text-delta", text };
        break;
      }
      case "retry":
      case "reasoning-delta":
        yield event;
        break;
      case "call":
        break;
      case "reply": {
        const text = guard.end();
        if (text !== "") yield { type: "text-delta", text };
        const reply = guard.reply(event.reply);
        yield* guard.withheld();
        return reply;
      }
      default:
        return never(event);
    }
  }
  throw new StrataError("model_failed", `${setup.model.ref} ended its stream without an answer; try again`);
}

/** What Strata knows of a request and its answer by itself. */
interface EstimateInput extends Pick<TurnSetup, "card" | "count"> {
  readonly prediction: Prediction;
  readonly parameters: Parameters;
}

/**
 * The highest believable report, in windows or requested replies. An estimate is off by a small factor, a window may be a guess, and a
 * provider that runs tools by itself reports the sum of its rounds, each of which reads the whole prompt.
 */
const BELIEVED = 10;

/**
 * Impossible usage is kept as reported but billed by what was counted here, and so is a reply that had to be cut off: one absurd
 * report must not use up what an agent may spend, and a reply without figures must not be free.
 */
function credible(reply: Reply, { prediction, parameters, card: { contextWindow }, count }: EstimateInput): Reply {
  const { read, write, writeLong, input } = prediction;
  const { usage, capped } = reply;
  // Some models reason beyond the length that was asked for, but not beyond their window.
  const most = { input: BELIEVED * contextWindow, output: Math.max(BELIEVED * parameters.maxTokens, contextWindow) };
  if (usage.input <= most.input && usage.output <= most.output && capped === undefined) return reply;
  const output = countMessage({ role: "assistant", parts: reply.parts }, count);
  const sent = { input: read + write + input, cacheRead: read, cacheWrite: write };
  return { ...reply, estimated: { ...sent, ...(writeLong > 0 && { cacheWriteLong: writeLong }), output } };
}

/** What came of a request, and what was expected of it. */
interface AskResult {
  readonly at: number;
  readonly real: number;
  readonly prediction: Prediction;
  readonly reply: Reply | null;
}

/** Records the request together with its cost in US dollars. */
function recordRequest(
  state: TurnState,
  { epoch, own, ledger, taint }: Compilation,
  { tail, breakpoints, parameters, compare }: Request,
  { reply, prediction, ...began }: AskResult,
): number {
  const billed = reply === null ? NO_USAGE : billedUsage(reply);
  const cost = dollars(billed, state.setup.prices, prediction);
  state.requests.push({
    n: state.requests.length + 1,
    epoch: epoch.n,
    base: epoch.transcript.length,
    own: own.length,
    tail,
    breakpoints,
    parameters,
    ledger: reply === null && compare !== undefined ? { ...ledger, compare } : ledger,
    taint,
    prediction,
    reply,
    dollars: cost,
    at: began.at,
    milliseconds: state.parts.clock.real() - began.real,
  });
  return cost;
}

/**
 * The first part of a request that differs from the record of the thread's last finished turn: the model, a tool, a layer, a message,
 * or the answer then. Null if nothing differs, or nothing was sent before.
 */
async function changedSince(state: TurnState, compilation: Compilation): Promise<string | null> {
  const { store } = state.parts;
  const { id, scope } = state.lease.claim.thread;
  const turns = await store.turns(scope, id);
  // The messages of a turn that failed are not sent again.
  const turn = turns.findLast((one) => isKept(one) && one.requests.length > 0);
  const last = turn?.requests.findLast(({ reply }) => reply !== null);
  if (turn === undefined || last === undefined) return null;
  try {
    const before = await store.rebuild(scope, turn.id, last.n);
    if (before.wire !== state.setup.model.wire) return `the model, which was ${before.wire},`;
    return changedSection(withReply(before), requestOf(compilation, parametersOf(state.setup))) ?? null;
  } catch (thrown) {
    if (asStrataError(thrown).code !== "record_broken") throw thrown;
    return "the record itself, as `strata verify` tells,";
  }
}

/** What had been sent, and what was answered to it. */
function withReply({ request, reply, epoch }: RebuiltRequest): Pick<Request, "prefix" | "messages"> {
  const { prefix, messages, tail } = request;
  if (reply === null || reply.parts.length === 0) return { prefix, messages };
  const cleared = clearedTail({ tail, ledger: { entries: [] } });
  const said: readonly Message[] = [{ role: "assistant", parts: reply.parts }];
  return { prefix, messages: [...messages, ...(cleared ? [cleared.message] : []), ...sentIn(epoch, said)] };
}
