import { realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  type Agent,
  agentName,
  type Budgets,
  type CoreAgent,
  DEFAULT_BUDGETS,
  inPromptOrder,
  type Layer,
  layerId,
  type ModelRef,
  type OrgId,
  type Source,
  type Trusted,
  toolName,
  trusted,
} from "../protocol/index.ts";
import type { AgentKey, AgentKeys, GivenText, KeyLayer, KeyPlace } from "./agent-key.ts";
import { sealAgent } from "./agent-spec.ts";
import { checkOutput } from "./check-output.ts";
import { type AgentConfig, type Config, type LayerConfig, SOURCE_WITH_EMBEDDER } from "./config-schema.ts";
import type { Sources } from "./layer-source.ts";
import { checkText, normalText, readLayerFile } from "./layer-text.ts";
import type { Path } from "./path.ts";
import type { Report } from "./report.ts";

/** What an agent takes from the rest of the file. */
export interface Surroundings {
  readonly org: OrgId;
  readonly model: ModelRef | undefined;
  readonly embedder: ModelRef | undefined;
  /** The whole file, for keys at its top. */
  readonly config: Config;
  readonly folder: string;
  readonly report: Report;
  /** The keys that features bring. */
  readonly keys: AgentKeys;
  readonly sources: Sources;
  /** The names under `secrets`. */
  readonly secrets: readonly string[];
}

/** An agent as declared, with its texts read, its defaults filled in and its parts in canonical order. */
export function buildAgent(name: string, config: AgentConfig, around: Surroundings): Agent {
  const path: Path = ["agents", name];
  const model = config.model ?? around.model;
  const embedder = [config.embedder ?? around.embedder].find((ref) => ref !== "none");
  const recalls = config.layers.some((layer) => layer.source === "recall");
  checkText({ text: config.description, path: [...path, "description"] }, around.report);
  const brought = buildKeys(name, config, path, around);
  const layers = config.layers.map((layer, i) => buildLayer(layer, [...path, "layers", i], around));
  const core: CoreAgent = {
    org: around.org,
    name: agentName(name),
    description: config.description,
    ...(model === undefined ? {} : { model }),
    ...(embedder === undefined ? {} : { embedder }),
    layers: inPromptOrder(layers.length === 0 ? [] : withLayers(layers, brought.layers)),
    ...buildTools(config, brought.tools),
    ...(config.output === undefined ? {} : { output: config.output }),
    recall: config.recall ?? (recalls ? "auto" : "none"),
    history: config.history,
    mode: config.mode,
    budgets: buildBudgets(config.budgets, embedder === undefined ? DEFAULT_BUDGETS.source : SOURCE_WITH_EMBEDDER),
  };
  return sealAgent(Object.assign(core, brought.kept));
}

/** The members that features' keys add to the agent, and the tools that come with them. */
function buildKeys(agent: string, config: AgentConfig, path: Path, around: Surroundings) {
  const kept: Record<string, unknown> = {};
  const tools: string[] = [];
  const layers: KeyLayer[] = [];
  for (const [name, key] of Object.entries(around.keys)) {
    const { value, at } = valueOfKey(name, key, { config, path, all: around.config });
    const place = agentKeyPlace(agent, path, { at, around });
    key.check?.(value, place);
    const frozen = key.freeze(value, place);
    if (frozen !== undefined) {
      kept[name] = frozen;
      layers.push(...(key.layers?.(frozen) ?? []));
    }
    tools.push(...(key.tools?.(value) ?? []));
  }
  return { kept, tools, layers };
}

interface Declared {
  readonly config: AgentConfig;
  readonly path: Path;
  /** The whole file, for keys at its top. */
  readonly all: Config;
}

/** What a key says for an agent, and where it says so. */
function valueOfKey(name: string, key: AgentKey, { config, path, all }: Declared): { value: unknown; at: Path } {
  const own: unknown = Reflect.get(config, name);
  const shared: unknown = key.shared && Reflect.get(all, name);
  const value: unknown =
    key.shared === "members" && own !== undefined ? { ...Object(shared), ...Object(own) } : (own ?? shared);
  return { value, at: own === undefined && value !== undefined ? [name] : [...path, name] };
}

/** Where an agent is given a tool: in its list of tools, or by the key that brings it. */
export function toolPath(
  agent: string,
  tool: string,
  { config: all, keys }: Pick<Surroundings, "config" | "keys">,
): Path {
  const path: Path = ["agents", agent];
  const config = all.agents[agent];
  if (config === undefined) return path;
  const listed = config.tools.findIndex((one) => (typeof one === "string" ? one : one.name) === tool);
  if (listed !== -1) return [...path, "tools", listed];
  for (const [name, key] of Object.entries(keys)) {
    const { value, at } = valueOfKey(name, key, { config, path, all });
    if (key.tools?.(value).includes(tool)) return [...at, ...(key.toolAt?.(value, tool) ?? [])];
  }
  return [...path, "tools"];
}

function withLayers(layers: readonly Layer[], added: readonly KeyLayer[]): readonly Layer[] {
  const all = [...layers];
  for (const one of added) all.push({ ...one, rank: rankBelowLocked(all) });
  return all;
}

/** The first free rank below whatever is locked, and above all else. */
export function rankBelowLocked(layers: readonly Layer[]): number {
  const locked = layers.filter(({ mutability }) => mutability === "immutable").map(({ rank }) => rank);
  const taken = new Set(layers.map(({ rank }) => rank));
  let rank = Math.max(0, ...locked) + 1;
  while (taken.has(rank)) rank += 1;
  return rank;
}

function agentKeyPlace(
  name: string,
  path: Path,
  { at, around }: { readonly at: Path; readonly around: Surroundings },
): KeyPlace {
  const { report, secrets, config } = around;
  const { agents } = config;
  const agent = agents[name];
  if (agent === undefined) throw new TypeError(`the file has no agent ${name}`);
  return {
    name,
    agents,
    agent,
    secrets,
    refuse: (below, expected, from) => report.add([...(from === "agent" ? path : at), ...below], expected),
    textOf: (given, below) => readGivenText(given, [...at, ...below], around) ?? trusted(""),
    fileOf: (file, below) => {
      if (readLayerFile(around.folder, file, [...at, ...below], report) === undefined) return undefined;
      return { file: realpathSync(resolve(around.folder, file)), folder: realpathSync(around.folder) };
    },
    checkSchema: (schema, below) => checkOutput(schema, [...at, ...below], report),
  };
}

/** Names for what is sent, and rules only if there are any: an agent without them keeps the version it always had. */
function buildTools({ tools }: AgentConfig, brought: readonly string[]): Pick<Agent, "tools" | "rules"> {
  const declared = tools.map((tool) => (typeof tool === "string" ? { name: tool } : tool));
  const rules = declared.flatMap(({ name, approval, wait, tainted, calls, seconds }) => {
    const rule = {
      ...(approval && { approval }),
      ...(wait && { wait }),
      ...(tainted && { tainted }),
      ...(calls && { calls }),
      ...(seconds && { seconds }),
    };
    return Object.keys(rule).length === 0 ? [] : [{ tool: toolName(name), ...rule }];
  });
  return {
    // One that is declared twice was refused.
    tools: [...new Set([...declared.map(({ name }) => name), ...brought])].map(toolName).sort(),
    ...(rules.length > 0 && { rules: rules.sort((a, b) => (a.tool < b.tool ? -1 : 1)) }),
  };
}

function buildLayer(config: LayerConfig, path: Path, around: Surroundings): Layer {
  const { isLive, formOf } = around.sources;
  const live = isLive(config);
  const { changesFor, inTail } = formOf(config) ?? {};
  const mutability =
    config.mutability ??
    (live || changesFor !== undefined ? "live" : config.source === undefined ? "immutable" : "versioned");
  if (config.line !== undefined) checkText({ text: config.line, path: [...path, "line"] }, around.report);
  return {
    id: layerId(config.id),
    rank: config.rank,
    mutability,
    // A layer that does not say it has the form it always had.
    ...(config.editors === "operators" && { editors: config.editors }),
    scope: config.scope ?? (live || inTail === "only" ? "turn" : (changesFor ?? "agent")),
    trust: config.trust ?? (formOf(config)?.isOurs ? "platform" : "operator"),
    source: buildSource(config, path, around),
    ...(config.private === false && { private: false }),
    ...(config.after === undefined ? {} : { after: layerId(config.after) }),
    ...(config.budget === undefined ? {} : { budget: config.budget }),
    minimum: config.minimum,
    required: config.required ?? mutability === "immutable",
    modes: { full: "whole", ...config.modes, minimal: config.modes.minimal ?? config.modes.compact },
    // The operator wrote it in strata.yaml, as the texts below.
    ...(config.line === undefined ? {} : { line: trusted(config.line) }),
    ...(config.needs === undefined ? {} : { needs: config.needs }),
  };
}

function buildSource(config: LayerConfig, path: Path, around: Surroundings): Source {
  if (config.source !== undefined) {
    const texts = config.texts && choiceTexts(config.texts, [...path, "texts"], around);
    return around.sources.make(config.source, texts === undefined ? config : { ...config, texts });
  }
  // A text that could not be read is in the report, which ends the load before this layer is used.
  const text = readGivenText(config, path, around) ?? trusted("");
  return { kind: "text", text, ...(config.file !== undefined && { file: config.file }) };
}

function choiceTexts(texts: NonNullable<LayerConfig["texts"]>, path: Path, { report }: Surroundings) {
  for (const [value, text] of Object.entries(texts)) checkText({ text, path: [...path, value] }, report);
  return Object.fromEntries(Object.entries(texts).map(([value, text]) => [value, normalText(text)]));
}

/** A text, inline or from a file, normalised and checked. It is trusted as the operator's. */
function readGivenText({ text, file }: GivenText, path: Path, { folder, report }: Surroundings): Trusted | undefined {
  if (file === undefined) {
    if (text !== undefined) checkText({ text, path: [...path, "text"] }, report);
    return trusted(normalText(text ?? ""));
  }
  const read = readLayerFile(folder, file, [...path, "file"], report);
  if (read === undefined) return undefined;
  checkText({ text: read, path: [...path, "file"], file: join(report.source.file, "..", file) }, report);
  return trusted(read);
}

function buildBudgets(
  { turn, spend, source, keep, message, system, history, ...rest }: AgentConfig["budgets"],
  usual: number,
): Budgets {
  const { maxCost, ...limits } = turn;
  return {
    ...rest,
    ...(keep === undefined ? {} : { keep }),
    ...(message === undefined ? {} : { message }),
    ...(system === undefined ? {} : { system }),
    ...(history === undefined ? {} : { history }),
    source: source ?? usual,
    turn: { ...limits, ...(maxCost === undefined ? {} : { maxCost }) },
    ...(spend === undefined ? {} : { spend }),
  };
}
