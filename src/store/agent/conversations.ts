import { CONVERSATION_LIMITS, type ContactScope, type OrgId } from "../../protocol/index.ts";
import type { AgentOwner, ConversationHead, ConversationLog } from "../agent-store.ts";
import type { Claim, TurnOutcome } from "../records.ts";
import { toExchange } from "../rows.ts";
import { atMost, owner } from "../scope.ts";
import { fixed, insert, ONE, plain, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Settling } from "../turns/settling.ts";
import type { Tx } from "../tx.ts";

/** Notes which of its sender's messages a turn answered, within the limits. Part of its commit. */
export async function logTurn(
  tx: Tx,
  { scope, turn }: Settling,
  { claim, outcome }: { readonly claim: Claim; readonly outcome: TurnOutcome },
): Promise<void> {
  // What others say on the thread is no word of the sender's: a turn on that alone leaves nothing here.
  const said = claim.events.filter(({ kind, trust }) => kind === "message" && trust === "contact");
  if (said.length === 0) return;
  const isNew = (await tx.first(anyOf(owner(scope)))) === undefined;
  for (const { id: event } of said) {
    await tx.run(insert("exchange", { ...owner(scope), event, turn, at: outcome.at }));
  }
  await dropOldest(tx, scope);
  if (isNew) await dropSilent(tx, scope);
}

const anyOf = fixed((at: ContactScope) =>
  query
    .selectFrom("exchange")
    .select("number")
    .where((eb) => eb.and(owner(at)))
    .limit(ONE),
);

/** First in, first out. */
async function dropOldest(tx: Tx, scope: ContactScope): Promise<void> {
  const numbers = (await tx.all(numbersOf(owner(scope)))).map(({ number }) => number);
  for (const number of numbers.sort((a, b) => b - a).slice(CONVERSATION_LIMITS.entries)) {
    await tx.run(dropped({ ...owner(scope), number }));
  }
}

const numbersOf = fixed((at: ContactScope) =>
  query
    .selectFrom("exchange")
    .select("number")
    .where((eb) => eb.and(owner(at))),
);

const dropped = fixed((at: ContactScope & { readonly number: number }) =>
  query.deleteFrom("exchange").where((eb) => eb.and({ ...owner(at), number: at.number })),
);

/** Of too many senders the one goes that is silent for longest; never the one who has just spoken, whatever its clock says. */
async function dropSilent(tx: Tx, { org, agent, contact }: ContactScope): Promise<void> {
  const others = (await tx.all(heads({ org, agent }))).filter((head) => head.contact !== contact);
  const silent = others.sort((a, b) => b.lastActivity - a.lastActivity || b.newest - a.newest);
  for (const head of silent.slice(CONVERSATION_LIMITS.senders - 1)) {
    await dropLog(tx, { org, agent, contact: head.contact });
  }
}

/** Takes a sender's log away. */
export async function dropLog(tx: Tx, scope: ContactScope): Promise<void> {
  await tx.run(query.deleteFrom("exchange").where((eb) => eb.and(owner(scope))));
}

/** The last active first. */
export async function conversations(tx: Tx, of: AgentOwner, limit: number): Promise<readonly ConversationHead[]> {
  const all = await tx.all(heads({ org: of.org, agent: of.agent }));
  return all
    .sort((a, b) => b.lastActivity - a.lastActivity || b.newest - a.newest)
    .slice(0, atMost(limit))
    .map(({ contact, entries, lastActivity }) => ({ contact, entries, lastActivity }));
}

const heads = fixed((of: AgentOwner) =>
  query
    .selectFrom("exchange")
    .select((eb) => [
      "contact",
      eb.fn.countAll<number>().as("entries"),
      eb.fn.max<number>("at").as("lastActivity"),
      eb.fn.max<number>("number").as("newest"),
    ])
    .where("org", "=", of.org)
    .where("agent", "=", of.agent)
    .groupBy("contact"),
);

/** One sender's log, the oldest entry first. */
export async function conversation(tx: Tx, scope: ContactScope): Promise<ConversationLog | undefined> {
  const rows = (await tx.all(entriesOf(owner(scope)))).sort((a, b) => a.number - b.number);
  if (rows.length === 0) return undefined;
  const entries = rows.map((row) => toExchange(row, { event: row.said, reply: row.answered }));
  return { contact: scope.contact, entries, lastActivity: Math.max(...rows.map(({ at }) => at)) };
}

/** Both texts are the contact's own: whatever a row names, another's is not found. */
const entriesOf = fixed((at: ContactScope) =>
  query
    .selectFrom("exchange")
    .innerJoin("event", (join) => join.onRef("event.org", "=", "exchange.org").onRef("event.id", "=", "exchange.event"))
    .innerJoin("turn", (join) => join.onRef("turn.org", "=", "exchange.org").onRef("turn.id", "=", "exchange.turn"))
    .innerJoin("piece as body", (join) =>
      join
        .onRef("body.org", "=", "exchange.org")
        .onRef("body.agent", "=", "exchange.agent")
        .onRef("body.contact", "=", "exchange.contact")
        .onRef("body.digest", "=", "event.piece"),
    )
    .innerJoin("piece as reply", (join) =>
      join
        .onRef("reply.org", "=", "exchange.org")
        .onRef("reply.agent", "=", "exchange.agent")
        .onRef("reply.contact", "=", "exchange.contact")
        .onRef("reply.digest", "=", "turn.words"),
    )
    .selectAll("exchange")
    .select(["event.proof", "body.text as said", "reply.text as answered"])
    .where("exchange.org", "=", at.org)
    .where("exchange.agent", "=", at.agent)
    .where("exchange.contact", "=", at.contact),
);

const ANSWERED = `select 1 from turn_event
  join turn on turn.org = turn_event.org and turn.id = turn_event.turn
  join event on event.org = turn_event.org and event.id = turn_event.event
  where turn_event.org = exchange.org and turn_event.agent = exchange.agent and turn_event.contact = exchange.contact
  and turn_event.turn = exchange.turn and turn_event.event = exchange.event and turn.ended_at = exchange.at
  and turn.status = 'done' and turn.words is not null and event.kind = 'message'
  and event.trust = 'contact'`;

/** Entries that name what no turn answered then, or what its sender did not write: nobody but the commit of that turn writes one. */
export async function strangeEntries(tx: Tx, org: OrgId): Promise<readonly Row<"exchange">[]> {
  const strange = `select * from exchange where org = ? and not exists (${ANSWERED}) order by number limit 100`;
  return tx.all(plain<Row<"exchange">>(strange, org));
}
