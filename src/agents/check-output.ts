import { z } from "zod";
import { isJsonObject, type Json, type JsonObject } from "../protocol/index.ts";
import type { Path } from "./path.ts";
import type { Report } from "./report.ts";

/** The keywords allowed in a schema for answers. Others would be ignored, or cost more than the answer. */
const KEYWORDS = new Set([
  ...["type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs"],
  ...["title", "description", "default", "examples", "format", "minLength", "maxLength", "minItems", "maxItems"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
]);

/**
 * Checks early what a schema cannot express: in a turn it would be too late, since the model would already be paid. A part without a type
 * would let anything pass, and a pattern may run forever on an answer made for it.
 */
export function checkOutput(output: JsonObject | undefined, path: Path, report: Report): void {
  if (output === undefined) return;
  if (output["type"] !== "object") report.add([...path, "type"], "expected `object`: providers take nothing else here");
  checkPart(output, path, report);
  try {
    z.fromJSONSchema(output);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    report.add(path, `is not a JSON Schema that can be checked: ${why}`, { value: "" });
  }
}

function checkPart(part: Json, path: Path, report: Report): void {
  if (!isJsonObject(part)) {
    report.add(path, "expected a schema: a map of keys and values");
    return;
  }
  for (const key of Object.keys(part)) {
    if (KEYWORDS.has(key)) continue;
    const known = [...KEYWORDS].sort().join("`, `");
    report.add(
      [...path, key],
      `what a model or a contact sends cannot be checked for \`${key}\`, only for \`${known}\``,
      {
        key: true,
        value: "",
      },
    );
  }
  if (!["type", "enum", "const", "anyOf", "$ref"].some((key) => key in part)) {
    report.add(path, "needs a `type`, or an `enum`, `const`, `anyOf` or `$ref`: without one anything matches", {
      value: "",
    });
  }
  checkNames(part, path, report);
  const isScalar = (value: Json): boolean => typeof value !== "object" || value === null;
  for (const value of [part["enum"] ?? [], part["const"] ?? []].flat()) {
    if (!isScalar(value))
      report.add(path, "only texts, numbers, true, false and null are allowed in `enum` and `const`", { value: "" });
  }
  for (const key of ["properties", "$defs"] as const) {
    for (const [name, member] of Object.entries(part[key] ?? {})) checkPart(member, [...path, key, name], report);
  }
  if (part["items"] !== undefined) checkPart(part["items"], [...path, "items"], report);
  const alternatives = Array.isArray(part["anyOf"]) ? part["anyOf"] : [];
  for (const [n, one] of alternatives.entries()) checkPart(one, [...path, "anyOf", n], report);
  if (isJsonObject(part["additionalProperties"]))
    checkPart(part["additionalProperties"], [...path, "additionalProperties"], report);
}

function checkNames(part: JsonObject, path: Path, report: Report): void {
  const { required, properties = {} } = part;
  if (!Array.isArray(required)) return;
  for (const [n, name] of required.entries()) {
    if (isJsonObject(properties) && typeof name === "string" && Object.hasOwn(properties, name)) continue;
    report.add([...path, "required", n], "is not among the `properties`");
  }
}
