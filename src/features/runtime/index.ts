/** A layer about the runtime of an agent: its model, its machine, its tools. */
import { type LayerContent, type LayerId, type Trusted, trusted } from "../../protocol/index.ts";
import type { TurnParts, TurnSetup, TurnSteps } from "../../turn/index.ts";
import type { Feature } from "../feature.ts";

/** Over the list of tools. */
export const WORDING = { tools: "Your tools:" } as const;

/** Fills layers with `source: runtime` and `source: tools`. */
const STEPS: TurnSteps = {
  setup: async (parts, setup) => {
    const texts = setup.agent.layers.flatMap(({ id, source: { kind } }): (readonly [LayerId, LayerContent])[] => {
      if (kind === "runtime") return [[id, { kind: "text", text: runtimeLine(parts, setup) }]];
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

/** The first sentence of each tool's description: the whole of it stands in the request's tools. */
function toolLines({ tools }: TurnParts, { agent }: TurnSetup): LayerContent {
  const schemas = tools.schemas(agent.tools, agent);
  if (schemas.length === 0) return { kind: "empty", because: "the agent has no tools" };
  const lines = schemas.map(({ name, description }) => `- ${name}: ${oneLine(firstSentence(description))}`);
  return { kind: "text", text: trusted([WORDING.tools, ...lines].join("\n")) };
}

const firstSentence = (text: string): string => /^.*?[.!?](?=\s|$)/su.exec(text)?.[0] ?? text;

export const FEATURE: Feature = { name: "runtime", operations: [], steps: STEPS };
