import type { Agent, Vitals } from "../../protocol/index.ts";
import type { Parts } from "../parts.ts";
import { type CreditParts, creditsOf, ownerOf } from "./credits.ts";
import { type LifeParts, standingOf } from "./record.ts";
import { runwayOf, tierOf } from "./tier.ts";

/** What vitals are made from: the parts, and what only the running program knows. */
export type VitalParts = CreditParts & LifeParts & Pick<Parts, "accounts">;

/** Of the time that a source may take, the share that an account's server is waited for: the rest of the vitals is never late for it. */
const PATIENCE = 0.5;

/** Of an agent that only answers no state is kept. */
const ANSWERS = { state: "idle" } as const;

/** A program's first turn waits so long for the first balance, in milliseconds; mostly it was read while the program began. */
const FIRST_READ = 2_000;

/** Before vitals are shown to a model: of an account that this program has not read yet the first balance, if it comes soon. */
export async function firstRead({ accounts }: VitalParts, agent: Agent, signal?: AbortSignal): Promise<void> {
  const account = agent.life?.account;
  if (account === undefined || accounts === undefined) return;
  if (!agent.layers.some(({ source }) => source.kind === "vitals")) return;
  const stopped = Promise.withResolvers<void>();
  const stop = (): void => stopped.resolve();
  signal?.addEventListener("abort", stop, { once: true });
  await Promise.race([accounts.first(account, FIRST_READ), stopped.promise]);
  signal?.removeEventListener("abort", stop);
}

/** How the agent is, now. */
export async function vitalsOf(parts: VitalParts, agent: Agent): Promise<Vitals> {
  const owner = ownerOf(agent);
  const { credits: rules, account } = agent.life ?? {};
  const [credits, { state }, turns, native] = await Promise.all([
    rules && creditsOf(parts, agent),
    agent.life === undefined ? ANSWERS : standingOf(parts, owner),
    parts.store.turnCount(owner),
    account && parts.accounts?.balance(account, agent.budgets.source * PATIENCE),
  ]);
  const unread = account && parts.accounts?.trouble(account);
  const runway = credits && runwayOf(credits);
  return {
    ...(credits && { balance: credits.balance }),
    ...(runway !== undefined && { runway }),
    tier: credits === undefined ? "Normal" : tierOf(credits.balance, rules),
    ...(account && { wallet: account.address }),
    ...(native && { native }),
    ...(unread && { unread }),
    turn: turns + (parts.lives?.states(owner).length || (state === "in a turn" ? 1 : 0)),
    state,
    at: parts.clock(),
  };
}
