/** What an agent is told of its calls that a person decided about. `tests/house/golden/wording.txt` lists it all. */

export const denied = (id: string, tool: string, by: string, why: string | undefined): string =>
  `${id}: ${tool} was denied by the ${by} and not run${why === undefined ? "" : `: ${why}`}`;
export const ran = (id: string, tool: string, failed: boolean, result: string): string =>
  `${id}: ${tool} was approved and ran. ${failed ? "It failed" : "Result"}:\n${result}`;
export const mediaOmitted = (types: readonly string[]): string =>
  `(Omitted: ${types.join(", ")}; the turn had already ended.)`;
export const outcomeUnknown = (id: string, tool: string, message: string): string =>
  `${id}: ${tool} was approved and started. ${message} A person will check.`;
export const resolved = (id: string, tool: string, by: string, note: string): string =>
  `${id}: ${tool} was approved, and its outcome was not recorded. The ${by} has checked and says: ${note}`;

/** A call that needs a person's approval, in a turn that cannot wait for one. */
export const approvalForSeveral = (tool: string): string =>
  `Not run: this call of ${tool} needs a person's approval, which a turn with several senders cannot wait for. Continue without it.`;
export const approvalForSubagent = (tool: string): string =>
  `Not run: this call of ${tool} needs a person's approval, and a sub-agent cannot ask for it. Report the call to your caller and continue without it.`;
export const approvalTooLate = (tool: string, because: string): string =>
  `Not run: this call needs a person's approval, and an approved call runs between turns. There, ${tool} cannot run: it ${because}. Continue without it.`;

export const ESCALATE_DESCRIPTION =
  "Asks a person of the team a question that you cannot answer by yourself, or must not: a price that nobody told you, an exception, a complaint. The answer comes later, in this conversation. Until then, do not guess.";

/** Instead of the result of a question to a person. */
export const waitsForAnswer = (id: string): string =>
  `A person of the team has your question (${id}). The answer will appear here. Until then, do not guess: if a contact waits, say that you are asking the team.`;
export const enoughAsked = (count: number): string =>
  `Not asked: ${count} questions of yours in this conversation still wait for an answer. Wait for them, or continue without an answer.`;
export const answered = (id: string, text: string): string => `The answer to your question ${id}:\n${text}`;
export const closed = (id: string, note: string | undefined): string =>
  `Your question ${id} was closed without an answer${note === undefined ? "." : `: ${note}`}`;
export const questionsWait = (ids: readonly string[], overdue: number): string =>
  `${ids.length === 1 ? "A question of yours" : `${ids.length} questions of yours`} to the team (${ids.join(", ")}) still ${ids.length === 1 ? "waits" : "wait"} for an answer${overdue === 0 ? "" : `, ${overdue === ids.length ? "" : `${overdue} of them `}longer than you wanted`}. Do not ask again.`;

/** Instead of the result of a call that needs approval. */
export const waitsForApproval = (tool: string, id: string): string =>
  `Not run yet: ${tool} is waiting for a person's approval (${id}). Say so and continue without it; the result will appear here.`;
