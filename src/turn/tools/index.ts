/**
 * What a model may call: the registry, the check of arguments, and the built-in tools. A tool gets its scope from the
 * turn and reaches nothing outside it; it never opens a transaction (its writes go into the turn's commit) and never
 * renders a prompt (its answers are untrusted text that the runtime frames).
 */
export { defineTool, type ToolDefinition } from "./define-tool.ts";
export { memoryTools } from "./memory-tools.ts";
export { type ReadOutput, readOutput } from "./output.ts";
export { promptTools } from "./prompt-tools.ts";
export { recordedTools } from "./recorded-tools.ts";
export { rememberTools } from "./remember-tools.ts";
export { replyTool, shownSender } from "./reply-tool.ts";
export { type Toolset, toolset } from "./toolset.ts";
export { removeWorkspace, workspaceTools } from "./workspace-tools.ts";
