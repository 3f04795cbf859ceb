import { sql } from "kysely";
import type { OrgId } from "../../../protocol/index.ts";
import type { AgentOwner } from "../../agent-store.ts";
import { fixed, query } from "../../statement.ts";
import type { RequestRecord } from "../../store.ts";
import type { Row } from "../../tables.ts";
import type { Connection } from "../connection.ts";
import { spent } from "../reports.ts";
import type { Settling } from "../settling.ts";
import { isPart, stagedIn } from "../staged.ts";
import { problem, type Step } from "../walk.ts";

/**
 * What an agent's rows add up to: how many turns have ended, and what was spent since the first payment. Kept by each commit, so that
 * a long life costs no more to look at than a short one; `verify` adds the rows up again.
 */

/** The sums of an agent; nothing before its first turn or payment. */
export function tally(db: Connection, { org, agent }: AgentOwner): Row<"tally"> {
  return db.first(tallyOf({ org, agent })) ?? { org, agent, turns: 0, since: null, dollars: 0 };
}

const tallyOf = fixed((of: AgentOwner) =>
  query.selectFrom("tally").selectAll().where("org", "=", of.org).where("agent", "=", of.agent),
);

/** How many turns of the agent have ended, with whomever. */
export const turnCount = (db: Connection, owner: AgentOwner): number => tally(db, owner).turns;

/** Counts a turn that ends, and what it spent. Part of its commit. A sender's part of a turn of several is none of its own. */
export function countTurn(
  db: Connection,
  { scope, turn }: Pick<Settling, "scope" | "turn">,
  requests: readonly Pick<RequestRecord, "dollars" | "at">[],
): void {
  const { since, turns, ...known } = tally(db, scope);
  const counts = requests.length > 0 || stagedIn(db, scope, turn) === undefined;
  const paid = requests.filter(({ at }) => since !== null && at >= since);
  const dollars = paid.reduce((sum, one) => sum + one.dollars, known.dollars);
  db.run(keptTally({ ...known, since, turns: counts ? turns + 1 : turns, dollars }));
}

/** Counts from the first payment on: what was spent before it is free. */
export function countFrom(db: Connection, owner: AgentOwner, first: number): void {
  const known = tally(db, owner);
  if (known.since === first) return;
  db.run(keptTally({ ...known, since: first, dollars: spent(db, owner.org, owner.agent, first) }));
}

const keptTally = fixed(({ org, agent, turns, since, dollars }: Row<"tally">) =>
  query
    .insertInto("tally")
    .values({ org, agent, turns, since, dollars })
    .onConflict((on) => on.columns(["org", "agent"]).doUpdateSet({ turns, since, dollars })),
);

/** Sums in another order differ in their last digits; per dollar. */
const ROUNDING = 1e-9;

/** The sums of all agents: each is what its rows add up to. */
export function checkTallies(db: Connection, org: OrgId): Step<number> {
  const ended = sql<number>`count(*) filter (where status != 'running' and not ${isPart})`.as("turns");
  const turns = db.all(query.selectFrom("turn").select(["agent", ended]).where("org", "=", org).groupBy("agent"));
  const first = sql<number>`min(at)`.as("first");
  const paid = db.all(query.selectFrom("top_up").select(["agent", first]).where("org", "=", org).groupBy("agent"));
  const kept = db.all(query.selectFrom("tally").selectAll().where("org", "=", org));
  const agents = [...new Set([...turns, ...paid, ...kept].map(({ agent }) => agent))];
  const problems = agents.flatMap((agent) => {
    const known = tally(db, { org, agent });
    const since = paid.find((one) => one.agent === agent)?.first ?? null;
    const dollars = since === null ? 0 : spent(db, org, agent, since);
    const says = [
      ...(known.turns === (turns.find((one) => one.agent === agent)?.turns ?? 0) ? [] : ["turns"]),
      ...(known.since === since ? [] : ["first payment"]),
      ...(Math.abs(known.dollars - dollars) <= ROUNDING * (1 + dollars) ? [] : ["dollars"]),
    ];
    return says.map((what) => problem(`agent ${agent}`, `its sum of ${what} is not what the record's rows add up to`));
  });
  return { problems, checked: {} };
}
