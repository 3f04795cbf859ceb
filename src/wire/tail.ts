import type { Agent, TailPlan } from "../protocol/index.ts";
import { rulesOf } from "./cache/rules.ts";
import type { ModelCard } from "./cards.ts";
import type { PaidTwice } from "./lint/subject.ts";

/**
 * How a model's tail is carried, as its card says. Outside text is never in a system message, so beside one it is carried as if there were
 * none; and no system message may come before the events.
 */
export function tailPlanOf(card: ModelCard, liveLayers: Agent["liveLayers"] = "after"): TailPlan {
  const place = liveLayers === "before" ? "before-events" : "after-events";
  const { tailMode, reasoningBoundToHistory = false } = card;
  const without = tailMode === "turn-scoped" ? (reasoningBoundToHistory ? "delta" : "ephemeral") : tailMode;
  const trusted = place === "before-events" ? without : tailMode;
  if (without !== "delta" || reasoningBoundToHistory) return { trusted, framed: without, place };
  const { read, write5m: write } = rulesOf(card).multipliers;
  return { trusted, framed: without, place, keep: { read, write } };
}

/** The cost of a place before the events: nothing if the changed lines stay there, or if there is no cache. */
export function paidTwiceOf(card: ModelCard, liveLayers: Agent["liveLayers"] = "after"): PaidTwice {
  if (liveLayers === "after" || card.cache === "none") return "nothing";
  if (tailPlanOf(card, liveLayers).framed === "delta") return "nothing";
  return card.cache === "exact" ? "events and answer" : "events";
}
