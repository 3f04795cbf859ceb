import { StrataError } from "../protocol/index.ts";
import type { Cast } from "./cast.ts";

/** How the compiler's sentences end, which know the budget alone. */
const ADVICE = /[;:] raise budgets\.total[^;:]*$/;

/** What did not fit, said of the model's window where that is smaller than the agent's budget: no larger budget would help. */
export function inWindow({ agent, card: { window }, model }: Cast, error: StrataError): StrataError {
  const { total } = agent.budgets;
  if (error.code !== "budget_too_small" || window >= total || !ADVICE.test(error.message)) return error;
  const isWhole = agent.mode === "full" || agent.mode === "auto";
  const helps = `a model with a larger one${isWhole ? ", `mode: compact`" : ""}, shorter texts, fewer tools or a lower budgets.result or budgets.reply`;
  const says = `the window of ${model.wire} is ${window} tokens, and budgets.total is more already: what helps is ${helps}`;
  const details = { ...error.details, model: model.wire, window };
  return new StrataError("budget_too_small", `${error.message.replace(ADVICE, "")}; ${says}`, details, error);
}
