import { type Compilation, requestOf, roomLeft } from "../../compiler/index.ts";
import { frame } from "../../guard/index.ts";
import {
  layerId,
  lowestTrust,
  ownKind,
  type Parameters,
  type Reply,
  StrataError,
  type TurnEvent,
  toolName,
  untrusted,
} from "../../protocol/index.ts";
import { retryWhileBusy } from "../intake/lease.ts";
import { checkSpend } from "../spending/spend.ts";
import { parametersOf, withOmitted } from "./setup.ts";
import type { ModelCall, StepQuestion } from "./steps.ts";
import { claimOf, journalKey, type TurnState } from "./turn-state.ts";

/** The name of a step's message in requests and ledgers, and of its answer in the journal. */
export const COMPLETE = "complete";

/** The kind of the frame that holds it. */
const HANDLER = ownKind("handler");

/** The default answer size of a step's request. */
const USUAL_TOKENS = 4_096;

/** How a request is sent: `ask` of the turn. */
export type Sending = (
  state: TurnState,
  compilation: Compilation,
  parameters: Parameters,
) => AsyncGenerator<TurnEvent, Reply>;

/** A call of the model, for whoever may answer it or hears the answer. */
export const callOf = (
  state: TurnState,
  compilation: Compilation,
  parameters: Parameters,
  send: Sending,
): ModelCall => ({
  request: requestOf(compilation, parameters),
  taint: compilation.taint,
  events: claimOf(state).events,
  ask: (asked) => askOnce(state, compilation, asked, send),
});

/**
 * Asks the agent's model for a step that answers in its place, once: a turn that is run again finds the answer in the journal. A request that was
 * interrupted has changed nothing, so it is sent again.
 */
async function askOnce(state: TurnState, compilation: Compilation, asked: StepQuestion, ask: Sending): Promise<string> {
  const { store, clock } = state.parts;
  const { scope } = state.lease.claim.thread;
  const { message, temperature = null, maxTokens = null } = asked;
  const events = claimOf(state).events.map(({ id }) => id);
  const key = journalKey(state, { tool: toolName(COMPLETE), input: { events, message, temperature, maxTokens } });
  const journal = await store.beginCall(scope, key, clock.recorded());
  if (journal.state === "done") return journal.outcome.text;
  const text = await askModel(state, compilation, asked, ask);
  const end = () => store.endCall(scope, key, { text: untrusted(text), failed: false }, clock.recorded());
  if (journal.state === "new") await retryWhileBusy(end);
  // Calls that an earlier turn started have an entry there, and are asked again after this one.
  else await end().catch(() => undefined);
  state.lease.signal.throwIfAborted();
  return text;
}

async function askModel(
  state: TurnState,
  compilation: Compilation,
  { message, ...parameters }: StepQuestion,
  ask: Sending,
): Promise<string> {
  const { setup } = state;
  const { maxTokens = USUAL_TOKENS } = parameters;
  const asking = { ...setup, parameters: { ...setup.parameters, ...parameters, maxTokens } };
  const extended = withMessage(state, compilation, message);
  const compiled = { ...extended, ledger: withOmitted(asking, extended.ledger) };
  state.sent ??= compilation;
  const sent = parametersOf(asking);
  const call = callOf(state, compiled, sent, ask);
  const caches = state.parts.steps.answers.filter(({ isCache }) => isCache);
  for (const cache of caches) {
    const kept = await cache.answer(state, call);
    if (kept === undefined) continue;
    state.answered.push({ by: cache.by, taint: call.taint });
    return kept.text;
  }
  // The turn has reserved money for its own request already: this one takes its place, and must not wait for it.
  await checkSpend(state);
  const asked = ask(state, compiled, sent);
  for (;;) {
    const { done, value } = await asked.next();
    if (!done) continue;
    for (const cache of caches) await cache.answered?.(state, call, value);
    return textIn(value);
  }
}

/** @throws StrataError `model_failed` for a reply of calls alone: nobody would answer them */
function textIn({ parts }: Reply): string {
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
  const call = parts.find((part) => part.type === "call");
  if (call === undefined || text.trim() !== "") return text;
  const sentence = `the model called ${call.tool} where only text is wanted; try again, or say in the message that it is to call nothing`;
  throw new StrataError("model_failed", sentence, { tool: call.tool });
}

/** The message is the request's last words, as a part of its tail: so the record holds it, and the conversation does not. */
function withMessage(state: TurnState, compilation: Compilation, message: StepQuestion["message"]): Compilation {
  const trust = lowestTrust([compilation.taint, "agent"]);
  // The handler's clock says the same. So a turn that is run again asks the same.
  const at = claimOf(state).events.at(-1)?.at ?? state.parts.clock.recorded();
  const text = frame({ kind: HANDLER, trust, at }, message);
  const tokens = state.setup.count(text);
  const { ledger, tail } = compilation;
  if (tokens > roomLeft(compilation)) {
    const sentence = `what a handler asks has ${tokens} tokens, and only ${Math.max(0, roomLeft(compilation))} are left; it must ask less, or needs higher budgets`;
    throw new StrataError("budget_too_small", sentence, { tokens });
  }
  const section = layerId(COMPLETE);
  const entry = { section, place: "tail", trust, tokens, wanted: tokens, fate: "kept" } as const;
  return {
    ...compilation,
    taint: trust,
    tail: [...tail, { layer: section, text }],
    ledger: { ...ledger, entries: [...ledger.entries, entry], tokens: ledger.tokens + tokens },
  };
}
