/** A layer about the runtime of an agent: its model, its machine, its tools. */
import { type LayerContent, type LayerId, type Trusted, trusted } from "../../protocol/index.ts";
import { limitsOf, type TurnParts, type TurnSetup, type TurnSteps } from "../../turn/index.ts";
import type { Feature } from "../feature.ts";

const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;

export const WORDING = {
  /** Over the list of tools. */
  tools: "Your tools:",
  /** What holds in every turn. */
  limits: (toolCalls: number, modelCalls: number): string =>
    `Each turn: at most ${counted(toolCalls, "tool call")} and ${counted(modelCalls, "model call")}.`,
  limit: (tool: string, calls: number): string => `${tool}: ${counted(calls, "call")}`,
} as const;

/** Fills layers with `source: runtime`, `source: tools` and `source: limits`. */
const STEPS: TurnSteps = {
  setup: async (parts, setup) => {
    const texts = setup.agent.layers.flatMap(({ id, source: { kind } }): (readonly [LayerId, LayerContent])[] => {
      if (kind === "runtime") return [[id, { kind: "text", text: runtimeLine(parts, setup) }]];
      if (kind === "limits") return [[id, { kind: "text", text: limitLines(parts, setup) }]];
      return kind === "tools" ? [[id, toolLines(parts, setup)]] : [];
    });
    return texts.length === 0 ? setup : { ...setup, texts: new Map([...(setup.texts ?? []), ...texts]) };
  },
};

/** The platform's and the operator's words alone: names of agents, models, machines and folders. */
function runtimeLine({ machine }: TurnParts, { agent, model }: TurnSetup): Trusted {
  const { system, host, folder } = machine ?? {};
  const facts = [
    `agent ${agent.name}`,
    `model ${model.ref}`,
    system,
    host && `host ${host}`,
    folder && `folder ${folder}`,
  ];
  return trusted(facts.flatMap((fact) => (fact ? [oneLine(fact)] : [])).join(" · "));
}

const oneLine = (text: string): string => text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ").trim();

/** The first sentence of each tool's description: the whole of it is in the request's tools. */
function toolLines({ tools }: TurnParts, { agent }: TurnSetup): LayerContent {
  const schemas = tools.schemas(agent.tools, agent);
  if (schemas.length === 0) return { kind: "empty", because: "the agent has no tools" };
  const lines = schemas.map(({ name, description }) => `- ${name}: ${oneLine(firstSentence(description))}`);
  return { kind: "text", text: trusted([WORDING.tools, ...lines].join("\n")) };
}

/** The declared limits: the tail says if a turn has less, and what is left. */
function limitLines({ tools }: TurnParts, { agent }: TurnSetup): Trusted {
  const { toolCalls, modelCalls } = agent.budgets.turn;
  const own = agent.tools.flatMap((name) => {
    const tool = tools.get(name);
    const calls = tool === undefined ? Number.POSITIVE_INFINITY : limitsOf(agent, tool).calls;
    return Number.isFinite(calls) ? [`- ${WORDING.limit(name, calls)}`] : [];
  });
  return trusted([WORDING.limits(toolCalls, modelCalls), ...own].join("\n"));
}

const firstSentence = (text: string): string => /^.*?[.!?](?=\s|$)/su.exec(text)?.[0] ?? text;

export const FEATURE: Feature = { name: "runtime", operations: [], steps: STEPS };
