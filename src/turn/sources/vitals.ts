import { type Agent, isoSecond, type LayerContent, trusted, type Vitals } from "../../protocol/index.ts";
import type { GatherContext } from "./context.ts";

/** How the agent is: what it lives on, its account, its turn, the time and its state. What it does not have is left out. */
export async function vitals({ life }: Agent, context: GatherContext): Promise<LayerContent> {
  if (context.vitals === undefined) return { kind: "empty", because: "the agent does not live by itself" };
  const now = await context.vitals();
  const lines = [
    ...(life?.credits === undefined && now.balance === undefined ? [] : moneyLines(now)),
    `tier: ${now.tier}`,
    ...walletLines(now),
    `turn: ${now.turn}`,
    `time: ${isoSecond(now.at)}`,
    `state: ${now.state}`,
  ];
  // Numbers, times and words of the platform's; the address is the operator's, from strata.yaml.
  return { kind: "text", text: trusted(lines.map((line) => `- ${line}`).join("\n")) };
}

function moneyLines({ balance, runway }: Vitals): readonly string[] {
  return [
    `balance: ${balance === undefined ? "unknown" : `${balance.toFixed(balance < 1 ? 4 : 2)} US dollars`}`,
    `runway: ${runway === undefined ? "unknown" : hours(runway)}`,
  ];
}

function hours(runway: number): string {
  if (runway < 1) return "less than 1 hour";
  return Math.floor(runway) === 1 ? "1 hour" : `${Math.floor(runway)} hours`;
}

function walletLines({ wallet, native, at }: Vitals): readonly string[] {
  if (wallet === undefined) return [];
  const balance =
    native === undefined ? "unknown" : `${coins(native.wei)} in its native coin, read ${ago(at - native.at)}`;
  return [`wallet: ${wallet}`, `native balance: ${balance}`];
}

const WEI = 10n ** 18n;

/** With six decimals, the rest cut off: never more than there is. */
function coins(wei: bigint): string {
  const decimals = String((wei % WEI) / 10n ** 12n).padStart(6, "0");
  return `${wei / WEI}.${decimals}`;
}

/** To the minute, and of what is long ago to the hour or day: a text that stays the same for a while. */
function ago(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return "less than a minute ago";
  if (minutes < 120) return minutes === 1 ? "1 minute ago" : `${minutes} minutes ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} hours ago` : `${Math.floor(hours / 24)} days ago`;
}
