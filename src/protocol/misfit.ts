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

/** What does not fit a schema, as the end of a sentence that begins with its place: "must be a number". It quotes nothing of the value. */
export function misfitSays(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type": {
      const noun = NOUNS[issue.expected] ?? issue.expected;
      return issue.message.endsWith("received undefined") ? `is missing: it must be ${noun}` : `must be ${noun}`;
    }
    case "invalid_value": {
      const [first, ...others] = issue.values.map((one) => JSON.stringify(one));
      return others.length === 0 ? `must be ${first}` : `must be one of ${[first, ...others].join(", ")}`;
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
      return issue.pattern === undefined
        ? `must have the format ${issue.format}`
        : `must match the pattern ${issue.pattern}`;
    case "invalid_union":
      return "has none of the forms that are allowed";
    default:
      return /^(?:Invalid|Unrecognized|Too )/.test(issue.message) ? "has another form" : `is wrong: ${issue.message}`;
  }
}

function bound(origin: string, limit: number, than: string): string {
  const unit = UNITS[origin];
  return unit === undefined ? `must be ${than} ${limit}` : `must have ${than} ${limit} ${unit[limit === 1 ? 0 : 1]}`;
}
