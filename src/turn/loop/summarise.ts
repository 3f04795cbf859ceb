import {
  type Compilation,
  isEarlier,
  messagesCut,
  type Summary,
  saidSummaryRequest,
  summarizedBy,
  summaryRequest,
} from "../../compiler/index.ts";
import { frame } from "../../guard/index.ts";
import {
  asStrataError,
  type Epoch,
  lowestTrust,
  ownKind,
  type Trust,
  type TurnEvent,
  type Untrusted,
  untrusted,
} from "../../protocol/index.ts";
import type { Prepared } from "./gather.ts";
import { ask } from "./send.ts";
import { limitOf, parametersOf } from "./setup.ts";
import type { TurnState } from "./turn-state.ts";

/** Tokens of a summary: a twentieth of what may be sent, within these bounds. */
const SHORTEST = 150;
const LONGEST = 1_000;

/** One summary for this many tokens that cuts have left out: one at each cut would cost more than the cuts save. */
const ONCE = 24_000;

/** English has some three words for four tokens. */
const WORDS_PER_TOKEN = 0.7;

/**
 * The turn's first request. If the running transcript had to be cut for it, the agent's own model is first asked to summarize what is
 * removed; if it cannot, only the notice of the cut is sent. No cut goes without a notice.
 */
export async function* withSummary(state: TurnState, prepared: Prepared): AsyncGenerator<TurnEvent, Compilation> {
  const { epoch } = state.lease.claim;
  const messages = messagesCut(epoch, prepared.compilation);
  if (messages === 0 || epoch === undefined) return prepared.compilation;
  const made = yield* summed(state, prepared, { epoch, messages });
  if ("because" in made) {
    yield { type: "cut", messages, because: made.because };
    return prepared.compilation;
  }
  const compilation = prepared.withSummary(made);
  const because = standsFor(compilation) ? {} : { because: "it would leave no room for the conversation" };
  yield { type: "cut", messages, ...because };
  return compilation;
}

async function* summed(
  state: TurnState,
  { compilation }: Prepared,
  { epoch, messages }: { readonly epoch: Epoch; readonly messages: number },
): AsyncGenerator<TurnEvent, Summary | { readonly because: string }> {
  // An agent has summaries of cut messages only if it asks for them.
  if (state.setup.agent.summaries !== true || !speaksForItself(state)) return { because: "no model is asked for one" };
  const unsummarized = (epoch.cut + messages - summarizedBy(epoch)) * leftOutPerMessage(epoch, compilation);
  if (unsummarized < Math.min(ONCE, limitOf(state.setup) / 4))
    return { because: "too little has been cut since the last one" };
  // The running epoch still shows what was forgotten, and is not sent again.
  const ended = compilation.opened.slice(0, -1).find(({ reason }) => reason !== "edited");
  if (ended?.reason === "model") return { because: "another model answers now" };
  if (ended?.reason === "migrated") return { because: "the conversation was moved to another version of its agent" };
  if (ended?.reason === "retracted") return { because: "an event was retracted that was shown in it" };
  if (ended?.reason === "mode") return { because: "the turn was run in another mode" };
  if (ended !== undefined) return { because: "a memory was forgotten that was shown in it" };
  return yield* sumUp(state, epoch.cut + messages, (asking) =>
    summaryRequest(epoch, messages, { ...asking, layers: state.setup.agent.layers, sent: sentOf(state, epoch) }),
  );
}

/** Whether a summary of this cut is at the beginning of the request. */
const standsFor = ({ epoch }: Compilation): boolean => summarizedBy(epoch) >= epoch.cut;

/** The kind of the frame that holds what was said. */
const CONVERSATION = ownKind("conversation");

/** A summary of what was said on the thread, and of nothing else: its tool calls and their results are not sent. */
export async function sumUpSaid(
  state: TurnState,
  { text, trust }: { readonly text: Untrusted; readonly trust: Trust },
): Promise<Summary | undefined> {
  const { epoch } = state.lease.claim;
  if (epoch === undefined || !speaksForItself(state) || state.limitsLeft().modelCalls < 1) return undefined;
  const framed = frame({ kind: CONVERSATION, trust, at: state.parts.clock.recorded() }, text);
  const summing = sumUp(state, epoch.cut, (asking) => saidSummaryRequest(epoch, { text: framed, trust }, asking));
  for (let next = await summing.next(); ; next = await summing.next())
    if (next.done === true) return "because" in next.value ? undefined : next.value;
}

/** Reports a cut that a tool round made necessary: no summary is requested in the middle of an answer. */
export function* cutInTurn(before: Compilation, after: Compilation): Generator<TurnEvent> {
  const messages = messagesCut(before.epoch, after);
  if (messages > 0) yield { type: "cut", messages, because: "it was cut in the middle of a turn" };
}

/** A rehearsal and a recording say what they say. */
const speaksForItself = ({ setup, recorded }: TurnState): boolean =>
  recorded === undefined && !["rehearsal", "recording", "none"].includes(setup.model.ref);

async function* sumUp(
  state: TurnState,
  upTo: number,
  request: (asking: Pick<Parameters<typeof summaryRequest>[2], "words" | "limit" | "count">) => Compilation,
): AsyncGenerator<TurnEvent, Summary | { readonly because: string }> {
  const wanted = Math.min(Math.max(Math.floor(limitOf(state.setup) / 20), SHORTEST), LONGEST);
  // A summary may not exceed the largest reply that the budget and the model allow.
  const reply = parametersOf(state.setup).maxTokens;
  const maxTokens = Math.min(wanted, reply);
  // The rest of the reply's room is available for the question.
  const limit = limitOf(state.setup) + reply - maxTokens;
  if (state.setup.limits.modelCalls < 2) return { because: "the turn may call its model only once" };
  const words = Math.floor(maxTokens * WORDS_PER_TOKEN);
  const asked = request({ words, limit, count: state.setup.count });
  if (asked.ledger.tokens > limit) return { because: "the request for a summary would not fit the budget" };
  const { signal } = state.lease;
  try {
    const { parts, finish } = yield* quietly(ask(state, asked, { maxTokens }));
    if (finish !== "stop") return { because: `the model did not finish it (${finish})` };
    const text = parts
      .flatMap((part) => (part.type === "text" ? [part.text] : []))
      .join("\n")
      .trim();
    if (text === "") return { because: "the model gave none" };
    const trust = lowestTrust([asked.taint, "agent"]);
    return { text: untrusted(text), trust, at: state.parts.clock.recorded(), upTo };
  } catch (thrown) {
    signal.throwIfAborted();
    return { because: asStrataError(thrown).message };
  }
}

/** How many messages of the epoch the thread's last request had. */
function sentOf({ past: { sent } }: TurnState, { n }: Epoch): number {
  const last = sent.at(-1);
  return last?.epoch === n ? last.base + last.own : 0;
}

/** How many tokens of a message this cut leaves out, on average: mostly long replies, since what others wrote stays in short. */
function leftOutPerMessage(before: Epoch, { epoch }: Compilation): number {
  const sum = (of: Epoch["transcript"]): number => of.reduce((all, { tokens }) => all + tokens, 0);
  const own = before.transcript.filter(({ turn }) => turn !== null);
  const removed = own.slice(0, epoch.cut - before.cut);
  const stays = sum(epoch.transcript.filter(isEarlier)) - sum(before.transcript.filter(isEarlier));
  return Math.max(sum(removed) - stays, 0) / Math.max(removed.length, 1);
}

/** Its text is not the agent's answer: only events about the call itself pass. */
async function* quietly<T>(asking: AsyncGenerator<TurnEvent, T>): AsyncGenerator<TurnEvent, T> {
  for (;;) {
    const { done, value } = await asking.next();
    if (done) return value;
    if (value.type === "retry") yield value;
  }
}
