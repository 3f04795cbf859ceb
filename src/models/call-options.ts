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
  type Breakpoint,
  type FilePart,
  type ImagePart,
  type Message,
  never,
  type ProviderMetadata,
  type Request,
  type ResultPart,
  StrataError,
  type SystemBlock,
  shownTools,
  type TailPart,
  type ToolName,
  type ToolSchema,
  toolName,
  type UserPart,
} from "../protocol/index.ts";
import type { Dialect } from "./dialect.ts";
import { withEditsApart } from "./edits.ts";
import { loading } from "./loading.ts";
import { mediaOmitted, NO_TOOL as NO_TOOL_DESCRIPTION } from "./wording.ts";

type Lifetime = Breakpoint["lifetime"];

/**
 * The one place where a neutral request becomes a provider's call. Pure. Each message is mapped by itself, so a message
 * that comes later never changes the bytes of an earlier one; the tail comes last, after every breakpoint.
 */
export function toCallOptions(request: Request, dialect: Dialect): LanguageModelV4CallOptions {
  const { parameters } = request;
  const tools = offered(request, dialect);
  checkBreakpoints(request);
  const deferred = new Map(request.prefix.tools.flatMap((tool) => (tool.deferred ? [[tool.name, tool] as const] : [])));
  const prompt = [
    ...systemMessages(request, dialect),
    ...merged(withTail(conversation(request, { ...dialect, deferred }), request.tail, dialect), dialect),
  ];
  return {
    prompt: dialect.userTexts === "joined" ? prompt.map(joined) : prompt,
    ...(tools.length > 0 && { tools: tools.map((tool) => toTool(tool, dialect)) }),
    ...lengths(parameters, dialect),
    ...(parameters.temperature !== undefined && { temperature: parameters.temperature }),
    // A JSON Schema by promise of `Parameters`, which the types cannot know.
    ...(parameters.output !== undefined && {
      responseFormat: { type: "json" as const, name: "answer", schema: parameters.output as JSONSchema7 },
    }),
    ...providerOptionsField(dialect.call?.(request)),
  };
}

const providerOptionsField = (
  options: SharedV4ProviderOptions = {},
): Pick<LanguageModelV4CallOptions, "providerOptions"> =>
  Object.keys(options).length === 0 ? {} : { providerOptions: options };

/** The limit of the answer and the reasoning effort. A reasoning budget is set in the dialect's own options. */
function lengths(
  { maxTokens, reasoning }: Request["parameters"],
  { reasoning: way }: Dialect,
): Pick<LanguageModelV4CallOptions, "maxOutputTokens" | "reasoning"> {
  const { level, tokens } = reasoning ?? {};
  if (level === undefined || way === "own") return { maxOutputTokens: maxTokens };
  if (tokens !== undefined && way === "added") return { maxOutputTokens: maxTokens - tokens };
  return { maxOutputTokens: maxTokens, reasoning: level === "off" ? "none" : level };
}

function offered({ prefix, messages }: Request, { callsNeedTools, loading }: Dialect): readonly ToolSchema[] {
  const tools = loading === "reference" ? prefix.tools : shownTools(prefix.tools);
  if (tools.length > 0 || callsNeedTools === undefined) return tools;
  return messages.some(({ role }) => role === "tool") ? [NO_TOOL] : [];
}

const NO_TOOL: ToolSchema = {
  name: toolName("unavailable"),
  description: NO_TOOL_DESCRIPTION,
  input: { type: "object", properties: {} },
};

/** A breakpoint without a target would silently cost money on every call. */
function checkBreakpoints({ prefix, messages, breakpoints }: Request): void {
  for (const { after } of breakpoints) {
    const [place, of] = after.zone === "system" ? [after.block, prefix.system.length] : [after.index, messages.length];
    if (place >= 0 && place < of) continue;
    throw new StrataError(
      "unexpected",
      `a breakpoint points after ${after.zone} ${place}, but the request has ${of}: this is a bug in the planner of breakpoints`,
      { zone: after.zone, place, of },
    );
  }
}

const systemMessages = ({ prefix, breakpoints }: Request, dialect: Dialect): LanguageModelV4Message[] =>
  prefix.system.flatMap((block: SystemBlock, index): LanguageModelV4Message[] => {
    const lifetime = lifetimeAt(
      breakpoints,
      (breakpoint) => breakpoint.after.zone === "system" && breakpoint.after.block === index,
    );
    return isBlank(block.text) ? [] : [{ role: "system", content: block.text, ...options(dialect, lifetime) }];
  });

/** How a request's messages are written, which may load its deferred tools. */
interface Writing extends Dialect {
  readonly deferred: ReadonlyMap<ToolName, ToolSchema>;
}

function conversation(request: Request, dialect: Writing): LanguageModelV4Message[] {
  const marked = messageBreakpoints(request, dialect);
  const hasSystem = request.prefix.system.some(({ text }) => !isBlank(text));
  const mapped = request.messages.flatMap((given, index) => {
    const { message, edits } = withEditsApart(given, request.messages.slice(index + 1), { ...dialect, hasSystem });
    const one =
      message.role === "system" ? cleared(message.parts, dialect) : toMessage(message, dialect, marked.get(index));
    // Providers refuse a message without content.
    return one === undefined || one.content.length === 0 ? edits : [one, ...edits];
  });
  // A message that clears itself may only be between the question, with the edits behind it, and the answer.
  const isCleared = ({ role, providerOptions }: LanguageModelV4Message) =>
    role === "system" && providerOptions !== undefined;
  const asked = (at: number) => mapped.slice(0, at).findLast(({ role }) => role !== "system");
  const sent = mapped.filter(
    (one, at) => !isCleared(one) || (isAsking(asked(at)) && isAnswer(mapped[at + 1], dialect)),
  );
  return sent.reduce(withResultsTogether, []);
}

/** The results of one reply are one message, also where some came later: providers want them all at once. */
function withResultsTogether(sent: LanguageModelV4Message[], next: LanguageModelV4Message): LanguageModelV4Message[] {
  const last = sent.at(-1);
  if (last?.role !== "tool" || next.role !== "tool") return [...sent, next];
  return [...sent.slice(0, -1), { ...last, content: [...last.content, ...next.content] }];
}

const isAsking = (message: LanguageModelV4Message | undefined): boolean =>
  message?.role === "user" || message?.role === "tool";

/** The parts of an answer to send: reasoning goes back only to the provider that it came from. */
const isAnswer = (message: LanguageModelV4Message | undefined, { provider }: Dialect): boolean =>
  message?.role === "assistant" &&
  message.content.some(
    ({ type, providerOptions }) => type !== "reasoning" || providerOptions?.[provider] !== undefined,
  );

/** A message that the provider clears by itself. If it has no such messages, nothing is sent, because cleared messages are empty. */
function cleared(
  parts: readonly { readonly text: string }[],
  { provider, turnScoped }: Dialect,
): LanguageModelV4Message | undefined {
  const texts = parts.flatMap(({ text }) => (isBlank(text) ? [] : [text]));
  if (turnScoped === undefined || texts.length === 0) return undefined;
  return { role: "system", content: texts.join("\n\n"), providerOptions: { [provider]: { ...turnScoped } } };
}

/** Which messages get a breakpoint: those of the plan, and before the newest one the earlier breakpoints that the dialect keeps. */
function messageBreakpoints(
  { messages, breakpoints }: Request,
  { breakpointsKept = 0 }: Dialect,
): ReadonlyMap<number, Lifetime> {
  const planned = new Map<number, Lifetime>();
  for (const index of messages.keys()) {
    const lifetime = lifetimeAt(breakpoints, ({ after }) => after.zone === "message" && after.index === index);
    if (lifetime !== undefined) planned.set(index, lifetime);
  }
  const newest = Math.max(-1, ...planned.keys());
  const ours = [...messages.keys()].filter(
    (index) => index < newest && (messages[index]?.role === "user" || messages[index]?.role === "tool"),
  );
  const kept = breakpointsKept === 0 ? [] : ours.slice(-breakpointsKept);
  return new Map([...kept.map((index) => [index, "5m"] as const), ...planned]);
}

/** Two breakpoints on one place are one, with the longer lifetime. */
function lifetimeAt(
  breakpoints: readonly Breakpoint[],
  here: (breakpoint: Breakpoint) => boolean,
): Lifetime | undefined {
  const lifetimes = breakpoints.filter(here).map((breakpoint) => breakpoint.lifetime);
  return lifetimes.includes("1h") ? "1h" : lifetimes[0];
}

function toMessage(
  message: Exclude<Message, { role: "system" }>,
  dialect: Writing,
  lifetime: Lifetime | undefined,
): LanguageModelV4Message {
  switch (message.role) {
    case "user": {
      const parts = message.parts.filter(isSent);
      return { role: "user", content: parts.map((part, i) => toUserPart(part, dialect, last(parts, i, lifetime))) };
    }
    case "assistant": {
      const parts = message.parts.filter(isSent);
      const onMessage = dialect.replyBreakpoint === "message";
      const marked = lifetime === undefined || onMessage ? -1 : breakpointCarrier(parts);
      return {
        role: "assistant",
        content: parts.map((part, i) => toAssistantPart(part, dialect, i === marked ? lifetime : undefined)),
        ...(onMessage && options(dialect, lifetime)),
      };
    }
    case "tool":
      return {
        role: "tool",
        content: message.parts.map((part, i) => toResult(part, dialect, last(message.parts, i, lifetime))),
      };
    default:
      return never(message);
  }
}

const last = (parts: readonly unknown[], i: number, lifetime: Lifetime | undefined): Lifetime | undefined =>
  i === parts.length - 1 ? lifetime : undefined;

/**
 * The part of an assistant message that comes last on the wire and can carry a breakpoint: Anthropic's package moves calls behind
 * texts, up to the next reasoning; reasoning cannot be marked, and files of the model's own are not sent back.
 */
function breakpointCarrier(parts: readonly AssistantPart[]): number {
  const afterReasoning = parts.findLastIndex((part) => part.type === "reasoning") + 1;
  const call = parts.findLastIndex((part) => part.type === "call");
  if (call >= afterReasoning) return call;
  return parts.findLastIndex((part) => part.type === "text" || part.type === "call");
}

/** Providers refuse texts that contain only whitespace. */
const isSent = (part: UserPart | AssistantPart): boolean => part.type !== "text" || !isBlank(part.text);

const isBlank = (text: string): boolean => text.trim() === "";

function toUserPart(
  part: UserPart,
  dialect: Dialect,
  lifetime: Lifetime | undefined,
): LanguageModelV4TextPart | LanguageModelV4FilePart {
  return part.type === "text"
    ? { type: "text", text: part.text, ...options(dialect, lifetime, part.metadata) }
    : { ...toFile(part), ...options(dialect, lifetime) };
}

function toAssistantPart(
  part: AssistantPart,
  dialect: Dialect,
  lifetime: Lifetime | undefined,
): LanguageModelV4TextPart | LanguageModelV4ReasoningPart | LanguageModelV4FilePart | LanguageModelV4ToolCallPart {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, ...options(dialect, lifetime, part.metadata) };
    case "reasoning":
      return { type: "reasoning", text: part.text, ...options(dialect, lifetime, part.metadata) };
    case "file":
      return toFile(part);
    case "call":
      return {
        type: "tool-call",
        toolCallId: part.id,
        toolName: part.tool,
        input: part.input,
        ...options(dialect, lifetime, part.metadata),
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

function toResult(part: ResultPart, dialect: Writing, lifetime: Lifetime | undefined): LanguageModelV4ToolResultPart {
  const marked = options(dialect, lifetime);
  const answer = { type: "tool-result", toolCallId: part.id, toolName: part.tool } as const;
  const loaded = (part.loads ?? []).flatMap((name) => dialect.deferred.get(name) ?? []);
  if (loaded.length > 0 && dialect.loading !== undefined) return { ...answer, ...loading(loaded, dialect, marked) };
  const { media, text } = resultMedia(part, dialect);
  if (dialect.results === "blocks")
    return { ...answer, output: { type: "content", value: [{ type: "text", text, ...marked }, ...media] } };
  if (media.length > 0)
    return { ...answer, output: { type: "content", value: [{ type: "text", text }, ...media] }, ...marked };
  return { ...answer, output: { type: part.failed ? "error-text" : "text", value: text }, ...marked };
}

/** The pictures and files of a result that this API accepts there; a line says that the others are missing. */
function resultMedia({ text, media = [] }: ResultPart, { resultMedia: taken = [] }: Dialect) {
  const sent = media.filter(({ mediaType }) => taken.includes(mediaType));
  const missing = media.filter((one) => !sent.includes(one)).map(({ mediaType }) => mediaType);
  return { media: sent.map(toFile), text: missing.length === 0 ? text : `${text}\n${mediaOmitted(missing)}` };
}

const toTool = (tool: ToolSchema, { provider, strict }: Dialect): LanguageModelV4FunctionTool => ({
  type: "function",
  name: tool.name,
  description: tool.description,
  // Our schemas are JSON Schema by promise of `ToolSchema`; the types of JSON and of JSON Schema do not know each other.
  inputSchema: tool.input as JSONSchema7,
  ...(strict !== undefined && { strict }),
  ...(tool.deferred && { providerOptions: { [provider]: { deferLoading: true } } }),
});

/** A part's own metadata, and its breakpoint if it has one. */
function options(
  { provider, breakpoint }: Dialect,
  lifetime: Lifetime | undefined,
  metadata?: ProviderMetadata,
): { providerOptions?: SharedV4ProviderOptions } {
  if (lifetime === undefined || breakpoint === undefined) {
    return metadata === undefined ? {} : { providerOptions: { ...metadata } };
  }
  return { providerOptions: { ...metadata, [provider]: { ...metadata?.[provider], ...breakpoint(lifetime) } } };
}

/**
 * Merges consecutive user messages into one, part after part. Called once the tail has its place, so that everything before it still begins
 * the next request. If texts are joined, a message with a picture stays separate: it would change the form of those before it.
 */
function merged(prompt: LanguageModelV4Prompt, { userMessages, userTexts }: Dialect): LanguageModelV4Prompt {
  if (userMessages === undefined) return prompt;
  const isMerged = (message: LanguageModelV4Message | undefined): message is UserMessage =>
    message?.role === "user" && (userTexts === "apart" || message.content.every(({ type }) => type === "text"));
  const sent: LanguageModelV4Message[] = [];
  for (const next of prompt) {
    const last = sent.at(-1);
    if (isMerged(last) && isMerged(next))
      sent[sent.length - 1] = { ...last, content: [...last.content, ...next.content] };
    else sent.push(next);
  }
  return sent;
}

type UserMessage = Extract<LanguageModelV4Message, { role: "user" }>;

/** Joins a user message that has only texts into one text. */
function joined(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== "user") return message;
  const texts = message.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  if (texts.length < message.content.length) return message;
  return { role: "user", content: [{ type: "text", text: texts.join("\n\n") }] };
}

/**
 * Puts each part of the tail in its place: before or after the new part of the newest message if that is the user's, otherwise in a user
 * message that follows; and after it in a message that clears itself, or in an option of the call (`turnScopedOption`).
 */
function withTail(prompt: LanguageModelV4Prompt, tail: readonly TailPart[], dialect: Dialect): LanguageModelV4Prompt {
  const sent = tail.filter(({ text }) => !isBlank(text));
  const isScoped = ({ way }: TailPart): boolean =>
    way === "turn-scoped" && (dialect.turnScoped !== undefined || dialect.turnScopedOption === true);
  const texts = sent.filter((part) => !isScoped(part));
  const early = texts.filter(({ way }) => way === "before-events").map(toTailText);
  const late = texts.filter(({ way }) => way !== "before-events").map(toTailText);
  // Edits of layers stay last, where they are in the next request.
  const edits = prompt.at(-1)?.role === "system" ? prompt.slice(-1) : [];
  const said = withTexts(prompt.slice(0, prompt.length - edits.length), early, late);
  const scoped = cleared(sent.filter(isScoped), dialect);
  if (scoped === undefined) return [...said, ...edits];
  return isAsking(said.at(-1))
    ? [...said, ...edits, scoped]
    : [...withTexts(said, [], sent.filter(isScoped).map(toTailText)), ...edits];
}

const toTailText = ({ text }: TailPart): LanguageModelV4TextPart => ({ type: "text", text });

function withTexts(
  prompt: LanguageModelV4Prompt,
  early: readonly LanguageModelV4TextPart[],
  late: readonly LanguageModelV4TextPart[],
): LanguageModelV4Prompt {
  if (early.length + late.length === 0) return prompt;
  const newest = prompt.at(-1);
  return newest?.role === "user"
    ? [...prompt.slice(0, -1), { ...newest, content: [...early, ...newest.content, ...late] }]
    : [...prompt, { role: "user", content: [...early, ...late] }];
}
