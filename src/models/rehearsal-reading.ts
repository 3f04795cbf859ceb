import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4ToolResultOutput,
} from "@ai-sdk/provider";
import { CONTEXT_KINDS, type ReadFrame, readFrames } from "../protocol/index.ts";
import { INTRODUCES, NOTE, REHEARSED, withMedia } from "./wording.ts";

/** A call the rehearsal made since it was asked, and what came of it. */
export interface Answered {
  readonly tool: string;
  readonly input: unknown;
  readonly failed: boolean;
  readonly text: string;
}

/** The part of a JSON Schema that is read. `true` is a schema without constraints. */
export interface InputSchema {
  readonly properties?: Readonly<Record<string, PropertySchema | boolean>> | undefined;
  readonly required?: readonly string[] | undefined;
}

export interface PropertySchema {
  readonly type?: unknown;
  readonly enum?: readonly unknown[] | undefined;
}

/** The tools that the request offers. */
export type Tools = ReadonlyMap<string, InputSchema>;

/** The rehearsal's reading of a request. */
export interface ReadRequest {
  /** The newest event; what the same sender wrote with it is part of it. */
  readonly asked: ReadFrame | undefined;
  /** The messages before it, oldest first. */
  readonly earlier: readonly ReadFrame[];
  readonly memories: readonly ReadFrame[];
  readonly answered: readonly Answered[];
  /** Calls made in the whole request: new ones get new numbers. */
  readonly calls: number;
  readonly spokeBefore: boolean;
  /** By name, each with the schema of its input. */
  readonly tools: Tools;
}

/**
 * Reads frames in user messages, where the platform puts events and memories. Results are kept apart and never read for
 * wishes; text outside frames is the platform's own and addressed to a model that understands it.
 */
export function readPrompt({ prompt, tools = [] }: LanguageModelV4CallOptions): ReadRequest {
  const framed = prompt.map(framesOf);
  const newest = framed.findLastIndex((frames) => frames.some(isEvent));
  const events = (framed[newest] ?? []).filter(isEvent);
  const last = events.at(-1);
  const joined = events.filter((frame) => frame.kind === last?.kind && frame.trust === last.trust);
  return {
    asked: last && { ...last, text: joined.map((frame) => frame.text).join("\n") },
    earlier: framed
      .slice(0, Math.max(newest, 0))
      .flat()
      .filter((frame) => frame.kind === "message"),
    memories: framed
      .flat()
      .filter((frame) => frame.kind === "memory")
      .flatMap(tellingIn),
    answered: answeredIn(prompt.slice(newest + 1)),
    calls: prompt.flatMap(callsOf).length,
    spokeBefore: prompt.slice(0, Math.max(newest, 0)).some((message) => message.role === "assistant"),
    tools: new Map(tools.map((tool) => [tool.name, tool.type === "function" ? tool.inputSchema : {}])),
  };
}

const isEvent = (frame: ReadFrame): boolean => CONTEXT_KINDS.every((kind) => kind !== frame.kind);

function framesOf(message: LanguageModelV4Message): ReadFrame[] {
  if (message.role !== "user") return [];
  return message.content.flatMap((part) => (part.type === "text" ? readFrames(part.text) : []));
}

const callsOf = (message: LanguageModelV4Message) =>
  message.role === "assistant" ? message.content.filter((part) => part.type === "tool-call") : [];

function answeredIn(since: readonly LanguageModelV4Message[]): Answered[] {
  const calls = new Map(since.flatMap(callsOf).map((call) => [call.toolCallId, call]));
  const results = since.flatMap((message) => (message.role === "tool" ? message.content : []));
  return results.flatMap((result): Answered[] => {
    if (result.type !== "tool-result" || !("value" in result.output)) return [];
    const { type } = result.output;
    const { words, files } = resultParts(result.output);
    const [frame] = readFrames(words);
    const input = calls.get(result.toolCallId)?.input;
    const text = [frame?.text ?? words, ...files.map(withMedia)].join("\n");
    return [{ tool: result.toolName, input, failed: type.startsWith("error"), text }];
  });
}

/** The words of a result, and of pictures and files beside them what they are. */
function resultParts(output: Extract<LanguageModelV4ToolResultOutput, { value: unknown }>) {
  if (output.type !== "content")
    return { words: typeof output.value === "string" ? output.value : JSON.stringify(output.value), files: [] };
  return {
    words: output.value.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n"),
    files: output.value.flatMap((part) => (part.type === "file" ? [part.mediaType] : [])),
  };
}

/** Whether the rehearsal said that, in this conversation or in another one: quoted, it would answer with its own answers. */
export const isOwn = (text: string): boolean =>
  text.includes(NOTE) || text.includes(INTRODUCES) || REHEARSED.test(text);

/**
 * A memory's statements: without the rehearsal's own words, and without questions, which would match themselves best. In a piece of a talk
 * each line has its own speaker and is read by itself.
 */
function tellingIn(memory: ReadFrame): readonly ReadFrame[] {
  const lines = memory.name === undefined ? memory.text.split("\n").map((line) => SAID.exec(line)?.groups) : [];
  const said = lines.flatMap((line) => (line === undefined ? [] : [{ ...memory, ...line }]));
  const all = said.length > 1 && said.length === lines.length ? said : [memory];
  return all.filter(({ name, text }) => !isOwn(text) && !(name !== undefined && isQuestion(text)));
}

const SAID = /^(?<name>[^:\n()]{1,80}): (?<text>\S.*)$/;

export const isQuestion = (text: string): boolean =>
  /\?\s*$/m.test(text) ||
  /^\s*(?:what|when|where|which|who|whose|why|how|do|does|did|is|are|was|were|can|tell me|remind me)\b/i.test(text);

/** Words that say nothing about what a sentence is about. */
const COMMON = new Set(
  (
    "about again all also and any are but can could did does for from had has have her him his how its just know " +
    "like me my not now our out please recall remember said say she should still tell than that the their them then " +
    "there they this thing things was were what when where which who why will with would wrote you your"
  ).split(" "),
);

/** The topic of a text, in its own words and order. */
const ownWords = (text: string): string[] =>
  (text.match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => word.length > 2 && !COMMON.has(word.toLowerCase()));

/** The text's first own words, for a search; the text itself when all of them are common. */
export const topicOf = (text: string): string => ownWords(text).slice(0, 10).join(" ") || text.trim();

/** Whether a question names nothing that it is about. */
export const asksForAll = (text: string): boolean => ownWords(text).length === 0;

/** The candidate that shares most words with the question; of equals the shortest, and the last of these. */
export function bestMatch<T extends { readonly text: string }>(question: string, among: readonly T[]): T | undefined {
  const stems = (text: string) => new Set(ownWords(text).map((word) => word.toLowerCase().replace(/s$/, "")));
  const asked = stems(question);
  const scored = among.map((candidate) => {
    const words = stems(candidate.text);
    return { candidate, shared: [...words].filter((word) => asked.has(word)).length, length: words.size };
  });
  const matches = scored.filter(({ shared }) => shared > 0).reverse();
  return matches.sort((a, b) => b.shared - a.shared || a.length - b.length)[0]?.candidate;
}
