import { frame } from "../guard/index.ts";
import {
  type Spoken,
  type StopReason,
  StrataError,
  spoken,
  type TranscriptMessage,
  untrusted,
} from "../protocol/index.ts";
import { readOutput } from "../tools/index.ts";
import { limitReached } from "./calls.ts";
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
 * @throws StrataError `output_invalid` when the second answer does not fit either, or the turn ended early
 */
export function heard(work: Work, stop: StopReason): Said {
  const { agent, model } = work.cast;
  const texts = work.added.map(({ message }) =>
    message.role === "assistant" ? message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [],
  );
  const said = texts.flat();
  if (agent.output === undefined || stop === "recording ended") {
    return { stop, reply: said.length === 0 ? null : spoken(said.join("\n\n")) };
  }
  const read = readOutput(agent.output, texts.findLast((one) => one.length > 0)?.join("") ?? "");
  if ("value" in read) return { stop, reply: spoken(JSON.stringify(read.value)) };
  work.misfits++;
  const mayAsk = stop === "answered" && work.misfits < ATTEMPTS && limitReached(work) === undefined;
  if (mayAsk) return { again: asked(work, read.problem) };
  const ended = stop === "answered" ? "" : ` (the turn ended early: ${stop})`;
  throw new StrataError(
    "output_invalid",
    `${model.ref} answered what does not fit the agent's \`output\`: ${read.problem}${ended}; run the turn again, or make the schema simpler`,
    { problem: read.problem, stop },
  );
}

/** The platform's own word, framed like everything that comes after the system. */
function asked(work: Work, problem: string): TranscriptMessage {
  const says = `Your last answer cannot be used: ${problem}. Answer once more with the one JSON value that fits the schema, and nothing around it.`;
  const text = frame({ kind: "warning", trust: "platform", at: work.parts.clock() }, untrusted(says));
  return add(work, { role: "user", parts: [{ type: "text", text }] }, "platform");
}
