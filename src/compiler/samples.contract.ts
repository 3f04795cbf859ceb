import {
  type Agent,
  agentName,
  type ContentItem,
  type CountTokens,
  DEFAULT_BUDGETS,
  digestOf,
  type Epoch,
  eventId,
  type IssuedKind,
  issueId,
  type Layer,
  type LayerContent,
  type LayerId,
  type LedgerEntry,
  layerId,
  type MemoryId,
  type Message,
  memoryId,
  orgId,
  type Request,
  type StoredEvent,
  StrataError,
  spoken,
  type ToolSchema,
  type TranscriptMessage,
  type Trust,
  type TurnId,
  threadId,
  toolName,
  trusted,
  turnId,
  untrusted,
} from "../protocol/index.ts";
import { type Compilation, type CompileInput, clearedTail, countMessage, frameResult, requestOf } from "./index.ts";

/** The inputs of the compiler's tests: small realistic values, each with one way to differ. */

export const AT = Date.UTC(2026, 10, 21, 9, 30);

/** A token for every three bytes begun: deterministic, and like real tokenizers dearer for what is not English. */
export const bytes3: CountTokens = (text) => Math.ceil(Buffer.byteLength(text, "utf8") / 3);

const issued = (kind: IssuedKind, n: number): string =>
  issueId(
    kind,
    AT,
    new Uint8Array(10)
      .fill(0)
      .with(8, n >> 8)
      .with(9, n & 255),
  );

export const turnNumber = (n: number): TurnId => turnId(issued("turn", n));

/** An operator's text in the prefix: `layer("persona", { rank: 3 })`. */
export function layer(id: string, changes: Partial<Omit<Layer, "id" | "source">> & { text?: string } = {}): Layer {
  const { text, ...rest } = changes;
  return {
    id: layerId(id),
    rank: 5,
    mutability: "versioned",
    scope: "agent",
    trust: "operator",
    source: { kind: "text", text: trusted(text ?? `This is ${id}.`) },
    minimum: 0,
    required: false,
    modes: { full: "whole", compact: "whole", minimal: "whole" },
    ...rest,
  };
}

export const immutable = (id: string, changes: Parameters<typeof layer>[1] = {}): Layer =>
  layer(id, { mutability: "immutable", required: true, trust: "platform", ...changes });

export const clock = (changes: Partial<Layer> = {}): Layer => ({
  ...layer("time", { rank: 20, mutability: "live", scope: "turn", trust: "platform" }),
  source: { kind: "clock", timezone: "UTC" },
  ...changes,
});

export const recall = (changes: Partial<Layer> = {}): Layer => ({
  ...layer("memory", { rank: 30, mutability: "live", scope: "turn", trust: "contact" }),
  source: { kind: "recall", limit: 5 },
  ...changes,
});

export const memoryNumber = (n: number): MemoryId => memoryId(`mem_${String(n).padStart(26, "0")}`);

export const says = (text: string): LayerContent => ({ kind: "text", text: trusted(text) });

export const item = (text: string, changes: Partial<ContentItem> = {}): ContentItem => ({
  kind: "memory",
  text: untrusted(text),
  trust: "contact",
  at: AT,
  ...changes,
});

export const contentsOf = (contents: Readonly<Record<string, LayerContent>>): ReadonlyMap<LayerId, LayerContent> =>
  new Map(Object.entries(contents).map(([id, content]) => [layerId(id), content]));

export const agentOf = (...layers: readonly Layer[]): Agent => ({
  org: orgId("home"),
  name: agentName("companion"),
  version: digestOf("companion"),
  description: "A sample.",
  layers,
  tools: [],
  recall: "auto",
  history: "transcript",
  mode: "full",
  budgets: DEFAULT_BUDGETS,
});

/** An agent that declares how many tokens of a conversation stay. */
export const keeping = (keep: number | undefined, agent: Agent = inputOf().agent): Agent => ({
  ...agent,
  budgets: { ...agent.budgets, ...(keep !== undefined && { keep }) },
});

export const tool = (name: string, changes: Partial<ToolSchema> = {}): ToolSchema => ({
  name: toolName(name),
  description: `Does ${name}.`,
  input: { type: "object", properties: {} },
  ...changes,
});

let events = 0;

/** A contact's message; any other kind and trust by `changes`. */
export function event(text: string, changes: Partial<StoredEvent> = {}): StoredEvent {
  events++;
  return {
    id: eventId(issued("event", events)),
    thread: threadId(issued("thread", 1)),
    seq: events,
    status: "pending",
    kind: "message",
    trust: "contact",
    channel: "sms",
    content: [{ type: "text", text: untrusted(text) }],
    at: AT,
    ...changes,
  };
}

/** A first turn with one immutable layer and one message. */
export const inputOf = (changes: Partial<CompileInput> = {}): CompileInput => ({
  agent: agentOf(immutable("core", { rank: 0, text: "Lower layers win." })),
  turn: turnNumber(1),
  mode: "full",
  limit: 10_000,
  tools: [],
  epoch: undefined,
  events: [event("Hello!")],
  contents: new Map(),
  count: bytes3,
  ...changes,
});

export function messageOf(message: Message, turn: TurnId | null, trust: Trust = "contact"): TranscriptMessage {
  return { message, trust, tokens: countMessage(message, bytes3), turn };
}

/** The model says something. */
export const reply = (text: string, turn: TurnId | null): TranscriptMessage =>
  messageOf({ role: "assistant", parts: [{ type: "text", text: spoken(text) }] }, turn);

/** The model asks for tools, and the tools answer: two messages that belong together. */
export function toolRound(turn: TurnId, answers: readonly string[], label = "call"): readonly TranscriptMessage[] {
  const calls = answers.map((_, i) => ({
    type: "call" as const,
    id: `${label}-${i}`,
    tool: toolName("memory_search"),
    input: { query: label },
  }));
  const results = calls.map((call, i) =>
    frameResult(call, { text: untrusted(answers[i] ?? ""), failed: false, trust: "contact", at: AT }, 1_000, bytes3),
  );
  return [messageOf({ role: "assistant", parts: calls }, turn), messageOf({ role: "tool", parts: results }, turn)];
}

/** The runtime's handling of an answer: if the provider clears the tail by itself, that stays before it. */
export function answeredWith(
  compilation: Compilation,
  added: readonly TranscriptMessage[],
): readonly TranscriptMessage[] {
  const cleared = clearedTail(compilation);
  const turn = compilation.own[0]?.turn ?? null;
  return cleared === undefined ? added : [messageOf(cleared.message, turn, cleared.trust), ...added];
}

/** The store's part of a turn's commit: the turn's messages join the transcript. */
export function committed(made: Compilation, ...added: readonly TranscriptMessage[]): Epoch {
  const { epoch, own } = made;
  return { ...epoch, transcript: [...epoch.transcript, ...own, ...answeredWith(made, added)] };
}

export const request = (compilation: Compilation): Omit<Request, "breakpoints"> =>
  requestOf(compilation, { maxTokens: 1_000 });

/** The bytes sent before the tail, with which a later request of the epoch has to begin. */
export function sentBeforeTail(compilation: Compilation): string {
  const { prefix, messages, tail } = request(compilation);
  const early = tail.some(({ way }) => way === "before-events") && messages.at(-1)?.role === "user";
  return JSON.stringify(prefix) + JSON.stringify(early ? messages.slice(0, -1) : messages).slice(0, -1);
}

/** Every text of a message, in order: frames, marks, replies and results. */
export const textsOf = (message: Message): readonly string[] =>
  message.parts.flatMap((part) => ("text" in part ? [part.text] : []));

/** The text of this turn's user message. */
export const said = (compilation: Compilation): string =>
  compilation.own.flatMap((one) => textsOf(one.message)).join("\n");

export const systemText = (compilation: Compilation): string =>
  compilation.epoch.prefix.system.map((block) => block.text).join("\n\n");

export function entryOf(compilation: Compilation, section: string): LedgerEntry {
  const entry = compilation.ledger.entries.find((one) => one.section === section);
  if (entry === undefined) throw new Error(`the ledger has no line for ${section}`);
  return entry;
}

/**
 * Tokens of a request, recounted independently from its bytes: 4 around every message, part and block. Parts that the provider has cleared
 * cost nothing.
 */
export function recount({ prefix, messages, tail }: Omit<Request, "breakpoints">, count: CountTokens): number {
  const tools = prefix.tools.map((one) => count(one.name) + count(one.description) + count(JSON.stringify(one.input)));
  const system = prefix.system.map((block) => 4 + count(block.text));
  const live = tail.map((part) => 4 + count(part.text));
  const shown = messages.filter(({ role }) => role !== "system");
  const parts = shown.flatMap((message) => [
    4,
    ...message.parts.map((part) => {
      if (part.type === "call") return 4 + count(part.tool) + count(JSON.stringify(part.input));
      if (part.type === "image") return 4 + 1_600;
      return 4 + count(part.type === "file" ? part.data : part.text);
    }),
  ]);
  return [...tools, ...system, ...live, ...parts].reduce((sum, tokens) => sum + tokens, 0);
}

/** The refusal that something must end in. */
export function refusal(run: () => unknown): StrataError {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof StrataError) return thrown;
    throw thrown;
  }
  throw new Error("nothing was refused");
}

/** A result, or nothing where the budget was refused; any other error is one. */
export function unlessTooSmall<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (thrown) {
    if (thrown instanceof StrataError && thrown.code === "budget_too_small") return undefined;
    throw thrown;
  }
}
