import { join } from "node:path";
import {
  type Agent,
  agentName,
  type Budgets,
  type ChainAccount,
  CONVERSATION_LIMITS,
  DEFAULT_BUDGETS,
  inPromptOrder,
  type Layer,
  type Life,
  layerId,
  type ModelRef,
  type OrgId,
  REPLY_TOOL,
  type Skill,
  type Source,
  toolName,
  trusted,
} from "../protocol/index.ts";
import { sealAgent } from "./agent-spec.ts";
import { type AgentConfig, type LayerConfig, SECRET_FORM, SOURCE_WITH_EMBEDDER } from "./config-schema.ts";
import { isLive, tellsItself } from "./layer-source.ts";
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
    layers: inPromptOrder(config.layers.map((layer, i) => buildLayer(layer, [...path, "layers", i], around))),
    ...buildTools(config),
    ...(config.output === undefined ? {} : { output: config.output }),
    recall: config.recall ?? (recalls ? "auto" : "none"),
    history: config.history,
    ...(config.senders === "ethereum" && { senders: config.senders }),
    ...(config.instructions === "members" && { instructions: config.instructions }),
    ...(config.inbox === "batch" && { inbox: config.inbox }),
    ...(config.deliver && { deliver: config.deliver }),
    ...(config.life && { life: buildLife(config.life) }),
    // The operator's word, from strata.yaml, as the texts below.
    ...(config.soul !== undefined && { soul: trusted(config.soul) }),
    ...(config.skills.length > 0 && {
      skills: config.skills.map((skill, i) => buildSkill(skill, [...path, "skills", i], around)),
    }),
    ...(config.tail === "before-events" && { tail: config.tail }),
    ...(config.summaries ? {} : { summaries: false }),
    ...(config.consolidate && { consolidate: buildConsolidate(config.consolidate) }),
    mode: config.mode,
    budgets: buildBudgets(config.budgets, embedder === undefined ? DEFAULT_BUDGETS.source : SOURCE_WITH_EMBEDDER),
  });
}

/** An agent that does not say by what has the version it always had. */
function buildConsolidate({ after, by }: NonNullable<AgentConfig["consolidate"]>): NonNullable<Agent["consolidate"]> {
  return by === "session" ? { after } : { after, by };
}

/** Names for what is sent, and rules only where there are some: an agent without them has the version it always had. */
function buildTools({ tools, inbox }: AgentConfig): Pick<Agent, "tools" | "rules"> {
  const declared = tools.map((tool) => (typeof tool === "string" ? { name: tool } : tool));
  const isDeclared = declared.some(({ name }) => name === REPLY_TOOL);
  const added = inbox === "batch" && !isDeclared ? [REPLY_TOOL] : [];
  const rules = declared.flatMap(({ name, approval, calls, seconds }) => {
    const rule = { ...(approval && { approval }), ...(calls && { calls }), ...(seconds && { seconds }) };
    return Object.keys(rule).length === 0 ? [] : [{ tool: toolName(name), ...rule }];
  });
  return {
    tools: [...declared.map(({ name }) => name), ...added].map(toolName).sort(),
    ...(rules.length > 0 && { rules: rules.sort((a, b) => (a.tool < b.tool ? -1 : 1)) }),
  };
}

function buildLayer(config: LayerConfig, path: Path, around: Surroundings): Layer {
  const live = isLive(config);
  const mutability = config.mutability ?? usualMutability(config);
  if (config.line !== undefined) checkText({ text: config.line, path: [...path, "line"] }, around.report);
  return {
    id: layerId(config.id),
    rank: config.rank,
    mutability,
    // A layer that does not say it has the form it always had.
    ...(config.editors === "operators" && { editors: config.editors }),
    scope: config.scope ?? (live ? "turn" : "agent"),
    trust: config.trust ?? (tellsItself(config) ? "platform" : "operator"),
    source: buildSource(config, path, around),
    ...(config.after === undefined ? {} : { after: layerId(config.after) }),
    ...(config.budget === undefined ? {} : { budget: config.budget }),
    minimum: config.minimum,
    required: config.required ?? mutability === "immutable",
    modes: { full: "whole", ...config.modes },
    // The operator wrote it in strata.yaml, as the texts below.
    ...(config.line === undefined ? {} : { line: trusted(config.line) }),
  };
}

const usualMutability = (config: LayerConfig): Layer["mutability"] => {
  if (isLive(config)) return "live";
  return config.source === undefined ? "immutable" : "versioned";
};

function buildSource(config: LayerConfig, path: Path, { folder, report }: Surroundings): Source {
  if (config.source !== undefined) return namedSource(config.source, config);
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

/** Of whom `source: conversation` shows how many exchanges. */
const { shown, compact } = CONVERSATION_LIMITS;

function namedSource(name: string, { timezone, limit }: LayerConfig): Source {
  switch (name) {
    case "clock":
      return { kind: "clock", timezone: timezone ?? "UTC" };
    case "recall":
      return { kind: "recall", limit: limit ?? 12 };
    case "recent":
      return { kind: "recent", limit: limit ?? 5 };
    case "conversation":
      return { kind: "conversation", entries: shown, compact };
    case "soul":
    case "skills":
    case "vitals":
    case "obligations":
    case "allowance":
      return { kind: name };
    default:
      return { kind: "own", name };
  }
}

function buildSkill(
  { name, text, file, enabled }: AgentConfig["skills"][number],
  path: Path,
  around: Surroundings,
): Skill {
  const { folder, report } = around;
  if (text !== undefined) checkText({ text, path: [...path, "text"] }, report);
  const read = file === undefined ? normalText(text ?? "") : readLayerFile(folder, file, [...path, "file"], report);
  if (file !== undefined && read !== undefined)
    checkText({ text: read, path: [...path, "file"], file: join(report.source.file, "..", file) }, report);
  return { name, text: trusted(read ?? ""), enabled };
}

function buildLife({ tick, credits, account }: NonNullable<AgentConfig["life"]>): Life {
  return {
    ...(tick !== undefined && { tick }),
    ...(credits && { credits }),
    ...(account && { account: { address: account.address, rpc: serverOf(account.rpc), cached: account.cached } }),
  };
}

function serverOf(rpc: string): ChainAccount["rpc"] {
  const variable = SECRET_FORM.exec(rpc)?.[1];
  return variable === undefined ? { url: rpc } : { variable };
}

function buildBudgets({ turn, spend, source, keep, message, ...rest }: AgentConfig["budgets"], usual: number): Budgets {
  const { dollars, ...limits } = turn;
  return {
    ...rest,
    ...(keep === undefined ? {} : { keep }),
    ...(message === undefined ? {} : { message }),
    source: source ?? usual,
    turn: { ...limits, ...(dollars === undefined ? {} : { dollars }) },
    ...(spend === undefined ? {} : { spend }),
  };
}
