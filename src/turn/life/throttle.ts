import type { Agent, Budgets, SurvivalTier } from "../../protocol/index.ts";
import { type CreditParts, creditsOf } from "./credits.ts";
import { tierOf } from "./tier.ts";

/** How well the agent can pay for itself now. */
export async function tierNow(parts: CreditParts, agent: Agent): Promise<SurvivalTier> {
  const rules = agent.life?.credits;
  return rules === undefined ? "Normal" : tierOf((await creditsOf(parts, agent)).balance, rules);
}

/** How far a turn may go in that tier: while it is Critical, it calls its model a few times only. */
export function throttled(limits: Budgets["turn"], tier: SurvivalTier, { life }: Agent): Budgets["turn"] {
  if (tier !== "Critical" || life?.credits === undefined) return limits;
  return { ...limits, rounds: Math.min(limits.rounds, life.credits.rounds) };
}
