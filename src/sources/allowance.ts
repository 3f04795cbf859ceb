import { type Agent, type LayerContent, trusted } from "../protocol/index.ts";
import type { GatherContext, ToolAllowance } from "./context.ts";

/** The tools of the turn as they were fixed at its start: how often each and the model may be called, and in which states. */
export function allowance(
  { budgets }: Agent,
  { tools = [], rounds = budgets.turn.rounds }: GatherContext,
): LayerContent {
  if (tools.length === 0) return { kind: "text", text: trusted("There are no tools in this turn.") };
  // Names of tools are the operator's, the states and numbers the platform's.
  const intro = `${times(budgets.turn.calls, "tool call")}, ${times(rounds, "model call")} in this turn:`;
  return { kind: "text", text: trusted([intro, ...tools.map(line)].join("\n")) };
}

function line({ name, calls, states }: ToolAllowance): string {
  const limits = [
    ...(calls === undefined ? [] : [times(calls)]),
    ...(states === undefined ? [] : [`only while ${states.join(" or ")}`]),
  ];
  return `- ${[name, ...limits].join(" · ")}`;
}

const times = (n: number, what = "call"): string => `${n} ${what}${n === 1 ? "" : "s"}`;
