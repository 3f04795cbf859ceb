/** The sentences of live layers that a model reads. `tests/house/golden/wording.txt` lists them all. */

export const NO_TOOLS = "No tools are available in this turn.";

/** In place of a layer whose source failed or was late. */
export const SOURCE_FAILED = "This could not be read for this turn, so what it would say is not known.";

/** Over the list of the turn's tools. */
export const allowed = (calls: string, modelCalls: string): string => `${calls}, ${modelCalls} in this turn:`;
/** Instead of that list, after a call. */
export const leftNow = (toolCalls: string, modelCalls: string): string =>
  `Left in this turn: ${toolCalls}, ${modelCalls}.`;
export const callsLeft = (tool: string, calls: number): string =>
  `${tool}: ${calls === 0 ? "no more calls" : calls === 1 ? "1 more call" : `${calls} more calls`}`;
/** Where the message allows fewer tools than the agent has. */
export const onlyTools = (tools: readonly string[]): string => `Only these tools may be called: ${tools.join(", ")}.`;
export const onlyWhile = (states: readonly string[]): string => `only while ${states.join(" or ")}`;

export const clockLine = (weekday: string, time: string, timezone: string): string =>
  `It is ${weekday}, ${time} (${timezone}).`;
