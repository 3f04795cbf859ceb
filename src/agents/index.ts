/**
 * Turns declarations into agents: one `strata.yaml` and its texts are read once, checked as a whole, and returned as
 * frozen agents whose version is the digest of their contents. `strata.lock` pins the immutable layers; a project that does
 * not match its lock does not start. This room reads a project's folder and the shipped blueprints, and writes only
 * the lock. It must not use the network, a store or a model, does not read `process.env` (the caller passes the
 * variables), and never puts a secret into an agent, a digest, an error or any output.
 */
export {
  type AgentKey,
  type AgentKeys,
  agentKey,
  frozenKey,
  type KeyLayer,
  type KeyPlace,
  type StoredKeys,
  sharedKey,
  toolsOfKeys,
} from "./agent-key.ts";
export { agentSpec, type Revive, sealAgent, withTools } from "./agent-spec.ts";
export { blueprintFolder, blueprintNames, standInNames } from "./blueprints.ts";
export { rankBelowLocked } from "./build-agent.ts";
export { type ConfigInput, SAMPLING } from "./core-keys.ts";
export { type TranslatedKey, translateDevclaw } from "./devclaw.ts";
export { type KindsOf, type SourceForms, sourceForm } from "./layer-source.ts";
export {
  checkLock,
  immutableText,
  isLockCurrent,
  type LockChange,
  type LockWriting,
  lockFile,
  lockText,
  writeLock,
} from "./lock.ts";
export { loadModules, type Modules } from "./modules.ts";
export { PLACES_OF_KEYS, translateOrganism } from "./organism.ts";
export type { Position } from "./path.ts";
export { type Declarations, declaring, type Project, variableAt } from "./project.ts";
export type { Problem } from "./report.ts";
export { line, model, server, slug } from "./schema-parts.ts";
export {
  type Environment,
  FIRST_SERVED,
  type ModelChoice,
  type Provider,
  Secret,
  USUAL_MODELS,
  usualModel,
} from "./secret.ts";
export { vaultOf } from "./vault.ts";
export { readHead, readYaml } from "./yaml-source.ts";
