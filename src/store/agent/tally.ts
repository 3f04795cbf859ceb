import { sql } from "kysely";
import type { OrgId } from "../../protocol/index.ts";
import type { AgentOwner } from "../agent-store.ts";
import { spent } from "../record/reports.ts";
import { problem, type Step } from "../record/walk.ts";
import type { RequestRecord } from "../records.ts";
import { fixed, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import { isPart, stagedIn } from "../threads/staged.ts";
import type { Settling } from "../turns/settling.ts";
import { inOrder, type Tx } from "../tx.ts";

/**
 * What an agent's rows add up to: how many turns have ended, and what was spent since the first payment. Kept by each commit, so that
 * a long life costs no more to look at than a short one; `verify` adds the rows up again.
 */

/** The sums of an agent; nothing before its first turn or payment. */
export async function tally(tx: Tx, { org, agent }: AgentOwner): Promise<Row<"tally">> {
  return (await tx.first(tallyOf({ org, agent }))) ?? { org, agent, turns: 0, since: null, dollars: 0 };
}

const tallyOf = fixed((of: AgentOwner) =>
  query.selectFrom("tally").selectAll().where("org", "=", of.org).where("agent", "=", of.agent),
);

/** How many turns of the agent have ended, with whomever. */
export const turnCount = async (tx: Tx, owner: AgentOwner): Promise<number> => (await tally(tx, owner)).turns;

/** Counts a turn that ends, and what it spent. Part of its commit. A sender's part of a turn of several is none of its own. */
export async function countTurn(
  tx: Tx,
  { scope, turn }: Pick<Settling, "scope" | "turn">,
  requests: readonly Pick<RequestRecord, "dollars" | "at">[],
): Promise<void> {
  const { since, turns, ...known } = await tally(tx, scope);
  const counts = requests.length > 0 || (await stagedIn(tx, scope, turn)) === undefined;
  const paid = requests.filter(({ at }) => since !== null && at >= since);
  const dollars = paid.reduce((sum, one) => sum + one.dollars, known.dollars);
  await tx.run(keptTally({ ...known, since, turns: counts ? turns + 1 : turns, dollars }));
}

/** Counts from the first payment on: what was spent before it is free. */
export async function countFrom(tx: Tx, owner: AgentOwner, first: number): Promise<void> {
  const known = await tally(tx, owner);
  if (known.since === first) return;
  await tx.run(keptTally({ ...known, since: first, dollars: await spent(tx, owner.org, owner.agent, first) }));
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
export async function checkTallies(tx: Tx, org: OrgId): Promise<Step<number>> {
  const ended = sql<number>`count(*) filter (where status != 'running' and not ${isPart})`.as("turns");
  const turns = await tx.all(query.selectFrom("turn").select(["agent", ended]).where("org", "=", org).groupBy("agent"));
  const first = sql<number>`min(at)`.as("first");
  const paid = await tx.all(
    query.selectFrom("top_up").select(["agent", first]).where("org", "=", org).groupBy("agent"),
  );
  const kept = await tx.all(query.selectFrom("tally").selectAll().where("org", "=", org));
  const agents = [...new Set([...turns, ...paid, ...kept].map(({ agent }) => agent))];
  const problems = (
    await inOrder(agents, async (agent) => {
      const known = await tally(tx, { org, agent });
      const since = paid.find((one) => one.agent === agent)?.first ?? null;
      const dollars = since === null ? 0 : await spent(tx, org, agent, since);
      const says = [
        ...(known.turns === (turns.find((one) => one.agent === agent)?.turns ?? 0) ? [] : ["turns"]),
        ...(known.since === since ? [] : ["first payment"]),
        ...(Math.abs(known.dollars - dollars) <= ROUNDING * (1 + dollars) ? [] : ["dollars"]),
      ];
      return says.map((what) =>
        problem(`agent ${agent}`, `its sum of ${what} is not what the record's rows add up to`),
      );
    })
  ).flat();
  return { problems, checked: {} };
}
