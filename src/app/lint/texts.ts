import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Project } from "../../agents/index.ts";
import type { Agent, Json, Layer, ToolSchema } from "../../protocol/index.ts";
import type { LintFinding, PrefixText } from "../../wire/index.ts";

/** All words that an agent's prefix is made of. An agent's own description is not among them: no model reads it. */
export function textsOf(agent: Agent, tools: readonly ToolSchema[]): readonly PrefixText[] {
  const output = agent.output === undefined ? [] : wordsIn(agent.output, "output", "");
  return [...agent.layers.flatMap(layerTexts), ...tools.flatMap(toolTexts), ...output];
}

function layerTexts({ id, source, line }: Layer): readonly PrefixText[] {
  const section = `layer ${id}`;
  const own = source.kind === "text" ? [{ section, text: source.text }] : [];
  return [...own, ...(line === undefined ? [] : [{ section, part: "line", text: line }])];
}

const toolTexts = ({ name, description, input }: ToolSchema): readonly PrefixText[] => [
  { section: `tool ${name}`, part: "description", text: description },
  ...wordsIn(input, `tool ${name}`, "input"),
];

/** Keys of a JSON Schema whose words a model reads as such. The content of `examples` and `pattern` only shows a form. */
const WORDS = new Set(["title", "description", "default", "const", "enum"]);

function wordsIn(schema: Json, section: string, path: string): readonly PrefixText[] {
  if (schema === null || typeof schema !== "object") return [];
  return Object.entries(schema).flatMap(([key, value]) => {
    const part = path === "" ? key : `${path}.${key}`;
    if (typeof value === "string") return WORDS.has(key) ? [{ section, part, text: value }] : [];
    if (key === "enum" && Array.isArray(value))
      return value.flatMap((one, n) => (typeof one === "string" ? [{ section, part: `${part}.${n}`, text: one }] : []));
    return key === "examples" || key === "pattern" ? [] : wordsIn(value, section, part);
  });
}

/** Where a person can fix it. */
export interface FilePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The file and line of a finding in a layer's text; undefined for tools, whose texts are made by programs. */
export function placeOf(
  { section, part, spot }: LintFinding,
  agent: Agent,
  { folder, file, inCode }: Project,
): FilePlace | undefined {
  const layer = agent.layers.find(({ id }) => section === `layer ${id}`);
  if (layer === undefined || spot === undefined) return undefined;
  const { source } = layer;
  if (part === undefined && source.kind === "text" && source.file !== undefined)
    return { file: join(folder, source.file), ...spot };
  const text = part === "line" ? layer.line : source.kind === "text" ? source.text : undefined;
  const said = text?.split("\n")[spot.line - 1];
  if (said === undefined || inCode) return undefined;
  const start = onlyLine(file, said.trim());
  return start && { ...start, column: start.column + spot.column - 1 - (said.length - said.trimStart().length) };
}

/** Where these words begin in a file, if just one of its lines holds them. */
function onlyLine(file: string, words: string): FilePlace | undefined {
  const lines = readFileSync(file, "utf8").split("\n");
  const found = lines.flatMap((line, n) =>
    line.includes(words) ? [{ file, line: n + 1, column: line.indexOf(words) + 1 }] : [],
  );
  return found.length === 1 ? found[0] : undefined;
}
