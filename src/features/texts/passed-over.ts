import { type Agent, isInPlace, placeOf, type TextVersion } from "../../protocol/index.ts";
import { keyOf } from "./check-text.ts";
import type { PassedOver } from "./door-types.ts";

/** What a declaration has made of texts that were edited before it. Pure. */
export function passedOver(agent: Agent, active: readonly TextVersion[]): readonly PassedOver[] {
  return active.flatMap((version) => {
    const state = stateOf(agent, version);
    return state === undefined ? [] : [{ ...keyOf(version), n: version.n, state }];
  });
}

function stateOf(agent: Agent, version: TextVersion): PassedOver["state"] | undefined {
  const layer = agent.layers.find(({ id }) => id === version.layer);
  if (layer === undefined || !isInPlace(layer, version)) return "displaced";
  return placeOf(agent, layer, version.part).declared === version.place.declared ? undefined : "outdated";
}
