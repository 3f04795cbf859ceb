import { frame } from "../../guard/index.ts";
import {
  type Json,
  type JsonObject,
  joinFindings,
  ownKind,
  type Spoken,
  type StopReason,
  StrataError,
  spoken,
  type TranscriptMessage,
  untrusted,
} from "../../protocol/index.ts";
import { isTooDear } from "../spending/reserve-call.ts";
import { soleReply, unansweredOf } from "../variants/batch-turn.ts";
import { answerAgain, misfit, NOT_JSON, TOO_DEEP, UNKNOWN_KEY } from "../wording.ts";
import { limitReached } from "./calls.ts";
import { misfitsIn } from "./misfits-in.ts";
import { inWindow } from "./setup.ts";
import type { Ending } from "./steps.ts";
import { add, type TurnState } from "./turn-state.ts";

/** The agent's answer, or, if it does not fit the agent's `output`, the message that asks the model to answer again. */
export type AnswerVerdict =
  | { readonly stop: StopReason; readonly reply: Spoken | null }
  | { readonly reply?: undefined; readonly again: TranscriptMessage };

/** How many answers a model may give in a turn before one that does not fit the schema ends it. */
const ATTEMPTS = 2;

/**
 * The agent's answer, as the contact reads it: all the turn's text, or, if the agent declares an `output`, its last answer as JSON in one
 * line.
 * @throws StrataError the refusal of funds that ended the turn before it had said anything; `output_invalid` when the
 * second answer does not fit either, or the turn ended early otherwise
 */
export function finalAnswer(state: TurnState, stop: StopReason): AnswerVerdict {
  const { agent, model } = state.setup;
  const texts = textsByMessage(state);
  if (agent.output === undefined || stop === "recording ended") {
    const gone = endedBy(state, stop);
    if (gone !== undefined && !hasSpoken(state)) throw gone;
    return { stop, reply: saidSoFar(state) };
  }
  const read = readOutput(agent.output, texts.findLast((one) => one.length > 0)?.join("") ?? "");
  if ("value" in read) return { stop, reply: spoken(JSON.stringify(read.value)) };
  state.misfits++;
  const limit = limitReached(state);
  const isOpen = (stop === "answered" || endedBy(state, stop) !== undefined) && state.misfits < ATTEMPTS;
  const gone = limit && endedBy(state, limit);
  if (isOpen && gone !== undefined) throw gone;
  if (isOpen && limit === undefined) return { again: askAgain(state, read.problem) };
  const ended = stop === "answered" ? "" : ` (the turn ended early: ${stop})`;
  throw new StrataError(
    "output_invalid",
    `${model.ref} gave an answer that does not match the agent's \`output\`: ${read.problem}${ended}; run the turn again, or make the schema simpler`,
    { problem: read.problem, stop },
  );
}

/**
 * How a turn ends that was stopped by an error. If the agent's funds or the run's money ran out between two requests, what it has said so
 * far is the reply: it is paid for.
 */
export function stoppedBy(state: TurnState, error: StrataError): Ending {
  const gone = state.parts.steps.funds.find((one) => one.error.is(error))?.stop.reason;
  const stop = gone ?? (isTooDear(error) ? "maxCost" : undefined);
  // More money comes to funds, but never to a run: it ends here, whatever was said.
  const isOver = gone === undefined && (state.requests.length > 0 || state.lease.claim.continues !== undefined);
  if (stop === undefined || state.setup.agent.output !== undefined || !(isOver || hasSpoken(state))) {
    return { status: "failed", error: inWindow(state.setup, error, state.sent?.ledger.mode) };
  }
  return { status: "done", stop, reply: saidSoFar(state) };
}

/** The refusal of the funds that ended the turn, if funds did. */
function endedBy({ setup, left }: TurnState, stop: StopReason): StrataError | undefined {
  const gone = left.funds.find(({ of }) => of.stop.reason === stop);
  return gone?.of.refusal(setup.agent, gone.dollars);
}

/** The model's text in each message of the turn. */
const textsByMessage = ({ added }: TurnState): readonly (readonly string[])[] =>
  added.map(({ message }) =>
    message.role === "assistant" ? message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [],
  );

function wholeOf(texts: readonly (readonly string[])[]): Spoken | null {
  const said = texts.flat().join("\n\n");
  return said.trim() === "" ? null : spoken(said);
}

/** The agent's reply: by a call to its only sender, else all its texts. */
export const saidSoFar = (state: TurnState): Spoken | null => soleReply(state) ?? wholeOf(textsByMessage(state));

/** Whether there is a reply for any sender. In a turn of several senders, each gets only what is said to it. */
const hasSpoken = (state: TurnState): boolean =>
  unansweredOf(state) === undefined ? saidSoFar(state) !== null : state.replies.size > 0;

const WARNING = ownKind("warning");

/** The platform's own word, framed like everything that comes after the system. */
function askAgain(state: TurnState, problem: string): TranscriptMessage {
  const header = { kind: WARNING, trust: "platform", at: state.parts.clock.recorded() } as const;
  const text = frame(header, untrusted(answerAgain(problem)));
  return add(state, { role: "user", parts: [{ type: "text", text }] }, "platform");
}

/** An answer read as JSON: its value, or in one sentence for the model why it is not what was asked for. */
type ReadOutput = { readonly value: Json } | { readonly problem: string };

/**
 * Reads an answer that must be one JSON value which fits a schema. A fence of Markdown around it is taken off: models put
 * one there against every instruction. A problem quotes nothing of the answer: it is sent as the platform's own words, and a
 * contact may have shaped the answer.
 * @throws StrataError `config_invalid` for a schema that cannot be checked
 */
function readOutput(schema: JsonObject, text: string): ReadOutput {
  const json = text.trim().replace(/^```(?:json)?\s*\n([\s\S]*)\n```$/, "$1");
  try {
    const value: Json = JSON.parse(json);
    const misfits = checked(schema, value);
    return misfits.length === 0 ? { value } : { problem: problemsOf(schema, misfits) };
  } catch (thrown) {
    if (thrown instanceof StrataError) throw thrown;
    return { problem: thrown instanceof SyntaxError ? NOT_JSON : TOO_DEEP };
  }
}

/** All problems by the names that the schema itself uses, and no others. */
function problemsOf(schema: JsonObject, misfits: ReturnType<typeof misfitsIn>): string {
  const known = namesIn(schema);
  const sentences = misfits.map(({ path, says, code }) => {
    const isKnown = path.every((step) => typeof step === "number" || known.has(String(step)));
    const where = path.length === 0 || !isKnown ? "the value" : JSON.stringify(path.join("."));
    const isOurs = code !== "unrecognized_keys" && code !== "invalid_key" && isKnown;
    return misfit(where, isOurs ? says : UNKNOWN_KEY);
  });
  return joinFindings([...new Set(sentences)]);
}

function namesIn(schema: Json): ReadonlySet<string> {
  if (typeof schema !== "object" || schema === null) return new Set();
  const below = Object.values(schema).flatMap((member) => [...namesIn(member)]);
  const own = "properties" in schema && schema["properties"] !== null ? Object.keys(Object(schema["properties"])) : [];
  return new Set([...own, ...below]);
}

function checked(schema: JsonObject, value: Json): ReturnType<typeof misfitsIn> {
  try {
    return misfitsIn(schema, value);
  } catch (thrown) {
    if (thrown instanceof RangeError) throw thrown;
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new StrataError(
      "config_invalid",
      `the agent's \`output\` is not a schema that can be checked: ${why}`,
      {},
      thrown,
    );
  }
}
