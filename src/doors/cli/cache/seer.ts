import { rulesOf, type SeenRequest, seenOf, seenOfBody } from "../../../app/entry/costs.ts";
import type { App, TurnRecord } from "../../../app.ts";
import type { CountTokens, ModelRef } from "../../../protocol/index.ts";

/** Sees requests as a cache does. Where breakpoints stay in earlier messages, only the body shows them. */
export function seer(app: App) {
  const counters = new Map<ModelRef, Promise<CountTokens>>();
  const counterFor = async (factor: number): Promise<CountTokens> => {
    const { tokenCounter } = await import("../../../app/entry/recordings.ts");
    return tokenCounter({ factor });
  };
  return async (
    turn: TurnRecord,
    { n, at }: TurnRecord["requests"][number],
  ): Promise<{ readonly seen: SeenRequest; readonly model: ModelRef }> => {
    const { request, wire: model } = await app.runtime.rebuilt(app.operator, turn.id, n);
    const card = app.cardOf(model);
    const counter = counters.get(model) ?? counterFor(card.tokenFactor);
    counters.set(model, counter);
    if (rulesOf(card).kind !== "exact") return { model, seen: seenOf(request, await counter, { at, model, card }) };
    const body: unknown = JSON.parse(await app.bodyOf(request, model));
    return { model, seen: seenOfBody(body, await counter, { at }) };
  };
}
