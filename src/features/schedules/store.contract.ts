import { actorId } from "../../protocol/index.ts";
import { exchange, type KeptSample, NOW, open } from "../../store/index.contract.ts";
import { SCHEDULE_STORE } from "./store.ts";

/** One that was paused, one that continues, and one that was only looked at. */
export const KEPT: KeptSample = {
  fill: async (store, scope, words) => {
    await exchange(store, await open(store, scope), words);
    const kept = store.part(SCHEDULE_STORE);
    for (const [schedule, isPaused] of [
      ["digest", true],
      ["report", true],
      ["report", false],
    ] as const)
      await kept.pauseSchedule(scope, { schedule, isPaused, by: "operator", byId: actorId("member:mia"), at: NOW });
    await kept.beginSchedule(scope, { schedule: "backup", by: "operator", at: NOW });
  },
  reads: (store, scope) => store.part(SCHEDULE_STORE).schedulePauses(scope),
};
