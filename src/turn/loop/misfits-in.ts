import { z } from "zod";
import { isJsonObject, type Json, type JsonObject, type Misfit, misfitSays } from "../../protocol/index.ts";

interface Checkers {
  readonly whole: z.ZodType;
  /** Without the bounds of lists, because a list that is too long is not looked into. */
  readonly unbounded: z.ZodType;
}

const known = new WeakMap<JsonObject, Checkers>();

/**
 * Everything in a value that does not match a JSON Schema, so that one correction is enough; empty if it matches.
 * @throws Error for a schema that cannot be checked
 */
export function misfitsIn(schema: JsonObject, value: unknown): readonly Misfit[] {
  const { whole, unbounded } = checkersOf(schema);
  const issues = whole.safeParse(value).error?.issues ?? [];
  const isHidden = issues.some(({ code, ...issue }) => "origin" in issue && issue.origin === "array");
  const all = [...issues, ...(isHidden ? (unbounded.safeParse(value).error?.issues ?? []) : [])].flatMap(closest);
  const found = all.map((issue) => {
    const { path, code } = issue;
    return { path, code, says: misfitSays(issue, isAbsent(value, path)) };
  });
  return [...new Map(found.map((one) => [JSON.stringify([one.path, one.says]), one])).values()];
}

function checkersOf(schema: JsonObject): Checkers {
  const made = known.get(schema);
  if (made !== undefined) return made;
  const compiled = { whole: z.fromJSONSchema({ ...schema }), unbounded: z.fromJSONSchema(withoutBounds(schema)) };
  known.set(schema, compiled);
  return compiled;
}

function withoutBounds({ minItems: _, maxItems: __, ...schema }: JsonObject): JsonObject {
  const inside = (part: Json): Json => (isJsonObject(part) ? withoutBounds(part) : part);
  const members = Object.entries(schema).map(([key, part]): [string, Json] => {
    if ((key === "properties" || key === "$defs") && isJsonObject(part))
      return [key, Object.fromEntries(Object.entries(part).map(([name, one]) => [name, inside(one)]))];
    if (key === "anyOf" && Array.isArray(part)) return [key, part.map(inside)];
    return [key, key === "items" || key === "additionalProperties" ? inside(part) : part];
  });
  return Object.fromEntries(members);
}

/** The issues of that alternative which the value matches best, or the one issue if it has the form of none. */
function closest(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const isMeant = (all: readonly z.core.$ZodIssue[]): boolean =>
    !all.some(({ path, code }) => path.length === 0 && (code === "invalid_type" || code === "invalid_value"));
  const [best] = issue.errors.filter(isMeant).toSorted((a, b) => a.length - b.length);
  return best === undefined
    ? [issue]
    : best.map((one) => ({ ...one, path: [...issue.path, ...one.path] })).flatMap(closest);
}

function isAbsent(value: unknown, path: readonly PropertyKey[]): boolean {
  const at = path.reduce<unknown>((inside, key) => (inside === null ? null : Object(inside)[key]), value);
  return at === undefined;
}
