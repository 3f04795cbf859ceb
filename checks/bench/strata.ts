import { type CompileInput, compile, countMessage, requestOf } from "../../src/compiler/index.ts";
import { frame } from "../../src/guard/index.ts";
import {
  type Agent,
  agentName,
  type CountTokens,
  DEFAULT_BUDGETS,
  digestOf,
  type Epoch,
  eventId,
  type Layer,
  layerId,
  type Message,
  orgId,
  type Request,
  type StoredEvent,
  spoken,
  type TranscriptMessage,
  type TurnId,
  threadId,
  trusted,
  turnId,
  untrusted,
} from "../../src/protocol/index.ts";
import type { Engine, Opened, Sent } from "./engine.ts";
import type { Layer as Given, Line, Work } from "./work.ts";

const AT = Date.UTC(2026, 10, 21, 9, 30);
const NO_CHANCE = "0".repeat(26);
const EVENT = eventId(`evt_${NO_CHANCE}`);
const THREAD = threadId(`thr_${NO_CHANCE}`);
const turnAt = (n: number): TurnId => turnId(`trn_${String(n).padStart(26, "0")}`);

/** Strata itself: the layers are frozen into an epoch, the history is its transcript, the message is an event. */
export function strata(count: CountTokens): Engine {
  return { name: "strata", open: (work) => openThread(work, count) };
}

function openThread(work: Work, count: CountTokens): Opened {
  const input = { ...inputOf(work), count };
  const first = compile({ ...input, events: [eventOf("")] });
  // As stored: framed and counted once, when it came.
  const transcript = work.history.map((line, n) => stored(line, turnAt(Math.floor(n / 2)), count));
  let epoch: Epoch = { ...first.epoch, transcript };
  return {
    next(message) {
      // As the record gives it: new objects for every turn.
      const read = { ...epoch, transcript: [...epoch.transcript] };
      return () => {
        const compilation = compile({ ...input, epoch: read, events: [eventOf(message)] });
        // A cut is committed: the turns after it begin from the new epoch.
        epoch = compilation.epoch;
        return requestOf(compilation, { maxTokens: 1_000 });
      };
    },
    sent: (made) => textsOf(isRequest(made) ? made : undefined),
  };
}

const isRequest = (made: unknown): made is Omit<Request, "breakpoints"> =>
  made !== null && typeof made === "object" && "prefix" in made;

/** All texts of a request. The newest message stands in its frame, so it is known by its place. */
export function textsOf(request: Omit<Request, "breakpoints"> | undefined): Sent {
  if (request === undefined) throw new Error("Strata has made no request");
  const { prefix, messages, tail } = request;
  const parts = messages.flatMap((message) => message.parts.flatMap((part) => ("text" in part ? [part.text] : [])));
  const texts = [...prefix.system.map((block) => block.text), ...parts, ...tail.map((part) => part.text)];
  return { texts, hasMessage: messages.at(-1)?.role === "user" };
}

function stored({ role, text }: Line, turn: TurnId, count: CountTokens): TranscriptMessage {
  const message: Message =
    role === "user"
      ? { role, parts: [{ type: "text", text: frame({ kind: "message", trust: "contact", at: AT }, untrusted(text)) }] }
      : { role, parts: [{ type: "text", text: spoken(text) }] };
  return { message, trust: "contact", tokens: countMessage(message, count), turn };
}

function eventOf(text: string): StoredEvent {
  return {
    id: EVENT,
    thread: THREAD,
    seq: 1,
    status: "pending",
    kind: "message",
    trust: "contact",
    channel: "bench",
    content: [{ type: "text", text: untrusted(text) }],
    at: AT,
  };
}

function inputOf({ layers, limit }: Work): Omit<CompileInput, "events" | "count"> {
  const agent: Agent = {
    org: orgId("bench"),
    name: agentName("bench"),
    version: digestOf("bench"),
    description: "",
    layers: layers.map(layerOf),
    tools: [],
    recall: "none",
    history: "transcript",
    mode: "full",
    // The other engines send as much of the history as there is room for.
    budgets: { ...DEFAULT_BUDGETS, keep: limit },
  };
  return { agent, turn: turnAt(1_000_000), mode: "full", limit, tools: [], epoch: undefined, contents: new Map() };
}

function layerOf({ id, priority, required, text }: Given): Layer {
  return {
    id: layerId(id),
    rank: 1_000 - priority,
    mutability: required ? "immutable" : "versioned",
    scope: "agent",
    trust: "operator",
    source: { kind: "text", text: trusted(text) },
    minimum: 0,
    required,
    modes: { full: "whole", compact: "whole", minimal: "whole" },
  };
}
