import {
  CONTEXT_KINDS,
  type CountTokens,
  digestOf,
  KIND_FORM,
  looksLikeOurs,
  StrataError,
} from "../../protocol/index.ts";
import { ATTACHMENT } from "./read-request.ts";
import type { Lifetime, SeenBlock, SeenRequest } from "./seen.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * A dumped HTTP body as the provider's cache sees it: of Anthropic's Messages, OpenAI's Responses and Chat Completions. Text that Strata
 * adds for one turn only is recognized by its headings, which others cannot forge.
 * @throws StrataError `invalid_input` for any other body
 */
export function seenOfBody(
  body: unknown,
  count: CountTokens,
  when: Pick<SeenRequest, "at" | "took"> = { at: 0 },
): SeenRequest {
  const items = isFields(body) ? (body["messages"] ?? body["input"]) : undefined;
  if (!isFields(body) || (!Array.isArray(items) && typeof items !== "string")) {
    const next = "it needs a list `messages` (Anthropic, Chat Completions) or `input` (OpenAI's Responses)";
    throw new StrataError("invalid_input", `this is not the body of a request to a model: ${next}`);
  }
  const read = { count };
  const tools = listOf(body["tools"]).map((tool) => toolBlock(tool, read));
  // If the input has a developer's text, `instructions` come after it, for this request alone.
  const isTailOption = Array.isArray(items) && isFields(items[0]) && items[0]["role"] === "developer";
  const passing = contentBlocks(isTailOption ? body["instructions"] : [], { ...read, role: "user" }).map(
    (block): SeenBlock => ({ ...block, tail: true }),
  );
  const first = body["system"] ?? (isTailOption ? undefined : body["instructions"]);
  const system = contentBlocks(first, { ...read, role: "system" });
  const said = messageBlocks(typeof items === "string" ? [{ role: "user", content: items }] : listOf(items), read);
  const blocks = [...tools, ...system, ...said, ...passing];
  return {
    ...when,
    model: stringOrEmpty(body["model"]),
    blocks: body["cache_control"] === undefined ? blocks : automatic(blocks, lifetimeOf(body)),
    ...modeOf(body["prompt_cache_options"]),
  };
}

interface BodyReading {
  readonly count: CountTokens;
}

/** The speaker, and whether the message is the newest: only that one has the tail. */
interface Speaking extends BodyReading {
  readonly role: string;
  readonly isLast?: boolean;
}

function toolBlock(tool: unknown, { count }: BodyReading): SeenBlock {
  const text = bytesOf(tool);
  return { key: digestOf(text), tokens: count(text), kind: "tool", section: toolNameIn(tool), ...breakpointOf(tool) };
}

function messageBlocks(items: readonly unknown[], read: BodyReading): readonly SeenBlock[] {
  const newest = items.findLastIndex((item) => !isTurnScoped(item));
  const lastUser = items.findLastIndex((item) => isFields(item) && item["role"] === "user");
  return items.flatMap((item, at): readonly SeenBlock[] => {
    if (!isFields(item)) return [];
    // The provider itself clears these at the next message of the user: they are then neither billed nor part of the key.
    if (isTurnScoped(item)) {
      if (at < lastUser) return [];
      return contentBlocks(item["content"], { ...read, role: "user" }).map((block) => ({ ...block, tail: true }));
    }
    if (typeof item["role"] !== "string") return [partBlock(item, { ...read, role: "assistant" })];
    const role = item["role"] === "developer" ? "system" : item["role"];
    const calls = listOf(item["tool_calls"]).map((call) => partBlock(call, { ...read, role }));
    return [...contentBlocks(item["content"], { ...read, role, isLast: at === newest }), ...calls];
  });
}

const isTurnScoped = (item: unknown): boolean =>
  isFields(item) && item["role"] === "system" && item["clear_at"] !== undefined;

/** A single text, or a list of parts. A tail that was joined to the newest text is a separate block here. */
function contentBlocks(content: unknown, speaking: Speaking): readonly SeenBlock[] {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
  if (speaking.isLast !== true || speaking.role !== "user") return parts.map((part) => partBlock(part, speaking));
  const cut = parts.flatMap(tailApart);
  // Everything before a breakpoint is cached, including live layers.
  const marked = cut.findLastIndex((part) => breakpointOf(part).breakpoint !== undefined) + 1;
  const early = cut.findIndex((part) => !isTail(part));
  const late = cut.findLastIndex((part) => !isTail(part)) + 1;
  return cut.map((part, at) => {
    const isTailPart = at >= Math.max(marked, late) || (marked === 0 && at < early);
    return isTailPart ? { ...partBlock(part, speaking), tail: true } : partBlock(part, speaking);
  });
}

const isTail = (part: unknown): boolean => {
  const text = isFields(part) ? stringOrEmpty(part["text"]) : "";
  return text.startsWith("# Layer ") && looksLikeOurs(text.split("\n", 1)[0] ?? "");
};

/** The frames of events, which are in no layer. */
const EVENT = new RegExp(`\\n\\n\\[(?!(?:${CONTEXT_KINDS.join("|")}) · )${KIND_FORM} · `);

/** Every line from outside begins with a sign of ours, so a heading at the beginning of a line is the tail's. */
function tailApart(part: unknown): readonly unknown[] {
  if (!isFields(part) || typeof part["text"] !== "string") return [part];
  const at = part["text"].search(isTail(part) ? EVENT : /\n\n# Layer \d+ · /);
  if (at < 0) return [part];
  return [
    { ...part, text: part["text"].slice(0, at) },
    { type: part["type"], text: part["text"].slice(at + 2) },
  ];
}

function partBlock(part: unknown, { role, count }: Speaking): SeenBlock {
  const kind = kindOf(part, role);
  const tokens = kind === "image" || kind === "file" ? ATTACHMENT : count(countedText(part));
  return {
    key: digestOf(`${role} ${bytesOf(part)}`),
    tokens,
    kind,
    section: kind === "system" ? layersIn(countedText(part)) : "transcript",
    ...(role === "assistant" || role === "user" ? { role } : {}),
    ...(kind === "tool-result" && { role: "user" }),
    ...breakpointOf(part),
  };
}

const KINDS: Readonly<Record<string, SeenBlock["kind"]>> = {
  tool_use: "tool-use",
  server_tool_use: "tool-use",
  function_call: "tool-use",
  function: "tool-use",
  tool_result: "tool-result",
  function_call_output: "tool-result",
  thinking: "reasoning",
  redacted_thinking: "reasoning",
  reasoning: "reasoning",
  image: "image",
  image_url: "image",
  input_image: "image",
  document: "file",
  file: "file",
  input_file: "file",
};

function kindOf(part: unknown, role: string): SeenBlock["kind"] {
  if (role === "tool") return "tool-result";
  const type = isFields(part) ? stringOrEmpty(part["type"]) : "";
  return (Object.hasOwn(KINDS, type) ? KINDS[type] : undefined) ?? (role === "system" ? "system" : "text");
}

/** What of a part is counted: its words, without the signs around them. */
function countedText(part: unknown): string {
  if (typeof part === "string") return part;
  if (Array.isArray(part)) return part.map(countedText).join("\n");
  if (!isFields(part)) return "";
  if (part["function"] !== undefined) return countedText(part["function"]);
  const words = part["text"] ?? part["thinking"] ?? part["content"] ?? part["output"] ?? part["summary"];
  if (words !== undefined) return countedText(words);
  const input = part["input"] ?? part["arguments"];
  return `${stringOrEmpty(part["name"])} ${typeof input === "string" ? input : (JSON.stringify(input) ?? "")}`;
}

/** The layers whose headings a text contains. */
const layersIn = (text: string): string =>
  [...text.matchAll(/^# Layer \d+ · (\S+)$/gm)].map(([, id]) => id).join(" + ") || "system";

const MARKS = new Set(["cache_control", "prompt_cache_breakpoint"]);

/** The bytes of a part without its breakpoints: a cache does not compare those. */
function bytesOf(part: unknown): string {
  if (!isFields(part)) return JSON.stringify(part) ?? "";
  const rest = Object.entries(part).filter(([name]) => !MARKS.has(name));
  const inner = ["content", "output"].map((name) => [name, part[name]] as const);
  const lists = inner.flatMap(([name, list]) => (Array.isArray(list) ? [[name, list.map(bytesOf)]] : []));
  return JSON.stringify(Object.fromEntries([...rest, ...lists]));
}

/** A part's breakpoint; that of a result may be on a block inside it. */
function breakpointOf(part: unknown): { readonly breakpoint?: Lifetime } {
  if (!isFields(part)) return {};
  const inside = [...listOf(part["content"]), ...listOf(part["output"])].findLast(hasBreakpoint);
  const carrier = hasBreakpoint(part) ? part : inside;
  return carrier === undefined ? {} : { breakpoint: lifetimeOf(carrier) };
}

const hasBreakpoint = (part: unknown): boolean =>
  isFields(part) && [...MARKS].some((name) => part[name] !== undefined && part[name] !== null);

function lifetimeOf(part: unknown): Lifetime {
  const found = isFields(part) ? (part["cache_control"] ?? part["prompt_cache_breakpoint"]) : undefined;
  const ttl = isFields(found) ? found["ttl"] : undefined;
  return ttl === "1h" || ttl === "12h" ? "1h" : "5m";
}

/** The provider's own breakpoint, on the last block that may carry one. */
function automatic(blocks: readonly SeenBlock[], breakpoint: Lifetime): readonly SeenBlock[] {
  const at = blocks.findLastIndex(({ kind }) => kind !== "reasoning");
  return blocks.map((block, index) => (index === at ? { ...block, breakpoint } : block));
}

function modeOf(options: unknown): Pick<SeenRequest, "mode"> {
  const mode = isFields(options) ? options["mode"] : undefined;
  return mode === "explicit" || mode === "implicit" ? { mode } : {};
}

const toolNameIn = (tool: unknown): string => {
  if (!isFields(tool)) return "tools";
  const inner = tool["function"];
  return stringOrEmpty(tool["name"] ?? (isFields(inner) ? inner["name"] : undefined));
};

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const stringOrEmpty = (value: unknown): string => (typeof value === "string" ? value : "");
