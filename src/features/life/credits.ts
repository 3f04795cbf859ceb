import { setImmediate } from "node:timers/promises";
import {
  type Agent,
  type Budgets,
  type CreditRules,
  type Credits,
  errorKind,
  type StrataError,
  type SurvivalTier,
  usualPayment,
} from "../../protocol/index.ts";
import type { AgentOwner } from "../../store/index.ts";
import type { TurnParts } from "../../turn/index.ts";
import { LIFE_STORE } from "./store.ts";

/** Where money is counted: in the record, and by this program's running turns. */
type CreditParts = Pick<TurnParts, "store" | "clock" | "spending">;

export const ownerOf = ({ org, name }: Pick<Agent, "org" | "name">): AgentOwner => ({ org, agent: name });

/** Before the first payment there is nothing. */
const NONE: Credits = { toppedUp: 0, spent: 0, balance: 0, lastDay: { spent: 0, hours: 0 } };

/**
 * What the agent may spend according to the record, less what its running turns have spent since. A turn committed while the record is read
 * is counted at least once.
 */
export async function creditsOf({ store, clock, spending }: CreditParts, agent: Agent): Promise<Credits> {
  const before = spending.spent(agent);
  const recorded = (await store.part(LIFE_STORE).credits(ownerOf(agent), clock.recorded())) ?? NONE;
  const running = Math.max(before, spending.spent(agent));
  if (running === 0) return recorded;
  const { lastDay } = recorded;
  return {
    ...recorded,
    spent: recorded.spent + running,
    balance: recorded.balance - running,
    lastDay: { ...lastDay, spent: lastDay.spent + running },
  };
}

/** The US dollars left of the agent's credits; infinite if it lives without credits. */
export async function creditsLeft(parts: CreditParts, agent: Agent): Promise<number> {
  if (agent.life?.credits === undefined) return Number.POSITIVE_INFINITY;
  const { balance } = await creditsOf(parts, agent);
  if (balance > 0) return balance;
  // A turn that is committed just now was counted twice; a moment later it is not.
  await setImmediate();
  return (await creditsOf(parts, agent)).balance;
}

/** The want of credits in a sentence: nothing was ever paid in, or all of it was spent. */
const WANTS = { unpaid: "has no credits yet", spent: "has no credits left" } as const;

const REASONS: readonly string[] = Object.values(WANTS).map((want) => `it ${want}`);

/** Whether it sleeps for want of credits, by the reason that was written down with its state. */
export const isInWant = (because: string | undefined): boolean => because !== undefined && REASONS.includes(because);

/** What an agent has left and, if that is nothing, why it cannot begin a turn. */
export interface FundsLeft {
  /** US dollars; infinite if it lives without credits. */
  readonly left: number;
  readonly want?: (typeof WANTS)[keyof typeof WANTS];
}

export async function fundsLeft(parts: CreditParts, agent: Agent): Promise<FundsLeft> {
  const left = await creditsLeft(parts, agent);
  if (left > 0) return { left };
  const [payment] = await parts.store.part(LIFE_STORE).topUps(ownerOf(agent), 1);
  return { left, want: payment === undefined ? WANTS.unpaid : WANTS.spent };
}

/** Why it sleeps, as recorded with its state; undefined if it can pay. */
export const asleepFor = ({ want }: FundsLeft): string | undefined => want && `it ${want}`;

export const OUT_OF_CREDITS = errorKind("out_of_credits", {
  status: 402,
  exit: 15,
  retry: true,
  isPause: true,
  message: "the agent has no credits left and sleeps",
});

/** For an agent that was paid for once, `want` may be absent. */
export function outOfCredits({ name, life }: Agent, { left, want = WANTS.spent }: FundsLeft): StrataError {
  const payment = life?.credits === undefined ? "DOLLARS" : usualPayment(life.credits, left);
  const balance = `${left < 0 ? "-" : ""}$${Math.abs(left).toFixed(4)}`;
  const message = `${name} ${want} (its balance is ${balance}) and sleeps; its messages keep waiting until \`strata credits add ${payment} ${name}\` or \`POST /v1/agents/${name}/credits\` tops it up`;
  return OUT_OF_CREDITS.of(message, { agent: name, balance: left });
}

/** How well an agent with this balance in US dollars can pay for itself. Without rules it needs no credits. */
export function tierOf(balance: number, rules: CreditRules | undefined): SurvivalTier {
  if (rules === undefined) return "Normal";
  if (balance <= rules.critical) return "Critical";
  return balance <= rules.low ? "LowCycles" : "Normal";
}

/** Spending in less than an hour does not predict the next: it is counted as spent in one hour. */
const SHORTEST = 1;

/** Hours that the balance lasts at the last day's rate; undefined if nothing was spent in it. */
export function runwayOf({
  balance,
  lastDay: { spent, hours },
}: Pick<Credits, "balance" | "lastDay">): number | undefined {
  if (spent <= 0) return undefined;
  return Math.max(balance, 0) / (spent / Math.max(hours, SHORTEST));
}

/** How well the agent can pay for itself now. */
export async function tierNow(parts: CreditParts, agent: Agent): Promise<SurvivalTier> {
  const rules = agent.life?.credits;
  return rules === undefined ? "Normal" : tierOf((await creditsOf(parts, agent)).balance, rules);
}

/** How far a turn may go in that tier: while it is Critical, it calls its model a few times only. */
export function throttled(limits: Budgets["turn"], tier: SurvivalTier, { life }: Agent): Budgets["turn"] {
  if (tier !== "Critical" || life?.credits === undefined) return limits;
  return { ...limits, modelCalls: Math.min(limits.modelCalls, life.credits.modelCalls) };
}
