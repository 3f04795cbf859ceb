import {
  checkLock,
  type Environment,
  isLockCurrent,
  type LockWriting,
  loadProject,
  lockFile,
  writeLock,
} from "../agents/index.ts";
import type { Agent } from "../protocol/index.ts";

/** The lock of a folder's strata.yaml. */
export interface ProjectLock {
  readonly file: string;
  /** How many layers it locks, by agent. */
  readonly layers: ReadonlyMap<string, number>;
  /** The agents that live on credits: no turn of theirs begins before the first payment. */
  readonly onCredits: ReadonlySet<string>;
  /** @throws StrataError `lock_missing`, `lock_mismatch` with the difference */
  readonly check: () => void;
  /** Whether it says all that it would say if it were written now. */
  readonly isCurrent: () => boolean;
  /** @throws StrataError `lock_mismatch` for lines that are stale and were not reviewed */
  readonly write: (writing?: LockWriting) => void;
}

/** What a secret is does not matter to the texts, so none need be there. @throws StrataError `config_missing`, `config_invalid`, … */
export function projectLock({ folder, env }: { readonly folder: string; readonly env: Environment }): ProjectLock {
  const project = loadProject(folder, { env, withoutSecrets: true });
  const agents = [...project.agents.values()];
  const locked = (agent: Agent) => agent.layers.filter((layer) => layer.mutability === "immutable").length;
  return {
    file: lockFile(project),
    layers: new Map(agents.map((agent) => [agent.name, locked(agent)])),
    onCredits: new Set(agents.filter(({ life }) => life?.credits !== undefined).map(({ name }) => name)),
    check: () => checkLock(project),
    isCurrent: () => isLockCurrent(project),
    write: (writing) => writeLock(project, writing),
  };
}
