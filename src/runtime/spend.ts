import { isoSecond, type SpendPeriod, StrataError } from "../protocol/index.ts";
import type { Work } from "./work.ts";

/**
 * Looks up what is left of the agent's money, before its model is called.
 * @throws StrataError `spend_limit` when nothing is; the messages keep waiting
 */
export async function checkSpend(work: Work): Promise<void> {
  const { agent } = work.cast;
  const { spend } = agent.budgets;
  if (spend === undefined) return;
  const now = work.parts.clock();
  const { since, until } = periodOf(spend.per, now);
  const spent = await work.parts.store.spent(agent.org, agent.name, since);
  work.left = spend.dollars - spent;
  if (work.left > 0) return;
  const period = spend.per === "ever" ? "" : ` a UTC ${spend.per}`;
  const when = until === undefined ? "" : `; it answers again from ${isoSecond(until)} on`;
  throw new StrataError(
    "spend_limit",
    `${agent.name} has spent $${spent.toFixed(4)} of the $${spend.dollars} it may spend${period}${when}, or with a higher budgets.spend.dollars`,
    { agent: agent.name, spent, dollars: spend.dollars, per: spend.per, ...(until !== undefined && { until }) },
  );
}

/** The period that holds this instant: from when on money counts, and when the next begins. */
function periodOf(per: SpendPeriod, now: number): { readonly since: number; readonly until?: number } {
  const date = new Date(now);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  switch (per) {
    case "day":
      return { since: Date.UTC(year, month, day), until: Date.UTC(year, month, day + 1) };
    case "month":
      return { since: Date.UTC(year, month), until: Date.UTC(year, month + 1) };
    case "ever":
      return { since: Number.MIN_SAFE_INTEGER };
  }
}
