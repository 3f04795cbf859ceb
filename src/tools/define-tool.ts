import { z } from "zod";
import {
  canonicalJson,
  type JsonObject,
  type Tool,
  type ToolContext,
  type ToolEffect,
  type ToolOutcome,
  type Trust,
  toolName,
} from "../protocol/index.ts";
import { argumentProblem } from "./argument-problem.ts";

/** A tool as it is written: the schema that the model sees and the check of what it sends are one and the same. */
export interface ToolDefinition<Shape extends z.ZodRawShape> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject<Shape, z.core.$ZodObjectConfig>;
  readonly effect: ToolEffect;
  readonly trust: Trust;
  run(input: z.output<z.ZodObject<Shape>>, context: ToolContext): Promise<ToolOutcome>;
}

/**
 * Makes a tool. Arguments that the schema does not name are refused, whatever the schema says of them.
 * @throws StrataError `invalid_id` for a name that providers do not accept
 */
export function defineTool<Shape extends z.ZodRawShape>(definition: ToolDefinition<Shape>): Tool {
  const { name, description, effect, trust } = definition;
  const input = definition.input.strict();
  return {
    schema: { name: toolName(name), description, input: jsonSchema(input) },
    effect,
    trust,
    check(given) {
      const [problem] = input.safeParse(given).error?.issues ?? [];
      return problem && argumentProblem(name, problem, given, Object.keys(input.shape));
    },
    run: async (given, context) => definition.run(input.parse(given), context),
  };
}

/** As a provider wants it: canonical, for it stands in the cached prefix; without the dialect's address. */
function jsonSchema(input: z.ZodObject): JsonObject {
  const { $schema, ...schema } = z.toJSONSchema(input, { io: "input" });
  return JSON.parse(canonicalJson(schema));
}
