/** An object of a JSON Schema, as a page shows it. */
export interface Section {
  /** Where it stands: `agents.NAME.layers[]`. */
  readonly path: string;
  readonly description: string | undefined;
  readonly rows: readonly Row[];
}

/** One key of an object. */
export interface Row {
  readonly key: string;
  /** What may stand there, in words. */
  readonly value: string;
  readonly fallback: string;
  readonly description: string;
}

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly format?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
}

/** All objects with named keys, each before those inside it, in the order of the schema. */
export function sectionsOf(schema: Schema, path: string): readonly Section[] {
  return within(schema, { path, prefix: "", description: undefined });
}

interface At {
  readonly path: string;
  /** What stands before a key's name in the paths below. */
  readonly prefix: string;
  readonly description: string | undefined;
}

function within(schema: Schema, at: At): readonly Section[] {
  const { properties, required = [] } = schema;
  if (properties === undefined) return [];
  const rows = Object.entries(properties).map(([key, value]) => rowOf(key, value, required.includes(key)));
  const below = Object.entries(properties).flatMap(([key, value]) =>
    objectsIn(value, `${at.prefix}${key}`).flatMap(([inner, path]) =>
      within(inner, { path: `\`${path}\``, prefix: `${path}.`, description: value.description }),
    ),
  );
  return [{ path: at.path, description: at.description, rows }, ...below];
}

/** The objects with named keys that a value is made of, with their paths. */
function objectsIn(schema: Schema, path: string): readonly (readonly [Schema, string])[] {
  if (schema.properties !== undefined) return [[schema, path]];
  if (schema.items !== undefined) return objectsIn(schema.items, `${path}[]`);
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((one) => objectsIn(one, path));
  return typeof schema.additionalProperties === "object" ? objectsIn(schema.additionalProperties, `${path}.NAME`) : [];
}

function rowOf(key: string, schema: Schema, isRequired: boolean): Row {
  return {
    key,
    value: wordsFor(schema),
    fallback: isRequired ? "**required**" : fallbackOf(schema),
    description: schema.description ?? "",
  };
}

/** An object's defaults stand at its own keys, and an empty list or map is the same as none. */
function fallbackOf({ default: given }: Schema): string {
  const isEmpty = typeof given === "object" && given !== null && Object.keys(given).length === 0;
  return given === undefined || isEmpty ? "–" : `\`${String(given)}\``;
}

function wordsFor(schema: Schema): string {
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(code).join(", ");
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(wordsFor))].join(" or ");
  switch (schema.type) {
    case "string":
      return schema.format === "uri" ? "an address" : "text";
    case "boolean":
      return "`true`, `false`";
    case "integer":
      return `whole number${rangeOf(schema)}`;
    case "number":
      return `number${rangeOf(schema)}`;
    case "array":
      return `list of ${schema.items === undefined ? "values" : wordsFor(schema.items)}${schema.maxItems === undefined ? "" : `, at most ${schema.maxItems}`}`;
    case "object":
      return objectOf(schema);
    default:
      return "any JSON value";
  }
}

function objectOf({ properties, additionalProperties }: Schema): string {
  if (properties !== undefined) return "keys";
  if (typeof additionalProperties !== "object" || Object.keys(additionalProperties).length === 0) return "any keys";
  const inner = wordsFor(additionalProperties);
  return additionalProperties.properties === undefined ? `names, each with ${inner}` : "names, each with keys";
}

function rangeOf({ minimum, exclusiveMinimum, maximum }: Schema): string {
  if (exclusiveMinimum !== undefined) return ` above ${exclusiveMinimum}`;
  if (minimum === undefined) return "";
  return maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER
    ? `, ${minimum} or more`
    : `, ${minimum} to ${maximum.toLocaleString("en")}`;
}

const code = (value: unknown): string => `\`${String(value)}\``;
