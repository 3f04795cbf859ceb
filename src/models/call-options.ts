import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ReasoningPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import {
  type AssistantPart,
  type FilePart,
  type ImagePart,
  type Mark,
  type Message,
  never,
  type ProviderMetadata,
  type Request,
  type ResultPart,
  StrataError,
  type SystemBlock,
  type TailPart,
  type ToolSchema,
  type UserPart,
} from "../protocol/index.ts";

type Lifetime = Mark["lifetime"];

/**
 * The one place where a neutral request becomes a provider's call. Pure. Each message is mapped by itself, so a message
 * that comes later never changes the bytes of an earlier one; the tail stands in parts of its own that no mark reaches.
 */
export function toCallOptions(request: Request): LanguageModelV4CallOptions {
  const { prefix, parameters } = request;
  checkMarks(request);
  return {
    prompt: withTail([...systemMessages(request), ...conversation(request)], request.tail),
    ...(prefix.tools.length > 0 && { tools: prefix.tools.map(toTool) }),
    maxOutputTokens: parameters.maxTokens,
    ...(parameters.temperature !== undefined && { temperature: parameters.temperature }),
  };
}

/** A mark that points at nothing would cost money silently on every call. */
function checkMarks({ prefix, messages, marks }: Request): void {
  for (const { after } of marks) {
    const [place, of] = after.zone === "system" ? [after.block, prefix.system.length] : [after.index, messages.length];
    if (place >= 0 && place < of) continue;
    throw new StrataError(
      "unexpected",
      `a cache mark points after ${after.zone} ${place}, but the request has ${of}: this is a bug in the planner of marks`,
      { zone: after.zone, place, of },
    );
  }
}

const systemMessages = ({ prefix, marks }: Request): LanguageModelV4Message[] =>
  prefix.system.flatMap((block: SystemBlock, index): LanguageModelV4Message[] => {
    const lifetime = lifetimeAt(marks, (mark) => mark.after.zone === "system" && mark.after.block === index);
    return isBlank(block.text) ? [] : [{ role: "system", content: block.text, ...options(undefined, lifetime) }];
  });

const conversation = ({ messages, marks }: Request): LanguageModelV4Message[] =>
  messages.flatMap((message, index) => {
    const lifetime = lifetimeAt(marks, (mark) => mark.after.zone === "message" && mark.after.index === index);
    const mapped = toMessage(message, lifetime);
    // Providers refuse a message without content.
    return mapped.content.length === 0 ? [] : [mapped];
  });

/** Two marks on one place are one: the longer lifetime holds. */
function lifetimeAt(marks: readonly Mark[], here: (mark: Mark) => boolean): Lifetime | undefined {
  const lifetimes = marks.filter(here).map((mark) => mark.lifetime);
  return lifetimes.includes("1h") ? "1h" : lifetimes[0];
}

function toMessage(message: Message, lifetime: Lifetime | undefined): LanguageModelV4Message {
  switch (message.role) {
    case "user": {
      const parts = message.parts.filter(isSent);
      return { role: "user", content: parts.map((part, i) => toUserPart(part, last(parts, i, lifetime))) };
    }
    case "assistant": {
      const parts = message.parts.filter(isSent);
      const marked = lifetime === undefined ? -1 : markedAssistantPart(parts);
      return {
        role: "assistant",
        content: parts.map((part, i) => toAssistantPart(part, i === marked ? lifetime : undefined)),
      };
    }
    case "tool":
      return {
        role: "tool",
        content: message.parts.map((part, i) => toResult(part, last(message.parts, i, lifetime))),
      };
    default:
      return never(message);
  }
}

const last = (parts: readonly unknown[], i: number, lifetime: Lifetime | undefined): Lifetime | undefined =>
  i === parts.length - 1 ? lifetime : undefined;

/**
 * The part of an assistant message that comes last on the wire and can carry a mark: Anthropic's package moves calls behind
 * texts, up to the next reasoning; reasoning cannot be marked, and files of the model's own are not sent back.
 */
function markedAssistantPart(parts: readonly AssistantPart[]): number {
  const afterReasoning = parts.findLastIndex((part) => part.type === "reasoning") + 1;
  const call = parts.findLastIndex((part) => part.type === "call");
  if (call >= afterReasoning) return call;
  return parts.findLastIndex((part) => part.type === "text" || part.type === "call");
}

/** Providers refuse texts of nothing but blanks. */
const isSent = (part: UserPart | AssistantPart): boolean => part.type !== "text" || !isBlank(part.text);

const isBlank = (text: string): boolean => text.trim() === "";

function toUserPart(part: UserPart, lifetime: Lifetime | undefined): LanguageModelV4TextPart | LanguageModelV4FilePart {
  return part.type === "text"
    ? { type: "text", text: part.text, ...options(part.metadata, lifetime) }
    : { ...toFile(part), ...options(undefined, lifetime) };
}

function toAssistantPart(
  part: AssistantPart,
  lifetime: Lifetime | undefined,
): LanguageModelV4TextPart | LanguageModelV4ReasoningPart | LanguageModelV4FilePart | LanguageModelV4ToolCallPart {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, ...options(part.metadata, lifetime) };
    case "reasoning":
      return { type: "reasoning", text: part.text, ...options(part.metadata, lifetime) };
    case "file":
      return toFile(part);
    case "call":
      return {
        type: "tool-call",
        toolCallId: part.id,
        toolName: part.tool,
        input: part.input,
        ...options(part.metadata, lifetime),
      };
    default:
      return never(part);
  }
}

function toFile(part: ImagePart | FilePart): LanguageModelV4FilePart {
  const name = part.type === "file" ? part.name : undefined;
  return {
    type: "file",
    mediaType: part.mediaType,
    data: { type: "data", data: part.data },
    ...(name !== undefined && { filename: name }),
  };
}

const toResult = (part: ResultPart, lifetime: Lifetime | undefined): LanguageModelV4ToolResultPart => ({
  type: "tool-result",
  toolCallId: part.id,
  toolName: part.tool,
  output: { type: part.failed ? "error-text" : "text", value: part.text },
  ...options(undefined, lifetime),
});

const toTool = (tool: ToolSchema): LanguageModelV4FunctionTool => ({
  type: "function",
  name: tool.name,
  description: tool.description,
  // Our schemas are JSON Schema by promise of `ToolSchema`; the types of JSON and of JSON Schema do not know each other.
  inputSchema: tool.input as JSONSchema7,
});

/** A part's own metadata, and the mark where it has one. */
function options(
  metadata: ProviderMetadata | undefined,
  lifetime: Lifetime | undefined,
): { providerOptions?: SharedV4ProviderOptions } {
  if (lifetime === undefined) return metadata === undefined ? {} : { providerOptions: { ...metadata } };
  const cacheControl = lifetime === "1h" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
  return { providerOptions: { ...metadata, anthropic: { ...metadata?.["anthropic"], cacheControl } } };
}

/** The tail after the newest message: in it when it is the user's, else in a user message that follows. */
function withTail(prompt: LanguageModelV4Prompt, tail: readonly TailPart[]): LanguageModelV4Prompt {
  const parts: LanguageModelV4TextPart[] = tail
    .filter((part) => !isBlank(part.text))
    .map((part) => ({ type: "text", text: part.text }));
  if (parts.length === 0) return prompt;
  const newest = prompt.at(-1);
  return newest?.role === "user"
    ? [...prompt.slice(0, -1), { ...newest, content: [...newest.content, ...parts] }]
    : [...prompt, { role: "user", content: parts }];
}
