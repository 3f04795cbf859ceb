import type { Attention } from "../agent-doors.ts";
import type { Desk } from "./desk.ts";

/** What waits for an operator, agent by agent. */
export function attention(desks: readonly Desk[]): Promise<readonly Attention[]> {
  return Promise.all(
    desks.map(async (desk) => {
      const { parts, owner } = desk;
      const versions = await parts.store.textVersions(owner);
      const { undeliverable } = await parts.store.mailCounts(owner);
      const asleep = await whyAsleep(desk);
      return {
        agent: owner.agent,
        proposals: versions.filter(({ status }) => status === "proposed").length,
        undeliverable,
        ...(asleep !== undefined && { asleep }),
      };
    }),
  );
}

/** Who has no credits sleeps, whether a turn has noticed already or not. */
async function whyAsleep({ agent, parts, owner }: Desk): Promise<string | undefined> {
  if (agent.life?.credits === undefined) return undefined;
  const credits = await parts.store.credits(owner, parts.clock());
  if (credits === undefined) return "it has no credits yet";
  return credits.balance > 0 ? undefined : "it has no credits left";
}
