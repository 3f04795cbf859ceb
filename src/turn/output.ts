import { frame } from "../guard/index.ts";
import {
  type Spoken,
  type StopReason,
  StrataError,
  spoken,
  type TranscriptMessage,
  untrusted,
} from "../protocol/index.ts";
import { unansweredOf } from "./batch-turn.ts";
import { limitReached } from "./calls.ts";
import type { Ending } from "./steps.ts";
import { readOutput } from "./tools/index.ts";
import { inWindow } from "./window.ts";
import { add, type Work } from "./work.ts";

/** What the agent said, or, where it does not fit the agent's `output`, what to say to the model so that it answers once more. */
export type Said =
  | { readonly stop: StopReason; readonly reply: Spoken | null }
  | { readonly reply?: undefined; readonly again: TranscriptMessage };

/** As often may a model answer in a turn before its answer counts as what it is. */
const ATTEMPTS = 2;

/**
 * The agent's answer, as the contact reads it: all that it said in the turn, or, where it declares an `output`, its last
 * answer as JSON in one line.
 * @throws StrataError what the funds say that ended the turn before it had said anything; `output_invalid` when the
 * second answer does not fit either, or the turn ended early otherwise
 */
export function finalAnswer(work: Work, stop: StopReason): Said {
  const { agent, model } = work.setup;
  const texts = textsOf(work);
  if (agent.output === undefined || stop === "recording ended") {
    const gone = endedBy(work, stop);
    if (gone !== undefined && !hasSpoken(work)) throw gone;
    return { stop, reply: wholeOf(texts) };
  }
  const read = readOutput(agent.output, texts.findLast((one) => one.length > 0)?.join("") ?? "");
  if ("value" in read) return { stop, reply: spoken(JSON.stringify(read.value)) };
  work.misfits++;
  const limit = limitReached(work);
  const isOpen = (stop === "answered" || endedBy(work, stop) !== undefined) && work.misfits < ATTEMPTS;
  const gone = limit && endedBy(work, limit);
  if (isOpen && gone !== undefined) throw gone;
  if (isOpen && limit === undefined) return { again: asked(work, read.problem) };
  const ended = stop === "answered" ? "" : ` (the turn ended early: ${stop})`;
  throw new StrataError(
    "output_invalid",
    `${model.ref} gave an answer that does not match the agent's \`output\`: ${read.problem}${ended}; run the turn again, or make the schema simpler`,
    { problem: read.problem, stop },
  );
}

/**
 * How a turn ends that something has stopped. What it has said is the reply where the end of its agent's funds ended it between two
 * requests: they are spent, and what was said is said.
 */
export function stoppedBy(work: Work, error: StrataError): Ending {
  const gone = work.parts.steps.funds.find(({ code }) => code === error.code);
  if (gone === undefined || work.setup.agent.output !== undefined || !hasSpoken(work)) {
    return { status: "failed", error: inWindow(work.setup, error, work.sent?.ledger.mode) };
  }
  return { status: "done", stop: gone.stop, reply: wholeOf(textsOf(work)) };
}

/** What the funds say whose end ended the turn so. */
function endedBy({ setup, left }: Work, stop: StopReason): StrataError | undefined {
  const gone = left.funds.find(({ of }) => of.stop === stop);
  return gone?.of.refusal(setup.agent, gone.dollars);
}

/** What the model said in each message of the turn. */
const textsOf = ({ added }: Work): readonly (readonly string[])[] =>
  added.map(({ message }) =>
    message.role === "assistant" ? message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [],
  );

function wholeOf(texts: readonly (readonly string[])[]): Spoken | null {
  const said = texts.flat().join("\n\n");
  return said.trim() === "" ? null : spoken(said);
}

/** Whether a sender is told anything: of several, each is told what is said to it alone. */
const hasSpoken = (work: Work): boolean =>
  unansweredOf(work) === undefined ? wholeOf(textsOf(work)) !== null : work.replies.size > 0;

/** The platform's own word, framed like everything that comes after the system. */
function asked(work: Work, problem: string): TranscriptMessage {
  const says = `Your last answer cannot be used: ${problem}. Answer once more with the one JSON value that fits the schema, and nothing around it.`;
  const text = frame({ kind: "warning", trust: "platform", at: work.parts.clock() }, untrusted(says));
  return add(work, { role: "user", parts: [{ type: "text", text }] }, "platform");
}
