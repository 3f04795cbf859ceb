/** What an agent is told of its calls that a person decided about. `tests/house/golden/wording.txt` lists it all. */

export const denied = (id: string, tool: string, by: string, why: string | undefined): string =>
  `${id}: ${tool} was denied by the ${by} and not run${why === undefined ? "" : `: ${why}`}`;
export const ran = (id: string, tool: string, failed: boolean, result: string): string =>
  `${id}: ${tool} was approved and ran. ${failed ? "It failed" : "Result"}:\n${result}`;
export const mediaOmitted = (types: readonly string[]): string =>
  `(Omitted: ${types.join(", ")}; the turn had already ended.)`;
export const outcomeUnknown = (id: string, tool: string, says: string): string =>
  `${id}: ${tool} was approved and started. ${says} A person will check.`;
export const resolved = (id: string, tool: string, by: string, note: string): string =>
  `${id}: ${tool} was approved, and its outcome was not recorded. The ${by} has checked and says: ${note}`;
