import { canonicalJson, StrataError, untrusted } from "../../protocol/index.ts";
import type { AgentOwner, Credits, TopUp } from "../agent-store.ts";
import { append } from "../record/chain.ts";
import { keepShared, sharedText } from "../record/pieces.ts";
import { spent } from "../record/reports.ts";
import { atMost } from "../scope.ts";
import { fixed, insert, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { inOrder, type Tx } from "../tx.ts";
import { countFrom, tally } from "./tally.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** What was paid in, less what all requests since then cost, which the commits of turns have summed up. */
export async function credits(tx: Tx, { org, agent }: AgentOwner, at: number): Promise<Credits | undefined> {
  const paid = await tx.first(paidIn({ org, agent }));
  if (!paid || paid.first === null) return undefined;
  const { first, dollars: toppedUp } = paid;
  const all = (await tally(tx, { org, agent })).dollars;
  const since = Math.max(first, at - DAY);
  const lastDay = { spent: await spent(tx, org, agent, since), hours: Math.max(0, at - since) / HOUR };
  return { toppedUp, spent: all, balance: toppedUp - all, lastDay };
}

const paidIn = fixed((of: AgentOwner) =>
  query
    .selectFrom("top_up")
    .select((eb) => [
      eb.fn.min<number | null>("at").as("first"),
      eb.fn.coalesce(eb.fn.sum<number>("dollars"), eb.lit(0)).as("dollars"),
    ])
    .where("org", "=", of.org)
    .where("agent", "=", of.agent),
);

/** Newest first. */
export async function topUps(tx: Tx, { org, agent }: AgentOwner, limit: number): Promise<readonly TopUp[]> {
  const newest = query
    .selectFrom("top_up")
    .selectAll()
    .where((eb) => eb.and({ org, agent }))
    .orderBy("id", "desc")
    .limit(atMost(limit));
  return inOrder(await tx.all(newest), async ({ id, dollars, by, note, at }) => {
    return { id, dollars, by, note: untrusted(await sharedText(tx, org, note)), at };
  });
}

/** Notes a payment, and gives what the agent has then. */
export async function topUp(tx: Tx, owner: AgentOwner, payment: Omit<TopUp, "id">): Promise<Credits> {
  const { dollars, by, at } = payment;
  if (!Number.isFinite(dollars) || dollars === 0) throw noPayment(owner, dollars);
  const { org, agent } = owner;
  const id = ((await topUps(tx, owner, 1))[0]?.id ?? 0) + 1;
  const facts = { org, agent, id, dollars, by, note: await keepShared(tx, org, payment.note), at };
  await tx.run(insert("top_up", { ...facts, link: (await append(tx, org, topUpLink(facts))).seq }));
  await countFrom(tx, owner, (await tx.first(paidIn({ org, agent })))?.first ?? at);
  const now = await credits(tx, owner, at);
  if (now) return now;
  throw new StrataError("unexpected", `payment ${id} of ${agent} vanished inside its own transaction: report it`);
}

/** What a payment's link says. */
export function topUpLink({ agent, id, dollars, by, note, at }: Omit<Row<"top_up">, "link">): string {
  return canonicalJson({ topUp: { agent, id, dollars, by, note, at } });
}

function noPayment({ agent }: AgentOwner, dollars: number): StrataError {
  const says = `${dollars} dollars are no payment to ${agent}: give a number of US dollars, below zero to correct one`;
  return new StrataError("invalid_input", says, { agent, dollars: String(dollars) });
}
