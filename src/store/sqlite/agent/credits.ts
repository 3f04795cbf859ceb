import { canonicalJson, StrataError, untrusted } from "../../../protocol/index.ts";
import type { AgentOwner, Credits, TopUp } from "../../agent-store.ts";
import { fixed, insert, query } from "../../statement.ts";
import type { Row } from "../../tables.ts";
import { append } from "../chain.ts";
import type { Connection } from "../connection.ts";
import { keepShared, sharedText } from "../pieces.ts";
import { spent } from "../reports.ts";
import { atMost } from "../scope.ts";
import { countFrom, tally } from "./tally.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** What was paid in, less what all requests since then cost, which the commits of turns have summed up. */
export function credits(db: Connection, { org, agent }: AgentOwner, at: number): Credits | undefined {
  return db.read(() => {
    const paid = db.first(paidIn({ org, agent }));
    if (!paid || paid.first === null) return undefined;
    const { first, dollars: toppedUp } = paid;
    const all = tally(db, { org, agent }).dollars;
    const since = Math.max(first, at - DAY);
    const lastDay = { spent: spent(db, org, agent, since), hours: Math.max(0, at - since) / HOUR };
    return { toppedUp, spent: all, balance: toppedUp - all, lastDay };
  });
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
export function topUps(db: Connection, { org, agent }: AgentOwner, limit: number): readonly TopUp[] {
  return db.read(() => {
    const newest = query
      .selectFrom("top_up")
      .selectAll()
      .where((eb) => eb.and({ org, agent }))
      .orderBy("id", "desc")
      .limit(atMost(limit));
    return db.all(newest).map(({ id, dollars, by, note, at }) => {
      return { id, dollars, by, note: untrusted(sharedText(db, org, note)), at };
    });
  });
}

/** Notes a payment, and gives what the agent has then. */
export function topUp(db: Connection, owner: AgentOwner, payment: Omit<TopUp, "id">): Credits {
  return db.write(() => {
    const { dollars, by, at } = payment;
    if (!Number.isFinite(dollars) || dollars === 0) throw noPayment(owner, dollars);
    const { org, agent } = owner;
    const id = (topUps(db, owner, 1)[0]?.id ?? 0) + 1;
    const facts = { org, agent, id, dollars, by, note: keepShared(db, org, payment.note), at };
    db.run(insert("top_up", { ...facts, link: append(db, org, topUpLink(facts)).seq }));
    countFrom(db, owner, db.first(paidIn({ org, agent }))?.first ?? at);
    const now = credits(db, owner, at);
    if (now) return now;
    throw new StrataError("unexpected", `payment ${id} of ${agent} vanished inside its own transaction: report it`);
  });
}

/** What a payment's link says. */
export function topUpLink({ agent, id, dollars, by, note, at }: Omit<Row<"top_up">, "link">): string {
  return canonicalJson({ topUp: { agent, id, dollars, by, note, at } });
}

function noPayment({ agent }: AgentOwner, dollars: number): StrataError {
  const says = `${dollars} dollars are no payment to ${agent}: give a number of US dollars, below zero to correct one`;
  return new StrataError("invalid_input", says, { agent, dollars: String(dollars) });
}
