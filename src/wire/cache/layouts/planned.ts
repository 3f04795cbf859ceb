import type { SeenBlock, SeenRequest } from "../seen.ts";
import { type Apart, carrierUpTo, goesOn, markedAt } from "./apart.ts";

/**
 * The marks of a plan on blocks that were laid out anew: after the system text, exactly where the request before ended, and on the
 * last block that stays. Where the beginning is not the same any more, there is no earlier end.
 */
export function planned(requests: readonly SeenRequest[], partsOf: readonly Apart[]): readonly SeenRequest[] {
  let before: readonly SeenBlock[] = [];
  return requests.map((request, n): SeenRequest => {
    const { tools, system, messages, tail } = partsOf[n] ?? { tools: [], system: [], messages: [], tail: [] };
    const stable = [...tools, ...system, ...messages];
    const anchor = goesOn(before, stable) ? carrierUpTo(stable, before.length) : -1;
    before = stable;
    const places = [carrierUpTo(stable, tools.length + system.length), anchor, carrierUpTo(stable)];
    return { ...request, mode: "explicit", blocks: [...markedAt(stable, places), ...tail] };
  });
}
