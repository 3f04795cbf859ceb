/** Sub-agents: an agent calls one that its project defines, with a tool, and it answers in a separate turn. */
import { z } from "zod";
import { truncateText } from "../../guard/index.ts";
import { printable, table } from "../../print/index.ts";
import {
  type Agent,
  type AgentName,
  type Allowed,
  MODES,
  type Tool,
  type ToolName,
  type ToolReader,
} from "../../protocol/index.ts";
import { accessTo, callerOf, featureApi, type Parts, type TurnSteps } from "../../turn/index.ts";
import { defineTool, refused } from "../../turn/tools/index.ts";
import type { Feature, ToolDeps } from "../feature.ts";
import { list as listOf, OF_AGENT } from "../fields.ts";
import type { FilePorts } from "../files/index.ts";
import { operation } from "../operation.ts";
import { callSubagent, endLeftOver, saidToCaller } from "./call.ts";
import { CALL_SUBAGENT, KEYS, PEER } from "./config.ts";
import { DECLARED, type Definition, definitionsOf, type LeftOut, toolsOf } from "./definitions.ts";
import { parentTool } from "./parent.ts";
import { description, FROM_FILES, moreFromFiles, NO_SUBAGENTS } from "./wording.ts";

export { ENQUEUE_PARENT, PEER } from "./config.ts";
export { subagentProblems } from "./definitions.ts";
export { withDelegation } from "./parent.ts";

/** What operators see of an agent's sub-agents. @throws StrataError `not_allowed`, `agent_not_found` */
export interface SubagentApi {
  /** The sub-agents that the agent may call, each with its tools, and the skipped definitions. */
  subagents(
    actor: Allowed<"operate">,
    agent: AgentName,
  ): Promise<{
    readonly subagents: readonly (Omit<Definition, "tools"> & { readonly tools: readonly ToolName[] })[];
    readonly leftOut: readonly LeftOut[];
  }>;
}

/** The functions of subagents, as `runtime.use` gives them. */
export const SUBAGENT_API = featureApi<SubagentApi>("subagents");

export const subagentApi = (parts: Parts, { disk }: FilePorts): SubagentApi => ({
  subagents: async (actor, name) => {
    const { agent } = accessTo(parts, actor, name);
    const { callable, leftOut } = await definitionsOf(agent, { store: parts.store, disk });
    return { subagents: callable.map((one) => ({ ...one, tools: toolsOf(agent, one, parts.tools) })), leftOut };
  },
});

/** Whom agents may call by their files, as last read, by the agent's layers: a tool is described without waiting. */
const lastDefinitions = new WeakMap<Agent["layers"], readonly Definition[]>();

/** Reads before each turn whom the agent's files define. */
const readDefinitions =
  ({ disk }: FilePorts): NonNullable<TurnSteps["prepare"]> =>
  async ({ store }, agent) => {
    if (agent.subagents?.fromFiles !== true || disk === undefined) return;
    const { callable } = await definitionsOf(agent, { store, disk });
    lastDefinitions.set(
      agent.layers,
      callable.filter(({ from }) => from !== DECLARED),
    );
  };

/** How many of the file-defined ones are named, and with how many characters each. */
const NAMED = 30;
const DESCRIBED = 160;

function namesFromFiles(definitions: readonly Definition[]): readonly string[] {
  if (definitions.length === 0) return [FROM_FILES];
  const names = definitions
    .slice(0, NAMED)
    .map(({ name, description: text }) => (text === "" ? name : `${name} (${truncateText(text, DESCRIBED, "…")})`));
  return definitions.length > NAMED ? [...names, moreFromFiles(definitions.length - NAMED)] : names;
}

function callTool(world: ToolDeps, { subagents, layers = [] }: Partial<ToolReader> = {}): Tool {
  const { defined = [], fromFiles = false } = subagents ?? {};
  const names = defined.map((one) => `${one.name} (${one.description})`);
  return defineTool({
    name: CALL_SUBAGENT,
    description: description([...names, ...(fromFiles ? namesFromFiles(lastDefinitions.get(layers) ?? []) : [])]),
    input: z.object({
      name: z.string().min(1).max(64).describe("Which sub-agent."),
      task: z.string().min(1).max(50_000).describe("The task, with all context it needs."),
    }),
    // It begins with the commit of the turn that calls it, or not at all.
    effect: "store",
    trust: "agent",
    states: ["executing actions"],
    run: (input, context) => {
      const turn = callerOf(context);
      const rules = turn?.setup.agent.subagents;
      if (turn === undefined || rules === undefined) return refused(NO_SUBAGENTS);
      return callSubagent(input, { turn, world, rules, context });
    },
  });
}

const SUBAGENTS = z
  .object({
    subagents: listOf(
      z.object({
        name: z.string(),
        description: z.string(),
        from: z.string().describe("`strata.yaml`, or the AGENTS.md that defines it, from the project's root on."),
        mode: z.enum(MODES),
        tools: listOf(z.string()),
        model: z.string().describe("Who answers for it: the model of the agent that calls it."),
      }),
    ),
    leftOut: listOf(z.object({ name: z.string(), from: z.string(), because: z.string() })).describe(
      "What an AGENTS.md defines and the agent cannot call.",
    ),
  })
  .meta({ id: "Subagents" });

const COLUMNS = [
  { head: "name" },
  { head: "defined in" },
  { head: "mode" },
  { head: "model" },
  { head: "tools", least: 12, wraps: true },
  { head: "asked for", least: 20, wraps: true },
] as const;

const listSubagents = operation({
  name: "subagent.list",
  does: "List the sub-agents that an agent may call: where each is defined, its tools and its model.",
  may: "operate",
  at: "GET /v1/agents/{agent}/subagents",
  takes: OF_AGENT,
  gives: SUBAGENTS,
  command: { examples: ["subagent list workbench"], opens: "data" },
  run: async ({ runtime, modelNameOf }, { agent }, { actor }) => {
    const { subagents, leftOut } = await runtime.use(SUBAGENT_API).subagents(actor, agent);
    const model = modelNameOf(runtime.agent(actor, agent));
    return { subagents: subagents.map(({ text: _, ...one }) => ({ ...one, model })), leftOut };
  },
  show: ({ subagents, leftOut }, { style, given: { agent } }) => [
    ...(subagents.length === 0
      ? [`${agent} has no sub-agents; \`subagents\` in strata.yaml and AGENTS.md define them.`]
      : table(
          COLUMNS,
          subagents.map(({ name, from, mode, model, tools, description }) =>
            [name, from, mode, model, tools.join(", ") || "none", description].map(printable),
          ),
          style,
        )),
    ...leftOut.map(({ name, from, because }) => printable(`${name} of ${from} is left out: ${because}.`)),
  ],
});

export const FEATURE: Feature<FilePorts> = {
  name: "subagents",
  needs: ["files"],
  keys: KEYS,
  channels: [PEER],
  tools: (world) => [{ ...callTool(world), schemaFor: (agent) => callTool(world, agent).schema }, parentTool()],
  steps: { onStart: endLeftOver, saidToCaller },
  operations: [listSubagents],
  open: (world) => ({
    api: ({ parts }) => SUBAGENT_API.open(subagentApi(parts, world)),
    steps: { prepare: readDefinitions(world) },
  }),
};
