import { type Agent, isoSecond, type LayerContent, trusted, type Vitals } from "../../protocol/index.ts";
import { creditsOf, ownerOf, runwayOf, tierOf } from "./credits.ts";
import { type LifeParts, standingOf } from "./record.ts";
import { LIFE_STORE } from "./store.ts";
import { balanceLine, nativeLine, runwayLine } from "./wording.ts";

/** Of the time that a source may take, the share that an account's server is waited for: the rest of the vitals is never late for it. */
const PATIENCE = 0.5;

/** Of an agent that only answers no state is kept. */
const ANSWERS = { state: "idle" } as const;

/** A program's first turn waits so long for the first balance, in milliseconds; mostly it was read while the program began. */
const FIRST_READ = 2_000;

/** Before vitals are shown to a model: of an account that this program has not read yet the first balance, if it comes soon. */
export async function firstRead(
  { accounts }: Pick<LifeParts, "accounts">,
  agent: Agent,
  signal?: AbortSignal,
): Promise<void> {
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
export async function vitalsOf(parts: LifeParts, agent: Agent): Promise<Vitals> {
  const owner = ownerOf(agent);
  const { credits: rules, account } = agent.life ?? {};
  const [credits, { state }, turns, native] = await Promise.all([
    rules && creditsOf(parts, agent),
    agent.life === undefined ? ANSWERS : standingOf(parts, owner),
    parts.store.part(LIFE_STORE).turnCount(owner),
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
    turn: turns + (parts.running.states(owner).length || (state === "in a turn" ? 1 : 0)),
    state,
    at: parts.clock.recorded(),
  };
}

/**
 * Vitals as the model reads them: funds, account, turn, time and state. Absent or unknown ones are omitted, and so is the time if the frame
 * of an event in the same request gives this very minute.
 * @param eventAt the time in the frame of the request's first event
 */
export function vitalsText(now: Vitals, eventAt?: number): LayerContent {
  const isSaid = eventAt !== undefined && minuteOf(eventAt) === minuteOf(now.at);
  const lines = [
    ...moneyLines(now),
    `tier: ${now.tier}`,
    ...walletLines(now),
    `turn: ${now.turn}`,
    ...(isSaid ? [] : [`time: ${isoSecond(now.at)}`]),
    `state: ${now.state}`,
  ];
  // Numbers, times and words of the platform's; the address is the operator's, from strata.yaml.
  return { kind: "text", text: trusted(lines.map((line) => `- ${line}`).join("\n")) };
}

const minuteOf = (at: number): number => Math.floor(at / 60_000);

function moneyLines({ balance, runway }: Vitals): readonly string[] {
  return [
    ...(balance === undefined ? [] : [balanceLine(balance)]),
    ...(runway === undefined ? [] : [runwayLine(runway)]),
  ];
}

function walletLines({ wallet, native, at }: Vitals): readonly string[] {
  if (wallet === undefined) return [];
  return [`wallet: ${wallet}`, ...(native === undefined ? [] : [nativeLine(coins(native.wei), at - native.at)])];
}

const WEI = 10n ** 18n;

/** With six decimals, the rest cut off: never more than there is. */
function coins(wei: bigint): string {
  const decimals = String((wei % WEI) / 10n ** 12n).padStart(6, "0");
  return `${wei / WEI}.${decimals}`;
}
