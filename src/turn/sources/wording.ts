/** The sentences of live layers that a model reads. `tests/house/golden/wording.txt` lists them all. */

export const NO_TOOLS = "No tools are available in this turn.";

/** In place of a layer whose source failed or was late. */
export const SOURCE_FAILED = "This could not be read for this turn, so what it would say is not known.";

const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;

const bothCounted = (toolCalls: number, modelCalls: number): string =>
  `${counted(toolCalls, "tool call")}, ${counted(modelCalls, "model call")}`;

/** Over the list of the turn's tools. */
export const allowed = (toolCalls: number, modelCalls: number): string =>
  `${bothCounted(toolCalls, modelCalls)} in this turn:`;
/** Instead of that list, after a call. */
export const leftNow = (toolCalls: number, modelCalls: number): string =>
  `Left in this turn: ${bothCounted(toolCalls, modelCalls)}.`;
export const callsAllowed = (calls: number): string => counted(calls, "call");
export const callsLeft = (tool: string, calls: number): string =>
  `${tool}: ${calls === 0 ? "no more calls" : calls === 1 ? "1 more call" : `${calls} more calls`}`;
/** Where the message allows fewer tools than the agent has. */
export const onlyTools = (tools: readonly string[]): string => `Only these tools may be called: ${tools.join(", ")}.`;
export const onlyWhile = (states: readonly string[]): string => `only while ${states.join(" or ")}`;

export const clockLine = (weekday: string, time: string, timezone: string): string =>
  `It is ${weekday}, ${time} (${timezone}).`;
