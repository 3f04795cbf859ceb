import { type Mode, StrataError } from "../protocol/index.ts";
import { guessedWindow } from "../wire/index.ts";
import type { TurnSetup } from "./steps.ts";

/**
 * What did not fit, said of the model's window where that is smaller than the agent's budget: no larger budget would help. Its
 * `details` say what without the advice, which knows the budget alone; the mode is that in which it did not fit.
 */
export function inWindow({ agent, card, model }: TurnSetup, error: StrataError, mode?: Mode): StrataError {
  const { total } = agent.budgets;
  const { what, ...facts } = error.details;
  const { window } = card;
  if (error.code !== "budget_too_small" || window >= total || typeof what !== "string") return error;
  const helps = `a model with a larger one${mode === "full" ? ", `mode: compact`" : ""}, shorter texts, fewer tools or a lower budgets.result or budgets.reply`;
  const guess = guessedWindow(model.wire, card);
  const known = guess ?? `the window of ${model.wire} is ${window} tokens`;
  const says = `${known}, and budgets.total is already larger: what helps is ${helps}`;
  return new StrataError("budget_too_small", `${what}; ${says}`, { ...facts, model: model.wire, window }, error);
}
