import type { TailPlace, TailPlan } from "../protocol/index.ts";
import { rulesOf } from "./cache/rules.ts";
import type { ModelCard } from "./cards.ts";

/**
 * How a model's tail is carried, as its card says. What others wrote stands in no message of the system's, so beside one it is
 * carried as if there were none; and no such message may stand before the events.
 */
export function tailPlanOf(card: ModelCard, place: TailPlace = "after-events"): TailPlan {
  const { tail, binds = false } = card;
  const without = tail === "turn-scoped" ? (binds ? "delta" : "ephemeral") : tail;
  const trusted = place === "before-events" ? without : tail;
  if (without !== "delta" || binds) return { trusted, framed: without, place };
  const { read, write5m: write } = rulesOf(card).multipliers;
  return { trusted, framed: without, place, keep: { read, write } };
}
