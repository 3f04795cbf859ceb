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
  lockFile,
  lockText,
  type Project,
  reviveAgent,
  withTools,
  writeLock,
} from "./agents/index.ts";
import { openModel, recordedModel, tokenCounter, wireBody } from "./models/index.ts";
import {
  type Actor,
  type Agent,
  asStrataError,
  type CountTokens,
  type Model,
  type ModelRef,
  type OrgId,
  StrataError,
} from "./protocol/index.ts";
import { createRuntime, type Parts, type RecordedReply, type Runtime } from "./runtime/index.ts";
import { type ServeOptions, type Serving, serveOperator } from "./server/index.ts";
import { type ChainHead, type Finding, openSqlite, type Store } from "./stores/index.ts";
import { memoryTools, recordedTools, type Toolset, toolset, workspaceTools } from "./tools/index.ts";
import { cardOf } from "./wire/index.ts";

export { blueprintFolder, blueprintNames, changedLines, type DiffLine, diffLines } from "./agents/index.ts";
export {
  type Composed,
  type Conversation,
  type Exchange,
  type ReplayedTurn,
  type Runtime,
  readRecording,
  replay,
} from "./runtime/index.ts";
export type { Listening, ServeOptions, Serving } from "./server/index.ts";
export type {
  ChainHead,
  Finding,
  RebuiltRequest,
  RequestRecord,
  Slot,
  Thread,
  TurnRecord,
  UsageTotal,
} from "./stores/index.ts";

/** Where Strata looks and keeps things, and what a program wants other than usual. */
export interface AppOptions {
  /** The folder with `strata.yaml`; without one there, the shipped blueprints are the agents. */
  readonly folder: string;
  /** True: no blueprint stands in where the folder has no `strata.yaml`. */
  readonly mustDeclare?: boolean;
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
  /** The name of the model that answers for an agent; it is not opened, so a missing key is not noticed. */
  readonly modelNameOf: (agent: Agent) => ModelRef;
  /** The model that answers for an agent, opened as a turn would open it. */
  readonly modelOf: (agent: Agent) => Promise<Model>;
  /** The model that speaks for a recording. */
  readonly speaker: (agent: Agent, replies: readonly RecordedReply[]) => Model;
  /** Counts tokens as a turn of the agent would. */
  readonly counterOf: (agent: Agent) => Promise<CountTokens>;
  /** The exact HTTP body of a request, as the provider's package sends it. */
  readonly bodyOf: typeof wireBody;
  /** Sets the threads' clock; without it they take the real time. */
  readonly setClock: (at: number) => void;
  /**
   * Reads the projects again, for the threads that begin from now on: all of it, or, where anything is wrong, nothing.
   * Running threads stay with the version they are pinned to; immutable layers and the organization wait for a restart.
   * @throws StrataError as `openApp`
   */
  readonly reload: () => void;
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
  const store = await openSqlite(recordFile(options.data));
  try {
    return joined(options, projects, store);
  } catch (thrown) {
    await store.close();
    throw thrown;
  }
}

function joined(options: AppOptions, projects: readonly Project[], store: Store): App {
  const time: { at?: number } = {};
  const tools = toolsOf(options, store);
  let now = declaredBy(projects, options, tools);
  const modelNameOf = (agent: Agent) => now.modelNameOf(agent);
  const modelOf = (agent: Agent) => now.modelOf(agent);
  const parts = partsOf({ store, tools, agents: () => now.agents, modelOf, clock: () => time.at ?? Date.now() });
  return {
    runtime: createRuntime(parts),
    operator: { org: orgOf(projects), role: "operator" },
    get projects() {
      return now.projects;
    },
    data: options.data,
    modelNameOf,
    modelOf,
    speaker: (agent, replies) => recordedModel(replies, options.wire ?? wireOf(agent)),
    counterOf: (agent) => parts.counterOf(options.wire ?? wireOf(agent)),
    bodyOf: wireBody,
    setClock: (at) => {
      time.at = at;
    },
    reload: () => {
      const fresh = projectsOf(options);
      checkReload(now.projects, fresh);
      now = declaredBy(fresh, options, tools);
    },
    head: (org) => store.head(org),
    verify: (org, anchor) => store.verify(org, anchor),
    organizations: () => store.organizations(),
    close: () => store.close(),
  };
}

/** What the projects declare at a time: frozen, and replaced as a whole. */
interface Declared extends Pick<App, "projects" | "modelNameOf" | "modelOf"> {
  readonly agents: readonly Agent[];
}

function declaredBy(projects: readonly Project[], { wire }: AppOptions, tools: Tools): Declared {
  const access = accessOf(projects);
  const modelNameOf = (agent: Agent) => agent.model ?? (access("anthropic") === undefined ? "rehearsal" : DEFAULT_WIRE);
  for (const project of projects) checkTools(project, tools.all);
  const all = projects.flatMap((project) => [...project.agents.values()]);
  const agents = all.map((agent) => withTools(agent, tools.recorded));
  return { projects, agents, modelNameOf, modelOf: modelsOf(modelNameOf, access, wire) };
}

/**
 * Lets new declarations take the place of old ones, or says why they cannot while the program runs.
 * @throws StrataError `lock_missing`, `lock_mismatch`, `config_invalid`
 */
function checkReload(old: readonly Project[], fresh: readonly Project[]): void {
  for (const project of fresh) checkLock(project);
  const [was, is] = [orgOf(old), orgOf(fresh)];
  if (was !== is) {
    const message = `the organization was ${was} at the start and is ${is} now; restart Strata to change it`;
    throw new StrataError("config_invalid", message, { was, is });
  }
  // Law 2: also with a new lock, an immutable layer stays what it was for as long as the program runs.
  const changed = fresh.filter((project, n) => lockText(project) !== lockText(old[n] ?? project));
  if (changed.length === 0 && fresh.length === old.length) return;
  const files = changed.map((project) => project.file);
  const message = `immutable layers of ${files.join(", ") || "a project"} changed since the start; restart Strata to take them`;
  throw new StrataError("lock_mismatch", message, { files });
}

/** All tools, and the names of those that a recording answers. */
interface Tools {
  readonly all: Parts["tools"];
  readonly recorded: Parameters<typeof withTools>[1];
}

function toolsOf(options: AppOptions, store: Store): Tools {
  const recorded = options.recordedTools === undefined ? [] : recordedTools(options.recordedTools);
  const names = recorded.map((tool) => tool.schema.name);
  const builtIn = [...memoryTools(store), ...workspaceTools(join(options.data, "workspace"))];
  // A recording's tool stands in for a built-in one of the same name: what it answers is in the recording.
  const all = toolset([...builtIn.filter((tool) => !names.includes(tool.schema.name)), ...recorded]);
  return { all, recorded: names };
}

interface Changing extends Pick<Parts, "store" | "modelOf" | "clock"> {
  readonly tools: Tools;
  readonly agents: () => readonly Agent[];
}

function partsOf({ tools, agents, ...rest }: Changing): Parts {
  return {
    ...rest,
    agents: {
      get all() {
        return agents();
      },
      spec: agentSpec,
      revive: reviveAgent,
    },
    tools: tools.all,
    counterOf: counters(),
    wall: () => Date.now(),
    random: (n) => randomBytes(n),
    holder: holderName(process.pid),
    alive: holderLives,
  };
}

/** A tool that does not exist is found out now, with the file that names it, and not in the middle of a conversation. */
function checkTools({ file, agents }: Project, tools: Toolset): void {
  for (const [name, agent] of agents) {
    try {
      tools.schemas(agent.tools);
    } catch (thrown) {
      const { code, message, details } = asStrataError(thrown);
      throw new StrataError(code, `${file}: agents.${name}.tools: ${message}`, details, thrown);
    }
  }
}

function projectsOf({ folder, env, mustDeclare = false }: AppOptions): readonly Project[] {
  try {
    return [loadProject(folder, { env })];
  } catch (thrown) {
    if (mustDeclare || !(thrown instanceof StrataError && thrown.code === "config_missing")) throw thrown;
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

type Reach = Parameters<typeof openModel>[1];

/** How a provider is reached: by the first project that knows its key. */
function accessOf(projects: readonly Project[]): Reach {
  return (name) => {
    const provider = projects.map((project) => project.providers.get(name)).find((one) => one !== undefined);
    return provider && { key: provider.key.reveal(), url: provider.url };
  };
}

/** Each model is opened once, at the first turn that needs it. */
function modelsOf(nameOf: (agent: Agent) => ModelRef, access: Reach, wire: ModelRef | undefined): App["modelOf"] {
  const open = new Map<ModelRef, Model>();
  return async (agent) => {
    const ref = nameOf(agent);
    const known = open.get(ref);
    if (known !== undefined) return known;
    const model = openModel(ref, access);
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

/** The version of this package. */
export const VERSION: string = packageVersion();

function packageVersion(): string {
  const { version }: { readonly version: string } = JSON.parse(
    readFileSync(new URL("../package.json", import.meta.url), "utf8"),
  );
  return version;
}

/** The database of a data folder: where there is none, nothing was stored yet. */
export function recordFile(data: string): string {
  return join(data, "strata.db");
}

/**
 * Serves the runtime over HTTP to whoever has the operator's token.
 * @throws StrataError `port_taken`, `invalid_input`, `file_not_found` for the token's file
 */
export function serve(app: App, port: number, options: Omit<ServeOptions, "port"> = {}): Promise<Serving> {
  const outside = { version: VERSION, clock: () => Date.now(), random: (n: number) => randomBytes(n) };
  return serveOperator({ ...app, ...outside }, { ...options, port });
}

/** The lock of a folder's strata.yaml. */
export interface ProjectLock {
  readonly file: string;
  /** How many layers it locks, by agent. */
  readonly layers: ReadonlyMap<string, number>;
  /** @throws StrataError `lock_missing`, `lock_mismatch` with the difference */
  readonly check: () => void;
  readonly write: () => void;
}

/** @throws StrataError `config_missing`, `config_invalid`, … */
export function projectLock({ folder, env }: Pick<AppOptions, "folder" | "env">): ProjectLock {
  const project = loadProject(folder, { env });
  const locked = (agent: Agent) => agent.layers.filter((layer) => layer.mutability === "immutable").length;
  return {
    file: lockFile(project),
    layers: new Map([...project.agents.values()].map((agent) => [agent.name, locked(agent)])),
    check: () => checkLock(project),
    write: () => writeLock(project),
  };
}
