import { type Actor, may } from "../protocol/index.ts";
import type { Operation, OperationContext } from "./operation.ts";
import { type InputSchema, inputSchemaOf } from "./parse.ts";

/** All operations, for tools that call them as an actor: `world` exists once the runtime does. */
export interface OperationAccess {
  readonly list: readonly Operation[];
  readonly world: () => OperationContext;
}

/** An operation as the Model Context Protocol lists tools. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: InputSchema;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean };
}

/** The operation for programs that speak MCP: `approval.list` is the tool `approval_list`. */
export const mcpTool = ({ name, does, may: action, takes, at, command }: Operation): McpTool => ({
  name: name.replace(".", "_"),
  description: does,
  inputSchema: inputSchemaOf(takes),
  annotations: {
    readOnlyHint: action === "view" || action === "read" || action === "explain",
    destructiveHint: command?.confirm !== undefined || at?.method === "delete",
  },
});

/** The tools shown to an actor: it does not see what its role may not do. */
export const mcpTools = (operations: readonly Operation[], actor: Pick<Actor, "role">): readonly McpTool[] =>
  operations.filter((operation) => may(actor, operation.may)).map(mcpTool);
