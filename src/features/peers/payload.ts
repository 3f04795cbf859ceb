import { z } from "zod";
import type { KeyPlace } from "../../agents/index.ts";
import { type Json, type JsonObject, joinFindings, type Misfit } from "../../protocol/index.ts";
import { misfitsIn } from "../../turn/index.ts";
import { exampleOf } from "./example.ts";
import { compileXsd } from "./xsd/compile-xsd.ts";

export const JSON_OBJECT: z.ZodType<JsonObject> = z.record(z.string(), z.json());

const JSON_VALUE: z.ZodType<Json> = z.json();

/** What an agent takes: a type's name, the JSON Schema that a payload must match, and optionally its XSD. */
export const STORED_PAYLOAD = z
  .strictObject({
    type: z.string(),
    schema: JSON_OBJECT,
    xsd: z.exactOptional(z.string()),
    example: z.exactOptional(JSON_VALUE),
  })
  .readonly();
export type Payload = z.output<typeof STORED_PAYLOAD>;

/** The form of a type's name, as in events that programs send. */
const TYPE = /^[\p{L}_][\p{L}\p{N}_.:/-]{0,99}$/u;

export const WRITTEN_PAYLOAD = z
  .strictObject({
    type: z
      .string()
      .regex(TYPE, "1 to 100 letters, digits, `_`, `.`, `:`, `/` or `-`, the first a letter or `_`")
      .optional()
      .describe("The name of the type. Default: the schema's `title`, otherwise `Payload`."),
    schema: z
      .preprocess(plainSchema, JSON_OBJECT)
      .optional()
      .describe("Its JSON Schema, with `type: object`. In code also a schema of Zod, or any Standard JSON Schema."),
    file: z.string().min(1).optional().describe("A JSON file with that schema, relative to strata.yaml."),
    xsd: z
      .string()
      .min(1)
      .optional()
      .describe(
        "An XSD file, relative to strata.yaml; `type` names its element. Models see what a JSON Schema can express of it; payloads are checked against both. Exactly one of `schema`, `file` and `xsd`.",
      ),
  })
  .optional()
  .describe(
    "What it takes from its peers, and with `payload_type` from programs: JSON that matches a JSON Schema. Default: `Text`, an object with a `text`.",
  );

/** A schema that a program wrote with a library, as JSON Schema. Formats are checked as such, without the pattern that libraries add. */
function plainSchema(given: unknown, { issues }: z.core.$RefinementCtx): unknown {
  const standard: unknown = isRecord(given) ? given["~standard"] : undefined;
  if (!isRecord(standard)) return given;
  try {
    const { jsonSchema } = standard;
    const made: unknown =
      isRecord(jsonSchema) && typeof jsonSchema["input"] === "function"
        ? jsonSchema["input"]({ target: "draft-2020-12" })
        : undefined;
    if (made !== undefined)
      return JSON.parse(
        JSON.stringify(made, (key, value: unknown) =>
          key === "$schema"
            ? undefined
            : isRecord(value) && "format" in value
              ? { ...value, pattern: undefined }
              : value,
        ),
      );
    issues.push({
      code: "custom",
      input: given,
      message: "is a Standard Schema without a JSON Schema; pass that instead",
    });
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    issues.push({ code: "custom", input: given, message: `cannot be written as a JSON Schema: ${why}` });
  }
  return z.NEVER;
}

/** Some libraries' schemas are functions. */
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  (typeof value === "object" && value !== null) || typeof value === "function";

/** What an agent accepts that declares no payload. */
export const TEXT: Payload = {
  type: "Text",
  schema: {
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
    additionalProperties: false,
  },
};

/** The declared payload, parsed. An error is reported; the placeholder returned in that case is never used. */
export function payloadOf(
  written: z.output<typeof WRITTEN_PAYLOAD>,
  { refuse, textOf, checkSchema }: Pick<KeyPlace, "refuse" | "textOf" | "checkSchema">,
): Payload {
  if (written === undefined) return TEXT;
  const { type, schema: inline, file, xsd } = written;
  if ([inline, file, xsd].filter((one) => one !== undefined).length !== 1) {
    refuse([], "needs exactly one of `schema`, `file` and `xsd`");
    return TEXT;
  }
  if (xsd !== undefined) {
    const text = textOf({ file: xsd }, ["xsd"]);
    const compiled = compileXsd(text, type);
    if ("schema" in compiled) {
      const { root, schema, shown } = compiled;
      return { type: type ?? root, schema, xsd: text, example: exampleOf({ schema: shown }) };
    }
    refuse(["xsd"], `cannot be the type of a payload: ${compiled.problem}`);
    return TEXT;
  }
  const schema = inline ?? parseObject(textOf({ file }, []));
  if (schema === undefined) {
    refuse(["file"], "is not a JSON Schema: it must hold one JSON object");
    return TEXT;
  }
  checkSchema(schema, inline === undefined ? ["file"] : ["schema"]);
  return { type: type ?? typeIn(schema, "Payload"), schema };
}

function parseObject(text: string): JsonObject | undefined {
  try {
    return JSON_OBJECT.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

const typeIn = ({ title }: JsonObject, usual: string): string =>
  typeof title === "string" && TYPE.test(title) ? title : usual;

/** The type name of a peer's answer; undefined if it answers with text. */
export const answerTypeOf = ({ answers }: { readonly answers?: JsonObject }): string | undefined =>
  answers && typeIn(answers, "Answer");

/** What is wrong with a value as a payload of that type, each with its place; undefined if it is valid. */
export async function payloadFinding({ type, schema, xsd }: Payload, value: unknown): Promise<string | undefined> {
  const { data, success } = JSON_OBJECT.safeParse(value);
  if (!success) return "the payload: it is not an object";
  const misfits = misfitsIn(schema, data);
  if (xsd === undefined) return sentenceOf(misfits);
  const { xsdMisfits } = await import("./xsd/judge.ts");
  const known = misfits.flatMap(({ path, code }) => (code === "unrecognized_keys" ? [] : [path]));
  return sentenceOf([...misfits, ...xsdMisfits(xsd, type, data, known)]);
}

/** The same of a JSON Schema alone. */
export const misfitOf = (schema: JsonObject, value: unknown): string | undefined =>
  sentenceOf(misfitsIn(schema, value));

const sentenceOf = (misfits: readonly Pick<Misfit, "path" | "says">[]): string | undefined =>
  misfits.length === 0
    ? undefined
    : joinFindings(
        misfits.map(({ path, says }) => `${path.length === 0 ? "the payload" : `\`${path.join(".")}\``} ${says}`),
      );
