import { inPlace, type Layer, placeOf, type TextVersion } from "../../protocol/index.ts";
import type { AgentDoors, Attention } from "../agent-doors.ts";
import type { Desk } from "./desk.ts";

/** What waits for an operator, agent by agent. */
export function attention(desks: readonly Desk[], fundsOf: AgentDoors["funds"]): Promise<readonly Attention[]> {
  return Promise.all(
    desks.map(async (desk) => {
      const { parts, owner } = desk;
      const counts = await parts.store.proposalCounts(owner);
      const { undeliverable } = await parts.store.mailCounts(owner);
      // Who has no credits sleeps, whether a turn has noticed already or not.
      const asleep = (await fundsOf(desk.actor, owner.agent))?.asleep;
      return {
        agent: owner.agent,
        proposals: counts.reduce((sum, { proposals }) => sum + proposals, 0),
        ...passedOver(desk, await parts.store.activeTexts(owner)),
        undeliverable,
        ...(asleep !== undefined && { asleep }),
      };
    }),
  );
}

/** What a declaration has made of texts that were edited before it. */
function passedOver({ agent }: Desk, active: readonly TextVersion[]): Pick<Attention, "displaced" | "outdated"> {
  const sent = inPlace(agent.layers, active);
  const isOutdated = (layer: Layer, { part, place }: TextVersion): boolean =>
    place.declared !== placeOf(agent, layer, part).declared;
  const outdated = sent.filter((one) => agent.layers.some((layer) => layer.id === one.layer && isOutdated(layer, one)));
  return { displaced: active.length - sent.length, outdated: outdated.length };
}
