import type { AgentName, OrgId, ToolName } from "./ids.ts";
import type { Digest, JsonObject } from "./json.ts";
import type { Layer, Mode } from "./layer.ts";
import type { Tainted, ToolLimits } from "./tool.ts";

/** `provider:name`, `anthropic:claude-sonnet-4-5`, or a model without a provider: `rehearsal`. */
export type ModelRef = string;

/** How much room and how far. Tokens unless said otherwise. */
export interface Budgets {
  /** Everything sent and the reserve for the reply, at most; the model's window may be smaller. */
  readonly total: number;
  /** Kept free for the reply. */
  readonly reply: number;
  /** Tokens of the conversation that stay at least when it is cut; left out, as many as are cheap to write once more. */
  readonly keep?: number;
  /** Tokens of it that stay at most when it is cut; left out, a sixth to a half of the room. */
  readonly history?: number;
  /** Tokens of the prefix without its tools where not everything fits; left out, as many as leave room for the rest. */
  readonly system?: number;
  /** Characters of one event, at most; left out, `LONGEST_MESSAGE`. */
  readonly message?: number;
  /** One tool result, capped once at ingestion. */
  readonly result: number;
  /** One turn at most: model calls, tool calls, seconds and, where set, US dollars. */
  readonly turn: {
    readonly rounds: number;
    readonly calls: number;
    readonly seconds: number;
    readonly dollars?: number;
  };
  /** Milliseconds a layer's source may take. */
  readonly source: number;
  /** US dollars that all turns of the agent together may cost in a UTC day, a UTC month, or ever. */
  readonly spend?: { readonly dollars: number; readonly per: SpendPeriod };
}

export const SPEND_PERIODS = ["day", "month", "ever"] as const;
export type SpendPeriod = (typeof SPEND_PERIODS)[number];

/** What an agent's declaration adds to what a tool says of itself. It can only make it stricter, but for `tainted`, where it has the last word. */
export interface ToolRule extends ToolLimits {
  readonly tool: ToolName;
  /** True: every call waits for a person, whatever the tool itself asks for. */
  readonly approval?: true;
  /** What becomes of calls in a tainted turn, whatever the tool itself says. */
  readonly tainted?: Tainted;
}

/** What is longer is a file and not a message, unless the agent says otherwise. In characters. */
export const LONGEST_MESSAGE = 100_000;

/** The decided defaults. */
export const DEFAULT_BUDGETS: Budgets = {
  total: 64_000,
  reply: 4_096,
  result: 4_000,
  turn: { rounds: 8, calls: 32, seconds: 120 },
  source: 300,
};

/**
 * How past turns are shown. `transcript`: as a conversation that grows. `log`: each turn stands alone, its prefix is that of all
 * senders, and the last exchanges with this one are a live layer.
 */
export const HISTORIES = ["transcript", "log"] as const;

export const RECALLS = ["auto", "search", "frozen", "tools", "none"] as const;

/** What the declaration of every agent says. */
export interface CoreAgent {
  readonly org: OrgId;
  readonly name: AgentName;
  readonly description: string;
  /** None: the environment decides. */
  readonly model?: ModelRef;
  /** What makes vectors of its memories. None: they are found by their words. */
  readonly embedder?: ModelRef;
  /** In the order of the prompt: by scope, then by rank. */
  readonly layers: readonly Layer[];
  readonly tools: readonly ToolName[];
  /** For the tools that the declaration says more about, by name. */
  readonly rules?: readonly ToolRule[];
  /** A JSON Schema: each reply is one JSON value that fits it. None: replies are text. */
  readonly output?: JsonObject;
  /**
   * How memories come in. `auto`: by recall on each message, or frozen at the start where that costs less; `search` and
   * `frozen`: the one or the other, whatever it costs.
   */
  readonly recall: (typeof RECALLS)[number];
  readonly history: (typeof HISTORIES)[number];
  /** `auto`: `full` where the model's window holds it with room for a conversation, else `compact`. */
  readonly mode: Mode | "auto";
  readonly budgets: Budgets;
}

/**
 * A declared actor: frozen at start; any change makes another `version`. Each feature adds the members that its keys make, where it
 * declares them (`features/…/config.ts`).
 */
export interface Agent extends CoreAgent {
  /** Digest over all the rest. */
  readonly version: Digest;
}
