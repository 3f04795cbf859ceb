import type {
  JSONSchema7,
  JSONSchema7Definition,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import type { Json, Model, ModelRef } from "../protocol/index.ts";
import { bindModel } from "./bind.ts";
import { finishPart, localModel, textParts } from "./local-model.ts";
import { answer } from "./rehearsal-answer.ts";
import { readPrompt } from "./rehearsal-reading.ts";

/** Whose request format a model without one of its own shows: that of the model which the first key brings. */
export const SHOWN_WIRE: ModelRef = "anthropic:claude-sonnet-5-5";

/**
 * For people without a key: a model that invents nothing. It reads only its request, quotes
 * what it finds there, and uses the tools that a message clearly asks for. The same request gets the same reply.
 */
export function rehearsalModel(wire = SHOWN_WIRE): Model {
  return bindModel(localModel("rehearsal", play), { ref: "rehearsal", wire });
}

async function* play(options: LanguageModelV4CallOptions): AsyncGenerator<LanguageModelV4StreamPart> {
  const reading = readPrompt(options);
  const { say: words, call } = answer(reading);
  const { responseFormat } = options;
  const asJson = words !== undefined && responseFormat?.type === "json";
  const say = asJson ? JSON.stringify(sampleOf(responseFormat.schema, words)) : words;
  if (say !== undefined) yield* textParts("said", say.match(/\s*\S+/g) ?? []);
  const input = JSON.stringify(call?.input ?? {});
  if (call !== undefined) {
    yield { type: "tool-call", toolCallId: `rehearsal-${reading.calls + 1}`, toolName: call.tool, input };
  }
  const tokens = { input: estimate(JSON.stringify(options.prompt, withoutBytes)), output: estimate(say ?? input) };
  yield finishPart(call === undefined ? "stop" : "tool-calls", tokens);
}

/** Pictures and files are not read here, so they count nothing. */
const withoutBytes = (_: string, value: unknown): unknown => (isFile(value) ? { ...value, data: null } : value);

const isFile = (value: unknown): value is { readonly type: "file" } =>
  typeof value === "object" && value !== null && "type" in value && value.type === "file";

/** Four characters per token: a rehearsal costs nothing, so an estimate is enough. */
const estimate = (text: string): number => Math.ceil(text.length / 4);

/** The depth to which a schema is followed, because it may refer to itself. */
const DEEPEST = 16;

/**
 * A value that fits a schema as plainly as can be, for people without a model: the first of what may be chosen, the least of
 * what is counted, and `text` where words are wanted.
 */
function sampleOf(schema: JSONSchema7Definition | undefined, text: string, depth = 0): Json {
  if (typeof schema !== "object" || depth > DEEPEST) return null;
  const chosen = schema.const ?? schema.enum?.[0] ?? schema.default;
  if (chosen !== undefined) return chosen;
  const [alternative] = schema.anyOf ?? schema.oneOf ?? [];
  if (alternative !== undefined) return sampleOf(alternative, text, depth + 1);
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, member]) => [name, sampleOf(member, text, depth + 1)]),
      );
    case "array":
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(itemSchema(schema), text, depth + 1));
    case "string":
      return wordsFor(schema, text);
    case "number":
    case "integer":
      return schema.minimum ?? (schema.exclusiveMinimum === undefined ? 0 : schema.exclusiveMinimum + 1);
    case "boolean":
      return false;
    default:
      return null;
  }
}

const itemSchema = ({ items }: JSONSchema7): JSONSchema7Definition | undefined =>
  Array.isArray(items) ? items[0] : items;

const DATES = new Map([
  ["date", "2026-01-01"],
  ["date-time", "2026-01-01T00:00:00Z"],
  ["time", "00:00:00Z"],
  ["email", "nobody@example.com"],
  ["uri", "https://example.com/"],
]);

function wordsFor({ format = "", minLength = 0, maxLength }: JSONSchema7, text: string): string {
  const said = DATES.get(format) ?? text;
  return said.padEnd(minLength, ".").slice(0, maxLength);
}
