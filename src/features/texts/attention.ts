import type { AgentDoors, Attention, Desk, PassedOver } from "../../turn/index.ts";
import { OWN_CHANNELS, REPLAY } from "../../turn/index.ts";
import { passedOver } from "./passed-over.ts";

/** A turn that left somebody without a reply waits for an operator so long; in milliseconds. Whoever still wants an answer then has asked again. */
const UNANSWERED_FOR = 7 * 86_400_000;

/** What waits for an operator, agent by agent. */
export function attention(desks: readonly Desk[], fundsOf: AgentDoors["funds"]): Promise<readonly Attention[]> {
  return Promise.all(
    desks.map(async (desk) => {
      const { parts, owner } = desk;
      const counts = await parts.store.proposalCounts(owner);
      const { undeliverable } = await parts.store.mailCounts(owner);
      const since = parts.clock() - UNANSWERED_FOR;
      const unanswered = await parts.store.unanswered(owner, { since, except: [...OWN_CHANNELS, REPLAY], limit: 100 });
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
        unanswered,
        ...(asleep !== undefined && { asleep }),
      };
    }),
  );
}
