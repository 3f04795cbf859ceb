import {
  StrataError,
  suggestion,
  type Tool,
  type ToolName,
  type ToolReader,
  type ToolSchema,
} from "../../protocol/index.ts";
import { outcomeOf } from "./outcome.ts";

/** The tools there are, by name. */
export interface Toolset {
  /** What a provider is told of these tools for this agent, sorted by name. @throws StrataError `tool_not_found` */
  schemas(names: readonly ToolName[], agent?: ToolReader): readonly ToolSchema[];
  get(name: ToolName): Tool | undefined;
}

/**
 * Puts tools together, each under a name of its own.
 * @throws StrataError `invalid_input` when two have the same name
 */
export function toolset(tools: readonly Tool[]): Toolset {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    const { name } = tool.schema;
    if (byName.has(name))
      throw new StrataError("invalid_input", `two tools are named ${name}; rename one of them`, { name });
    byName.set(name, checked(tool));
  }
  const schemaOf = (name: string, agent: ToolReader): ToolSchema => {
    const tool = byName.get(name);
    if (tool === undefined) throw notFound(name, [...byName.keys()]);
    return tool.schemaFor?.(agent) ?? tool.schema;
  };
  return {
    schemas: (names, agent = { layers: [] }) => [...new Set<string>(names)].sort().map((name) => schemaOf(name, agent)),
    get: (name) => byName.get(name),
  };
}

/** The same tool; what it gives is looked at, for not all tools come from `defineTool`. */
function checked(tool: Tool): Tool {
  const { effect, trust, limits, shows, states } = tool;
  return {
    // Read each time, so that lint sees one that changes.
    get schema() {
      return tool.schema;
    },
    ...(tool.schemaFor !== undefined && { schemaFor: (agent) => tool.schemaFor?.(agent) ?? tool.schema }),
    effect,
    trust,
    ...(limits !== undefined && { limits }),
    ...(shows !== undefined && { shows }),
    ...(states !== undefined && { states }),
    ...(tool.needsApproval !== undefined && { needsApproval: (input) => tool.needsApproval?.(input) ?? false }),
    ...(tool.waiting !== undefined && { waiting: async (agent) => (await tool.waiting?.(agent)) ?? [] }),
    ...(tool.tainted !== undefined && { tainted: (input, scope) => tool.tainted?.(input, scope) ?? "ask" }),
    check: (input) => tool.check(input),
    run: (input, context) => outcomeOf(tool.schema.name, context, () => tool.run(input, context)),
  };
}

function notFound(name: string, known: readonly string[]): StrataError {
  const there = known.length === 0 ? "; there are no tools" : suggestion(name, known);
  return new StrataError("tool_not_found", `no tool is named ${JSON.stringify(name)}${there}`, { name });
}
