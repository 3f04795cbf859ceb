import { openLife } from "../../features/life/index.ts";
import { adminDoors, createRuntime, deliveryDoors, inboxDoors, type Parts, type Runtime } from "../../turn/index.ts";

/** The runtime with all that features add: their steps in every turn, and what doors call of them. */
export function openRuntime(parts: Parts): Runtime {
  const life = openLife();
  const { runtime, turnParts, run } = createRuntime(parts, [life.steps]);
  const lives = life.doors(turnParts, run);
  return {
    ...runtime,
    ...lives,
    ...deliveryDoors(parts),
    ...inboxDoors(turnParts, run),
    ...adminDoors(parts, lives),
  };
}
