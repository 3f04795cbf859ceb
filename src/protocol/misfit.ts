import type { z } from "zod";

const NOUNS: Readonly<Record<string, string>> = {
  string: "text",
  int: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

const UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ["character", "characters"],
  array: ["entry", "entries"],
};

/** One thing that does not match a schema: where, and why. */
export interface Misfit {
  readonly path: readonly PropertyKey[];
  /** The end of a sentence that begins with the place. It quotes nothing of the value. */
  readonly says: string;
  readonly code: z.core.$ZodIssue["code"];
}

/** How many findings a sentence names. */
const MOST_NAMED = 10;

/** Several findings as one part of a sentence. */
export function joinFindings(all: readonly string[]): string {
  const more = all.length - MOST_NAMED;
  return [...all.slice(0, MOST_NAMED), ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

/**
 * What does not fit a schema, as the end of a sentence that begins with its place: "must be a number". It quotes nothing of the value.
 * `isMissing`: whether there is no value.
 */
export function misfitSays(issue: z.core.$ZodIssue, isMissing = issue.message.endsWith("received undefined")): string {
  const says = ruleOf(issue);
  if (!isMissing) return says;
  return says.startsWith("must ") ? `is missing: it ${says}` : "is missing";
}

const nounOf = (type: string): string => NOUNS[type] ?? type;

/** If each alternative is a mere type or value. */
function alternatives(errors: readonly (readonly z.core.$ZodIssue[])[]): string | undefined {
  const names = errors.map(([first]) =>
    first?.code === "invalid_type"
      ? nounOf(first.expected)
      : first?.code === "invalid_value"
        ? first.values.map((one) => JSON.stringify(one)).join(" or ")
        : undefined,
  );
  return names.includes(undefined) ? undefined : `must be ${[...new Set(names)].join(" or ")}`;
}

function ruleOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${nounOf(issue.expected)}`;
    case "invalid_value": {
      const all = issue.values.map((one) => JSON.stringify(one));
      return all.length === 1 ? `must be ${all[0]}` : `must be one of ${all.join(", ")}`;
    }
    case "too_small":
      return bound(issue.origin, Number(issue.minimum), issue.inclusive === false ? "more than" : "at least");
    case "too_big":
      return bound(issue.origin, Number(issue.maximum), issue.inclusive === false ? "less than" : "at most");
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "unrecognized_keys":
      return `may not have ${issue.keys.map((key) => JSON.stringify(key)).join(", ")}`;
    case "invalid_format":
      return issue.format === "regex"
        ? `must match the pattern ${issue.pattern}`
        : `must have the format ${issue.format}`;
    case "invalid_union":
      return alternatives(issue.errors) ?? "has none of the forms that are allowed";
    default:
      return /^(?:Invalid|Unrecognized|Too )/.test(issue.message) ? "has another form" : `is wrong: ${issue.message}`;
  }
}

function bound(origin: string, limit: number, than: string): string {
  const unit = UNITS[origin];
  return unit === undefined ? `must be ${than} ${limit}` : `must have ${than} ${limit} ${unit[limit === 1 ? 0 : 1]}`;
}
