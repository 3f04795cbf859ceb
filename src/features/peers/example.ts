import { isJsonObject, type Json, type JsonObject } from "../../protocol/index.ts";

/** How deeply an example follows schemas that refer to each other. */
const DEEPEST = 5;

const FORMATS: Readonly<Record<string, string>> = {
  date: "2026-01-31",
  "date-time": "2026-01-31T08:00:00Z",
  time: "08:00:00",
  duration: "PT1H",
};

/** A value that illustrates a schema. It has the right form, but may violate some limits. */
export function exampleOf({ schema, example }: { readonly schema: JsonObject; readonly example?: Json }): Json {
  if (example !== undefined) return example;
  const shown = (part: Json | undefined, depth: number): Json => {
    if (!isJsonObject(part) || depth > DEEPEST) return null;
    const { examples, enum: choices, anyOf, items, properties, minimum = 1, type, format, $ref, ...rest } = part;
    if (Array.isArray(examples) && examples[0] !== undefined) return examples[0];
    if ("default" in rest && rest["default"] !== undefined) return rest["default"];
    if ("const" in rest && rest["const"] !== undefined) return rest["const"];
    if (Array.isArray(choices)) return choices[0] ?? null;
    if (typeof $ref === "string") return shown(referred(schema, $ref), depth + 1);
    if (Array.isArray(anyOf)) return shown(anyOf[0], depth + 1);
    const kind = Array.isArray(type) ? type[0] : type;
    if (kind === "array") return [shown(items, depth + 1)];
    if (kind === "object") {
      const members = Object.entries(isJsonObject(properties) ? properties : {});
      return Object.fromEntries(members.map(([name, member]) => [name, shown(member, depth + 1)]));
    }
    if (kind === "number" || kind === "integer") return Math.max(1, Number(minimum));
    if (typeof format === "string" && format in FORMATS) return FORMATS[format] ?? "…";
    return kind === "boolean" ? true : kind === "null" ? null : "…";
  };
  return shown(schema, 0);
}

/** The target of a `$ref` within the schema. */
function referred(schema: JsonObject, ref: string): Json | undefined {
  const { $defs } = schema;
  return isJsonObject($defs) ? $defs[ref.replace("#/$defs/", "")] : undefined;
}
