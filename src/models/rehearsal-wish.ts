import type { Json, JsonObject, ReadFrame } from "../protocol/index.ts";
import { type InputSchema, type PropertySchema, type Tools, topicOf } from "./rehearsal-reading.ts";
import { missingArguments } from "./wording.ts";

/** A tool that was plainly asked for. */
export type Wish = {
  readonly tool: string;
  readonly input: JsonObject;
  /** The tool's missing argument, as a sentence. */
  readonly lacks?: string;
};

/** An order is short. A longer text is not searched for one: these patterns are slow on text made to slow them. */
const LONGEST = 4_000;

const FILE = "[\"'`]?([\\w./-]*\\w\\.\\w+)[\"'`]?";
const WRITE = new RegExp(
  `^\\s*(?:please )?(?:write|create|make|save) (?:to )?(?:an? |the )?(?:new )?(?:file )?(?:called |named )?${FILE}(?:\\s*:|,? (?:with(?: the (?:text|words?|content))?|that (?:says|holds)|saying)\\b:?)\\s*(\\S[\\s\\S]*)$`,
  "i",
);
const WRITE_INTO = new RegExp(
  `^\\s*(?:please )?(?:write|put|save|add) (\\S[\\s\\S]*?) (?:in|into|to) (?:an? |the )?(?:new )?(?:file )?(?:called |named )?${FILE}\\s*[.!]?\\s*$`,
  "i",
);
const READ = new RegExp(`^\\s*(?:please )?(?:read|open|show me) (?:the )?(?:file )?${FILE}\\s*[.!?]?\\s*$`, "i");
const CALL =
  /^\s*(?:please )?(?:use|call|run) (?:the tool )?[`'"]?([A-Za-z0-9_-]{1,64})[`'"]?(?: with)?:?\s*(\{[\s\S]*\})?\s*[.!]?\s*$/i;
const NOT_TOLD = String.raw`(?<!\b(?:not|cannot|never|I|we|they|to|\w+n['’]t) )`;
const TOLD_TO = new RegExp(
  `${NOT_TOLD}\\b(?:use|call|run|try) (?:the (?:tool )?|your )?[\`'"]?([A-Za-z0-9_-]{1,64})[\`'"]?([\\s\\S]*)`,
  "gi",
);
const SEARCH = /\b(?:search|look through) (?:your |my |the )?memor(?:y|ies) for (\S[^\n]*)/i;
const LIST = /\b(?:list|show)(?: me)?(?: all)?(?: your| my| the)? files\b|\bwhat files\b/i;
const FORGET = /^\s*(?:please )?forget (?:the )?(?:memory )?(mem_[0-9a-z]+)\s*[.!]?\s*$/i;
const ASKS =
  /\b(?:(?:do|did) you (?:still |also )?(?:remember|recall)|what (?:else )?can you (?:remember|recall)|what do you know about)\b/i;
const NOTE_THAT =
  /(?<!\b(?:I|we|they|he|she|to|not|cannot|\w+n['’]t|never|always|still) )\b(?:remember|note|save|store|write down|keep in mind|(?:don['’]t|do not) forget) that (\S.*)/i;
const NOTE =
  /(?:^|[.!?]\s|\bplease,? )\s*(?:note:|(?:remember|(?:don['’]t|do not) forget)(?: this)?:?) +(?!when\b|how\b|what\b|who\b|where\b|why\b|me\b)(\S.*)/im;

/** The actions on memories, and the names of the tools for them: an agent has the long ones, the short ones or none. */
const MEMORY_TOOLS = {
  save: ["memory_save", "remember"],
  search: ["memory_search", "recall"],
  forget: ["memory_forget", "forget"],
} as const;

/** The agent's tool that does this with memories, else its usual name. */
const toolTo = (doing: keyof typeof MEMORY_TOOLS, tools: Tools): string =>
  MEMORY_TOOLS[doing].find((name) => tools.has(name)) ?? MEMORY_TOOLS[doing][0];

/** A tool's action on memories, under either of its names; undefined for any other. */
export const memoryActOf = (tool: string): keyof typeof MEMORY_TOOLS | undefined =>
  (["save", "search", "forget"] as const).find((doing) => MEMORY_TOOLS[doing].some((name) => name === tool));

/** The tool a message asks for, in a few plain English forms. Only people give orders; payloads and warnings are data. */
export function wishOf({ kind, text }: ReadFrame, tools: Tools): Wish | undefined {
  if (text.length > LONGEST || (kind !== "message" && kind !== "instruction" && kind !== "scheduled")) return undefined;
  const call = callIn(text) ?? namedCall(text, tools);
  if (call !== undefined) return call;
  const [, path, content] = WRITE.exec(text) ?? READ.exec(text) ?? [];
  const [, words = content, into = path] = WRITE_INTO.exec(text) ?? [];
  if (into !== undefined && words !== undefined)
    return { tool: "write", input: { path: into, content: withoutQuotes(words) } };
  if (into !== undefined) return { tool: "read", input: { path: into } };
  if (LIST.test(text)) return { tool: "list", input: {} };
  const [, sought] = SEARCH.exec(text) ?? [];
  if (sought !== undefined) return { tool: toolTo("search", tools), input: { query: firstSentence(sought) } };
  if (ASKS.test(text)) return { tool: toolTo("search", tools), input: { query: topicOf(text) } };
  const [, id] = FORGET.exec(text) ?? [];
  if (id !== undefined) return { tool: toolTo("forget", tools), input: { id } };
  const note = NOTE_THAT.exec(text)?.[1] ?? NOTE.exec(text)?.[1];
  return note === undefined ? undefined : { tool: toolTo("save", tools), input: { content: firstSentence(note) } };
}

/** Quoted text is meant without its quotes, and without the punctuation behind them. */
const withoutQuotes = (text: string): string => /^(["'`])([^"'`]+)\1[.!]?$/.exec(text.trim())?.[2] ?? text.trim();

/** A literal call, `use NAME {"argument": "value"}`: every tool can be tried without a model. */
function callIn(text: string): Wish | undefined {
  const [, tool = "", json = "{}"] = CALL.exec(text) ?? [];
  if (tool === "") return undefined;
  try {
    return { tool, input: JSON.parse(json) };
  } catch {
    return undefined;
  }
}

/** A call of one of the agent's tools somewhere in a message, with what its schema asks for as far as the message says it. */
function namedCall(text: string, tools: Tools): Wish | undefined {
  for (const [, tool = "", rest = ""] of text.matchAll(TOLD_TO)) {
    const schema = tools.get(tool);
    if (schema !== undefined) return callWith(tool, schema, rest);
  }
  return undefined;
}

function callWith(tool: string, schema: InputSchema, rest: string): Wish {
  const input = jsonIn(rest) ?? saidOf(schema, rest);
  const missing = (schema.required ?? []).filter((name) => !Object.hasOwn(input, name));
  if (missing.length === 0) return { tool, input };
  const example = JSON.stringify(
    Object.fromEntries(missing.map((name) => [name, sampleOf(schema.properties?.[name])])),
  );
  const names = missing.map((name) => `\`${name}\``);
  return { tool, input, lacks: missingArguments(tool, names, withSpaces(example)) };
}

const withSpaces = (json: string): string => json.replace(/":/g, '": ').replace(/,"/g, ', "');

function jsonIn(text: string): JsonObject | undefined {
  const [json] = /\{[\s\S]*\}/.exec(text) ?? [];
  try {
    return json === undefined ? undefined : JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** The values that the text gives for each property: `name: value`, or one of its values by itself. */
function saidOf({ properties = {} }: InputSchema, text: string): JsonObject {
  const said = Object.entries(properties).flatMap(([name, property]): [string, Json][] => {
    const { enum: values = [], type } = saysOf(property);
    const plain = values.find((value) => typeof value === "string" && hasWord(text, value));
    if (typeof plain === "string") return [[name, plain]];
    const [, quoted, bare] =
      new RegExp(`\\b${name}\\s*(?:[:=]|is)?\\s*(?:"([^"]*)"|([^\\s,;!?]+))`, "i").exec(text) ?? [];
    const value = quoted ?? bare;
    if (value === undefined) return [];
    return [[name, type === "integer" || type === "number" ? Number(value) : value]];
  });
  return Object.fromEntries(said);
}

const hasWord = (text: string, word: string): boolean =>
  ` ${text.toLowerCase().replace(/[^\p{L}\p{N}_-]+/gu, " ")} `.includes(` ${word.toLowerCase()} `);

function sampleOf(property: PropertySchema | boolean | undefined): Json {
  const { enum: [first] = [], type } = saysOf(property);
  if (typeof first === "string") return first;
  return type === "integer" || type === "number" ? 1 : "…";
}

/** The first sentence without its end mark; the dot of "Dr. Smith" ends none. */
const firstSentence = (text: string): string =>
  (text.split(/(?<=[\p{L}\p{N}]{3}[.!?])\s+(?=\p{Lu})/u)[0] ?? text).trim().replace(/[.!?]+$/, "");

const saysOf = (property: PropertySchema | boolean | undefined): PropertySchema =>
  typeof property === "object" ? property : {};
