import type { AgentState, Tool } from "../protocol/index.ts";

/** A turn's calls are made while the agent acts; what a person approves runs between two turns. */
export const IN_TURN: AgentState = "executing actions";
export const BETWEEN_TURNS: AgentState = "idle";

/** Why a tool may not be called in a state, as the rest of a sentence about it; nothing where it may. */
export function outOfState({ states }: Tool, state: AgentState): string | undefined {
  if (states === undefined || states.includes(state)) return undefined;
  return `may be called only while ${states.join(" or ")}, and the agent is ${state}`;
}
