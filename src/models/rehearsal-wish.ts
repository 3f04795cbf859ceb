import type { JsonObject, ReadFrame } from "../protocol/index.ts";
import { topicOf } from "./word-overlap.ts";

/** A tool that was plainly asked for. */
export type Wish = { readonly tool: string; readonly input: JsonObject };

/** An order is short. A longer text is not searched for one: these patterns are slow on text made to slow them. */
const LONGEST = 4_000;

const FILE = "[\"'`]?([\\w./-]*\\w\\.\\w+)[\"'`]?";
const WRITE = new RegExp(`^\\s*(?:please )?write (?:to )?(?:the )?(?:file )?${FILE}\\s*:\\s*(\\S[\\s\\S]*)$`, "i");
const READ = new RegExp(`^\\s*(?:please )?(?:read|open|show me) (?:the )?(?:file )?${FILE}\\s*[.!?]?\\s*$`, "i");
const CALL =
  /^\s*(?:please )?(?:use|call|run) (?:the tool )?[`'"]?([A-Za-z0-9_-]{1,64})[`'"]?(?: with)?:?\s*(\{[\s\S]*\})?\s*[.!]?\s*$/i;
const LIST = /\b(?:list|show)(?: me)?(?: all)?(?: your| my| the)? files\b|\bwhat files\b/i;
const FORGET = /^\s*(?:please )?forget (?:the )?(?:memory )?(mem_[0-9a-z]+)\s*[.!]?\s*$/i;
const ASKS =
  /\b(?:(?:do|did) you (?:still |also )?(?:remember|recall)|what (?:else )?can you (?:remember|recall)|what do you know about)\b/i;
const NOTE_THAT =
  /(?<!\b(?:I|we|they|he|she|to|not|cannot|\w+n['’]t|never|always|still) )\b(?:remember|note|keep in mind|(?:don['’]t|do not) forget) that (\S.*)/i;
const NOTE =
  /(?:^|[.!?]\s|\bplease,? )\s*(?:note:|(?:remember|(?:don['’]t|do not) forget)(?: this)?:?) +(?!when\b|how\b|what\b|who\b|where\b|why\b|me\b)(\S.*)/im;

/** What is done with memories, and the names of the tools that do it: an agent has the long ones, the short ones or none. */
const MEMORY_TOOLS = {
  save: ["memory_save", "remember"],
  search: ["memory_search", "recall"],
  forget: ["memory_forget", "forget"],
} as const;

/** The agent's tool that does this with memories, else its usual name. */
const toolTo = (doing: keyof typeof MEMORY_TOOLS, tools: ReadonlySet<string>): string =>
  MEMORY_TOOLS[doing].find((name) => tools.has(name)) ?? MEMORY_TOOLS[doing][0];

/** What a tool does with memories, whichever of its names it has; nothing for any other. */
export const memoryActOf = (tool: string): keyof typeof MEMORY_TOOLS | undefined =>
  (["save", "search", "forget"] as const).find((doing) => MEMORY_TOOLS[doing].some((name) => name === tool));

/** The tool a message asks for, in a few plain English forms. Only people give orders; payloads and warnings are data. */
export function wishOf({ kind, text }: ReadFrame, tools: ReadonlySet<string>): Wish | undefined {
  if (text.length > LONGEST || (kind !== "message" && kind !== "instruction" && kind !== "scheduled")) return undefined;
  const call = callIn(text);
  if (call !== undefined) return call;
  const [, file = "", content] = WRITE.exec(text) ?? READ.exec(text) ?? [];
  if (content !== undefined) return { tool: "write", input: { path: file, content: content.trim() } };
  if (file !== "") return { tool: "read", input: { path: file } };
  if (LIST.test(text)) return { tool: "list", input: {} };
  if (ASKS.test(text)) return { tool: toolTo("search", tools), input: { query: topicOf(text) } };
  const [, id] = FORGET.exec(text) ?? [];
  if (id !== undefined) return { tool: toolTo("forget", tools), input: { id } };
  const note = NOTE_THAT.exec(text)?.[1] ?? NOTE.exec(text)?.[1];
  return note === undefined ? undefined : { tool: toolTo("save", tools), input: { content: sentence(note) } };
}

/** A call as it is meant, `use NAME {"argument": "value"}`: so every tool can be tried without a model. */
function callIn(text: string): Wish | undefined {
  const [, tool = "", json = "{}"] = CALL.exec(text) ?? [];
  if (tool === "") return undefined;
  try {
    return { tool, input: JSON.parse(json) };
  } catch {
    return undefined;
  }
}

/** The first sentence without its end mark; the dot of "Dr. Smith" ends none. */
const sentence = (text: string): string =>
  (text.split(/(?<=[\p{L}\p{N}]{3}[.!?])\s+(?=\p{Lu})/u)[0] ?? text).trim().replace(/[.!?]+$/, "");
