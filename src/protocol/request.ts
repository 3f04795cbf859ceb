import type { LayerId, ToolName } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { LayerScope, LayerVersion } from "./layer.ts";
import type { Message } from "./message.ts";
import type { Framed, Trusted } from "./trust.ts";

/** The description of a tool for a provider. `input` is a JSON Schema of an object. */
export interface ToolSchema {
  readonly name: ToolName;
  readonly description: string;
  readonly input: JsonObject;
  /** Declared to the provider, but shown to the model only once a result loads it (`loads`): no token of the request until then. */
  readonly deferred?: true;
}

/** Those of a prefix's tools that the model is shown from the start. */
export const shownTools = (tools: readonly ToolSchema[]): readonly ToolSchema[] =>
  tools.some(({ deferred }) => deferred) ? tools.filter(({ deferred }) => !deferred) : tools;

/** The layers of one scope, rendered. Only trusted text: nothing else fits the type. */
export interface SystemBlock {
  readonly scope: LayerScope;
  readonly text: Trusted;
  readonly layers: readonly LayerVersion[];
}

/** Tools and system of an epoch: frozen with it. */
export interface Prefix {
  readonly tools: readonly ToolSchema[];
  readonly system: readonly SystemBlock[];
}

/**
 * How a turn's own text is sent: `turn-scoped` in a message that the provider clears by itself; `ephemeral` at the end,
 * removed in the next request; `delta` as changed lines that stay, if the history must not be edited.
 */
export type TailWay = "turn-scoped" | "ephemeral" | "delta";

/** After the new part of a request, or before this turn's events. */
export type TailPlace = "after-events" | "before-events";

/** How the tail of a turn is carried. */
export interface TailPlan {
  /** Text of the platform and the operator. */
  readonly trusted: TailWay;
  /** Text of others: never in a system message (law 4). */
  readonly framed: Exclude<TailWay, "turn-scoped">;
  readonly place: TailPlace;
  /** The costs of a read and a write, if changed lines are kept only while that is cheaper; left out if they must be kept. */
  readonly keep?: { readonly read: number; readonly write: number };
}

/** The default: at the end, and removed in the next request. */
export const EPHEMERAL_TAIL: TailPlan = { trusted: "ephemeral", framed: "ephemeral", place: "after-events" };

/** A live layer's text for this request only. */
export interface TailPart {
  readonly layer: LayerId;
  readonly text: Trusted | Framed;
  /**
   * Left out for a text at the end. `turn-scoped` is trusted and is part of a system message; `before-events` is at the
   * beginning of the newest message, if that is the user's.
   */
  readonly way?: "turn-scoped" | "before-events";
}

/** A place up to which a provider may cache the request. */
export interface Breakpoint {
  readonly after:
    | { readonly zone: "system"; readonly block: number }
    | { readonly zone: "message"; readonly index: number };
  readonly lifetime: "5m" | "1h";
}

/** How much a model reasons before it answers. */
export const REASONING_LEVELS = ["off", "low", "medium", "high"] as const;
export type ReasoningLevel = (typeof REASONING_LEVELS)[number];

/** How a model draws its words. Many APIs refuse this; then it is left out. */
export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
}

/** How the model should answer. */
export interface Parameters extends Sampling {
  /** Of the reply, with what the model reasons. */
  readonly maxTokens: number;
  /** Left out: the provider's default. `tokens`: that many of `maxTokens`, for models with a token budget. */
  readonly reasoning?: { readonly level: ReasoningLevel; readonly tokens?: number };
  /** Of the tools that are offered, those alone that may be called. The others stay in the prefix, and calls of them are refused. */
  readonly tools?: readonly ToolName[];
  /** A JSON Schema that the answer must match. */
  readonly output?: JsonObject;
}

/** One request, independent of providers. Only `models/` converts it into a provider's format. */
export interface Request {
  readonly prefix: Prefix;
  /** Only grows within an epoch. Never empty; begins with a user message. */
  readonly messages: readonly Message[];
  /** Comes after the newest message, or where each part says, and after every breakpoint; not kept. */
  readonly tail: readonly TailPart[];
  readonly breakpoints: readonly Breakpoint[];
  readonly parameters: Parameters;
  /**
   * The provider's id of the answer with which it is asked to compare this request, to say why its cache missed; null: none, but a later
   * request may be compared with this one. If omitted, it is not asked. Not part of the prompt.
   */
  readonly compare?: string | null;
}
