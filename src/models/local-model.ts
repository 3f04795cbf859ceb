import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import {
  type FinishReason,
  type Json,
  type Model,
  type ModelRef,
  NO_USAGE,
  type ProviderMetadata,
  type Request,
  type Usage,
} from "../protocol/index.ts";
import { bindModel } from "./bind.ts";

/** Plays one answer as stream parts. */
type Play = (options: LanguageModelV4CallOptions) => AsyncIterable<LanguageModelV4StreamPart>;

/** A language model inside this process: no network, no key. It only streams, because Strata only streams. */
export function localModel(modelId: string, play: Play): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: "strata",
    modelId,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error(`${modelId} only streams; call doStream`)),
    doStream: (options) => Promise.resolve({ stream: ReadableStream.from(play(options)) }),
  };
}

/** The stream parts of one text, piece by piece. */
export function* textParts(id: string, pieces: Iterable<string>): Generator<LanguageModelV4StreamPart> {
  yield { type: "text-start", id };
  for (const delta of pieces) yield { type: "text-delta", id, delta };
  yield { type: "text-end", id };
}

/** The last stream part. */
export function finishPart(
  unified: LanguageModelV4FinishReason["unified"],
  tokens: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead?: number;
    readonly cacheWrite?: number;
  },
  raw?: string,
): LanguageModelV4StreamPart {
  const { input, output, cacheRead = 0, cacheWrite = 0 } = tokens;
  const usage: LanguageModelV4Usage = {
    inputTokens: { total: input, noCache: input - cacheRead - cacheWrite, cacheRead, cacheWrite },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
  // An end without a reason would count as a broken stream.
  return { type: "finish", finishReason: { unified, raw: raw ?? unified }, usage };
}

/** One reply of an agent in a recording: its text and calls. */
export interface RecordedReply {
  readonly texts: readonly string[];
  readonly calls: readonly { readonly id: string; readonly tool: string; readonly input: Json }[];
}

/**
 * A recording instead of a model: the n-th request gets the n-th reply, whatever it asks. After the last one it
 * ends with `recording-ended`.
 */
export function recordedModel(replies: readonly RecordedReply[], wire: ModelRef): Model {
  let sends = 0;
  const languageModel = localModel("recording", () => playRecorded(replies[sends++]));
  return bindModel(languageModel, { ref: "recording", wire, whole: true });
}

async function* playRecorded(reply: RecordedReply | undefined): AsyncGenerator<LanguageModelV4StreamPart> {
  if (reply === undefined) {
    yield finishPart("other", NO_USAGE, "recording-ended");
    return;
  }
  for (const [index, text] of reply.texts.entries()) yield* textParts(`${index}`, [text]);
  for (const { id, tool, input } of reply.calls) {
    yield { type: "tool-call", toolCallId: id, toolName: tool, input: JSON.stringify(input) };
  }
  yield finishPart(reply.calls.length > 0 ? "tool-calls" : "stop", NO_USAGE);
}

/** One part of a scripted reply. A list of texts streams piece by piece; `raw` is the input as a sloppy model writes it. */
export type ScriptedPart =
  | { readonly text: string | readonly string[] }
  | { readonly reasoning: string; readonly metadata?: ProviderMetadata }
  | { readonly call: string; readonly id?: string; readonly input?: Json; readonly raw?: string };

/** How a scripted reply ends: well, with an error in the stream, in the middle, or not before it is aborted. */
export type ScriptedEnd =
  | { readonly finish: Exclude<FinishReason, "recording-ended"> }
  | { readonly error: unknown }
  | "half-way"
  | "hang";

/** A reply of a script. Without an `end` it ends well: `calls` when it has calls, else `stop`. */
export interface ScriptedReply {
  readonly parts: readonly ScriptedPart[];
  readonly end?: ScriptedEnd;
  readonly usage?: Partial<Usage>;
}

/** A text is a reply of one text, an error is thrown before anything streams, a function reads what was sent. */
export type Script<Sent> = string | Error | ScriptedReply | ((sent: Sent) => string | Error | ScriptedReply);

/** A language model for tests: plays its replies in order and keeps what it was sent. */
export function scriptedModel(
  replies: readonly Script<LanguageModelV4CallOptions>[],
): LanguageModelV4 & { readonly sent: readonly LanguageModelV4CallOptions[] } {
  const sent: LanguageModelV4CallOptions[] = [];
  const model = localModel("scripted", (options) => {
    const script = replies[sent.length];
    sent.push(options);
    return play(script, options, sent.length);
  });
  return { ...model, sent };
}

/** A scripted `Model` for the tests of other rooms: `sent` holds the neutral requests. */
export function scripted(
  replies: readonly Script<Request>[],
  wire: ModelRef = "anthropic:claude-sonnet-4-5",
): { readonly model: Model; readonly sent: readonly Request[] } {
  const sent: Request[] = [];
  const send: Model["send"] = (request, options) => {
    const [script] = replies.slice(sent.length);
    sent.push(request);
    const only = typeof script === "function" ? () => script(request) : script;
    const nth = sent.length;
    const languageModel = localModel("scripted", (callOptions) => play(only, callOptions, nth));
    return bindModel(languageModel, { ref: "scripted", wire }).send(request, options);
  };
  return { model: { ref: "scripted", wire, send }, sent };
}

async function* play(
  script: Script<LanguageModelV4CallOptions> | undefined,
  options: LanguageModelV4CallOptions,
  nth: number,
): AsyncGenerator<LanguageModelV4StreamPart> {
  if (script === undefined) throw new Error(`the script has no reply for call ${nth}`);
  const said = typeof script === "function" ? script(options) : script;
  if (said instanceof Error) throw said;
  const reply: ScriptedReply = typeof said === "string" ? { parts: [{ text: said }] } : said;
  for (const [index, part] of reply.parts.entries()) yield* playPart(part, `${index}`, nth);
  const end = reply.end ?? { finish: reply.parts.some((part) => "call" in part) ? "calls" : "stop" };
  if (end === "half-way") return;
  if (end === "hang") await abortOf(options.abortSignal);
  else if ("error" in end) yield { type: "error", error: end.error };
  else yield finishPart(UNIFIED[end.finish], { ...NO_USAGE, ...reply.usage });
}

const UNIFIED = {
  stop: "stop",
  calls: "tool-calls",
  length: "length",
  refused: "content-filter",
  other: "other",
} as const;

function* playPart(part: ScriptedPart, id: string, nth: number): Generator<LanguageModelV4StreamPart> {
  if ("text" in part) {
    yield* textParts(id, typeof part.text === "string" ? [part.text] : part.text);
  } else if ("reasoning" in part) {
    yield { type: "reasoning-start", id };
    yield { type: "reasoning-delta", id, delta: part.reasoning };
    yield { type: "reasoning-end", id, ...(part.metadata && { providerMetadata: { ...part.metadata } }) };
  } else {
    const { call, id: toolCallId = `call-${nth}-${id}`, input = {}, raw = JSON.stringify(input) } = part;
    yield { type: "tool-call", toolCallId, toolName: call, input: raw };
  }
}

/** Waits for the signal and fails with its reason, as a fetch does. */
function abortOf(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
