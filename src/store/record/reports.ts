import { sql } from "kysely";
import type { AgentName, OrgId, Scope } from "../../protocol/index.ts";
import type { UsageTotal } from "../records.ts";
import { fixed, plain, query, within } from "../statement.ts";
import { isPart } from "../threads/batch-members.ts";
import type { Tx } from "../tx.ts";

/**
 * What was spent in a scope, including failed turns, because they were paid for. A turn of several senders counts once, and its parts only
 * for queries about one of the senders.
 */
export async function usage(tx: Tx, scope: Scope): Promise<UsageTotal> {
  const wanted = within(scope);
  const ended = query
    .selectFrom("turn")
    .select((eb) => eb.fn.countAll<number>().as("turns"))
    .where((eb) => eb.and(wanted))
    .where("status", "!=", "running")
    .$if(scope.contact === null, (all) => all.where(sql<boolean>`not ${isPart}`));
  const spent = query
    .selectFrom("request")
    .select((eb) => [
      eb.fn.countAll<number>().as("requests"),
      eb.fn.coalesce(eb.fn.sum<number>("input"), eb.lit(0)).as("input"),
      eb.fn.coalesce(eb.fn.sum<number>("cache_read"), eb.lit(0)).as("cacheRead"),
      eb.fn.coalesce(eb.fn.sum<number>("cache_write"), eb.lit(0)).as("cacheWrite"),
      eb.fn.coalesce(eb.fn.sum<number>("output"), eb.lit(0)).as("output"),
      eb.fn.coalesce(eb.fn.sum<number>("dollars"), eb.lit(0)).as("dollars"),
    ])
    .where((eb) => eb.and(wanted));
  const none = { requests: 0, input: 0, cacheRead: 0, cacheWrite: 0, output: 0, dollars: 0 };
  return { turns: (await tx.first(ended))?.turns ?? 0, ...((await tx.first(spent)) ?? none) };
}

/** Looked at before each turn of an agent with a limit: its own index holds all that it reads. */
export async function spent(tx: Tx, org: OrgId, agent: AgentName, since: number): Promise<number> {
  return (await tx.first(dollarsSince({ org, agent, since })))?.dollars ?? 0;
}

const dollarsSince = fixed((at: { readonly org: OrgId; readonly agent: AgentName; readonly since: number }) =>
  query
    .selectFrom("request")
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>("dollars"), eb.lit(0)).as("dollars"))
    .where("org", "=", at.org)
    .where("agent", "=", at.agent)
    .where("at", ">=", at.since),
);

/** Every agent of the organization that ever had a thread or anything that a feature keeps. */
export async function agents(tx: Tx, org: OrgId): Promise<readonly AgentName[]> {
  const tables = ["thread", "text_move", ...ownTables(tx)];
  const each = tables.map((table) => `select agent from "${table}" where org = ?`).join(" union ");
  return tx.column(plain<AgentName>(`${each} order by agent`, ...tables.map(() => org)));
}

/**
 * Tables of features in which an agent may have rows without a thread. Those that turns' links repeat are long, and add nothing that the
 * threads lack.
 */
const ownTables = (tx: Tx): readonly string[] =>
  tx.parts.flatMap(({ inLink, tables }) => (inLink === undefined ? Object.keys(tables) : []));

/** Every organization that has anything in the store. */
export async function organizations(tx: Tx): Promise<readonly OrgId[]> {
  const tables = ["thread", "agent_version", "memory_scope", "chain", ...ownTables(tx)];
  return tx.column(plain<OrgId>(`${tables.map((table) => `select org from "${table}"`).join(" union ")} order by org`));
}

/** How many turns of each agent have ended. A sender's part of a turn of several is not a separate turn. */
export async function endedTurns(
  tx: Tx,
  org: OrgId,
): Promise<readonly { readonly agent: AgentName; readonly turns: number }[]> {
  const ended = sql<number>`count(*) filter (where status != 'running' and not ${isPart})`.as("turns");
  return tx.all(query.selectFrom("turn").select(["agent", ended]).where("org", "=", org).groupBy("agent"));
}
