import type { CreditRules, SurvivalTier } from "../../protocol/index.ts";
import type { Credits } from "../../store/index.ts";

/** How well an agent with so many US dollars can pay for itself. Without rules it lives on no credits. */
export function tierOf(balance: number, rules: CreditRules | undefined): SurvivalTier {
  if (rules === undefined) return "Normal";
  if (balance <= rules.critical) return "Critical";
  return balance <= rules.low ? "LowCycles" : "Normal";
}

/** What was spent in less than an hour says nothing of the next: it is taken as spent in one. */
const SHORTEST = 1;

/** Hours for which the balance lasts at the rate of the last day; nothing where nothing was spent in it. */
export function runwayOf({
  balance,
  lastDay: { spent, hours },
}: Pick<Credits, "balance" | "lastDay">): number | undefined {
  if (spent <= 0) return undefined;
  return Math.max(balance, 0) / (spent / Math.max(hours, SHORTEST));
}
