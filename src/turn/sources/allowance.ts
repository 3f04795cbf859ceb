import { type Agent, EDIT_TOOL, type LayerContent, type TextVersion, trusted } from "../../protocol/index.ts";
import type { GatherContext, ToolAllowance } from "./context.ts";

/** As many texts that wait are told: more layers are hardly edited. */
const MOST_WAITING = 20;

/**
 * The tools of the turn as they were fixed at its start: how often each and the model may be called, in which states, and which of
 * the agent's own edits wait for an operator.
 */
export async function allowance(agent: Agent, context: GatherContext): Promise<LayerContent> {
  const { tools = [], rounds = agent.budgets.turn.rounds } = context;
  if (tools.length === 0) return { kind: "text", text: trusted("There are no tools in this turn.") };
  const intro = `${times(agent.budgets.turn.calls, "tool call")}, ${times(rounds, "model call")} in this turn:`;
  const lines = await Promise.all(tools.map(async (tool) => line(tool, await waitingFor(tool, agent, context))));
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

/** What the agent was told would be changed, or asked for in a turn of its own, and nobody has decided about. */
async function waitingFor({ name }: ToolAllowance, agent: Agent, { store }: GatherContext): Promise<readonly string[]> {
  if (name !== EDIT_TOOL) return [];
  const waiting = await store.proposals({ org: agent.org, agent: agent.name }, { own: true, limit: MOST_WAITING });
  return waiting.flatMap((version) => waits(agent, version));
}

function waits({ layers }: Agent, { layer: id, n }: TextVersion): readonly string[] {
  const layer = layers.find((one) => one.id === id);
  return layer ? [`your text for layer ${layer.rank} (${id}) waits for your operator, version ${n}`] : [];
}

const times = (n: number, what = "call"): string => `${n} ${what}${n === 1 ? "" : "s"}`;
