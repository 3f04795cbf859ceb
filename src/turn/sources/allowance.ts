import { type Agent, type LayerContent, trusted } from "../../protocol/index.ts";
import type { GatherContext, ToolAllowance } from "./context.ts";

/**
 * The tools of the turn as they were fixed at its start: how often each and the model may be called, in which states, and which of
 * their calls wait for a person.
 */
export async function allowance(agent: Agent, context: GatherContext): Promise<LayerContent> {
  const { tools = [], rounds = agent.budgets.turn.rounds } = context;
  if (tools.length === 0) return { kind: "text", text: trusted("There are no tools in this turn.") };
  const intro = `${times(agent.budgets.turn.calls, "tool call")}, ${times(rounds, "model call")} in this turn:`;
  const lines = await Promise.all(tools.map(async (tool) => line(tool, (await tool.waiting?.()) ?? [])));
  // Names of tools and layers are the operator's, the states and numbers the platform's.
  return { kind: "text", text: trusted([intro, ...lines].join("\n")) };
}

function line({ name, calls, states }: ToolAllowance, waiting: readonly string[]): string {
  const limits = [
    ...(calls === undefined ? [] : [times(calls)]),
    ...(states === undefined ? [] : [`only while ${states.join(" or ")}`]),
    ...waiting,
  ];
  return `- ${[name, ...limits].join(" · ")}`;
}

const times = (n: number, what = "call"): string => `${n} ${what}${n === 1 ? "" : "s"}`;
