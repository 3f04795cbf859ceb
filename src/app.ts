import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import {
  agentSpec,
  blueprintFolder,
  blueprintNames,
  checkLock,
  loadProject,
  type Project,
  reviveAgent,
  withTools,
} from "./agents/index.ts";
import { openModel, recordedModel, tokenCounter, wireBody } from "./models/index.ts";
import {
  type Actor,
  type Agent,
  type ChainHead,
  type CountTokens,
  type Model,
  type ModelRef,
  type OrgId,
  StrataError,
} from "./protocol/index.ts";
import { createRuntime, type Parts, type RecordedReply, type Runtime } from "./runtime/index.ts";
import { type Finding, openSqlite, type Store } from "./stores/index.ts";
import { memoryTools, recordedTools, toolset, workspaceTools } from "./tools/index.ts";
import { cardOf } from "./wire/index.ts";

/** Where Strata looks and keeps things, and what a program wants other than usual. */
export interface AppOptions {
  /** The folder with `strata.yaml`; without one there, the shipped blueprints are the agents. */
  readonly folder: string;
  /** The data folder: database and workspaces. Made when it is missing. */
  readonly data: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Tools that a recording answers, as the parsed JSON of their schema file; every agent gets them. */
  readonly recordedTools?: unknown;
  /** Whose request shape is shown and dumped instead of the model's own: `provider:name`. */
  readonly wire?: ModelRef;
}

/** Strata, joined: the runtime and what the doors need beside it. */
export interface App {
  readonly runtime: Runtime;
  /** The person at this machine. */
  readonly operator: Actor;
  readonly projects: readonly Project[];
  readonly data: string;
  /** The model that answers for an agent, opened as a turn would open it. */
  readonly modelOf: (agent: Agent) => Promise<Model>;
  /** The model that speaks for a recording. */
  readonly speaker: (agent: Agent, replies: readonly RecordedReply[]) => Model;
  /** The exact HTTP body of a request, as the provider's package sends it. */
  readonly bodyOf: typeof wireBody;
  /** Sets the threads' clock; without it they take the real time. */
  readonly setClock: (at: number) => void;
  readonly head: (org: OrgId) => Promise<ChainHead>;
  readonly verify: (org: OrgId, anchor?: ChainHead) => AsyncIterable<Finding>;
  readonly organizations: () => Promise<readonly OrgId[]>;
  readonly close: () => Promise<void>;
}

/** The wire shape shown for models that have none of their own. */
const DEFAULT_WIRE: ModelRef = "anthropic:claude-sonnet-4-5";

/**
 * Makes the parts and joins them: the only place that does.
 * @throws StrataError `config_invalid`, `lock_missing`, `lock_mismatch`, `tool_not_found`, `store_busy`, `store_failed`
 */
export async function openApp(options: AppOptions): Promise<App> {
  const projects = projectsOf(options);
  for (const project of projects) checkLock(project);
  const store = await openSqlite(join(options.data, "strata.db"));
  try {
    return joined(options, projects, store);
  } catch (thrown) {
    await store.close();
    throw thrown;
  }
}

function joined(options: AppOptions, projects: readonly Project[], store: Store): App {
  const time: { at?: number } = {};
  const parts = partsOf(options, projects, store, () => time.at ?? Date.now());
  return {
    runtime: createRuntime(parts),
    operator: { org: orgOf(projects), role: "operator" },
    projects,
    data: options.data,
    modelOf: parts.modelOf,
    speaker: (agent, replies) => recordedModel(replies, options.wire ?? wireOf(agent)),
    bodyOf: wireBody,
    setClock: (at) => {
      time.at = at;
    },
    head: (org) => store.head(org),
    verify: (org, anchor) => store.verify(org, anchor),
    organizations: () => store.organizations(),
    close: () => store.close(),
  };
}

function partsOf(options: AppOptions, projects: readonly Project[], store: Store, clock: () => number): Parts {
  const recorded = options.recordedTools === undefined ? [] : recordedTools(options.recordedTools);
  const tools = toolset([...memoryTools(store), ...workspaceTools(join(options.data, "workspace")), ...recorded]);
  const names = recorded.map((tool) => tool.schema.name);
  const all = projects.flatMap((project) => [...project.agents.values()]).map((agent) => withTools(agent, names));
  // A tool that does not exist is found out now and not in the middle of a conversation.
  for (const agent of all) tools.schemas(agent.tools);
  return {
    agents: { all, spec: agentSpec, revive: reviveAgent },
    store,
    tools,
    modelOf: modelsOf(projects, options),
    counterOf: counters(),
    clock,
    wall: () => Date.now(),
    random: (n) => randomBytes(n),
    holder: holderName(process.pid),
    alive: holderLives,
  };
}

function projectsOf({ folder, env }: AppOptions): readonly Project[] {
  try {
    return [loadProject(folder, { env })];
  } catch (thrown) {
    if (!(thrown instanceof StrataError && thrown.code === "config_missing")) throw thrown;
    return blueprintNames().map((name) => loadProject(blueprintFolder(name), { env }));
  }
}

/** Shipped blueprints belong to one organization, so the person at this machine reaches them all. */
function orgOf(projects: readonly Project[]): OrgId {
  const org = projects[0]?.org;
  if (org === undefined)
    throw new StrataError(
      "config_missing",
      "no agent is declared; write a strata.yaml or reinstall Strata, whose blueprints are missing",
    );
  return org;
}

const wireOf = (agent: Agent): ModelRef => (agent.model?.includes(":") ? agent.model : DEFAULT_WIRE);

/** `model:` of the agent, else Anthropic where its key is in the environment, else the rehearsal model. */
function modelsOf(projects: readonly Project[], { env, wire }: AppOptions): (agent: Agent) => Promise<Model> {
  const open = new Map<string, Model>();
  return async (agent) => {
    const ref = agent.model ?? (env["ANTHROPIC_API_KEY"] ? DEFAULT_WIRE : "rehearsal");
    const known = open.get(ref);
    if (known !== undefined) return known;
    const model = openModel(ref, (provider) =>
      projects.map((project) => project.providers.get(provider)).find((one) => one !== undefined),
    );
    const shown = wire === undefined ? model : { ...model, wire };
    open.set(ref, shown);
    return shown;
  };
}

/** One counter per factor; the vocabulary is loaded at the first count that is asked for. */
function counters(): (wire: ModelRef) => Promise<CountTokens> {
  const made = new Map<number, Promise<CountTokens>>();
  return (wire) => {
    const factor = cardOf(wire).tokenFactor;
    const counter = made.get(factor) ?? tokenCounter({ factor });
    made.set(factor, counter);
    return counter;
  };
}

/** A worker's name in a lease: this machine, the process and when it began, so that a reused process number is told apart. */
function holderName(pid: number): string {
  return `${hostname()}/${pid}/${startOf(pid)}`;
}

/** Whether the holder may still live. Of another machine nothing is known: its lease runs out by itself. */
function holderLives(holder: string): boolean {
  const [host, pid, began] = holder.split("/");
  if (host !== hostname()) return true;
  try {
    process.kill(Number(pid), 0);
  } catch (thrown) {
    // EPERM: it lives and belongs to somebody else.
    return thrown instanceof Error && "code" in thrown && thrown.code === "EPERM";
  }
  return startOf(Number(pid)) === began;
}

/** When a process began, in the system's own ticks; empty where the system does not tell. */
function startOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
