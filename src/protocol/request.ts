import type { LayerId, ToolName } from "./ids.ts";
import type { JsonObject } from "./json.ts";
import type { LayerScope, LayerVersion } from "./layer.ts";
import type { Message } from "./message.ts";
import type { Framed, Trusted } from "./trust.ts";

/** What a provider is told of a tool. `input` is a JSON Schema of an object. */
export interface ToolSchema {
  readonly name: ToolName;
  readonly description: string;
  readonly input: JsonObject;
}

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
 * Where a turn's own text may stand: `turn-scoped` in a message that the provider clears by itself; `ephemeral` at the end,
 * taken away in the next request; `delta` as changed lines that stay, where a history must not be edited.
 */
export type TailWay = "turn-scoped" | "ephemeral" | "delta";

/** Behind what is new in a request, or before this turn's events. */
export type TailPlace = "after-events" | "before-events";

/** How the tail of a turn is carried. */
export interface TailPlan {
  /** What the platform and the operator say. */
  readonly trusted: TailWay;
  /** What others wrote: never in a message of the system's (law 4). */
  readonly framed: Exclude<TailWay, "turn-scoped">;
  readonly place: TailPlace;
  /** What a read and a write cost, where changed lines are kept only while that is cheaper; left out where they must be. */
  readonly keep?: { readonly read: number; readonly write: number };
}

/** What stands where nobody says otherwise: at the end, and gone in the next request. */
export const EPHEMERAL_TAIL: TailPlan = { trusted: "ephemeral", framed: "ephemeral", place: "after-events" };

/** A live layer's text for this request only. */
export interface TailPart {
  readonly layer: LayerId;
  readonly text: Trusted | Framed;
  /**
   * Left out for a text at the end. `turn-scoped` is trusted and stands in a message of the system's, `before-events` at the
   * beginning of the newest message, where that is the user's.
   */
  readonly way?: "turn-scoped" | "before-events";
}

/** Where a provider's cache may keep what stands before. */
export interface Mark {
  readonly after:
    | { readonly zone: "system"; readonly block: number }
    | { readonly zone: "message"; readonly index: number };
  readonly lifetime: "5m" | "1h";
}

/** How much a model reasons before it answers. */
export const REASONING_LEVELS = ["off", "low", "medium", "high"] as const;
export type ReasoningLevel = (typeof REASONING_LEVELS)[number];

/** How the model shall answer. */
export interface Parameters {
  /** Of the reply, with what the model reasons. */
  readonly maxTokens: number;
  /** Left out, as the provider has it. `tokens`: that many of `maxTokens`, for models that are told a budget. */
  readonly reasoning?: { readonly level: ReasoningLevel; readonly tokens?: number };
  readonly temperature?: number;
  /** A JSON Schema that the answer fits. */
  readonly output?: JsonObject;
}

/** One request, neutral to providers: what `models/` turns into a provider's shape, in one place. */
export interface Request {
  readonly prefix: Prefix;
  /** Only grows within an epoch. Never empty; begins with a user message. */
  readonly messages: readonly Message[];
  /** Stands after the newest message, or as each part says, past every mark; not kept. */
  readonly tail: readonly TailPart[];
  readonly marks: readonly Mark[];
  readonly parameters: Parameters;
}
