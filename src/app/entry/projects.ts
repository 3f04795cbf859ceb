import {
  checkLock,
  type Environment,
  isLockCurrent,
  type LockWriting,
  lockFile,
  writeLock,
} from "../../agents/index.ts";
import { type Agent, usualPayment } from "../../protocol/index.ts";
import { loadProject } from "./agents.ts";
import { type TextWarning, warningsOf } from "./texts.ts";

/** The declarations of a folder and the shipped ones, for commands that open no record. */
export {
  blueprintFolder,
  blueprintNames,
  type TranslatedKey,
  translateDevclaw,
  translateOrganism,
  USUAL_MODELS,
} from "../../agents/index.ts";

/** The lock of a folder's strata.yaml. */
export interface ProjectLock {
  readonly file: string;
  /** How many layers it locks, by agent. */
  readonly layers: ReadonlyMap<string, number>;
  /** The agents whose code it locks. */
  readonly handlers: ReadonlySet<string>;
  /** The first agent that people can write to, or simply the first if they can write to none. */
  readonly first: string | undefined;
  /** The agents that live on credits, with a first payment in US dollars: before it no turn of theirs begins. */
  readonly payments: ReadonlyMap<string, number>;
  /** Warnings about editable texts, which the lock does not hold. */
  readonly warnings: () => Promise<readonly TextWarning[]>;
  /** As at the start. @throws StrataError `config_invalid` for an account whose address is mistyped */
  readonly checkAccounts: () => Promise<void>;
  /** @throws StrataError `lock_missing`, `lock_mismatch` with the difference */
  readonly check: () => void;
  /** Whether it says all that it would say if it were written now. */
  readonly isCurrent: () => boolean;
  /** @throws StrataError `lock_mismatch` for lines that are stale and were not reviewed */
  readonly write: (writing?: LockWriting) => void;
}

/** Secrets do not affect the texts, so they may be missing. @throws StrataError `config_missing`, `config_invalid`, … */
export function projectLock({ folder, env }: { readonly folder: string; readonly env: Environment }): ProjectLock {
  const project = loadProject(folder, { env, withoutSecrets: true });
  const agents = [...project.agents.values()];
  const locked = (agent: Agent) => agent.layers.filter((layer) => layer.mutability === "immutable").length;
  return {
    file: lockFile(project),
    layers: new Map(agents.map((agent) => [agent.name, locked(agent)])),
    handlers: new Set(agents.flatMap(({ name, handler }) => (handler === undefined ? [] : [name]))),
    first: (agents.find(({ entry }) => entry !== false) ?? agents[0])?.name,
    payments: new Map(agents.flatMap(({ name, life }) => (life?.credits ? [[name, usualPayment(life.credits)]] : []))),
    warnings: () => warningsOf([project]),
    checkAccounts: async () => (await import("../../features/life/index.ts")).checkAccounts(project),
    check: () => checkLock(project),
    isCurrent: () => isLockCurrent(project),
    write: (writing) => writeLock(project, writing),
  };
}
