import { checkLock, lockFile, type Project } from "../agents/index.ts";
import { leastOfLayer } from "../compiler/index.ts";
import { fetchProblems } from "../features/fetch/index.ts";
import { fileProblems } from "../features/files/index.ts";
import { skillProblems } from "../features/skills/index.ts";
import { subagentProblems } from "../features/subagents/index.ts";
import { findSecrets } from "../guard/index.ts";
import {
  type Agent,
  type AgentName,
  type CountTokens,
  type Layer,
  type LedgerEntry,
  type Mode,
  type ModelRef,
  StrataError,
  suggestion,
} from "../protocol/index.ts";
import { openStore, type Store } from "../store/index.ts";
import { NO_MODEL } from "../turn/index.ts";
import {
  type LintFinding,
  lintSubject,
  type ModelCard,
  paidTwiceOf,
  type Rates,
  type Subject,
  type ThreadLength,
  UNKNOWN,
} from "../wire/index.ts";
import { type Declared, declaredBy } from "./declare.ts";
import { allChannels, allParts, operationAccess } from "./entry/features.ts";
import { type TextWarning, textWarnings } from "./entry/texts.ts";
import { claimWarnings } from "./lint/claims.ts";
import { observe } from "./lint/observe.ts";
import { counterFor, renderIn } from "./lint/render.ts";
import { type FilePlace, placeOf, textsOf } from "./lint/texts.ts";
import { toolWarnings } from "./lint/tools-called.ts";
import { otherProcesses, unstableSections } from "./lint/worlds.ts";
import { diskOver } from "./open.ts";
import { type PlacedOptions, recordFile } from "./options.ts";
import { projectsOf, storeAddress } from "./projects.ts";

/** What lint checks, and with which assumptions. */
export interface LintOptions extends Pick<PlacedOptions, "folder" | "data" | "env" | "mustDeclare"> {
  /** The database with the lengths of threads; missing if nothing is recorded yet. */
  readonly record?: string;
  /** Only this agent. */
  readonly agent?: AgentName;
  /** How long threads are, instead of the recorded length. */
  readonly turns?: number;
  /** The model whose cache is meant, instead of the agent's own. */
  readonly model?: ModelRef;
}

/** A finding with the place where a person can fix it. */
export interface PlacedFinding extends LintFinding {
  readonly place?: FilePlace;
}

/** Lint's findings about one agent. */
export interface LintReport {
  readonly agent: AgentName;
  readonly model: ModelRef;
  /** False if the model's prices are unknown: then common ones are used. */
  readonly priced: boolean;
  /** False if it is not known whether the model's provider caches anything. */
  readonly cacheKnown: boolean;
  readonly rates: Rates;
  readonly length: ThreadLength;
  /** Tokens of tools and system. */
  readonly prefix: number;
  readonly findings: readonly PlacedFinding[];
  /** Warnings about editable texts, files, skills and sub-agents, and hosts that cannot be reached. */
  readonly texts: readonly TextWarning[];
  /** The lock that has to be written; missing if the agent's immutable layers are locked. */
  readonly lockMissing?: string;
}

/**
 * Looks for what breaks a provider's cache, or makes it cost more than it must: in the texts and declarations, in the record, and in how
 * the bytes change when an agent's first requests are rendered under another clock, time zone, language and order. No model is called,
 * nothing is stored, and none of the operator's own sources is called. An agent may be linted before it is locked.
 * @throws StrataError as `openApp`, except `lock_missing`; `agent_not_found`, `budget_too_small`
 */
export async function lint(options: LintOptions): Promise<readonly LintReport[]> {
  const { folder, data, env, mustDeclare = false, model } = options;
  const place = { folder, data, env, mustDeclare };
  const projects = projectsOf(place);
  const unlocked = projects.filter((project) => !isLocked(project));
  const address = storeAddress(projects, data);
  const record = address === recordFile(data) ? (options.record ?? ":memory:") : address;
  const store = await openStore(record, {
    keptOut: (text) => findSecrets(text).length > 0,
    parts: await allParts(),
    mayCopy: true,
  });
  try {
    const declared = await declaredBy(projects, place, { store, operations: await operationAccess(() => undefined) });
    // Content rendered under another clock or language can only differ through the operator's code.
    const hasCode = projects.some(({ modules }) => modules.length > 0);
    const elsewhere = hasCode ? otherProcesses({ options: place, ...(model !== undefined && { model }) }) : undefined;
    const reports: LintReport[] = [];
    for (const agent of chooseAgents(declared, options.agent)) {
      const report = await reportOn(agent, { declared, store, options, elsewhere });
      const open = unlocked.find(({ agents }) => agents.has(agent.name));
      reports.push({ ...report, ...(open && { lockMissing: lockFile(open) }) });
    }
    return reports;
  } finally {
    await store.close();
  }
}

/** False if there is no lock yet. @throws StrataError `lock_mismatch` */
function isLocked(project: Project): boolean {
  try {
    checkLock(project);
    return true;
  } catch (thrown) {
    if (thrown instanceof StrataError && thrown.code === "lock_missing") return false;
    throw thrown;
  }
}

function chooseAgents({ agents }: Declared, name: AgentName | undefined): readonly Agent[] {
  if (name === undefined) return agents;
  const found = agents.filter((agent) => agent.name === name);
  if (found.length > 0) return found;
  const near = suggestion(
    name,
    agents.map((agent) => agent.name),
  );
  throw new StrataError("agent_not_found", `no agent is named ${name}${near}`, { name });
}

interface LintContext {
  readonly declared: Declared;
  readonly store: Store;
  readonly options: LintOptions;
  readonly elsewhere: ReturnType<typeof otherProcesses> | undefined;
}

async function reportOn(agent: Agent, { declared, store, options, elsewhere }: LintContext): Promise<LintReport> {
  const model = options.model ?? declared.wireOf(agent);
  const card = declared.cardOf(model);
  const rates = ratesOf(card);
  const count = await counterFor(declared, model);
  const rendering = { declared, agent, model, count };
  const { requests, ledger } = await renderIn({ name: "as it is" }, rendering);
  const { length, observed } = await observe({ store, channels: await allChannels() }, agent, count);
  const prefix = ledger.entries.filter(({ place }) => place === "tools" || place === "system");
  const subject = {
    texts: textsOf(agent, requests[0]?.prefix.tools ?? []),
    layers: agent.layers,
    prefix,
    ...systemOf(agent, prefix),
    unstable: await unstableSections(rendering, elsewhere),
    rates,
    length: options.turns === undefined ? length : ({ turns: options.turns, from: "option" } as const),
    observed,
    paidTwice: paidTwiceOf(card, agent.liveLayers),
  };
  return {
    agent: agent.name,
    model: agent.layers.length === 0 ? NO_MODEL.ref : model,
    priced: card.priced,
    cacheKnown: card.family !== UNKNOWN.family || card.cache !== "none",
    rates,
    length: subject.length,
    prefix: subject.prefix.reduce((sum, { tokens }) => sum + tokens, 0),
    // No model is asked: there is nothing that a cache could keep.
    findings: (agent.layers.length === 0 ? [] : lintSubject(subject)).map((found) =>
      placed(found, agent, declared.projects),
    ),
    texts: [
      ...(await textWarnings(agent)),
      ...modeWarnings(agent, count),
      ...claimWarnings(agent, declared.tools),
      ...(await toolWarnings(agent, {
        ...{ store, tools: declared.tools, count, rates, length: subject.length },
        loadsTools: card.loadsTools === true,
      })),
      ...fetchProblems(agent).map((one) => ({ agent: agent.name, ...one })),
      ...(await diskWarnings(agent, declared.projects, { count, folder: options.folder })),
    ],
  };
}

/** Tools are sent beside `budgets.system`, so they do not count. */
function systemOf({ layers, budgets }: Agent, prefix: readonly LedgerEntry[]): Pick<Subject, "system"> {
  if (budgets.system === undefined) return {};
  const least = prefix.reduce((sum, { section, wanted }) => {
    const layer = layers.find(({ id }) => id === section);
    return sum + (layer === undefined ? 0 : leastOfLayer(layer, wanted));
  }, 0);
  return { system: { budget: budgets.system, least } };
}

/** Warns that a mode sends more of the declared texts than a larger one. */
function modeWarnings(agent: Agent, count: CountTokens): readonly TextWarning[] {
  const sizeIn = ({ source, line, modes }: Layer, mode: Mode): number => {
    const text = source.kind === "text" ? source.text : "";
    return modes[mode] === "absent" ? 0 : count(modes[mode] === "line" ? (line ?? "") : text);
  };
  const totalIn = (mode: Mode): number => agent.layers.reduce((sum, layer) => sum + sizeIn(layer, mode), 0);
  return (["compact", "minimal"] as const).flatMap((mode, i) => {
    const larger = (["full", "compact"] as const)[i] ?? "full";
    const [most, all] = [totalIn(larger), totalIn(mode)];
    if (all <= most) return [];
    const grown = agent.layers.filter((layer) => sizeIn(layer, mode) > sizeIn(layer, larger)).map(({ id }) => id);
    const message = `mode ${mode} sends ${all} tokens of the layers' texts, and the larger mode ${larger} ${most}: look at \`modes\` of ${grown.join(", ")}`;
    return [{ agent: agent.name, section: "all texts", message }];
  });
}

/** Warnings about the project's files, skills and sub-agents. */
async function diskWarnings(
  agent: Agent,
  projects: readonly Project[],
  { count, folder }: { readonly count: CountTokens; readonly folder: string },
): Promise<readonly TextWarning[]> {
  const disk = diskOver(() => projects, folder);
  const found = [
    ...(await fileProblems(disk, agent, count)),
    ...(await skillProblems(disk, agent)),
    ...(await subagentProblems(disk, agent)),
  ];
  return found.map(({ path, line, message }) => ({
    agent: agent.name,
    section: line === undefined ? path : `${path}:${line}`,
    message,
    file: path,
    ...(line !== undefined && { line }),
  }));
}

function placed(found: LintFinding, agent: Agent, projects: readonly Project[]): PlacedFinding {
  const project = projects.find(({ agents }) => agents.has(agent.name));
  const place = project && placeOf(found, agent, project);
  return { ...found, ...(place && { place }) };
}

/** Typical cache prices, if a model's are unknown: a tenth for reads, a quarter more for writes. */
const USUAL = { read: 0.1, write: 1.25 };

function ratesOf({ price, cache, minimumPrefix }: ModelCard): Rates {
  // For an unknown cache, the minimum is unknown, too.
  const minimum = cache === "none" ? 0 : minimumPrefix;
  if (price.input === 0) return { ...USUAL, minimum };
  const share = (dollars: number): number => Math.round((dollars / price.input) * 1e4) / 1e4;
  return { read: share(price.cacheRead), write: share(price.cacheWrite), minimum };
}
