import type { z } from "zod";
import { StrataError, suggestion } from "../protocol/index.ts";

/** Where in a request a field stands. */
export type Place = "path" | "query" | "body";

/**
 * What came from outside, as the schema's protocol types. Fields that the schema does not know are refused.
 * @throws StrataError `invalid_input`, and what the makers of ids throw
 */
export function parsed<S extends z.ZodObject>(schema: S, value: unknown, place: Place): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const fields = Object.keys(schema.shape);
  // One value may break several rules that are told in the same words.
  const problems = [...new Set(result.error.issues.map((issue) => problemOf(issue, value, { place, fields })))];
  const many = problems.length === 1 ? "" : `${problems.length} things to mend: `;
  throw new StrataError("invalid_input", `${many}${problems.join("; ")}`, { in: place, problems });
}

interface Around {
  readonly place: Place;
  readonly fields: readonly string[];
}

function problemOf(issue: z.core.$ZodIssue, value: unknown, { place, fields }: Around): string {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => `the ${place} has no field ${short(key)}${suggestion(key, fields)}`).join("; ");
  }
  const found = valueAt(value, issue.path);
  if (issue.path.length === 0) return `the ${place} must be a JSON object, not ${short(found)}`;
  const field = `\`${issue.path.join(".")}\` in the ${place}`;
  if (found === undefined) return `${field} is missing: it must be ${expectation(issue)}`;
  return `${field} must be ${expectation(issue)}, not ${short(found)}`;
}

/** Our own fields say in their message what they must be; the rest is what zod knows. */
function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `of type ${issue.expected}`;
    case "invalid_value":
      return `one of ${issue.values.map((one) => JSON.stringify(one)).join(", ")}`;
    case "too_big":
      return `at most ${issue.maximum}${issue.origin === "string" ? " characters long" : ""}`;
    case "too_small":
      return `at least ${issue.minimum}${issue.origin === "string" ? " characters long" : ""}`;
    default:
      return issue.message;
  }
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inside, key) => (typeof inside === "object" && inside !== null ? Reflect.get(inside, key) : undefined),
    value,
  );
}

/** A value as far as a sentence needs it. */
function short(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
