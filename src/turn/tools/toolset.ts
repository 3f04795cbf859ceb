import { z } from "zod";
import {
  canonicalJson,
  type JsonObject,
  StrataError,
  suggestion,
  type Tool,
  type ToolName,
  type ToolReader,
  type ToolSchema,
  toolName,
} from "../../protocol/index.ts";
import { deferredOf } from "./deferred.ts";
import { outcomeOf, refused } from "./outcome.ts";
import { RECORDING_HAS_NO_ANSWER } from "./wording.ts";

/** The tools there are, by name. */
export interface Toolset {
  /** What a provider sees of these tools for this agent, sorted by name, without deferred ones; these come last, marked, where the provider loads them itself. @throws StrataError `tool_not_found` */
  schemas(names: readonly ToolName[], agent?: ToolReader): readonly ToolSchema[];
  get(name: ToolName): Tool | undefined;
}

/** Tools of one kind, each for what its name says behind the prefix. Any other tool of such a name goes before. */
export interface ToolFamily {
  readonly prefix: string;
  /** @param name what follows the prefix */
  readonly tool: (name: string) => Tool;
}

/**
 * Combines tools, each under its own name.
 * @throws StrataError `invalid_input` when two have the same name
 */
export function toolset(tools: readonly Tool[], families: readonly ToolFamily[] = []): Toolset {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    const { name } = tool.schema;
    if (byName.has(name))
      throw new StrataError("invalid_input", `two tools are named ${name}; rename one of them`, { name });
    byName.set(name, withChecks(tool));
  }
  const get = (name: string): Tool | undefined => {
    const family = families.find(({ prefix }) => name.startsWith(prefix) && name.length > prefix.length);
    return byName.get(name) ?? (family && withChecks(family.tool(name.slice(family.prefix.length))));
  };
  const finds = (name: string): boolean => get(name)?.forwards !== undefined;
  const schemaOf = (name: string, agent: ToolReader): ToolSchema => {
    const tool = get(name);
    if (tool === undefined) throw notFound(name, [...byName.keys()]);
    return tool.schemaFor?.(agent) ?? tool.schema;
  };
  return {
    schemas: (names, agent = { layers: [] }) => {
      const hidden = new Set<string>(deferredOf({ get }, { ...agent, tools: names }));
      // A sub-agent may have fewer of them than its caller, or none: then there is nothing to find.
      const isIdle = (name: string): boolean => agent.defer !== undefined && hidden.size === 0 && finds(name);
      const sent = [...new Set<string>(names)].filter((name) => !hidden.has(name) && !isIdle(name));
      const reader = hidden.size === 0 ? agent : { ...agent, defer: [...hidden] };
      const shown = sent.sort().map((name) => schemaOf(name, reader));
      if (!agent.loadsTools) return shown;
      const { defer: _, ...plain } = agent;
      return [...shown, ...[...hidden].sort().map((name) => ({ ...schemaOf(name, plain), deferred: true }) as const)];
    },
    get,
  };
}

/** The same tool; what it gives is looked at, for not all tools come from `defineTool`. */
function withChecks(tool: Tool): Tool {
  const { effect, trust, limits, returnsMemories, hidesSecrets, listedIn, states, readsResults } = tool;
  return {
    // Read each time, so that lint sees one that changes.
    get schema() {
      return tool.schema;
    },
    ...(tool.schemaFor !== undefined && { schemaFor: (agent) => tool.schemaFor?.(agent) ?? tool.schema }),
    effect,
    trust,
    ...(limits !== undefined && { limits }),
    ...(returnsMemories === true && { returnsMemories }),
    ...(hidesSecrets && { hidesSecrets }),
    ...(listedIn !== undefined && { listedIn }),
    ...(states !== undefined && { states }),
    ...(readsResults && { readsResults }),
    ...(tool.needsApproval !== undefined && { needsApproval: (input) => tool.needsApproval?.(input) ?? false }),
    ...(tool.decidedWith !== undefined && { decidedWith: tool.decidedWith }),
    ...(tool.waiting !== undefined && { waiting: async (agent) => (await tool.waiting?.(agent)) ?? [] }),
    ...(tool.tainted !== undefined && { tainted: (input, scope) => tool.tainted?.(input, scope) ?? "ask" }),
    ...(tool.forwards !== undefined && { forwards: (input) => tool.forwards?.(input) }),
    check: (input) => tool.check(input),
    run: (input, context) => outcomeOf(tool.schema.name, () => tool.run(input, context)),
  };
}

function notFound(name: string, known: readonly string[]): StrataError {
  const there = known.length === 0 ? "; there are no tools" : suggestion(name, known);
  return new StrataError("tool_not_found", `no tool is named ${JSON.stringify(name)}${there}`, { name });
}

const jsonSchema = z.record(z.string(), z.json());
const plainTool = z.object({
  name: z.string(),
  description: z.string().default(""),
  parameters: jsonSchema.optional(),
  input_schema: jsonSchema.optional(),
});
const recordedEntry = z.union([
  plainTool,
  z.object({ type: z.literal("function"), function: plainTool }).transform((one) => one.function),
]);

/**
 * Tools whose answers a recording holds: `{name, description, parameters}`, the same with `input_schema`, or
 * `{type: "function", function}`. They run nothing; the runtime answers their calls from the recording.
 * @throws StrataError `invalid_input` naming the entry that is not such a tool
 */
export function recordedTools(schemas: unknown): readonly Tool[] {
  if (!Array.isArray(schemas)) throw new StrataError("invalid_input", "the tools file must hold a list of tools");
  return schemas.map(recordedTool);
}

function recordedTool(value: unknown, index: number): Tool {
  const parsed = recordedEntry.safeParse(value);
  if (!parsed.success) throw notATool(index, "it needs a name, and a JSON Schema as parameters or input_schema");
  const { name, description, parameters, input_schema: inputSchema } = parsed.data;
  return {
    schema: { name: readToolName(name, index), description, input: canonical(parameters ?? inputSchema) },
    effect: "none",
    trust: "contact",
    // A recorded call was valid in its time; whether it fits the current schema changes nothing.
    check: () => undefined,
    run: async () => refused(RECORDING_HAS_NO_ANSWER),
  };
}

function readToolName(name: string, index: number): ToolName {
  try {
    return toolName(name);
  } catch (thrown) {
    throw notATool(index, thrown instanceof Error ? thrown.message : String(thrown), thrown);
  }
}

function canonical(input: JsonObject | undefined): JsonObject {
  return JSON.parse(canonicalJson(input ?? { type: "object", properties: {} }));
}

function notATool(index: number, because: string, cause?: unknown): StrataError {
  const message = `entry ${index + 1} of the tools file is not a tool: ${because}`;
  return new StrataError("invalid_input", message, { entry: index + 1 }, cause);
}
