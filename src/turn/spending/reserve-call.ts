import type { Compilation } from "../../compiler/index.ts";
import type { Request } from "../../protocol/index.ts";
import { mostDollars } from "../../wire/index.ts";
import { retryWhileBusy } from "../intake/lease.ts";
import type { Settle } from "../loop/steps.ts";
import type { TurnState } from "../loop/turn-state.ts";

/** A call of the model that may be made: the most US dollars that it can cost, and who is told what it did cost. */
interface ReservedCall {
  readonly most: number;
  readonly settle: Settle;
}

/**
 * Asks the features that limit how much the model is called. The prompt's tokens are those that were counted here: a provider that counts
 * more of them bills that much more.
 * @throws StrataError of the feature that refuses the call
 */
export async function reserveCall(
  state: TurnState,
  { ledger }: Pick<Compilation, "ledger">,
  { parameters, breakpoints }: Pick<Request, "parameters" | "breakpoints">,
): Promise<ReservedCall> {
  const most = mostDollars({ input: ledger.tokens, output: parameters.maxTokens }, state.setup.prices, breakpoints);
  const settles: Settle[] = [];
  const settle: Settle = async (dollars) => {
    for (const one of settles) await retryWhileBusy(() => one(dollars));
  };
  // A recording costs nothing.
  const asked = state.recorded === undefined ? state.parts.steps.allowances : [];
  try {
    for (const { reserve } of asked) {
      const told = await reserve(state, most);
      if (told !== undefined) settles.push(told);
    }
  } catch (thrown) {
    await settle(0);
    throw thrown;
  }
  return { most, settle };
}
