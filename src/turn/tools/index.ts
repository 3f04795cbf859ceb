/**
 * Tools: the registry, and the check of arguments and results. The tools themselves come from features, modules and recordings. A tool
 * gets its scope from the turn and has no access outside of it; it never opens a transaction (its writes go into the turn's commit)
 * and never renders a prompt (its results are untrusted text that the runtime frames).
 */
export { shown } from "./argument-problem.ts";
export { deferredOf, foundIn, isLoaded, meantBy, schemaBegins } from "./deferred.ts";
export { defineTool, type ToolDefinition } from "./define-tool.ts";
export { answered, answeredAs, answeredWithTools, checkedWrites, refused, refusedAs, replying } from "./outcome.ts";
export { recordedTools, type ToolFamily, type Toolset, toolset } from "./toolset.ts";
export { RECORDING_HAS_NO_ANSWER } from "./wording.ts";
