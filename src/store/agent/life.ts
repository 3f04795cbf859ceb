import type { AgentState } from "../../protocol/index.ts";
import type { AgentOwner, LifeRecord } from "../agent-store.ts";
import { fixed, query } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Tx } from "../tx.ts";

/** What an agent was doing when it was last written down. */
export async function life(tx: Tx, { org, agent }: AgentOwner): Promise<LifeRecord | undefined> {
  const row = await tx.first(lifeOf({ org, agent }));
  if (!row) return undefined;
  const { state, since, because, turn, code, ticked_at: tickedAt } = row;
  return {
    state,
    since,
    ...(because !== null && { because }),
    ...(turn !== null && code !== null && { failed: { turn, code } }),
    ...(tickedAt !== null && { tickedAt }),
  };
}

const lifeOf = fixed((of: AgentOwner) =>
  query.selectFrom("life").selectAll().where("org", "=", of.org).where("agent", "=", of.agent),
);

/** From one state to another, unless somebody was faster. Who only says anew what it is keeps since when. */
export async function moveLife(
  tx: Tx,
  { org, agent }: AgentOwner,
  move: Omit<LifeRecord, "since"> & { readonly from: AgentState | undefined; readonly at: number },
): Promise<boolean> {
  const known = await tx.first(lifeOf({ org, agent }));
  if (known?.state !== move.from) return false;
  const row: Row<"life"> = {
    org,
    agent,
    state: move.state,
    since: known?.state === move.state ? known.since : move.at,
    because: move.because ?? null,
    turn: move.failed?.turn ?? null,
    code: move.failed?.code ?? null,
    ticked_at: move.tickedAt ?? known?.ticked_at ?? null,
  };
  const { org: _, agent: __, ...now } = row;
  await tx.run(
    query
      .insertInto("life")
      .values(row)
      .onConflict((on) => on.columns(["org", "agent"]).doUpdateSet(now)),
  );
  return true;
}
