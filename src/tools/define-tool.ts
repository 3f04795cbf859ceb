import { z } from "zod";
import {
  canonicalJson,
  type Json,
  type JsonObject,
  type Tool,
  type ToolContext,
  type ToolEffect,
  type ToolLimits,
  type ToolOutcome,
  type Trust,
  toolName,
} from "../protocol/index.ts";
import { argumentProblem } from "./argument-problem.ts";
import { answered } from "./outcome.ts";

/** A tool as it is written: the schema that the model sees and the check of what it sends are one and the same. */
export interface ToolDefinition<Shape extends z.ZodRawShape> {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  /** For the model: what it does and when to use it. */
  readonly description: string;
  readonly input: z.ZodObject<Shape, z.core.$ZodObjectConfig>;
  readonly effect: ToolEffect;
  readonly trust: Trust;
  readonly limits?: ToolLimits;
  /** True, or what says it of the checked input: the call waits until a person has approved it. */
  readonly needsApproval?: boolean | ((input: z.output<z.ZodObject<Shape>>) => boolean);
  /** A text alone is the answer of a call that worked. */
  run(input: z.output<z.ZodObject<Shape>>, context: ToolContext): Promise<ToolOutcome | string> | ToolOutcome | string;
}

/**
 * Makes a tool. Arguments that the schema does not name are refused, whatever the schema says of them.
 * @throws StrataError `invalid_id` for a name that providers do not accept
 */
export function defineTool<Shape extends z.ZodRawShape>(definition: ToolDefinition<Shape>): Tool {
  const { name, description, effect, trust, limits, needsApproval = false } = definition;
  const input = definition.input.strict();
  const asks = (given: Json): boolean =>
    typeof needsApproval === "boolean" ? needsApproval : needsApproval(input.parse(given));
  return {
    schema: { name: toolName(name), description, input: jsonSchema(input) },
    effect,
    trust,
    ...(limits !== undefined && { limits }),
    ...(needsApproval !== false && { needsApproval: asks }),
    check(given) {
      const [problem] = input.safeParse(given).error?.issues ?? [];
      return problem && argumentProblem(name, problem, given, Object.keys(input.shape));
    },
    run: async (given, context) => {
      const outcome = await definition.run(input.parse(given), context);
      return typeof outcome === "string" ? answered(outcome) : outcome;
    },
  };
}

/** As a provider wants it: canonical, for it stands in the cached prefix; without the dialect's address. */
function jsonSchema(input: z.ZodObject): JsonObject {
  const { $schema, ...schema } = z.toJSONSchema(input, { io: "input" });
  return JSON.parse(canonicalJson(schema));
}
