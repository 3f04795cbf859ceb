import type { LayerId, MemoryId, ToolName } from "./ids.ts";
import type { Digest, Json, JsonObject } from "./json.ts";
import type { Framed, Spoken, Trust, Trusted, Untrusted } from "./trust.ts";

/** What a provider attached to a part and wants back unchanged (reasoning signatures and the like). */
export type ProviderMetadata = { readonly [provider: string]: JsonObject };

/**
 * What a text of a transcript tells of a live layer: all that it says (`whole`), what is new of its items (`more`), or which of
 * its lines are gone and which are new (`lines`). `of` is the digest of the whole text, where its lines are in an order.
 */
export interface LayerMark {
  readonly layer: LayerId;
  readonly as: "whole" | "more" | "lines";
  readonly of?: Digest;
  /** The memories that it tells of, so that what was forgotten is found there. Left out, none. */
  readonly memories?: readonly MemoryId[];
}

/** Text the platform sends on somebody's behalf: framed unless the platform or the operator wrote it. */
export interface TextPart<Text extends string = Trusted | Framed> {
  readonly type: "text";
  readonly text: Text;
  readonly metadata?: ProviderMetadata;
  /** There where it is of a live layer, and stays. */
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
  /** Pictures and files that came with it. Where a provider takes none in a result, a line says so instead. */
  readonly media?: readonly (ImagePart | FilePart)[];
}

export type UserPart = TextPart | ImagePart | FilePart;
export type AssistantPart = TextPart<Spoken> | ReasoningPart | FilePart | CallPart;

/** One provider-visible message of a transcript, neutral to providers. */
export type Message =
  | { readonly role: "user"; readonly parts: readonly UserPart[] }
  | { readonly role: "assistant"; readonly parts: readonly AssistantPart[] }
  | { readonly role: "tool"; readonly parts: readonly ResultPart[] }
  /** The tail of a request, where the provider cleared it by itself: it stays where it stood, and is rendered no more. */
  | { readonly role: "system"; readonly parts: readonly TextPart<Trusted>[] };

export type MessageRole = Message["role"];

/** A part of what somebody outside sent, not yet framed. */
export type EventPart = TextPart<Untrusted> | ImagePart | FilePart;

/** Whether a message holds what a provider wants back unchanged: the model's reasoning, or what it attached to a part. */
export const holdsReasoning = ({ role, parts }: Message): boolean =>
  role === "assistant" &&
  parts.some((part) => part.type === "reasoning" || ("metadata" in part && part.metadata !== undefined));

/** The same message without it: what the model said and called, and nothing that is bound to how it came to it. */
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
