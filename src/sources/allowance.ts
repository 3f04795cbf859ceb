import { type Agent, type LayerContent, trusted } from "../protocol/index.ts";
import type { GatherContext, ToolAllowance } from "./context.ts";

/** The tools of the turn as they were fixed at its start: how often each may be called, and in which states. */
export function allowance({ budgets }: Agent, { tools = [] }: GatherContext): LayerContent {
  if (tools.length === 0) return { kind: "text", text: trusted("There are no tools in this turn.") };
  // Names of tools are the operator's, the states and numbers the platform's.
  return { kind: "text", text: trusted([`${times(budgets.turn.calls)} in this turn:`, ...tools.map(line)].join("\n")) };
}

function line({ name, calls, states }: ToolAllowance): string {
  const limits = [
    ...(calls === undefined ? [] : [times(calls)]),
    ...(states === undefined ? [] : [`only while ${states.join(" or ")}`]),
  ];
  return `- ${[name, ...limits].join(" · ")}`;
}

const times = (calls: number): string => (calls === 1 ? "1 call" : `${calls} calls`);
