import { NO_USAGE, type Reply, spoken, type TurnEvent, toolName, untrusted } from "../../protocol/index.ts";
import { retryWhileBusy } from "../intake/lease.ts";
import { COMPLETE } from "./ask-once.ts";
import { replyGuard } from "./reply-guard.ts";
import type { AnswerStep, ModelCall, StepAnswer } from "./steps.ts";
import { journalKey, type TurnState } from "./turn-state.ts";

/** A reply in place of the model's. `interrupted`: the work was begun before and acts outside, so it is not done again. */
export type InPlace = { readonly reply: Reply } | { readonly interrupted: true };

/** The answer of the first feature that has one. It costs nothing, and passes the reply guard like a model's. */
export async function* answerInPlace(
  state: TurnState,
  call: ModelCall,
): AsyncGenerator<TurnEvent, InPlace | undefined> {
  // A recording holds the answers.
  if (state.recorded !== undefined) return undefined;
  for (const step of state.parts.steps.answers) {
    const answered = { by: step.byFor?.(state.setup.agent) ?? step.by, taint: call.taint };
    const before = state.requests.length;
    let answer: StepAnswer | undefined | "interrupted";
    try {
      answer = await (step.effect === "external" ? once(state, step, call) : step.answer(state, call));
    } catch (thrown) {
      state.answered.push({ ...answered, failed: true });
      throw thrown;
    } finally {
      // What the step asked the model was sent as well.
      const asked = state.requests.slice(before);
      for (const { n, ledger } of asked) yield { type: "compiled", round: n, ledger };
    }
    if (answer === undefined) continue;
    state.answered.push({ ...answered, ...(answer === "interrupted" && { interrupted: true as const }) });
    if (answer === "interrupted") return { interrupted: true };
    const guard = replyGuard(state.setup.agent, state.parts.vault);
    const reply = guard.reply(replyOf(answer, state.answered.length));
    for (const part of reply.parts)
      if (part.type === "text" && part.text !== "") yield { type: "text-delta", text: part.text };
    yield* guard.withheld();
    return { reply };
  }
  return undefined;
}

function replyOf({ text, calls = [] }: StepAnswer, round: number): Reply {
  const called = calls.map((call, i) => ({ type: "call", id: `step-${round}-${i + 1}`, ...call }) as const);
  const said = text === "" ? [] : [{ type: "text", text: spoken(text) } as const];
  return { parts: [...said, ...called], finish: called.length > 0 ? "calls" : "stop", usage: NO_USAGE };
}

/** Before the name of a step, in the journal. */
const ANSWERS = "answer_";

/** Whether a journal entry does not belong to a tool: a step answered in place of the model, or asked it. */
export const isStepCall = (name: string): boolean => name.startsWith(ANSWERS) || name === COMPLETE;

/** The call is written down before the work begins and its answer before it is used, so that a turn that is run again does not act again (law 7). */
async function once(
  state: TurnState,
  step: AnswerStep,
  call: ModelCall,
): Promise<StepAnswer | undefined | "interrupted"> {
  const { store, clock } = state.parts;
  const { scope } = state.lease.claim.thread;
  const events = call.events.map(({ id }) => id);
  const round = state.added.filter(({ message }) => message.role === "assistant").length + 1;
  const key = journalKey(state, { tool: toolName(`${ANSWERS}${step.by}`), input: { events, round } });
  const journal = await store.beginCall(scope, key, clock.recorded());
  if (journal.state === "done") return readStepAnswer(journal.outcome.text);
  if (journal.state !== "new") return "interrupted";
  const answer = await step.answer(state, call);
  const outcome = { text: untrusted(JSON.stringify(answer ?? null)), failed: false };
  await retryWhileBusy(() => store.endCall(scope, key, outcome, clock.recorded()));
  state.lease.signal.throwIfAborted();
  return answer;
}

/** As it was written down by `once`. */
function readStepAnswer(text: string): StepAnswer | undefined {
  const answer: StepAnswer | null = JSON.parse(text);
  return answer ?? undefined;
}
