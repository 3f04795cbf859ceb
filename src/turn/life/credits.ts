import { setImmediate } from "node:timers/promises";
import { type Agent, StrataError, usualPayment } from "../../protocol/index.ts";
import type { AgentOwner, Credits } from "../../store/index.ts";
import type { Parts } from "../parts.ts";
import type { SpendTracker } from "../spend-tracker.ts";

/** The parts, and what this program's running turns have spent. */
export interface CreditParts extends Pick<Parts, "store" | "clock"> {
  readonly spending?: SpendTracker;
}

export const ownerOf = ({ org, name }: Pick<Agent, "org" | "name">): AgentOwner => ({ org, agent: name });

/** Before the first payment there is nothing. */
const NONE: Credits = { toppedUp: 0, spent: 0, balance: 0, lastDay: { spent: 0, hours: 0 } };

/**
 * What the agent may spend, as the record says it, less what its running turns have spent since. A turn that is committed while
 * the record is read counts in one of them at least.
 */
export async function creditsOf({ store, clock, spending }: CreditParts, agent: Agent): Promise<Credits> {
  const before = spending?.spent(agent) ?? 0;
  const recorded = (await store.credits(ownerOf(agent), clock())) ?? NONE;
  const running = Math.max(before, spending?.spent(agent) ?? 0);
  if (running === 0) return recorded;
  const { lastDay } = recorded;
  return {
    ...recorded,
    spent: recorded.spent + running,
    balance: recorded.balance - running,
    lastDay: { ...lastDay, spent: lastDay.spent + running },
  };
}

/** US dollars that are left of the agent's credits; no end of them where it lives on none. */
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

/** What an agent has left, and where that is nothing, why no turn of it begins. */
export interface Means {
  /** US dollars; no end of them where it lives on none. */
  readonly left: number;
  readonly want?: (typeof WANTS)[keyof typeof WANTS];
}

export async function meansOf(parts: CreditParts, agent: Agent): Promise<Means> {
  const left = await creditsLeft(parts, agent);
  if (left > 0) return { left };
  const [payment] = await parts.store.topUps(ownerOf(agent), 1);
  return { left, want: payment === undefined ? WANTS.unpaid : WANTS.spent };
}

/** Why it sleeps, as it is written down with its state; nothing where it can pay. */
export const asleepFor = ({ want }: Means): string | undefined => want && `it ${want}`;

/** Of an agent that was paid for once, `want` may be left out. */
export function outOfCredits({ name, life }: Agent, { left, want = WANTS.spent }: Means): StrataError {
  const payment = life?.credits === undefined ? "DOLLARS" : usualPayment(life.credits, left);
  const balance = `${left < 0 ? "-" : ""}$${Math.abs(left).toFixed(4)}`;
  const message = `${name} ${want} (its balance is ${balance}) and sleeps; what waits for it keeps waiting until \`strata credits add ${payment} ${name}\` or \`POST /v1/agents/${name}/credits\` tops it up`;
  return new StrataError("out_of_credits", message, { agent: name, balance: left });
}
