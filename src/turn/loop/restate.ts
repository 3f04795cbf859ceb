import { type Compilation, type Restated, restate } from "../../compiler/index.ts";
import { gather, type TurnProgress } from "../sources/index.ts";
import { occasionOf, unansweredOf } from "../variants/batch-turn.ts";
import { lastWord } from "./calls.ts";
import { allowances } from "./gather.ts";
import { claimOf, type TurnState, usedOf } from "./turn-state.ts";

/** The turn's progress: what is left of its limits, and who has a reply already. */
export function progressOf(state: TurnState): TurnProgress {
  const { modelCalls, toolCalls } = state.setup.limits;
  const used = usedOf(state);
  const last = lastWord(state);
  return {
    modelCalls: Math.max(0, modelCalls - used.modelCalls),
    toolCalls: Math.max(0, toolCalls - used.toolCalls),
    calls: state.used,
    answered: new Set(state.replies.keys()),
    ...(last !== undefined && { last }),
  };
}

/**
 * The live layers that say how far the turn may go and whom it has to answer, as that is after its calls: the last sentence that a model
 * reads is one that holds. All others stay as they were gathered.
 */
export async function restated(state: TurnState, compilation: Compilation): Promise<Restated> {
  const { parts, setup, lease } = state;
  const { agent, count } = setup;
  // A single sender is answered by the final text: until then, nothing changes in what is to be answered.
  const live = unansweredOf(state) === undefined ? {} : parts.steps.restated(parts, agent);
  const layers = agent.layers.filter(({ source: { kind } }) => kind === "allowance" || live[kind] !== undefined);
  if (layers.length === 0) return { compilation };
  const claim = claimOf(state);
  const { contents } = await gather(agent, layers, {
    scope: claim.thread.scope,
    ...occasionOf(claim),
    at: parts.clock.recorded(),
    count,
    live,
    tools: allowances(parts, setup, compilation.epoch),
    progress: progressOf(state),
    signal: lease.signal,
  });
  return restate(
    compilation,
    layers.flatMap((layer) => {
      const content = contents.get(layer.id);
      return content === undefined ? [] : [[layer, content] as const];
    }),
    count,
  );
}
