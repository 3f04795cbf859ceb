import type { Compilation } from "../../compiler/index.ts";
import { type Request, StrataError } from "../../protocol/index.ts";
import { mostDollars } from "../../wire/index.ts";
import { retryWhileBusy } from "../intake/lease.ts";
import { parametersOf } from "../loop/setup.ts";
import type { Settle } from "../loop/steps.ts";
import { type TurnState, usedOf } from "../loop/turn-state.ts";

/** A permitted model call: its maximum cost in US dollars, and the callback that receives the actual cost. */
interface ReservedCall {
  readonly most: number;
  readonly settle: Settle;
}

/**
 * Asks the run's own limit of money, and the features that limit how much the model is called. The prompt's tokens are those that were
 * counted here: a provider that counts more of them bills that much more.
 * @throws StrataError `budget_too_small`, or of the feature that refuses the call
 */
export async function reserveCall(
  state: TurnState,
  { ledger }: Pick<Compilation, "ledger">,
  { parameters, breakpoints }: Pick<Request, "parameters" | "breakpoints">,
): Promise<ReservedCall> {
  const most = mostDollars({ input: ledger.tokens, output: parameters.maxTokens }, state.setup.prices, breakpoints);
  if (!mayCost(state, most)) throw tooDear(state, most);
  const settles: Settle[] = [];
  const settle: Settle = async (dollars) => {
    for (const one of settles) await retryWhileBusy(() => one(dollars));
  };
  // A recording costs nothing.
  const asked = state.recorded === undefined ? state.parts.steps.allowances : [];
  try {
    for (const { reserve } of asked) {
      const settleOne = await reserve(state, most);
      if (settleOne !== undefined) settles.push(settleOne);
    }
  } catch (thrown) {
    await settle(0);
    throw thrown;
  }
  return { most, settle };
}

/** Sums of dollars differ in their last digits by the order of the bills. */
const ROUNDING = 1e-9;

/** Whether a call that can cost so much goes no further than `maxCost` of its run. A recording costs nothing. */
function mayCost(state: TurnState, most: number): boolean {
  const { maxCost = Number.POSITIVE_INFINITY } = state.setup.limits;
  return state.recorded !== undefined || usedOf(state).dollars + most <= maxCost + ROUNDING;
}

/** Whether one more call, of the last request and the longest reply, does. */
export function mayCallAgain(state: TurnState): boolean {
  const { sent, setup } = state;
  const usage = { input: sent?.ledger.tokens ?? 0, output: parametersOf(setup).maxTokens };
  const most = sent === undefined ? 0 : mostDollars(usage, setup.prices, []);
  return mayCost(state, most) && (state.recorded !== undefined || most <= state.left.allowed + ROUNDING);
}

/** Whether the error is about a call that a run has no money for. */
export const isTooDear = ({ code, details }: StrataError): boolean =>
  code === "budget_too_small" && "maxCost" in details;

function tooDear({ setup }: TurnState, most: number): StrataError {
  const { maxCost = 0 } = setup.limits;
  const message = `a call of ${setup.agent.name}'s model can cost $${most.toFixed(4)}, and what the turn has used and holds for its calls leaves less of the $${maxCost} that it may cost`;
  const next = "raise budgets.turn.maxCost (or that of the agent that asks), or lower budgets.reply";
  return new StrataError("budget_too_small", `${message}: ${next}`, { most, maxCost });
}
