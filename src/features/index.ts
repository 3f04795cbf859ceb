/**
 * The interface of features: what a feature declares about itself, and how a capability is declared once for the CLI, HTTP and MCP.
 * Each feature is a folder next to this file, entered through its own `index.ts`. It imports only the features that it names under
 * `needs`.
 */
export { COLUMNS, columnsOf, givingColumns, threadColumn, turnColumn } from "./column.ts";
export { type CommandPart, type Opens, replacedBy } from "./command-part.ts";
export type { Feature, Listed, ShadowParts, ToolDeps } from "./feature.ts";
export { FIELDS, line } from "./fields.ts";
export { type McpTool, mcpTool, mcpTools, type OperationAccess } from "./mcp.ts";
export {
  type Answer,
  type At,
  type DoorCall,
  fileOperation,
  type Operation,
  type OperationContext,
  operation,
  type Page,
  pathFields,
  type RawInput,
  type Run,
  type RunAnswer,
  type RunEvent,
  type RunningTurn,
  seriesOperation,
  type TurnRecord,
  turnOperation,
  type Written,
} from "./operation.ts";
export { type FieldShape, fieldsOf, fromWords, type Naming, parsed } from "./parse.ts";
export { DISK, type FileReader, type ProjectDisk } from "./project-disk.ts";
export { failureOf, runOperation } from "./run-operation.ts";
export { COMPOSED, DONE, EVENT, EXPLAINED, errorShape, PROOF, SLOT, THREAD, TURN, WAITING } from "./shapes.ts";
