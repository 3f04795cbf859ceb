import {
  checkLock,
  FIRST_SERVED,
  immutableText,
  loadModules,
  type ModelChoice,
  type Project,
  usualModel,
  vaultOf,
  withTools,
} from "../agents/index.ts";
import type { OperationAccess, ToolDeps } from "../features/index.ts";
import { checkAccounts } from "../features/life/index.ts";
import { firstServed, modelOfInstance, openEmbedder, openModel, type Secrets, SHOWN_WIRE } from "../models/index.ts";
import {
  type Agent,
  asStrataError,
  type Embedder,
  type Model,
  type ModelRef,
  type OrgId,
  type OwnSource,
  StrataError,
  suggestion,
  type Tool,
  type Vault,
} from "../protocol/index.ts";
import type { AgentOwner, Store } from "../store/index.ts";
import { NO_MODEL } from "../turn/index.ts";
import { recordedTools, type Toolset, toolset } from "../turn/tools/index.ts";
import { reviveAgent } from "./entry/agents.ts";
import { allToolFamilies, allTools } from "./entry/features.ts";
import { type PlacedOptions, workspacesIn } from "./options.ts";
import { accessOf, type CardOf, cardsOf, isOwn } from "./projects.ts";

/** What the projects currently declare. A reload replaces all of it. */
export interface Declared {
  readonly projects: readonly Project[];
  readonly org: OrgId;
  readonly agents: readonly Agent[];
  /** Agents of the record that are no longer declared. */
  readonly former: readonly Agent[];
  readonly tools: Toolset;
  /** The same tools, made over another store. */
  readonly toolsOver: (store: Store) => Promise<Toolset>;
  readonly sources: ReadonlyMap<string, OwnSource>;
  /** The modules that are new or have changed since they were loaded. */
  readonly modulesAnew: readonly string[];
  readonly vault: Vault;
  readonly access: Secrets;
  readonly cardOf: CardOf;
  /** Which model answers for an agent, and why that one: the only place that decides it. */
  readonly modelChoiceOf: (agent: Agent) => ModelChoice;
  readonly modelOf: (agent: Agent) => Promise<Model>;
  /** @throws StrataError as `openEmbedder` */
  readonly embedderOf: (ref: ModelRef) => Embedder;
  /** The request format to show for the agent, even if a rehearsal or a recording answers. */
  readonly wireOf: (agent: Agent) => ModelRef;
}

/**
 * Combines the projects' declarations with the program's options.
 * @throws StrataError `module_failed`, `tool_not_found`, `config_invalid` naming the file and the agent
 */
export async function declaredBy(
  projects: readonly Project[],
  options: PlacedOptions,
  around: ToolAccess,
): Promise<Declared> {
  const modules = await Promise.all(projects.map((project) => loadModules(project, STRATA)));
  const recorded = options.recordedTools === undefined ? [] : recordedTools(options.recordedTools);
  const names = recorded.map((tool) => tool.schema.name);
  const own = [...(options.tools ?? []), ...modules.flatMap(({ tools }) => tools)];
  const families = await allToolFamilies(around.operations);
  const toolsOver = async (store: Store): Promise<Toolset> => {
    const builtIn = await builtInTools(projects, options, { ...around, store });
    // A recording's tool replaces another one of the same name: its answers are in the recording.
    const real = [...builtIn, ...own];
    const kept = real.filter((tool) => !names.includes(tool.schema.name));
    return toolset([...kept, ...recorded.map((tool) => replacing(tool, real))], families);
  };
  const tools = await toolsOver(around.store);
  const sources = sourcesOf([...(options.sources ?? []), ...modules.flatMap((one) => one.sources)]);
  const checked = options.recordOnly === true ? [] : projects;
  for (const project of checked) check(project, tools, sources);
  for (const project of projects) await checkAccounts(project);
  const access = accessOf(projects);
  const cardOf = cardsOf(projects, access);
  const given = options.model === undefined ? undefined : modelOfInstance(options.model);
  const { choiceOf: modelChoiceOf, served } = modelChoices(projects, given);
  const modelNameOf = (agent: Agent): ModelRef => modelChoiceOf(agent).ref;
  const wireOf = (agent: Agent): ModelRef => (modelNameOf(agent).includes(":") ? modelNameOf(agent) : SHOWN_WIRE);
  const agents = projects.flatMap((project) => [...project.agents.values()]).map((agent) => withTools(agent, names));
  const checkServed = (agent: Agent): void => {
    const project = projects.find((one) => isOwn(one) && one.agents.has(agent.name));
    if (project !== undefined) checkPrice(project, agent, { model: modelNameOf(agent), cardOf });
  };
  const askServed = async (): Promise<void> => {
    const first = await firstServed(access("compatible") ?? { kind: "openai-compatible" });
    if (first !== undefined) served.set(USUAL_SERVED, `compatible:${first}`);
  };
  if (options.recordOnly !== true && agents.some((agent) => modelNameOf(agent) === USUAL_SERVED)) await askServed();
  const modelOf = modelsOf(modelNameOf, access, { wire: options.wire, given, askServed, checkServed });
  const vault = vaultOf(projects);
  const modulesAnew = modules.flatMap(({ anew }) => anew);
  const org = orgOf(projects);
  const former = await formerAgents(around, org, agents);
  const found = { projects, org, agents, former, tools, toolsOver, sources, modulesAnew, vault, access, cardOf };
  // Shipped blueprints are loaded together: one without a key here fails only when it has to answer, and does not stop the others.
  for (const project of checked.filter(isOwn)) {
    for (const agent of project.agents.values()) {
      const model = modelNameOf(agent);
      // A server of one's own that says nothing yet is asked again by the first turn.
      if (agent.model !== undefined || model !== USUAL_SERVED) checkPrice(project, agent, { model, cardOf });
    }
  }
  return { ...found, modelChoiceOf, modelOf, embedderOf: embeddersOf(access), wireOf };
}

/** Agents of the record that are no longer declared, in their last version. Unreadable ones are omitted: `verify` names them. */
async function formerAgents({ store }: ToolAccess, org: OrgId, agents: readonly Agent[]): Promise<readonly Agent[]> {
  const kept = await store.lastVersions(
    org,
    agents.map(({ name }) => name),
  );
  return kept.flatMap(({ spec, agent: name, version }) => {
    try {
      return [reviveAgent(spec, version, name)];
    } catch {
      return [];
    }
  });
}

/** A recording's tool returns memories, or reads long results, if the tool that it replaces does. */
function replacing(tool: Tool, real: readonly Tool[]): Tool {
  const replaced = real.find(({ schema }) => schema.name === tool.schema.name);
  return {
    ...tool,
    ...(replaced?.returnsMemories && { returnsMemories: true }),
    ...(replaced?.readsResults && { readsResults: true }),
  };
}

/** What tools can access: the record, the folders of the projects, and the operations. */
type ToolAccess = Pick<ToolDeps, "store" | "disk"> & { readonly operations: OperationAccess };

function builtInTools(
  projects: readonly Project[],
  { data }: PlacedOptions,
  around: ToolAccess,
): Promise<readonly Tool[]> {
  const all = projects.flatMap(({ agents }) => [...agents.values()]);
  const agentOf = ({ org, agent }: AgentOwner): Agent | undefined =>
    all.find((one) => one.org === org && one.name === agent);
  return allTools({ ...around, agentOf, files: workspacesIn(data) });
}

/** What `import "strata"` resolves to in a module: this same program, built or from source. */
const STRATA = new URL(import.meta.url.endsWith(".ts") ? "../index.ts" : "../index.js", import.meta.url);

function sourcesOf(sources: readonly OwnSource[]): ReadonlyMap<string, OwnSource> {
  const byName = new Map<string, OwnSource>();
  for (const source of sources) {
    if (byName.has(source.name)) {
      const message = `two sources are named ${source.name}; rename one of them`;
      throw new StrataError("invalid_input", message, { name: source.name });
    }
    byName.set(source.name, source);
  }
  return byName;
}

/** Reports a tool or source that does not exist now, with the file that names it, and not during a conversation. */
function check(project: Project, tools: Toolset, sources: ReadonlyMap<string, OwnSource>): void {
  const { file, agents, sourceNames } = project;
  for (const [name, agent] of agents) {
    try {
      // All of them: those that are deferred, too.
      const { defer: _, ...reader } = agent;
      tools.schemas(agent.tools, reader);
    } catch (thrown) {
      const { traits, code, message, details } = asStrataError(thrown);
      if (code === "tool_not_found" && typeof details.name === "string")
        throw project.refusedTool(name, details.name, message);
      throw new StrataError(traits, `${file}: agents.${name}.tools: ${message}`, details, thrown);
    }
    for (const { id, source } of agent.layers) {
      if (source.kind !== "own" || sources.has(source.name)) continue;
      const known = [...sourceNames, ...sources.keys()];
      const message = `${file}: agents.${name}: layer ${id}: no source is named ${source.name}${suggestion(source.name, known)}`;
      throw new StrataError("config_invalid", message, { agent: name, layer: id, source: source.name });
    }
  }
}

/** A spending limit without a known price would have no effect. */
function checkPrice(
  { file }: Pick<Project, "file">,
  agent: Agent,
  { model, cardOf }: { readonly model: ModelRef; readonly cardOf: Declared["cardOf"] },
): void {
  const { name } = agent;
  const key = moneyKeyOf(agent);
  if (key === undefined || model === NO_MODEL.ref || cardOf(model).priced) return;
  const message = `${file}: agents.${name}.${key}: the price of ${model} is not known, so a limit in dollars cannot be enforced; add it as \`models: {"${model}": {price: {input: …, output: …}}}\`, in dollars per million tokens`;
  throw new StrataError("config_invalid", message, { agent: name, model });
}

/** The setting that limits an agent's spending, if there is one. */
function moneyKeyOf({ budgets: { spend, turn }, life }: Agent): string | undefined {
  if (spend !== undefined) return "budgets.spend";
  if (turn.maxCost !== undefined) return "budgets.turn";
  return life?.credits && "life.credits";
}

/** Shipped blueprints share one organization, so that the user of this machine has access to all. */
function orgOf(projects: readonly Project[]): OrgId {
  const org = projects[0]?.org;
  if (org === undefined)
    throw new StrataError(
      "config_missing",
      "no agent is declared; write a strata.yaml or reinstall Strata, whose blueprints are missing",
    );
  return org;
}

/**
 * Lets new declarations replace old ones, or says why they cannot while the program runs.
 * @throws StrataError `lock_missing`, `lock_mismatch`, `config_invalid`
 */
export function checkReload(old: readonly Project[], fresh: readonly Project[]): void {
  for (const project of fresh) checkLock(project);
  const [was, is] = [orgOf(old), orgOf(fresh)];
  if (was !== is) {
    const message = `the organization was ${was} at the start and is ${is} now; restart Strata to change it`;
    throw new StrataError("config_invalid", message, { was, is });
  }
  // Law 2: even with a new lock, an immutable layer stays unchanged as long as the program runs.
  const changed = fresh.filter((project, n) => immutableText(project) !== immutableText(old[n] ?? project));
  if (changed.length === 0 && fresh.length === old.length) return;
  const files = changed.map((project) => project.file);
  const message = `immutable layers of ${files.join(", ") || "a project"} changed since the start; restart Strata to use them`;
  throw new StrataError("lock_mismatch", message, { files });
}

/** Of an agent that something else answers for. */
const NO_PROMPT: ModelChoice = { ref: NO_MODEL.ref, because: "it has no layers" };

const NO_KEY: ModelChoice = { ref: "rehearsal", because: "no key of a provider is set and `model:` names none" };

/** `served`: the model that a custom server lists first, once it was asked. */
function modelChoices(projects: readonly Project[], given: Model | undefined) {
  const served = new Map<ModelRef, ModelRef>();
  const usual = projects.flatMap(({ providers }) => usualModel(providers) ?? [])[0] ?? NO_KEY;
  const choiceOf = ({ model, layers }: Agent): ModelChoice => {
    if (layers.length === 0) return NO_PROMPT;
    if (model !== undefined) return { ref: model, because: "`model:` names it" };
    if (given !== undefined) return { ref: given.ref, because: "the program chose it" };
    const listed = served.get(usual.ref);
    if (listed === undefined) return usual;
    return { ref: listed, because: `${usual.because} and its server lists it first` };
  };
  return { choiceOf, served };
}

/** A program's options for models: which format is shown, and a model that it has opened itself. */
interface ModelOptions {
  readonly wire: ModelRef | undefined;
  readonly given: Model | undefined;
  /** Asks a server of one's own which model it lists first. */
  readonly askServed: () => Promise<void>;
  /** @throws StrataError `config_invalid` if money is limited and the model that the server listed has no price */
  readonly checkServed: (agent: Agent) => void;
}

const USUAL_SERVED: ModelRef = `compatible:${FIRST_SERVED}`;

/** Each model is opened once, at the first turn that needs it. */
function modelsOf(
  nameOf: (agent: Agent) => ModelRef,
  access: Secrets,
  { wire, given, askServed, checkServed }: ModelOptions,
): Declared["modelOf"] {
  const open = new Map<ModelRef, Model>();
  return async (agent) => {
    if (agent.layers.length === 0) return NO_MODEL;
    // A continued run names the model that it began with.
    const isGiven = given !== undefined && (agent.model === undefined || agent.model === given.ref);
    if (isGiven) return wire === undefined ? given : { ...given, wire };
    // It did not say when the project was read.
    if (agent.model === undefined && nameOf(agent) === USUAL_SERVED) await askServed();
    if (agent.model === undefined) checkServed(agent);
    const ref = nameOf(agent);
    const known = open.get(ref);
    if (known !== undefined) return known;
    const model = openModel(ref, access);
    const shown = wire === undefined ? model : { ...model, wire };
    open.set(ref, shown);
    return shown;
  };
}

/** The same for embedders. */
function embeddersOf(access: Secrets): Declared["embedderOf"] {
  const open = new Map<ModelRef, Embedder>();
  return (ref) => {
    const embedder = open.get(ref) ?? openEmbedder(ref, access);
    open.set(ref, embedder);
    return embedder;
  };
}
