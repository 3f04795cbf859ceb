import { z } from "zod";
import {
  AGENT_STATES,
  type AgentState,
  type ContactScope,
  canonicalJson,
  type Json,
  type JsonObject,
  nearest,
  StrataError,
  suggestion,
  TAINTED,
  type Tainted,
  type Tool,
  type ToolContext,
  type ToolEffect,
  type ToolLimits,
  TRUSTS,
  type Trust,
  toolName,
} from "../../protocol/index.ts";
import { argumentProblem, listed, shown } from "./argument-problem.ts";
import { outcomeOf, type ToolAnswer } from "./outcome.ts";
import { cannotBeChecked, notRunBecause } from "./wording.ts";

/** A tool definition: the schema that the model sees also checks its input. */
export interface ToolDefinition<Shape extends z.ZodRawShape> {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  /** For the model: what it does and when to use it. */
  readonly description: string;
  readonly input: z.ZodObject<Shape, z.core.$ZodObjectConfig>;
  readonly effect: ToolEffect;
  readonly trust: Trust;
  readonly limits?: ToolLimits;
  /** Set if its answers contain memories: a reply that repeats them is not remembered again. */
  readonly returnsMemories?: true;
  /** True: it receives the names of secrets instead of their values. If omitted, the values that its input holds. */
  readonly hidesSecrets?: true;
  /** In which of its states an agent may call it; if omitted, in each. */
  readonly states?: readonly AgentState[];
  /** True, or what says it of the checked input: the call waits until a person has agreed. */
  readonly needsApproval?: boolean | ((input: z.output<z.ZodObject<Shape>>) => boolean);
  /** What happens to a call in a turn that has read outside text, or a function of the checked input that decides. If omitted, it runs. */
  readonly tainted?: Tainted | ((input: z.output<z.ZodObject<Shape>>, scope: ContactScope) => Tainted);
  /**
   * A plain string is the answer of a call that worked. An object or a list becomes JSON, unless it has `text` or `writes` or nothing but
   * `failed`: then it is a `ToolAnswer`. Anything else becomes a failed outcome.
   */
  run(input: z.output<z.ZodObject<Shape>>, context: ToolContext): Promise<ToolAnswer | object> | ToolAnswer | object;
}

/**
 * Makes a tool. Arguments that the schema does not name are refused, whatever the schema says of them.
 * @throws StrataError `invalid_input` for a definition that is not as its type says, `invalid_id` for a name that providers do not accept
 */
export function defineTool<Shape extends z.ZodRawShape>(definition: ToolDefinition<Shape>): Tool {
  checkDefinition(definition);
  const { name, description, effect, trust, limits, returnsMemories, hidesSecrets, states, tainted } = definition;
  const { needsApproval = false } = definition;
  const input = definition.input.strict();
  const asks = (given: Json): boolean =>
    typeof needsApproval === "boolean" ? needsApproval : needsApproval(input.parse(given));
  return {
    schema: { name: toolName(name), description, input: jsonSchema(name, input) },
    effect,
    trust,
    ...(limits !== undefined && { limits }),
    ...(returnsMemories === true && { returnsMemories }),
    ...(hidesSecrets && { hidesSecrets }),
    ...(states !== undefined && { states }),
    ...(needsApproval !== false && { needsApproval: asks }),
    ...(tainted !== undefined && {
      tainted: (given, scope) => (typeof tainted === "string" ? tainted : tainted(input.parse(given), scope)),
    }),
    check: (given) => inputProblem(name, input, given),
    run: (given, context) => outcomeOf(name, () => definition.run(input.parse(given), context)),
  };
}

/** The schema's own checks may throw, too. */
function inputProblem(name: string, input: z.ZodObject, given: Json): string | undefined {
  try {
    const [problem] = input.safeParse(given).error?.issues ?? [];
    return problem && argumentProblem(name, problem, given, Object.keys(input.shape));
  } catch (thrown) {
    return notRunBecause(name, cannotBeChecked(thrown instanceof Error ? thrown.message : String(thrown)));
  }
}

/** As a provider wants it: canonical, because it is in the cached prefix; without the dialect's address. */
function jsonSchema(name: string, input: z.ZodObject): JsonObject {
  try {
    const { $schema, ...schema } = z.toJSONSchema(input, { io: "input" });
    return JSON.parse(canonicalJson(schema));
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    const message = `\`input\` cannot be described to a model (${why}); use what JSON has: texts, numbers, true and false, lists, objects`;
    throw notWhole(name, message, thrown);
  }
}

/** The problem with a field, as the end of a sentence that begins with its name. */
type FieldCheck = (value: unknown) => string | undefined;

const must =
  (what: string, fits: (value: unknown) => boolean): FieldCheck =>
  (value) =>
    fits(value) ? undefined : `must be ${what}, and it is ${shown(value)}`;

const text = must("a text", (value) => typeof value === "string");

function oneOf(words: readonly string[]): FieldCheck {
  return (value) => {
    if (typeof value === "string" && words.includes(value)) return undefined;
    const near = typeof value === "string" ? nearest(value, words) : undefined;
    const meant = near === undefined ? "" : `; did you mean ${JSON.stringify(near)}?`;
    return `must be one of ${listed(words)}, and it is ${shown(value)}${meant}`;
  };
}

const isState = (value: unknown): boolean => AGENT_STATES.some((state) => state === value);

const EFFECTS: readonly ToolEffect[] = ["none", "store", "external"];

// Node takes the types of a module away without reading them: what they promise is looked at here.
const FIELDS: Readonly<Record<keyof ToolDefinition<z.ZodRawShape>, FieldCheck>> = {
  name: text,
  description: text,
  input: (value) => {
    if (value instanceof z.ZodObject) return undefined;
    const given =
      value instanceof z.ZodType ? `a z.${value.def.type}()` : shown(value).replace("an object", "a plain object");
    return `must be z.object({…}) of the z that \`strata\` exports, and it is ${given}`;
  },
  effect: oneOf(EFFECTS),
  trust: oneOf(TRUSTS),
  limits: (value) => (value === undefined ? undefined : limitsProblem(value)),
  returnsMemories: must("true", (value) => value === undefined || value === true),
  hidesSecrets: must("true", (value) => value === undefined || value === true),
  states: must(
    `a list of some of ${listed(AGENT_STATES)}`,
    (value) => value === undefined || (Array.isArray(value) && value.length > 0 && value.every(isState)),
  ),
  needsApproval: must("true, false or a function", (value) =>
    ["undefined", "boolean", "function"].includes(typeof value),
  ),
  tainted: (value) => (value === undefined || typeof value === "function" ? undefined : oneOf(TAINTED)(value)),
  run: must("a function", (value) => typeof value === "function"),
};

const LIMITS: Readonly<Record<keyof ToolLimits, FieldCheck>> = {
  calls: must(
    "a whole number from 1",
    (value) => value === undefined || (Number.isInteger(value) && Number(value) >= 1),
  ),
  seconds: must("a number above 0", (value) => value === undefined || (typeof value === "number" && value > 0)),
};

function limitsProblem(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return `must be { calls, seconds }, and it is ${shown(value)}`;
  const problem = fieldProblem(value, LIMITS);
  return problem && `does not fit: ${problem}`;
}

/** What other libraries, or older versions, call a tool's fields. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["execute", "run"],
  ["handler", "run"],
  ["parameters", "input"],
  ["inputSchema", "input"],
  ["schema", "input"],
  ["approval", "needsApproval"],
  ["shows", "returnsMemories"],
]);

function checkDefinition(definition: unknown): void {
  if (typeof definition !== "object" || definition === null)
    throw notWhole(undefined, `defineTool takes one object, and this is ${shown(definition)}`);
  const problem = fieldProblem(definition, FIELDS);
  if (problem !== undefined) throw notWhole("name" in definition ? definition.name : undefined, problem);
}

/** Unknown fields first: one that is misspelt is missing, too. */
function fieldProblem(value: object, checks: Readonly<Record<string, FieldCheck>>): string | undefined {
  const fields = new Map<string, unknown>(Object.entries(value));
  const known = Object.keys(checks);
  const unknown = [...fields.keys()].find((field) => !known.includes(field));
  if (unknown !== undefined) return `there is no field \`${unknown}\`${meant(unknown, known)}`;
  for (const [field, check] of Object.entries(checks)) {
    const problem = check(fields.get(field));
    if (problem !== undefined) return `\`${field}\` ${problem}`;
  }
  return undefined;
}

function meant(field: string, known: readonly string[]): string {
  const ours = ELSEWHERE.get(field);
  return ours !== undefined && known.includes(ours) ? `; did you mean \`${ours}\`?` : suggestion(field, known);
}

function notWhole(name: unknown, problem: string, cause?: unknown): StrataError {
  const which = typeof name === "string" ? `the tool ${name}` : "a tool without a name";
  return new StrataError("invalid_input", `${which} is not valid: ${problem}`, {}, cause);
}
