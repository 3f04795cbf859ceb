import { z } from "zod";
import { type Json, type JsonObject, StrataError } from "../protocol/index.ts";

/** An answer read as JSON: its value, or in one sentence for the model why it is not what was asked for. */
export type ReadOutput = { readonly value: Json } | { readonly problem: string };

/**
 * Reads an answer that must be one JSON value which fits a schema. A fence of Markdown around it is taken off: models put
 * one there against every instruction.
 * @throws StrataError `config_invalid` for a schema that cannot be checked
 */
export function readOutput(schema: JsonObject, text: string): ReadOutput {
  const json = text.trim().replace(/^```(?:json)?\s*\n([\s\S]*)\n```$/, "$1");
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (thrown) {
    return { problem: `it is not JSON (${thrown instanceof Error ? thrown.message : String(thrown)})` };
  }
  const checked = checkerOf(schema).safeParse(value);
  if (checked.success) return { value: JSON.parse(json) };
  const [issue] = checked.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "the value" : JSON.stringify(issue.path.join("."));
  return { problem: `${where}: ${issue?.message ?? "it does not fit the schema"}` };
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
      `the agent's \`output\` is no schema that can be checked: ${why}`,
      {},
      thrown,
    );
  }
}
