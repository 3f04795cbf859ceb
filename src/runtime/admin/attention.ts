import { inPlace, type Layer, placeOf, type TextVersion } from "../../protocol/index.ts";
import type { AgentDoors, Attention } from "../agent-doors.ts";
import { NO_CREDITS } from "../life/credits.ts";
import type { Desk } from "./desk.ts";

/** What waits for an operator, agent by agent. */
export function attention(desks: readonly Desk[], fundsOf: AgentDoors["funds"]): Promise<readonly Attention[]> {
  return Promise.all(
    desks.map(async (desk) => {
      const { parts, owner } = desk;
      const versions = await parts.store.textVersions(owner);
      const { undeliverable } = await parts.store.mailCounts(owner);
      const asleep = await whyAsleep(desk, fundsOf);
      return {
        agent: owner.agent,
        proposals: versions.filter(({ status }) => status === "proposed").length,
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
    place !== undefined && place.declared !== placeOf(agent, layer, part).declared;
  const outdated = sent.filter((one) => agent.layers.some((layer) => layer.id === one.layer && isOutdated(layer, one)));
  return { displaced: active.length - sent.length, outdated: outdated.length };
}

/** Who has no credits sleeps, whether a turn has noticed already or not. */
async function whyAsleep({ actor, agent }: Desk, fundsOf: AgentDoors["funds"]): Promise<string | undefined> {
  const funds = await fundsOf(actor, agent.name);
  return funds !== undefined && funds.balance <= 0 ? NO_CREDITS : undefined;
}
