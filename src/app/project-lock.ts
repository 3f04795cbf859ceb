import { checkLock, type Environment, loadProject, lockFile, writeLock } from "../agents/index.ts";
import type { Agent } from "../protocol/index.ts";

/** The lock of a folder's strata.yaml. */
export interface ProjectLock {
  readonly file: string;
  /** How many layers it locks, by agent. */
  readonly layers: ReadonlyMap<string, number>;
  /** @throws StrataError `lock_missing`, `lock_mismatch` with the difference */
  readonly check: () => void;
  readonly write: () => void;
}

/** What a secret is does not matter to the texts, so none need be there. @throws StrataError `config_missing`, `config_invalid`, … */
export function projectLock({ folder, env }: { readonly folder: string; readonly env: Environment }): ProjectLock {
  const project = loadProject(folder, { env, withoutSecrets: true });
  const locked = (agent: Agent) => agent.layers.filter((layer) => layer.mutability === "immutable").length;
  return {
    file: lockFile(project),
    layers: new Map([...project.agents.values()].map((agent) => [agent.name, locked(agent)])),
    check: () => checkLock(project),
    write: () => writeLock(project),
  };
}
