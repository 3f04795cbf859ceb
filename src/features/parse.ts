import { z } from "zod";
import { didYouMean, StrataError, suggestion } from "../protocol/index.ts";

/** The names of an operation's fields at the door they came through. */
export interface Naming {
  /** A field in a sentence: "`limit` in the query", "`--limit`". */
  readonly field: (name: string) => string;
  /** What holds the fields: "the query". */
  readonly whole: string;
}

/**
 * Parses input from outside into the schema's types. Unknown fields are refused.
 * @throws StrataError `invalid_input`, and what the makers of ids throw
 */
export function parsed<S extends z.ZodObject>(schema: S, values: unknown, naming: Naming): z.output<S> {
  const result = schema.safeParse(values);
  if (result.success) return result.data;
  const fields = Object.keys(schema.shape);
  // One value may break several rules that have the same message.
  const problems = [...new Set(result.error.issues.map((issue) => describeIssue(issue, values, { naming, fields })))];
  const many = problems.length === 1 ? "" : `${problems.length} problems: `;
  throw new StrataError("invalid_input", `${many}${problems.join("; ")}`, { in: naming.whole, problems });
}

interface FieldNaming {
  readonly naming: Naming;
  readonly fields: readonly string[];
}

function describeIssue(issue: z.core.$ZodIssue, values: unknown, { naming, fields }: FieldNaming): string {
  if (issue.code === "unrecognized_keys") {
    const within = issue.path.length > 0;
    const place = within ? naming.field(issue.path.join(".")) : naming.whole;
    return issue.keys
      .map((key) => `${place} has no field ${shortJson(key)}${within ? "" : suggestion(key, fields)}`)
      .join("; ");
  }
  const found = valueAt(values, issue.path);
  if (issue.path.length === 0) return `${naming.whole} must be a JSON object, not ${shortJson(found)}`;
  const field = naming.field(issue.path.join("."));
  if (found === undefined) return `${field} is missing: it must be ${expectation(issue)}`;
  const near =
    issue.code === "invalid_value" && typeof found === "string" ? didYouMean(found, issue.values.map(String)) : "";
  return `${field} must be ${expectation(issue)}, not ${shortJson(found)}${near}`;
}

const UNITS: Readonly<Record<string, string>> = { string: " characters long", array: " values" };

/** Our own fields have a message with what they must be; for the rest, zod's information is used. */
function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.message.startsWith("Invalid input") ? `of type ${issue.expected}` : issue.message;
    case "invalid_value":
      return `one of ${issue.values.map((one) => JSON.stringify(one)).join(", ")}`;
    case "too_big":
      return `at most ${issue.maximum}${UNITS[issue.origin] ?? ""}`;
    case "too_small":
      return `at least ${issue.minimum}${UNITS[issue.origin] ?? ""}`;
    default:
      return issue.message.replace(/^Invalid discriminator value\. Expected /, "one of ");
  }
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inside, key) => (typeof inside === "object" && inside !== null ? Reflect.get(inside, key) : undefined),
    value,
  );
}

/** A value, shortened for a sentence. */
function shortJson(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** What a field's schema says about it: enough to read it from a word, and to show how it is written. */
export interface FieldShape {
  readonly name: string;
  readonly message: string;
  readonly required: boolean;
  readonly default?: unknown;
  readonly choices?: readonly string[];
  /** The placeholder for its value, as in `--since <date>`: the schema's `title`. */
  readonly place?: string;
  /** How one word is read; `text` if it may be several things. */
  readonly type: "text" | "number" | "flag" | "list";
  /** Its value, or each value of the list, is an object: a word holds it as JSON. */
  readonly isJson?: true;
}

/** A schema's fields as JSON Schema, each with its description. */
export interface InputSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** Fields with a default may be omitted. */
export function inputSchemaOf(takes: z.ZodObject): InputSchema {
  const fields = fieldsOf(takes);
  const schemas = new Map(Object.entries<z.ZodType>(takes.shape));
  const properties = fields.map(({ name, message }) => {
    const { $schema, ...schema } = z.toJSONSchema(schemas.get(name) ?? z.never(), JSON_FORM);
    return [name, { ...schema, description: message }] as const;
  });
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: fields.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

/** As it is given, before it is parsed. */
const JSON_FORM = { io: "input", unrepresentable: "any" } as const;

/** The fields that a schema takes. Derived once: it takes milliseconds, and each request asks. */
export function fieldsOf(takes: z.ZodObject): readonly FieldShape[] {
  const known = shapes.get(takes);
  if (known !== undefined) return known;
  const fields = Object.entries<z.ZodType>(takes.shape).map(([name, schema]) => fieldOf(name, schema));
  shapes.set(takes, fields);
  return fields;
}

const shapes = new WeakMap<z.ZodObject, readonly FieldShape[]>();

function fieldOf(name: string, schema: z.ZodType): FieldShape {
  const json = z.toJSONSchema(schema, JSON_FORM);
  const choices = choicesOf(json);
  return {
    name,
    message: schema.description ?? json.description ?? "",
    required: !schema.safeParse(undefined).success,
    ...(json.default !== undefined && { default: json.default }),
    ...(choices !== undefined && { choices }),
    ...(json.title !== undefined && { place: json.title }),
    type: typeOf(json),
    ...(isObject(itemOf(json)) && { isJson: true }),
  };
}

type Json = z.core.JSONSchema.BaseSchema;

/** What one value of a list is; what is no list, itself. */
const itemOf = (json: Json): Json => (typeof json.items === "object" && !Array.isArray(json.items) ? json.items : json);

function choicesOf(json: Json): readonly string[] | undefined {
  const { enum: all } = itemOf(json);
  return all?.every((one) => typeof one === "string") === true ? all.map(String) : undefined;
}

function isObject({ type, anyOf, oneOf }: Json): boolean {
  const forms = [...(anyOf ?? []), ...(oneOf ?? [])];
  return type === "object" || (forms.length > 0 && forms.every((one) => typeof one === "object" && isObject(one)));
}

function typeOf({ type, const: only }: Json): FieldShape["type"] {
  if (type === "integer" || type === "number") return "number";
  if (type === "boolean" || only === true) return "flag";
  return type === "array" ? "list" : "text";
}

/**
 * Values given as words, in a query or on a command line, converted as their fields require. What cannot be read stays unchanged, and is
 * refused with the rest.
 */
export function fromWords(fields: readonly FieldShape[], words: Readonly<Record<string, unknown>>) {
  const shapes = new Map(fields.map((field) => [field.name, field]));
  return Object.fromEntries(Object.entries(words).map(([name, word]) => [name, fromWord(shapes.get(name), word)]));
}

function fromWord(field: FieldShape | undefined, word: unknown): unknown {
  if (field?.isJson && Array.isArray(word)) return word.map(fromJson);
  if (typeof word !== "string") return word;
  if (field?.isJson) return field.type === "list" ? [fromJson(word)] : fromJson(word);
  switch (field?.type) {
    case "number":
      return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(word) ? Number(word) : word;
    case "flag":
      return word === "true" ? true : word === "false" ? false : word;
    case "list":
      return [word];
    default:
      return word;
  }
}

function fromJson(word: unknown): unknown {
  if (typeof word !== "string") return word;
  try {
    return JSON.parse(word);
  } catch {
    return word;
  }
}
