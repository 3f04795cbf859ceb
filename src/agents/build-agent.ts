import { join } from "node:path";
import {
  type Agent,
  agentName,
  type Budgets,
  DEFAULT_BUDGETS,
  LAYER_SCOPES,
  type Layer,
  layerId,
  type ModelRef,
  type OrgId,
  type Source,
  toolName,
  trusted,
} from "../protocol/index.ts";
import { sealAgent } from "./agent-spec.ts";
import { type AgentConfig, type LayerConfig, SOURCE_WITH_EMBEDDER } from "./config-schema.ts";
import { checkText, normalText, readLayerFile } from "./layer-text.ts";
import type { Path } from "./path.ts";
import type { Report } from "./report.ts";

/** What an agent gets from the file around it. */
export interface Surroundings {
  readonly org: OrgId;
  readonly model: ModelRef | undefined;
  readonly embedder: ModelRef | undefined;
  readonly folder: string;
  readonly report: Report;
}

/** An agent as declared, with its texts read, its defaults filled in and its parts in the one order that counts. */
export function buildAgent(name: string, config: AgentConfig, around: Surroundings): Agent {
  const path: Path = ["agents", name];
  const model = config.model ?? around.model;
  const embedder = [config.embedder ?? around.embedder].find((ref) => ref !== "none");
  const recalls = config.layers.some((layer) => layer.source === "recall");
  checkText({ text: config.description, path: [...path, "description"] }, around.report);
  return sealAgent({
    org: around.org,
    name: agentName(name),
    description: config.description,
    ...(model === undefined ? {} : { model }),
    ...(embedder === undefined ? {} : { embedder }),
    layers: config.layers
      .map((layer, i) => buildLayer(layer, [...path, "layers", i], around))
      .sort((a, b) => LAYER_SCOPES.indexOf(a.scope) - LAYER_SCOPES.indexOf(b.scope) || a.rank - b.rank),
    ...buildTools(config.tools),
    ...(config.output === undefined ? {} : { output: config.output }),
    recall: config.recall ?? (recalls ? "auto" : "none"),
    history: config.history,
    ...(config.tail === "before-events" && { tail: config.tail }),
    ...(config.summaries ? {} : { summaries: false }),
    ...(config.consolidate && { consolidate: config.consolidate }),
    mode: config.mode,
    budgets: buildBudgets(config.budgets, embedder === undefined ? DEFAULT_BUDGETS.source : SOURCE_WITH_EMBEDDER),
  });
}

/** Names for what is sent, and rules only where there are some: an agent without them has the version it always had. */
function buildTools(tools: AgentConfig["tools"]): Pick<Agent, "tools" | "rules"> {
  const declared = tools.map((tool) => (typeof tool === "string" ? { name: tool } : tool));
  const rules = declared.flatMap(({ name, approval, calls, seconds }) => {
    const rule = { ...(approval && { approval }), ...(calls && { calls }), ...(seconds && { seconds }) };
    return Object.keys(rule).length === 0 ? [] : [{ tool: toolName(name), ...rule }];
  });
  return {
    tools: declared.map(({ name }) => toolName(name)).sort(),
    ...(rules.length > 0 && { rules: rules.sort((a, b) => (a.tool < b.tool ? -1 : 1)) }),
  };
}

function buildLayer(config: LayerConfig, path: Path, around: Surroundings): Layer {
  const live = config.source !== undefined;
  const mutability = config.mutability ?? (live ? "live" : "immutable");
  if (config.line !== undefined) checkText({ text: config.line, path: [...path, "line"] }, around.report);
  return {
    id: layerId(config.id),
    rank: config.rank,
    mutability,
    scope: config.scope ?? (live ? "turn" : "agent"),
    trust: config.trust ?? (config.source === "clock" ? "platform" : "operator"),
    source: buildSource(config, path, around),
    ...(config.budget === undefined ? {} : { budget: config.budget }),
    minimum: config.minimum,
    required: config.required ?? mutability === "immutable",
    modes: { full: "whole", ...config.modes },
    // The operator wrote it in strata.yaml, as the texts below.
    ...(config.line === undefined ? {} : { line: trusted(config.line) }),
  };
}

function buildSource(config: LayerConfig, path: Path, { folder, report }: Surroundings): Source {
  if (config.source === "clock") return { kind: "clock", timezone: config.timezone ?? "UTC" };
  if (config.source === "recall") return { kind: "recall", limit: config.limit ?? 12 };
  if (config.source !== undefined) return { kind: "own", name: config.source };
  if (config.file === undefined) {
    const text = normalText(config.text ?? "");
    if (config.text !== undefined) checkText({ text, path: [...path, "text"] }, report);
    return { kind: "text", text: trusted(text) };
  }
  const text = readLayerFile(folder, config.file, [...path, "file"], report);
  const file = join(report.source.file, "..", config.file);
  if (text !== undefined) checkText({ text, path: [...path, "file"], file }, report);
  // A text that could not be read stands in the report; the report ends the load before anyone sees this layer.
  return { kind: "text", text: trusted(text ?? ""), file: config.file };
}

function buildBudgets({ turn, spend, source, keep, ...rest }: AgentConfig["budgets"], usual: number): Budgets {
  const { dollars, ...limits } = turn;
  return {
    ...rest,
    ...(keep === undefined ? {} : { keep }),
    source: source ?? usual,
    turn: { ...limits, ...(dollars === undefined ? {} : { dollars }) },
    ...(spend === undefined ? {} : { spend }),
  };
}
