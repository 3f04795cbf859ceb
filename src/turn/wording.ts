/** The sentences of the turn's loop that a model reads. `tests/house/golden/wording.txt` lists them all. */
import { type AgentState, REPLY_TOOL, type StopReason } from "../protocol/index.ts";

/** What a limit is called after "its", for the model whose turn it ends. */
export const limitName = (stop: StopReason): string => {
  switch (stop) {
    case "modelCalls":
      return "limit of model calls";
    case "toolCalls":
      return "limit of tool calls";
    case "maxCost":
      return "cost limit";
    default:
      return `limit (${stop})`;
  }
};

export const notRun = (limit: StopReason): string => `Not run: this turn has reached its ${limitName(limit)}.`;

export const noSuchTool = (tool: string, tools: readonly string[]): string =>
  `There is no tool ${tool}. The tools are: ${tools.join(", ") || "none"}.`;

/** A call of a deferred tool whose schema the conversation does not show. */
export const notLoaded = (tool: string, finder: string): string =>
  `Not run: ${tool} is not loaded. Find it with ${finder} first, then call it with what its schema asks for.`;

/** A call of a tool that the sender of the message has not allowed. */
export const notForThisMessage = (tool: string, tools: readonly string[]): string =>
  `Not run: ${tool} may not be called for this message. The tools that may are: ${tools.join(", ") || "none"}.`;

/** Why a tool may not be called now, as the rest of a sentence about it. */
export const wrongState = (states: readonly AgentState[], state: AgentState): string =>
  `may be called only while ${states.join(" or ")}, and the agent is ${state}`;

export const notNow = (tool: string, because: string): string => `Not run: ${tool} ${because}. Continue without it.`;

export const tooOften = (tool: string, calls: number): string =>
  `Not run: ${tool} may be called only ${calls === 1 ? "once per turn, and already was" : `${calls} times per turn, and that limit is reached`}. Continue without it.`;

export const afterOutsideText = (tool: string): string =>
  `Not run: ${tool} is unavailable once the turn has read outside text. Continue without it.`;

/** Calls that a turn does not make a second time when it is run again. */
export const NOT_AGAIN = {
  unknown:
    "Interrupted: this call had started, and its outcome is unknown. Check what it should have changed before you call it again.",
  elsewhere:
    "Not run: this call was already made in an earlier attempt to answer several senders, and its result is not shown here. Treat it as done.",
} as const;

/** Behind the last results that a turn's model reads before its last call. */
export const LAST_REPLY = "(This is your last reply in this turn; no more tool calls will run. Answer now.)";
export const LAST_REPLIES = `(This is your last reply in this turn; of all tools only \`${REPLY_TOOL}\` will run. Reply now to everyone who is still waiting.)`;

/** A call with a longer input than the next request has room for. */
export const callTooLong = (tokens: number, most: number): string =>
  `Not run: this call has ${tokens} tokens, and only ${most} fit. Its arguments are shown truncated; write less, or split it over several turns.`;
export const inAll = (characters: number): string => `… (${characters} characters in total)`;

/** An answer that does not fit the agent's `output`. */
export const answerAgain = (problem: string): string =>
  `Your last answer cannot be used: ${problem}. Reply again with exactly one JSON value that matches the schema, and nothing else.`;

/** What went out in place of a reply, behind it in the conversation. */
export const notSent = (because: string): string => `Your last reply was not sent: ${because}.`;
export const sentInstead = (text: string): string => `Instead of your last reply, this was sent:\n${text}`;

export const NOT_JSON = "it is not JSON";
export const TOO_DEEP = "it is nested too deeply to check";
export const misfit = (where: string, problem: string): string => `${where} ${problem}`;
export const UNKNOWN_KEY = "has a key that the schema does not name";

/** How a tool's run ended that gave no answer. `ending` is one of the two below. */
export const failed = (tool: string, problem: string): string => `${tool} failed: ${problem}`;
export const stoppedBefore = (tool: string): string => `${tool} was stopped before it started`;
export const abandoned = (tool: string, ending: string): string =>
  `${tool} ${ending}; its effect is unknown. Check what it should have changed before you call it again.`;
export const STOPPED = "was stopped";
export const tookTooLong = (seconds: number): string => `took longer than ${seconds} s`;

/** The opening of a recording that begins with the agent. */
export const BEGIN = "Begin the conversation.";

/** Calls whose answers come later. */
export const NOT_YET = "No answer yet. Continue without it; if it comes, it comes as a message of its own.";
export const CANCELLED = "Cancelled: nobody waits for this answer any more.";
export const laterForSeveral = (tool: string): string =>
  `Not run: the answer to ${tool} comes later, and a turn with several senders cannot wait for it. Continue without it.`;

/** What an agent that was asked answers where it has no answer. */
export const NO_ANSWER = "The turn ended without an answer.";
export const askedFailed = (because: string): string => `The turn failed: ${because}`;
