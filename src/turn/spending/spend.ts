import { setImmediate } from "node:timers/promises";
import type { Compilation } from "../../compiler/index.ts";
import { isoSecond, type SpendPeriod, StrataError, type TurnEvent } from "../../protocol/index.ts";
import { mostDollars } from "../../wire/index.ts";
import { parametersOf } from "../loop/setup.ts";
import { type MoneyLeft, NO_END, type Spender } from "../loop/steps.ts";
import type { TurnState } from "../loop/turn-state.ts";

/**
 * An agent's limit in money, and its funds. Spent is what the record says, for all programs, plus what the running turns of this one have
 * spent. Near the end, requests are sent one at a time. A feature reserves each request's maximum cost in the store, for all programs, so
 * the limit is never passed; funds are sent from as long as anything is left, so each program passes them by at most one request.
 */

/**
 * Looks up what is left of the agent's money, before its model is called.
 * @throws StrataError `spend_limit`, or the refusal of funds that are used up; the messages keep waiting
 */
export async function checkSpend(spender: Spender): Promise<void> {
  if (leastOf(await leftOf(spender)) <= 0) throw await unpaid(spender);
}

const leastOf = ({ allowed, funds }: MoneyLeft): number => Math.min(allowed, ...funds.map(({ dollars }) => dollars));

/** The funds that are gone, where any are. */
export const goneOf = ({ funds }: MoneyLeft): MoneyLeft["funds"][number] | undefined =>
  funds.find(({ dollars }) => dollars <= 0);

async function leftOf(spender: Spender): Promise<MoneyLeft> {
  return { allowed: await allowedOf(spender), funds: await fundsOf(spender) };
}

function fundsOf(spender: Spender): Promise<MoneyLeft["funds"]> {
  return Promise.all(spender.parts.steps.funds.map(async (of) => ({ of, dollars: await of.left(spender) })));
}

async function allowedOf(spender: Spender): Promise<number> {
  const { spend } = spender.setup.agent.budgets;
  if (spend === undefined) return Number.POSITIVE_INFINITY;
  const left = spend.dollars - (await spentOf(spender));
  if (left > 0) return left;
  // A turn that is committed just now was counted twice; a moment later it is not.
  await setImmediate();
  return spend.dollars - (await spentOf(spender));
}

/** Why it may spend no more. */
async function unpaid(spender: Spender): Promise<StrataError> {
  const gone = goneOf({ ...NO_END, funds: await fundsOf(spender) });
  if (gone === undefined) return overspent(spender, await spentOf(spender));
  return gone.of.refusal(spender.setup.agent, gone.dollars);
}

/**
 * Sends when the agent's money allows it. Where the requests that are under way might take all that is left, it waits for
 * the end of one of them first.
 * @throws StrataError `spend_limit`, or what the funds say that are gone
 */
export async function* afforded<T>(
  state: TurnState,
  compilation: Compilation,
  sending: AsyncGenerator<TurnEvent, T>,
): AsyncGenerator<TurnEvent, T> {
  const release = await reserve(state, compilation);
  try {
    const sent = yield* sending;
    state.left = await leftOf(state);
    return sent;
  } finally {
    release();
  }
}

async function reserve(state: TurnState, { ledger }: Compilation): Promise<() => void> {
  const { parts, setup, lease } = state;
  const { agent, prices } = setup;
  const isCounted = agent.budgets.spend !== undefined || parts.steps.funds.some(({ holds }) => holds(agent));
  if (!isCounted) return () => undefined;
  const most = mostDollars({ input: ledger.tokens, output: parametersOf(setup).maxTokens }, prices, []);
  for (;;) {
    const left = await leftOf(state);
    if (leastOf(left) <= 0) throw await unpaid(state);
    const reserved = parts.spending.reserved(agent);
    const isFirst = reserved === 0;
    if (leastOf(left) > reserved && (isFirst || left.allowed >= reserved + most))
      return parts.spending.reserve(agent, most);
    await parts.spending.ended(agent, lease.signal);
  }
}

/** Of the record and of the turns that run. A turn that is committed while the record is read counts in one of them at least. */
async function spentOf({ parts, setup: { agent } }: Spender): Promise<number> {
  const { since } = periodOf(agent.budgets.spend?.per ?? "ever", parts.clock.recorded());
  const before = parts.spending.spent(agent);
  const recorded = await parts.store.spent(agent.org, agent.name, since);
  return recorded + Math.max(before, parts.spending.spent(agent));
}

function overspent({ parts, setup: { agent } }: Spender, spent: number): StrataError {
  const { dollars: most = 0, per = "ever" } = agent.budgets.spend ?? {};
  const { until } = periodOf(per, parts.clock.recorded());
  const period = per === "ever" ? "" : ` a UTC ${per}`;
  const when = until === undefined ? "" : `; it answers again from ${isoSecond(until)} on`;
  return new StrataError(
    "spend_limit",
    `${agent.name} has spent $${spent.toFixed(4)} of the $${most} it may spend${period}${when}, or with a higher budgets.spend.dollars`,
    { agent: agent.name, spent, dollars: most, per, ...(until !== undefined && { until }) },
  );
}

/** The period that holds this instant: from when on money counts, and when the next begins. */
export function periodOf(per: SpendPeriod, now: number): { readonly since: number; readonly until?: number } {
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
