import { z } from "zod";
import {
  canonicalJson,
  type JsonObject,
  StrataError,
  type Tool,
  type ToolName,
  toolName,
} from "../../protocol/index.ts";
import { refused } from "./outcome.ts";

const schema = z.record(z.string(), z.json());
const plain = z.object({
  name: z.string(),
  description: z.string().default(""),
  parameters: schema.optional(),
  input_schema: schema.optional(),
});
const entry = z.union([
  plain,
  z.object({ type: z.literal("function"), function: plain }).transform((one) => one.function),
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
  const parsed = entry.safeParse(value);
  if (!parsed.success) throw notATool(index, "it needs a name, and a JSON Schema as parameters or input_schema");
  const { name, description, parameters, input_schema: inputSchema } = parsed.data;
  return {
    schema: { name: nameOf(name, index), description, input: canonical(parameters ?? inputSchema) },
    effect: "none",
    trust: "contact",
    // What was recorded was asked for in its time; whether it fits the schema of today changes nothing.
    check: () => undefined,
    run: async () => refused("The recording has no answer for this call."),
  };
}

function nameOf(name: string, index: number): ToolName {
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
  const says = `entry ${index + 1} of the tools file is not a tool: ${because}`;
  return new StrataError("invalid_input", says, { entry: index + 1 }, cause);
}
