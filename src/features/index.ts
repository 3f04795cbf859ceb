/**
 * The frame of features: how a thing that agents can have tells the house what it is, and how a capability is declared once for
 * every door. Each feature is a folder beside this page, entered through its own `index.ts`; it imports no other feature but those
 * it names under `needs`.
 */
export type { Feature, Listed, ToolWorld } from "./feature.ts";
export { FIELDS, line } from "./fields.ts";
export {
  type Answer,
  type At,
  type Call,
  type CommandPart,
  fileOperation,
  type Given,
  type McpTool,
  mcpTool,
  type Opens,
  type Operation,
  operation,
  type Page,
  pathFields,
  type RunningTurn,
  seriesOperation,
  type TurnRecord,
  turnOperation,
  type World,
  type Written,
} from "./operation.ts";
export { type FieldShape, fieldsOf, fromWords, type Naming, parsed } from "./parse.ts";
export { DISK, type FileReader, type ProjectDisk } from "./project-disk.ts";
export { COMPOSED, DONE, ERROR, EVENT, EXPLAINED, PROOF, SLOT, THREAD, TURN } from "./shapes.ts";
