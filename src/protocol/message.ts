import type { LayerId, MemoryId, ToolName } from "./ids.ts";
import { canonicalJson, type Digest, type Json, type JsonObject } from "./json.ts";
import { type Framed, type Spoken, type Trust, type Trusted, type Untrusted, untrusted } from "./trust.ts";

/** Data that a provider attached to a part and wants back unchanged, such as reasoning signatures. */
export type ProviderMetadata = { readonly [provider: string]: JsonObject };

/**
 * The part of a live layer that a text in a transcript shows: all of it (`whole`), its new items (`more`), or which of its lines were
 * removed and added (`lines`). `of` is the digest of the whole text, if its lines have an order.
 */
export interface LayerMark {
  readonly layer: LayerId;
  readonly as: "whole" | "more" | "lines";
  readonly of?: Digest;
  /** The memories that it shows, so that deleted ones are found there. Left out: none. */
  readonly memories?: readonly MemoryId[];
  /** Set for an edit of the prefix that is sent in a system message, where the model takes one in the middle of a conversation. */
  readonly system?: true;
}

/** Text that the platform sends for others: framed unless the platform or the operator wrote it. */
export interface TextPart<Text extends string = Trusted | Framed> {
  readonly type: "text";
  readonly text: Text;
  readonly metadata?: ProviderMetadata;
  /** Set if it shows a live layer and stays in the transcript. */
  readonly told?: LayerMark;
}

/** A picture by its bytes (base64) and media type. */
export interface ImagePart {
  readonly type: "image";
  readonly mediaType: string;
  readonly data: string;
}

/** A file by its bytes (base64) and media type. */
export interface FilePart {
  readonly type: "file";
  readonly mediaType: string;
  readonly data: string;
  readonly name?: string;
}

/** The model's reasoning, replayed as received. */
export interface ReasoningPart {
  readonly type: "reasoning";
  readonly text: Spoken;
  readonly metadata?: ProviderMetadata;
}

/** The model asks for a tool. `input` keeps the model's own key order. */
export interface CallPart {
  readonly type: "call";
  readonly id: string;
  readonly tool: ToolName;
  readonly input: Json;
  readonly metadata?: ProviderMetadata;
}

/** A tool's answer to one call, framed and capped at ingestion. */
export interface ResultPart {
  readonly type: "result";
  readonly id: string;
  readonly tool: ToolName;
  readonly text: Framed | Trusted;
  readonly failed: boolean;
  /** Tools whose schemas the text shows. A provider that loads tools itself is given their names or definitions instead of the text. */
  readonly loads?: readonly ToolName[];
  /** Pictures and files that came with it. If a provider accepts none in a result, a line says so instead. */
  readonly media?: readonly (ImagePart | FilePart)[];
  /** The whole of a result of which `text` shows only a part. It is stored with the message, and never sent. */
  readonly kept?: KeptResult;
}

/** A result that was too long to be shown whole. It can be read while the message with it is in the request. */
export interface KeptResult {
  /** The number by which the model asks for it. */
  readonly n: number;
  readonly trust: Trust;
  /** Cleaned, so that its lines are those that were shown. */
  readonly text: Untrusted;
}

/** JSON of a named type, as a program sends it. The model reads it as text. */
export interface PayloadPart {
  readonly type: "payload";
  readonly payloadType: string;
  readonly payload: Json;
}

export type UserPart = TextPart | ImagePart | FilePart;
export type AssistantPart = TextPart<Spoken> | ReasoningPart | FilePart | CallPart;

/** One provider-visible message of a transcript, neutral to providers. */
export type Message =
  | { readonly role: "user"; readonly parts: readonly UserPart[] }
  | { readonly role: "assistant"; readonly parts: readonly AssistantPart[] }
  | { readonly role: "tool"; readonly parts: readonly ResultPart[] }
  /** The tail of a request that the provider clears by itself: it keeps its place, and is not rendered again. */
  | { readonly role: "system"; readonly parts: readonly TextPart<Trusted>[] };

export type MessageRole = Message["role"];

/** A part of a message from outside, not yet framed. */
export type EventPart = TextPart<Untrusted> | ImagePart | FilePart | PayloadPart;

/** Whether a part is a picture or a file, which have no text. */
export const isMedia = (part: EventPart): part is ImagePart | FilePart => part.type === "image" || part.type === "file";

/**
 * A part as the text that the model, the history and an export show: of a payload, canonical JSON with its type, so that equal
 * payloads give equal bytes.
 */
export const partText = (part: Exclude<EventPart, ImagePart | FilePart>): Untrusted =>
  part.type === "text"
    ? part.text
    : untrusted(canonicalJson({ payload: part.payload, payload_type: part.payloadType }));

/** A part's text, as it is remembered and searched: of a payload, its texts without field names. */
export function saidInPart(part: EventPart): readonly string[] {
  if (part.type === "text") return [part.text];
  return part.type === "payload" ? textsIn(part.payload) : [];
}

function textsIn(value: Json): readonly string[] {
  if (typeof value === "string") return value.trim() === "" ? [] : [value];
  if (value === null || typeof value !== "object") return [];
  return Object.values(value).flatMap(textsIn);
}

/** Whether a message contains something that a provider wants back unchanged: the model's reasoning, or data attached to a part. */
export const holdsReasoning = ({ role, parts }: Message): boolean =>
  role === "assistant" &&
  parts.some((part) => part.type === "reasoning" || ("metadata" in part && part.metadata !== undefined));

/** The same message without reasoning: only the model's words and calls. */
export function withoutReasoning(message: Message): Message {
  if (message.role !== "assistant" || !holdsReasoning(message)) return message;
  const parts = message.parts.flatMap((part): AssistantPart[] => {
    if (part.type === "reasoning") return [];
    if (!("metadata" in part)) return [part];
    const { metadata: _, ...plain } = part;
    return [plain];
  });
  return { role: "assistant", parts };
}

/** A message with the lowest trust of what it was made from. */
export interface TrustedMessage {
  readonly message: Message;
  readonly trust: Trust;
}
