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

/** A live layer's text for this turn. */
export interface TailPart {
  readonly layer: LayerId;
  readonly text: Trusted | Framed;
}

/** Where a provider's cache may keep what stands before. */
export interface Mark {
  readonly after:
    | { readonly zone: "system"; readonly block: number }
    | { readonly zone: "message"; readonly index: number };
  readonly lifetime: "5m" | "1h";
}

/** How the model shall answer. */
export interface Parameters {
  readonly maxTokens: number;
  readonly temperature?: number;
  /** A JSON Schema that the answer fits. */
  readonly output?: JsonObject;
}

/** One request, neutral to providers: what `models/` turns into a provider's shape, in one place. */
export interface Request {
  readonly prefix: Prefix;
  /** Only grows within an epoch. Never empty; begins with a user message. */
  readonly messages: readonly Message[];
  /** Stands after the newest message, past every mark; not kept. */
  readonly tail: readonly TailPart[];
  readonly marks: readonly Mark[];
  readonly parameters: Parameters;
}
