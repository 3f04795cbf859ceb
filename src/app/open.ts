import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { agentSpec, checkLock, type ModelChoice, type Project } from "../agents/index.ts";
import { countRequest } from "../compiler/index.ts";
import { sendDelivery } from "../features/deliveries/index.ts";
import { DISK, type OperationAccess, type OperationContext, type ProjectDisk } from "../features/index.ts";
import { type Accounts, accountsOf } from "../features/life/index.ts";
import { openVectors, type Vectors } from "../features/memories/index.ts";
import { filesIn, removeWorkspace, renameWorkspaces } from "../features/workspace/index.ts";
import { findSecrets } from "../guard/index.ts";
import { calibration, countAhead, recordedModel, tokenCounter, wireBody } from "../models/index.ts";
import {
  type Agent,
  type Allowed,
  allow,
  type Clock,
  type ContactScope,
  type CountTokens,
  DEFAULT_SCHEDULING,
  type Embedder,
  LOCAL_OPERATOR,
  type Model,
  type ModelRef,
  type OrgId,
  type Request,
  StrataError,
} from "../protocol/index.ts";
import { type ChainHead, type Change, type Finding, type HeldThread, openStore, type Store } from "../store/index.ts";
import { finishErasures, type Parts, type RecordedReply, type Runtime } from "../turn/index.ts";
import { guessedWindow, type ModelCard } from "../wire/index.ts";
import { type Answer, openAsk, type Question } from "./ask.ts";
import { checkReload, type Declared, declaredBy } from "./declare.ts";
import { reviveAgent } from "./entry/agents.ts";
import { allChannels, allFeatures, allParts, operationAccess } from "./entry/features.ts";
import { openRuntime, type RuntimeParts } from "./entry/runtime.ts";
import { type AppOptions, beginData, type PlacedOptions, placed, recordFile, workspacesIn } from "./options.ts";
import { isOwn, projectsOf, storeAddress } from "./projects.ts";
import { telling } from "./telling-store.ts";

/** Changes from a reload that no version of an agent shows. */
export interface Reloaded {
  /** The modules that were read again, because they or files that they import changed. */
  readonly modules: readonly string[];
}

/** All parts of Strata together: the runtime, and what the CLI and the HTTP server also need. */
export interface App {
  readonly runtime: Runtime;
  /** The operator at this machine, who may do everything; `allow` makes other actors for the functions of `runtime`. */
  readonly operator: Allowed<"operate">;
  /**
   * One message and its turn: `for await (const event of app.ask({ agent, contact, text }))` streams it, and `await app.ask(…).reply()`
   * gives the reply. The caller is trusted to name the sender.
   */
  readonly ask: (question: Question) => Answer;
  readonly projects: readonly Project[];
  readonly data: string;
  readonly database: "sqlite" | "postgres";
  /** The name of the model that answers for an agent; it is not opened, so a missing key is not noticed. */
  readonly modelNameOf: (agent: Agent) => ModelRef;
  /** The same with the reason: which key, key of strata.yaml or option of the program decided. */
  readonly modelChoiceOf: (agent: Agent) => ModelChoice;
  /** What is known about a model: its declaration over the built-in values. */
  readonly cardOf: (model: ModelRef) => ModelCard;
  /** Says that a model's window is a guess, and which key sets it; undefined if it is known. */
  readonly guessedWindow: (model: ModelRef) => string | undefined;
  /** The model that answers for an agent, opened as a turn would open it. */
  readonly modelOf: (agent: Agent) => Promise<Model>;
  /** The embedder of that name, opened as a search would open it. @throws StrataError `model_unknown`, `secret_missing`, … */
  readonly embedderOf: (ref: ModelRef) => Embedder;
  /** The model that plays a recording. */
  readonly speaker: (agent: Agent, replies: readonly RecordedReply[]) => Model;
  /** Counts tokens as a turn of the agent would. */
  readonly counterOf: (agent: Agent) => Promise<CountTokens>;
  /** The exact HTTP body of a request, as the provider's package sends it. */
  readonly bodyOf: (request: Request, wire: ModelRef) => Promise<string>;
  /** The text with the names of declared secrets in the place of their values. */
  readonly hide: (text: string) => string;
  readonly clock: Clock;
  /** Sets the time that is recorded; without it, that is the real time. */
  readonly setClock: (at: number) => void;
  /**
   * Reads the projects again, for the threads that begin from now on: all of it or, if anything is wrong, nothing. Running threads stay
   * with the version they are pinned to; immutable layers and the organization wait for a restart.
   * @throws StrataError as `openApp`
   */
  readonly reload: () => Promise<Reloaded>;
  /**
   * Calls the listener with changes in this program that others may be waiting for: a message came, a turn was committed, a call decided
   * about, credits were added, the projects read again. Returns a function that removes it.
   */
  readonly onChange: (listener: (change: Change) => void) => () => void;
  readonly head: (org: OrgId) => Promise<ChainHead>;
  readonly verify: (org: OrgId, anchor?: ChainHead) => AsyncIterable<Finding>;
  readonly organizations: () => Promise<readonly OrgId[]>;
  /** The agents of which anything is kept, declared or not. */
  readonly keptAgents: Store["keptAgents"];
  /** Every thread that is held, and whether its holder still lives; unknown for another machine. */
  readonly leases: (org: OrgId) => Promise<readonly (HeldThread & { readonly alive: boolean })[]>;
  /** Why no turn can be committed any more, in a sentence. Undefined if all is well. */
  readonly trouble: Store["trouble"];
  /** Copies all data but the workspaces into a new file, while others write. @throws StrataError `invalid_input`, `file_not_found` */
  readonly backup: Store["backup"];
  readonly close: () => Promise<void>;
}

/**
 * Creates the parts and joins them. This is the only place that does so.
 * @throws StrataError `config_invalid`, `lock_missing`, `lock_mismatch`, `module_failed`, `tool_not_found`, `store_busy`, `store_failed`, `invalid_input`
 */
export async function openApp(given: AppOptions): Promise<App> {
  const options = placed(given);
  const projects = projectsOf(options);
  for (const project of projects) checkLock(project);
  beginData(options.data);
  const opened = await openStore(storeAddress(projects, options.data), {
    keptOut: (text) => findSecrets(text).length > 0,
    parts: await allParts(),
    mayCopy: options.recordOnly === true,
  });
  const current: { declared?: Declared } = {};
  const vectors = vectorsOver(opened, () => current.declared);
  try {
    const disk = diskOver(() => current.declared?.projects ?? projects, options.folder);
    const world: { now?: OperationContext } = {};
    const operations = await operationAccess(() => world.now);
    current.declared = await declaredBy(projects, options, { store: vectors.store, disk, operations });
    // Files that cannot be deleted do not prevent a start: the next erasure reports them.
    await finishErasures({ store: opened, removeFiles: filesRemover(options) }).catch(() => undefined);
    const app = joined(options, {
      operations,
      declared: current.declared,
      current,
      vectors,
      disk,
      features: await allFeatures(),
      channels: await allChannels(),
    });
    world.now = app;
    return app;
  } catch (thrown) {
    await opened.close();
    throw thrown;
  }
}

const filesRemover =
  ({ data }: PlacedOptions): Parts["removeFiles"] =>
  (scope) =>
    removeWorkspace(workspacesIn(data), scope);

const filesMover =
  ({ data }: PlacedOptions): Parts["renameFiles"] =>
  (owner, to) =>
    renameWorkspaces(workspacesIn(data), owner, to);

/** The only place where the engine reads the machine's clock. */
const REAL: Pick<Clock, "real"> = { real: () => Date.now() };

/** Nobody searches before all is declared. */
function vectorsOver(store: Store, declared: () => Declared | undefined): Vectors {
  return openVectors({
    store,
    agents: () => declared()?.agents ?? [],
    embedderOf: (ref) => {
      const found = declared();
      if (found === undefined)
        throw new StrataError("unexpected", `${ref} is asked for before the agents are declared`);
      return found.embedderOf(ref);
    },
    clock: REAL,
  });
}

interface Joining {
  readonly declared: Declared;
  readonly current: { declared?: Declared };
  readonly vectors: Vectors;
  readonly disk: ProjectDisk;
  readonly operations: OperationAccess;
  readonly features: RuntimeParts["features"];
  readonly channels: Parts["channels"];
}

function joined(options: PlacedOptions, joining: Joining): App {
  const { declared, current, vectors, disk, operations, features, channels } = joining;
  const listening = new Set<(change: Change) => void>();
  const changed = (change: Change): void => {
    for (const listener of listening) listener(change);
  };
  const store = telling(vectors.store, changed);
  const time: { at?: number } = {};
  let now = declared;
  const clock: Clock = { recorded: () => time.at ?? REAL.real(), real: REAL.real };
  const accounts = accountsOf(() => now.projects, clock);
  const ports = {
    judge: options.judge,
    removeFiles: filesRemover(options),
    renameFiles: filesMover(options),
    filesOf: (scope: ContactScope) => filesIn(workspacesIn(options.data), scope),
  };
  const parts = runtimeParts({ store, vectors, accounts, disk, features, channels, ...ports, now: () => now, clock });
  if (options.recordOnly !== true) beginReading(accounts, now.agents);
  const wireOf = (agent: Agent): ModelRef => options.wire ?? now.wireOf(agent);
  const runtime = openRuntime(parts);
  const operator = allow({ org: now.org, id: LOCAL_OPERATOR, role: "operator" }, "operate");
  return {
    runtime,
    operator,
    ask: openAsk({ runtime, actor: operator }),
    get projects() {
      return now.projects;
    },
    data: options.data,
    database: storeAddress(now.projects, options.data) === recordFile(options.data) ? "sqlite" : "postgres",
    modelNameOf: (agent) => now.modelChoiceOf(agent).ref,
    modelChoiceOf: (agent) => now.modelChoiceOf(agent),
    cardOf: (model) => now.cardOf(model),
    guessedWindow: (model) => guessedWindow(model, now.cardOf(model)),
    modelOf: (agent) => now.modelOf(agent),
    embedderOf: (ref) => now.embedderOf(ref),
    speaker: (agent, replies) => recordedModel(replies, wireOf(agent)),
    counterOf: (agent) => parts.counterOf(wireOf(agent)),
    bodyOf: (request, wire) => wireBody(request, wire, now.access),
    hide: (text) => now.vault.hide(text),
    clock,
    setClock: (at) => {
      time.at = at;
    },
    reload: async () => {
      const fresh = projectsOf(options);
      checkReload(now.projects, fresh);
      now = await declaredBy(fresh, options, { store, disk, operations });
      current.declared = now;
      // Another embedder begins at once; if that fails, the next turn reports it.
      for (const agent of now.agents) vectors.later(agent).catch(() => undefined);
      changed({ kind: "projects", ids: now.agents.map(({ name }) => name) });
      return { modules: now.modulesAnew };
    },
    onChange: (listener) => {
      listening.add(listener);
      return () => void listening.delete(listener);
    },
    head: (org) => store.head(org),
    verify: (org, anchor) => store.verify(org, anchor),
    organizations: () => store.organizations(),
    keptAgents: (org) => store.keptAgents(org),
    leases: async (org) =>
      (await store.leases(org)).map((lease) => ({
        ...lease,
        alive: parts.alive(lease.holder) && lease.until > clock.real(),
      })),
    trouble: () => store.trouble(),
    backup: (...given) => store.backup(...given),
    close: async () => {
      accounts.close();
      await vectors.close();
      await store.close();
    },
  };
}

/** The folders of these projects, in real time. A shipped agent works on the project of the `folder` it is used in, not on Strata's own. */
export const diskOver = (projects: () => readonly Project[], folder: string): ProjectDisk => ({
  folderOf: ({ org, name }) => {
    const project = projects().find((one) => one.org === org && one.agents.has(name));
    return project && (isOwn(project) ? project.folder : folder);
  },
  reader: DISK,
  clock: REAL,
  timer: (milliseconds, fire) => {
    const timeout = setTimeout(fire, milliseconds);
    return () => clearTimeout(timeout);
  },
});

/** Accounts' balances are read while the program begins, so that its first turn does not wait for them. */
function beginReading(accounts: Accounts, agents: readonly Agent[]): void {
  for (const { life } of agents) if (life?.account !== undefined) void accounts.balance(life.account, 0);
}

/** What stays while the program runs, and what a reload replaces. */
interface Changing
  extends Pick<
    RuntimeParts,
    | "store"
    | "vectors"
    | "accounts"
    | "disk"
    | "features"
    | "channels"
    | "removeFiles"
    | "renameFiles"
    | "filesOf"
    | "clock"
    | "judge"
  > {
  readonly now: () => Declared;
}

function runtimeParts({ now, ...rest }: Changing): RuntimeParts {
  return {
    ...rest,
    agents: {
      get all() {
        return now().agents;
      },
      get former() {
        return now().former;
      },
      spec: agentSpec,
      revive: reviveAgent,
    },
    get tools() {
      return now().tools;
    },
    toolsOver: (over) => now().toolsOver(over),
    get sources() {
      return now().sources;
    },
    get scheduling() {
      return now().projects[0]?.turns ?? DEFAULT_SCHEDULING;
    },
    get vault() {
      return now().vault;
    },
    modelOf: (agent) => now().modelOf(agent),
    cardOf: (model) => now().cardOf(model),
    ...counting((wire) => now().cardOf(wire)),
    random: chance(),
    holder: holderName(process.pid),
    alive: isHolderAlive,
    sendDelivery,
    machine: { system: `${process.platform} ${process.arch}`, host: hostname(), folder: process.cwd() },
  };
}

/** Bytes that are drawn at a time: a draw takes as long as handing out twenty ids. */
const DRAWN = 1_024;

/** Random bytes, each given once. */
function chance(): Parts["random"] {
  let drawn = randomBytes(DRAWN);
  let at = 0;
  return (n) => {
    if (n > DRAWN) return randomBytes(n);
    if (at + n > DRAWN) [drawn, at] = [randomBytes(DRAWN), 0];
    at += n;
    return drawn.subarray(at - n, at);
  };
}

/** Counts as each model does, and learns from what its provider reports. One counter per factor; the vocabulary is loaded at the first. */
function counting(cardOf: Parts["cardOf"]): Pick<Parts, "counterOf" | "countAhead" | "observe"> {
  const made = new Map<number, Promise<CountTokens>>();
  const { observe, factorOf } = calibration();
  const counterFor = (factor: number): Promise<CountTokens> => {
    const counter = made.get(factor) ?? tokenCounter({ factor });
    made.set(factor, counter);
    return counter;
  };
  const counterOf: Parts["counterOf"] = (wire) => {
    return counterFor(factorOf(wire, cardOf(wire).tokenFactor));
  };
  return {
    counterOf,
    countAhead,
    observe: (wire, request, reported) =>
      // The vocabulary was already loaded for this request: nothing can fail here, and nothing waits for it.
      void counterFor(1).then((count) => observe(wire, countRequest(request, count), reported)),
  };
}

/** A worker's name in a lease: machine, process id and start time, so that a reused process id is recognised. */
function holderName(pid: number): string {
  return `${hostname()}/${pid}/${processStart(pid)}`;
}

/** Whether the holder may still be running. For another machine this is unknown: its lease expires by itself. */
function isHolderAlive(holder: string): boolean {
  const [host, pid, began] = holder.split("/");
  if (host !== hostname()) return true;
  try {
    process.kill(Number(pid), 0);
  } catch (thrown) {
    // EPERM: it runs and belongs to another user.
    return thrown instanceof Error && "code" in thrown && thrown.code === "EPERM";
  }
  return processStart(Number(pid)) === began;
}

/** The start time of a process, in ticks of the system; empty if unknown. */
function processStart(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
