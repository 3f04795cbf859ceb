/** The declared agents: a list, the details of each, what needs an operator, and who viewed it. */

import { z } from "zod";
import { count, minute, printable, type Style, setIn, shortVersion, table } from "../../print/index.ts";
import { type Agent, asStrataError, type ModelRef, REASONING_LEVELS, StrataError } from "../../protocol/index.ts";
import { type ModelCard, samplingFor } from "../../wire/index.ts";
import type { Feature } from "../feature.ts";
import { FIELDS, given, LIST_OF_AGENT, list, NEXT, nextAfter, OF_AGENT } from "../fields.ts";
import { LIFE_API, lifeAnswer } from "../life/index.ts";
import { type Call, type Operation, type OperationContext, operation } from "../operation.ts";
import { SKILL_API } from "../skills/index.ts";
import { AGENT_API, type AgentApi, agentApi } from "./api.ts";
import { graph } from "./graph.ts";
import {
  ACT,
  AGENT,
  ATTENTION,
  answererSays,
  askedLines,
  attentionLines,
  DECLARED,
  declaredLines,
  ownTurnLines,
  SNAPSHOT,
  sourceText,
} from "./lines.ts";

export { AGENT_API, type AgentApi } from "./api.ts";
export { answererSays } from "./lines.ts";

const listAgents = operation({
  name: "agent.list",
  does: "List the declared agents and the models that answer for them.",
  may: "read",
  at: "GET /v1/agents",
  takes: z.strictObject({}),
  gives: z.object({ agents: list(AGENT) }),
  list: "agents",
  command: { examples: ["agent list --folder my-agents"], opens: "everything" },
  run: async (world, _, { actor }) => {
    const found = await answeringOf(world, world.runtime.agents(actor));
    return {
      agents: found.map(({ agent: { name, version, description, layers, tools, handler }, model, problem }) => ({
        name,
        version,
        description,
        model,
        ...given("handler", handler && { file: handler.file, level: handler.level }),
        tools,
        ...given("problem", problem?.message),
        layers: layers.map(({ id }) => id),
      })),
    };
  },
  show: ({ agents: found }, { style }) =>
    found.flatMap(({ name, version, description, model, handler, problem, layers, tools }) => [
      `${style.bold(name)}, version ${shortVersion(version)}, answered by ${answererSays(model, handler?.file)}, ${count(layers.length, "layer")}, ${count(tools.length, "tool")}`,
      ...setIn(description, "  ", style),
      ...(problem === undefined ? [] : [style.yellow(`  cannot answer yet: ${problem}`)]),
    ]),
});

const showAgent = operation({
  name: "agent.show",
  does: "Show an agent as it is declared: its layers with rank, scope, trust and tokens, its tools, model, budgets and lock.",
  may: "read",
  at: "GET /v1/agents/{agent}",
  takes: OF_AGENT,
  gives: DECLARED,
  command: { examples: ["agent show companion"], opens: "everything" },
  run: (world, { agent }, call) => declared(world, world.runtime.agent(call.actor, agent), call),
  show: (agent, { style, world, given: { agent: name }, call }) =>
    declaredLines(agent, world.runtime.agent(call.actor, name), style),
});

async function declared(world: OperationContext, agent: Agent, { actor }: Call<"read">) {
  const counted = await world.counterOf(agent);
  const [{ model, problem } = { model: world.modelChoiceOf(agent).ref }] = await answeringOf(world, [agent]);
  const waiting = await world.runtime.use(AGENT_API).attention(actor, agent.name);
  return {
    ...agent,
    model,
    layers: agent.layers.map(({ source, ...layer }) => ({
      ...layer,
      source: sourceText(source),
      ...given("tokens", source.kind === "text" ? counted(source.text) : undefined),
    })),
    attention: waiting.flatMap(attentionLines),
    ...given("guess", world.guessedWindow(model)),
    ...given("problem", problem?.message),
    ...given("file", world.projects.find((project) => project.agents.has(agent.name))?.file),
  };
}

const snapshot = operation({
  name: "agent.snapshot",
  does: "Show everything about an agent at once: layers, life, logs, and how many messages wait. This access is recorded.",
  may: "read",
  at: "GET /v1/agents/{agent}/snapshot",
  takes: OF_AGENT,
  gives: SNAPSHOT,
  run: async ({ runtime }, { agent: asked }, { actor }) => {
    const { agent, life, ...rest } = await runtime.use(AGENT_API).snapshot(actor, asked);
    const { name, version, description } = agent;
    return { agent: { name, version, description }, ...given("life", life && lifeAnswer(life)), ...rest };
  },
  show: ({ agent: { name }, layers, logs, inbox, outbox }) => [
    `${name} has ${count(layers.length, "layer")} and ${count(logs.length, "log")}; ${inbox} of its messages wait for a turn, ${outbox} for delivery`,
  ],
});

const acts = operation({
  name: "agent.acts",
  does: "List what operators viewed and did with an agent, newest first; edits are in the history of its layers.",
  may: "read",
  at: "GET /v1/agents/{agent}/acts",
  takes: LIST_OF_AGENT,
  gives: z.object({ acts: list(ACT), ...NEXT }),
  list: "acts",
  command: { examples: ["agent acts companion"], opens: "record" },
  run: async ({ runtime }, { agent, limit, after }, { actor }) => {
    const found = await runtime.use(AGENT_API).acts(actor, agent, limit, after);
    return { acts: found, ...nextAfter(found, limit, ({ id }) => ({ at: id })) };
  },
  show: ({ acts: found }, { style, given: { agent } }) =>
    found.length === 0 ? [`No operator has viewed ${agent} yet.`] : actLines(found, style),
});

const rename = operation({
  name: "agent.rename",
  does: "Give an agent everything that is kept under the name that it had before: conversations, memories, texts, schedules, credits, files. Rename it in strata.yaml first; the old name is then no longer declared, and the new one must not have a record yet.",
  may: "operate",
  at: "POST /v1/agents/{agent}/rename",
  takes: z.strictObject({
    agent: FIELDS.agent.describe("its name now, as in strata.yaml"),
    was: FIELDS.agent.describe("its name before"),
  }),
  gives: z.object({ agent: FIELDS.agent, was: FIELDS.agent }),
  command: { words: ["was"], namesAgent: true, examples: ["agent rename companion assistant"], opens: "everything" },
  run: async ({ runtime }, { agent, was }, { actor }) => {
    await runtime.use(AGENT_API).rename(actor, agent, was);
    return { agent, was };
  },
  show: ({ agent, was }) => [`All that was kept of ${was} is now kept of ${agent}.`],
});

const attention = operation({
  name: "agent.attention",
  does: "List what needs an operator, agent by agent: calls, questions and drafts that wait for a person, proposals and what the agent itself has changed, each with the contact it came from, what it reported of turns that it began itself, edited texts that are not sent, turns that left somebody without a reply, messages that could not be delivered, and agents that sleep because they have no credits. If nothing can be kept, because the disk is full or the database's server is gone, it says so first.",
  may: "read",
  at: "GET /v1/attention",
  takes: z.strictObject({ agent: FIELDS.agent.optional() }),
  gives: z.object({
    agents: list(ATTENTION),
    store: z.string().optional().describe("why nothing is kept just now; left out where all is well"),
  }),
  list: "agents",
  command: { examples: ["agent attention", "agent attention companion --json"], opens: "record" },
  run: async ({ runtime }, { agent }, { actor }) => {
    const api = runtime.use(AGENT_API);
    return { agents: await api.attention(actor, agent), ...given("store", await api.storeTrouble(actor)) };
  },
  show: ({ agents: found, store }) => {
    const lines = [
      ...(store === undefined ? [] : [`Nothing is kept: ${store}`]),
      ...found.flatMap((one) => [...askedLines(one), ...attentionLines(one), ...ownTurnLines(one)]),
    ];
    return lines.length === 0 ? ["Nothing needs an operator."] : lines;
  },
});

/** Operations on the agents themselves. */
const OPERATIONS: readonly Operation[] = [listAgents, showAgent, graph, snapshot, acts, rename, attention];

type Act = Awaited<ReturnType<AgentApi["acts"]>>[number];

const COLUMNS = [{ head: "when (UTC)" }, { head: "who" }, { head: "did" }, { head: "about" }] as const;

function actLines(found: readonly Act[], style: Style): readonly string[] {
  const rows = found.map(({ at, role, byId = role, what, about }) => [minute(at), byId, what, printable(about)]);
  return table(COLUMNS, rows, style);
}

/** The model that answers for an agent, or why it cannot answer. */
export interface Answering {
  readonly agent: Agent;
  readonly model: string;
  /** Why this one, as the end of "answered by … because …". */
  readonly because: string;
  readonly problem?: StrataError;
}

/** Opens each agent's model as a turn would; nothing is asked of a provider. */
export function answeringOf(
  world: Pick<OperationContext, "modelChoiceOf" | "modelOf">,
  agents: readonly Agent[],
): Promise<readonly Answering[]> {
  return Promise.all(
    agents.map(async (agent) => {
      const problem = await world.modelOf(agent).then(() => undefined, asStrataError);
      // Asked once it is open: by then, a custom server has reported its models.
      const { ref: model, because } = world.modelChoiceOf(agent);
      return { agent, model, because, ...(problem && { problem }) };
    }),
  );
}

/** Why agents cannot answer: one sentence for each cause, whichever of them share it. */
export function problemsOf(found: readonly Answering[]): readonly StrataError[] {
  const causes = new Map<string, { readonly error: StrataError; readonly names: string[] }>();
  for (const { agent, problem } of found) {
    if (problem === undefined) continue;
    const cause = causes.get(problem.message) ?? { error: problem, names: [] };
    cause.names.push(agent.name);
    causes.set(problem.message, cause);
  }
  return [...causes.values()].map(({ error: { traits, message, details }, names }) => {
    return new StrataError(traits, `${names.join(", ")} cannot answer yet: ${message}`, details);
  });
}

/** Parameters of their agents that models do not accept, at the level of reasoning that conversations begin with: one sentence for each. */
export function refusedParameters(
  { cardOf }: { readonly cardOf: (model: ModelRef) => Pick<ModelCard, "sampling"> },
  found: readonly Answering[],
): readonly string[] {
  return found.flatMap(({ agent: { name, parameters = {}, settings = {} }, model }) => {
    const set = Object.values(settings).find(({ sets }) => sets === "reasoning")?.default;
    const level = REASONING_LEVELS.find((one) => one === set);
    return samplingFor(cardOf(model), parameters, level && { level }).omitted.map(
      ({ parameter, because }) => `${name} does not send \`${parameter}\` to ${model}: ${because}`,
    );
  });
}

export { askedLines, attentionLines, ownTurnLines, personLines, selfChangeLines, unansweredLines } from "./lines.ts";

/** It shows what other features keep of an agent, so their words and sentences appear here, too. */
export const FEATURE: Feature = {
  name: "agents",
  needs: ["approvals", "deliveries", "drafts", "learning", "life", "logs", "skills", "texts"],
  open: () => ({
    api: ({ parts, use }) => AGENT_API.open(agentApi(parts, use(LIFE_API), use(SKILL_API).withFolderSkills)),
  }),
  operations: OPERATIONS,
};
