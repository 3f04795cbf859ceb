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
  type Project,
  reviveAgent,
  withTools,
  writeLock,
} from "./agents/index.ts";
import { openModel, recordedModel, tokenCounter, wireBody } from "./models/index.ts";
import {
  type Actor,
  type Agent,
  type CountTokens,
  type Model,
  type ModelRef,
  type OrgId,
  StrataError,
} from "./protocol/index.ts";
import { createRuntime, type Parts, type RecordedReply, type Runtime } from "./runtime/index.ts";
import {
  createServer,
  type HealthReport,
  isSameToken,
  type Listening,
  listen,
  operatorToken,
  type Server,
  siteOf,
} from "./server/index.ts";
import { type ChainHead, type Finding, openSqlite, type Store } from "./stores/index.ts";
import { memoryTools, recordedTools, toolset, workspaceTools } from "./tools/index.ts";
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
export type { Listening } from "./server/index.ts";
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
  const access = accessOf(projects);
  const modelNameOf = (agent: Agent) => agent.model ?? (access("anthropic") === undefined ? "rehearsal" : DEFAULT_WIRE);
  const modelOf = modelsOf(modelNameOf, access, options.wire);
  const parts: Parts = { ...partsOf(options, projects, store), modelOf, clock: () => time.at ?? Date.now() };
  return {
    runtime: createRuntime(parts),
    operator: { org: orgOf(projects), role: "operator" },
    projects,
    data: options.data,
    modelNameOf,
    modelOf,
    speaker: (agent, replies) => recordedModel(replies, options.wire ?? wireOf(agent)),
    counterOf: (agent) => parts.counterOf(options.wire ?? wireOf(agent)),
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

function partsOf(options: AppOptions, projects: readonly Project[], store: Store): Omit<Parts, "modelOf" | "clock"> {
  const recorded = options.recordedTools === undefined ? [] : recordedTools(options.recordedTools);
  const names = recorded.map((tool) => tool.schema.name);
  const builtIn = [...memoryTools(store), ...workspaceTools(join(options.data, "workspace"))];
  // A recording's tool stands in for a built-in one of the same name: what it answers is in the recording.
  const tools = toolset([...builtIn.filter((tool) => !names.includes(tool.schema.name)), ...recorded]);
  const all = projects.flatMap((project) => [...project.agents.values()]).map((agent) => withTools(agent, names));
  // A tool that does not exist is found out now and not in the middle of a conversation.
  for (const agent of all) tools.schemas(agent.tools);
  return {
    agents: { all, spec: agentSpec, revive: reviveAgent },
    store,
    tools,
    counterOf: counters(),
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

/** Where and under which names to serve. */
export interface ServeOptions {
  /** The address to listen at; without one, this machine alone. */
  readonly host?: string;
  /** More names that clients may call it by, as `Host` gives them: those of a proxy in front of it. */
  readonly hosts?: readonly string[];
}

/** A server that answers, and the key to it. */
export interface Serving extends Listening {
  /** The address with the operator's token behind `#`, where no server and no log sees it. */
  readonly link: string;
  /** The file with the token. */
  readonly tokenFile: string;
}

/**
 * Serves the runtime over HTTP to whoever has the operator's token; at another address than this machine's own, nothing
 * else answers either.
 * @throws StrataError `port_taken`, `invalid_input`, `file_not_found` for the token's file
 */
export async function serve(app: App, port: number, options: ServeOptions = {}): Promise<Serving> {
  const { host = "127.0.0.1", hosts } = options;
  const tokenFile = join(app.data, "operator.token");
  const token = operatorToken(tokenFile, (n) => randomBytes(n));
  const serverAt = (got: number): Server =>
    createServer({
      ...app,
      site: siteOf({ host, port: got }, hosts),
      actorOf: (given) => (isSameToken(given, token) ? app.operator : undefined),
      health: () => healthOf(app),
      clock: () => Date.now(),
    });
  const listening = await listen(serverAt, { host, port });
  return { ...listening, link: `${listening.url}/#token=${token}`, tokenFile };
}

function healthOf({ runtime, operator, modelNameOf, data }: App): HealthReport {
  const agents = runtime.agents(operator).map((agent) => {
    const { name, version } = agent;
    return { name, version, model: modelNameOf(agent) };
  });
  return { status: "ok", version: VERSION, agents, data };
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
