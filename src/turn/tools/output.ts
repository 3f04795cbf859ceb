import { z } from "zod";
import { type Json, type JsonObject, StrataError } from "../../protocol/index.ts";

/** An answer read as JSON: its value, or in one sentence for the model why it is not what was asked for. */
export type ReadOutput = { readonly value: Json } | { readonly problem: string };

/**
 * Reads an answer that must be one JSON value which fits a schema. A fence of Markdown around it is taken off: models put
 * one there against every instruction. A problem quotes nothing of the answer: it is told in the platform's own words, and a
 * contact may have shaped the answer.
 * @throws StrataError `config_invalid` for a schema that cannot be checked
 */
export function readOutput(schema: JsonObject, text: string): ReadOutput {
  const json = text.trim().replace(/^```(?:json)?\s*\n([\s\S]*)\n```$/, "$1");
  try {
    const value: Json = JSON.parse(json);
    const { success, error } = checkerOf(schema).safeParse(value);
    return success ? { value } : { problem: problemOf(schema, error) };
  } catch (thrown) {
    if (thrown instanceof StrataError) throw thrown;
    return {
      problem: thrown instanceof SyntaxError ? "it is not JSON" : "it cannot be checked, it is nested too deep",
    };
  }
}

/** The first problem by the names that the schema itself uses, and no others. */
function problemOf(schema: JsonObject, { issues: [issue] }: z.ZodError): string {
  if (issue === undefined) return "it does not fit the schema";
  const known = namesIn(schema);
  const isKnown = issue.path.every((step) => typeof step === "number" || known.has(String(step)));
  const where = issue.path.length === 0 || !isKnown ? "the value" : JSON.stringify(issue.path.join("."));
  const isOurs = issue.code !== "unrecognized_keys" && issue.code !== "invalid_key" && isKnown;
  return `${where}: ${isOurs ? issue.message : "it has a key that the schema does not name"}`;
}

function namesIn(schema: Json): ReadonlySet<string> {
  if (typeof schema !== "object" || schema === null) return new Set();
  const below = Object.values(schema).flatMap((member) => [...namesIn(member)]);
  const own = "properties" in schema && schema["properties"] !== null ? Object.keys(Object(schema["properties"])) : [];
  return new Set([...own, ...below]);
}

const checkers = new WeakMap<JsonObject, z.ZodType>();

function checkerOf(schema: JsonObject): z.ZodType {
  const known = checkers.get(schema);
  if (known !== undefined) return known;
  try {
    const made = z.fromJSONSchema({ ...schema });
    checkers.set(schema, made);
    return made;
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new StrataError(
      "config_invalid",
      `the agent's \`output\` is not a schema that can be checked: ${why}`,
      {},
      thrown,
    );
  }
}
