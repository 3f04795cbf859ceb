import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { EVENT_KINDS, type ReadFrame, readFrames } from "../protocol/index.ts";

/** A call the rehearsal made since it was asked, and what came of it. */
export interface Answered {
  readonly tool: string;
  readonly input: unknown;
  readonly failed: boolean;
  readonly text: string;
}

/** As much of a JSON Schema as is read. */
export interface InputSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown; readonly enum?: readonly unknown[] }>>;
  readonly required?: readonly string[];
}

/** The tools that the request offers. */
export type Tools = ReadonlyMap<string, InputSchema>;

/** What the rehearsal understands of a request. */
export interface Reading {
  /** The newest event; what the same sender wrote with it is part of it. */
  readonly asked: ReadFrame | undefined;
  /** The messages before it, oldest first. */
  readonly earlier: readonly ReadFrame[];
  readonly memories: readonly ReadFrame[];
  readonly answered: readonly Answered[];
  /** Calls made in all of the request: new ones get numbers of their own. */
  readonly calls: number;
  readonly spokeBefore: boolean;
  /** By name, each with the schema of its input. */
  readonly tools: Tools;
}

/**
 * Reads frames in user messages, where the platform puts events and memories. Results are kept apart and never read for
 * wishes; text outside frames is the platform's own and addressed to a model that understands it.
 */
export function readPrompt({ prompt, tools = [] }: LanguageModelV4CallOptions): Reading {
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
    memories: framed.flat().filter((frame) => frame.kind === "memory"),
    answered: answeredIn(prompt.slice(newest + 1)),
    calls: prompt.flatMap(callsOf).length,
    spokeBefore: prompt.slice(0, Math.max(newest, 0)).some((message) => message.role === "assistant"),
    tools: new Map(tools.map((tool) => [tool.name, tool.type === "function" ? tool.inputSchema : {}])),
  };
}

const isEvent = (frame: ReadFrame): boolean => EVENT_KINDS.some((kind) => kind === frame.kind);

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
    const { type, value } = result.output;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const [frame] = readFrames(text);
    const input = calls.get(result.toolCallId)?.input;
    return [{ tool: result.toolName, input, failed: type.startsWith("error"), text: frame?.text ?? text }];
  });
}
