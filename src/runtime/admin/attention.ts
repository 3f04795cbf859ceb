import type { AgentDoors, Attention, PassedOver } from "../agent-doors.ts";
import type { Desk } from "./desk.ts";
import { passedOver } from "./passed-over.ts";

/** What waits for an operator, agent by agent. */
export function attention(desks: readonly Desk[], fundsOf: AgentDoors["funds"]): Promise<readonly Attention[]> {
  return Promise.all(
    desks.map(async (desk) => {
      const { parts, owner } = desk;
      const counts = await parts.store.proposalCounts(owner);
      const { undeliverable } = await parts.store.mailCounts(owner);
      // Who has no credits sleeps, whether a turn has noticed already or not.
      const asleep = (await fundsOf(desk.actor, owner.agent))?.asleep;
      const passed = passedOver(desk.agent, await parts.store.activeTexts(owner));
      const inState = (wanted: PassedOver["state"]): number => passed.filter(({ state }) => state === wanted).length;
      return {
        agent: owner.agent,
        proposals: counts.reduce((sum, { proposals }) => sum + proposals, 0),
        displaced: inState("displaced"),
        outdated: inState("outdated"),
        passedOver: passed,
        undeliverable,
        ...(asleep !== undefined && { asleep }),
      };
    }),
  );
}
