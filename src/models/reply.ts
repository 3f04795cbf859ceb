import type {
  LanguageModelV4File,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import {
  type AssistantPart,
  type CallPart,
  type CountTokens,
  type FilePart,
  type FinishReason,
  type Json,
  type JsonObject,
  type ModelEvent,
  NO_USAGE,
  type ProviderMetadata,
  type Reply,
  StrataError,
  spoken,
  type ToolName,
  toolName,
} from "../protocol/index.ts";
import { usageOf } from "./usage.ts";

/** Text that is still arriving. `told`: its beginning was passed on. */
interface Growing {
  readonly type: "text" | "reasoning";
  text: string;
  isPassedOn: boolean;
  metadata: ProviderMetadata | undefined;
}

/** A reply while it streams in: its parts in the order in which they began. */
export interface Gathering {
  readonly parts: (Growing | CallPart | FilePart)[];
  readonly open: Map<string, Growing>;
  finish: Extract<LanguageModelV4StreamPart, { type: "finish" }> | undefined;
  /** True once any part of the answer has arrived, even one that is not known here: it has to be paid for. */
  begun: boolean;
  /** How much of it has come. */
  readonly size: { bytes: number; tokens: number; uncounted: string; readonly inputs: Set<string> };
  /** True once the reply is longer than allowed. */
  capped: boolean;
}

export const gathering = (): Gathering => ({
  parts: [],
  open: new Map(),
  finish: undefined,
  begun: false,
  size: { bytes: 0, tokens: 0, uncounted: "", inputs: new Set() },
  capped: false,
});

/** The length at which the stream of a reply is ended. */
export interface Cap {
  readonly bytes: number;
  readonly tokens: number;
  readonly count?: CountTokens | undefined;
}

/**
 * A provider keeps to the tokens that it is asked for, by its own count, which is not ours: past twice as many it does not keep to them.
 * No text has more bytes to a token than this but one that is made for it.
 */
export function capOf(maxTokens: number, count?: CountTokens): Cap {
  const tokens = Math.max(2 * maxTokens, LEAST_CAP);
  return { tokens, bytes: 16 * tokens, count };
}

const LEAST_CAP = 4_096;
/** Characters that are counted at a time, because a tokenizer may be slow on long texts. */
const SLICE = 2_000;

/** The part as far as it fits into a reply; undefined if none of it does, and from then on the reply is capped. */
export function fitting(
  into: Gathering,
  part: LanguageModelV4StreamPart,
  cap: Cap,
): LanguageModelV4StreamPart | undefined {
  switch (part.type) {
    case "text-delta":
    case "reasoning-delta":
    case "tool-input-delta": {
      if (part.type === "tool-input-delta") into.size.inputs.add(part.id);
      const delta = roomFor(into, part.delta, cap);
      return delta === part.delta ? part : { ...part, delta };
    }
    case "tool-call":
      // Streamed input has been counted already.
      if (into.size.inputs.has(part.toolCallId)) return part;
      return roomFor(into, part.input, cap) === part.input ? part : undefined;
    case "file":
      into.size.bytes += filesWeight(part);
      into.capped ||= into.size.bytes > cap.bytes;
      return into.capped ? undefined : part;
    default:
      return part;
  }
}

/** How much of the text fits: slice by slice, never cut inside a character. */
function roomFor(into: Gathering, text: string, cap: Cap): string {
  const { size } = into;
  for (let from = 0; from < text.length; ) {
    const end = /[\ud800-\udbff]/.test(text.charAt(from + SLICE - 1)) ? from + SLICE - 1 : from + SLICE;
    const slice = text.slice(from, end);
    size.bytes += Buffer.byteLength(slice);
    size.uncounted += slice;
    if (size.uncounted.length >= SLICE) {
      size.tokens += cap.count?.(size.uncounted) ?? 0;
      size.uncounted = "";
    }
    into.capped ||= size.bytes > cap.bytes || size.tokens > cap.tokens;
    if (into.capped) return text.slice(0, from);
    from = end;
  }
  return text;
}

/** A picture is large and costs few tokens: this many of its bytes weigh as much as one of a text. */
const FILE_SHARE = 200;

const filesWeight = ({ data }: LanguageModelV4File): number =>
  data.type === "data" ? Math.ceil(data.data.length / FILE_SHARE) : 0;

/** Parts of a stream that do not belong to the answer. */
const AROUND: ReadonlySet<string> = new Set([
  "stream-start",
  "response-metadata",
  "anthropic.message_start",
  "ping",
  "raw",
  "error",
]);

/**
 * Takes one part of the stream into the reply and returns the resulting events. Parts that no rule here knows are skipped: providers add
 * kinds between versions.
 * @throws the error of an error part
 */
export function take(into: Gathering, part: LanguageModelV4StreamPart): readonly ModelEvent[] {
  // Anthropic's package reports a message's start like content that has no type of its own.
  into.begun ||= !AROUND.has(part.type === "custom" ? part.kind : part.type);
  switch (part.type) {
    case "text-start":
    case "text-delta":
      return grow(into, "text", part);
    case "reasoning-start":
    case "reasoning-delta":
      return grow(into, "reasoning", part);
    case "text-end":
      return close(into, "text", part);
    case "reasoning-end":
      return close(into, "reasoning", part);
    case "tool-call":
      return takeCall(into, part);
    case "file":
      return takeFile(into, part);
    case "finish":
      into.finish = part;
      return [];
    case "error":
      throw part.error;
    default:
      return [];
  }
}

/** A start or a delta. Blanks are held back until a word comes: a part of nothing but blanks is left out of the reply. */
function grow(
  into: Gathering,
  type: Growing["type"],
  part: { readonly id: string; readonly delta?: string; readonly providerMetadata?: SharedV4ProviderMetadata },
): readonly ModelEvent[] {
  const growing = openPart(into, type, part.id);
  growing.metadata = merged(growing.metadata, part.providerMetadata);
  const delta = part.delta ?? "";
  growing.text += delta;
  if (delta === "" || growing.text.trim() === "") return [];
  const text = growing.isPassedOn ? delta : growing.text;
  growing.isPassedOn = true;
  return [{ type: `${type}-delta`, text }];
}

function close(
  into: Gathering,
  type: Growing["type"],
  part: { readonly id: string; readonly providerMetadata?: SharedV4ProviderMetadata },
): readonly ModelEvent[] {
  const growing = openPart(into, type, part.id);
  growing.metadata = merged(growing.metadata, part.providerMetadata);
  into.open.delete(`${type} ${part.id}`);
  return [];
}

function openPart({ parts, open }: Gathering, type: Growing["type"], id: string): Growing {
  const known = open.get(`${type} ${id}`);
  if (known !== undefined) return known;
  const growing: Growing = { type, text: "", isPassedOn: false, metadata: undefined };
  open.set(`${type} ${id}`, growing);
  parts.push(growing);
  return growing;
}

/** Calls that the provider answers itself are not ours. */
function takeCall(into: Gathering, part: LanguageModelV4ToolCall): readonly ModelEvent[] {
  if (part.providerExecuted === true) return [];
  const metadata = merged(undefined, part.providerMetadata);
  const call: CallPart = {
    type: "call",
    id: part.toolCallId,
    tool: readTool(part.toolName),
    input: readInput(part.input),
    ...(metadata && { metadata }),
  };
  into.parts.push(call);
  return [{ type: "call", call }];
}

/** A name that no tool can have would make every later request invalid, so the reply is rejected. */
function readTool(name: string): ToolName {
  try {
    return toolName(name);
  } catch (thrown) {
    const said = `the model called ${JSON.stringify(name)}, a name that no tool can have; run the turn again`;
    throw new StrataError("model_failed", said, { name }, thrown);
  }
}

/** Invalid JSON stays as it came: the tool's argument check refuses it with a sentence for the model. */
function readInput(input: string): Json {
  if (input.trim() === "") return {};
  try {
    return JSON.parse(input) as Json;
  } catch {
    return input;
  }
}

function takeFile(into: Gathering, { mediaType, data }: LanguageModelV4File): readonly ModelEvent[] {
  if (data.type !== "data") return [];
  const bytes = typeof data.data === "string" ? data.data : Buffer.from(data.data).toString("base64");
  into.parts.push({ type: "file", mediaType, data: bytes });
  return [];
}

/** Metadata as it will read after storage: members that are undefined are gone. Later pieces add to earlier ones. */
function merged(
  before: ProviderMetadata | undefined,
  added: SharedV4ProviderMetadata | undefined,
): ProviderMetadata | undefined {
  if (added === undefined) return before;
  const metadata: Record<string, JsonObject> = { ...before };
  for (const [provider, members] of Object.entries(JSON.parse(JSON.stringify(added)) as ProviderMetadata)) {
    metadata[provider] = { ...metadata[provider], ...members };
  }
  return metadata;
}

/** The whole reply, once the stream has ended well; undefined when it broke off. */
export function finished({ parts, finish, capped }: Gathering): Reply | undefined {
  if (!capped && (finish === undefined || brokeOff(finish.finishReason))) return undefined;
  const said = parts.flatMap((part): AssistantPart[] => {
    if (part.type === "call" || part.type === "file") return [part];
    if (part.text.trim() === "" && (part.type === "text" || part.metadata === undefined)) return [];
    return [{ type: part.type, text: spoken(part.text), ...(part.metadata && { metadata: part.metadata }) }];
  });
  if (capped || finish === undefined) return { parts: said, finish: "length", usage: NO_USAGE, capped: true };
  return { parts: said, finish: finishOf(finish.finishReason, said), usage: usageOf(finish.usage) };
}

/** Some packages end every stream, and report a broken one as stopped for an unknown reason. */
const brokeOff = ({ unified, raw }: LanguageModelV4FinishReason): boolean =>
  unified === "error" || unified === "interrupted" || (unified === "other" && raw === undefined);

/** Why the model stopped. Some providers say `stop` beside a call, and some name calls that were all their own. */
function finishOf({ unified, raw }: LanguageModelV4FinishReason, parts: readonly AssistantPart[]): FinishReason {
  const calls = parts.some((part) => part.type === "call");
  switch (unified) {
    case "length":
      return "length";
    case "content-filter":
      return "refused";
    case "stop":
    case "tool-calls":
      return calls ? "calls" : "stop";
    default:
      return raw === "recording-ended" ? raw : calls ? "calls" : "other";
  }
}
