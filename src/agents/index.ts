/**
 * What a person declares becomes what runs: one `strata.yaml` and its texts are read once, checked as a whole, and given back as
 * frozen agents whose version is the digest of all they say. `strata.lock` pins the immutable layers; a project that does
 * not match its lock does not start. This room reads a project's folder and the shipped blueprints, and writes nothing
 * but the lock. It may not reach the network, a store or a model, does not look at `process.env` (the caller hands in what
 * may be known), and lets no secret into an agent, a digest, an error or a print.
 */
export { type AgentKey, type AgentKeys, agentKey, frozenKey, type Kept } from "./agent-key.ts";
export { agentSpec, type Revive, sealAgent, withTools } from "./agent-spec.ts";
export { blueprintFolder, blueprintNames } from "./blueprints.ts";
export type { ConfigInput } from "./core-keys.ts";
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
export type { Position } from "./path.ts";
export { type Declarations, declaring, type Project } from "./project.ts";
export type { Problem } from "./report.ts";
export { line, server, slug } from "./schema-parts.ts";
export { type Environment, type Provider, Secret, usualModel } from "./secret.ts";
export { vaultOf } from "./vault.ts";
