/** Sub-agents: an agent calls one that its project defines, with a tool, and it answers in a turn of its own. */
import { z } from "zod";
import type { Tool, ToolReader, TurnId } from "../../protocol/index.ts";
import { endLeftCalls, type RunningTurn } from "../../turn/index.ts";
import { defineTool, refused } from "../../turn/tools/index.ts";
import type { Feature, ToolWorld } from "../feature.ts";
import { callSubagent } from "./call.ts";
import { CALL_SUBAGENT, KEYS } from "./config.ts";

/** The turns that may ask one, while they run. */
const running = new Map<TurnId, RunningTurn>();

function callTool(world: ToolWorld, { subagents }: Partial<ToolReader> = {}): Tool {
  const { defined = [], fromFiles = false } = subagents ?? {};
  const names = defined.map(({ name, description }) => `${name} (${description})`);
  const there = [...names, ...(fromFiles ? ["those that AGENTS.md defines"] : [])].join("; ");
  return defineTool({
    name: CALL_SUBAGENT,
    description: `Asks a sub-agent, which knows nothing of this conversation, and gives its answer. Say in the task all that it needs.${there === "" ? "" : ` There are: ${there}.`}`,
    input: z.object({
      name: z.string().min(1).max(64).describe("Which sub-agent."),
      task: z.string().min(1).max(50_000).describe("What it shall do, and all that it must know for it."),
    }),
    // Its turn has an end of its own: whatever happens to the caller's, it is not run again for the same call.
    effect: "external",
    trust: "agent",
    states: ["executing actions"],
    run: (input, context) => {
      const turn = running.get(context.turn);
      const rules = turn?.setup.agent.subagents;
      if (turn === undefined || rules === undefined) return refused("Not run: this agent has no sub-agents.");
      return callSubagent(input, { turn, world, rules, context });
    },
  });
}

export const FEATURE: Feature = {
  name: "subagents",
  needs: ["files"],
  keys: KEYS,
  tools: (world) => [{ ...callTool(world), schemaFor: (agent) => callTool(world, agent).schema }],
  steps: {
    begun: async (turn) => {
      if (turn.setup.agent.subagents === undefined) return;
      running.set(turn.lease.claim.turn, turn);
      await endLeftCalls(turn);
    },
    ended: async ({ lease }) => {
      running.delete(lease.claim.turn);
    },
  },
  operations: [],
};
