import type { AgentName, OrgId, ToolName } from "./ids.ts";
import type { Digest, JsonObject } from "./json.ts";
import type { Layer, Mode } from "./layer.ts";
import type { Tainted, ToolLimits } from "./tool.ts";

/** `provider:name`, `anthropic:claude-sonnet-5-5`, or a model without a provider: `rehearsal`. */
export type ModelRef = string;

/** The limits of an agent's requests and turns. In tokens, unless another unit is named. */
export interface Budgets {
  /** Everything sent and the reserve for the reply, at most; the model's window may be smaller. */
  readonly total: number;
  /** Kept free for the reply. */
  readonly reply: number;
  /** When the conversation is cut, at least this many tokens of it stay. If omitted: 600, and it is not cut early. */
  readonly keep?: number;
  /** The conversation claims this many tokens. If omitted: none at first, and a quarter of what may be sent once there is no room. */
  readonly history?: number;
  /** The prefix without its tools, if not everything fits. Left out: as much as leaves room for the rest. */
  readonly system?: number;
  /** The maximum number of characters of one event; if omitted, `LONGEST_MESSAGE`. */
  readonly message?: number;
  /** One tool result, capped once at ingestion. */
  readonly result: number;
  /** Limits of one turn: model calls, tool calls, seconds and, if set, US dollars. */
  readonly turn: {
    readonly modelCalls: number;
    readonly toolCalls: number;
    readonly seconds: number;
    readonly maxCost?: number;
  };
  /** Milliseconds a layer's source may take. */
  readonly source: number;
  /** US dollars that all turns of the agent together may cost in a UTC day, a UTC month, or ever. */
  readonly spend?: { readonly dollars: number; readonly per: SpendPeriod };
}

export const SPEND_PERIODS = ["day", "month", "ever"] as const;
export type SpendPeriod = (typeof SPEND_PERIODS)[number];

/** How an agent's declaration changes a tool's own settings. It can only make them stricter, except for `tainted`, which it decides. */
export interface ToolRule extends ToolLimits {
  readonly tool: ToolName;
  /** True: every call waits for a person, whatever the tool itself says. */
  readonly approval?: true;
  /** True: where a call waits for a person, the agent waits, too. */
  readonly wait?: true;
  /** What happens to calls in a tainted turn, whatever the tool itself says. */
  readonly tainted?: Tainted;
}

/** The default limit of one message, in characters. Longer texts should be files. */
export const LONGEST_MESSAGE = 100_000;

/** The decided defaults. */
export const DEFAULT_BUDGETS: Budgets = {
  total: 64_000,
  reply: 4_096,
  result: 4_000,
  turn: { modelCalls: 8, toolCalls: 32, seconds: 120 },
  source: 300,
};

/** How the turns of one program share its time. */
export interface Scheduling {
  /** This many turns run side by side. */
  readonly atOnce: number;
  /** This many wait for their place before doors refuse callers with more than an equal share of these. */
  readonly waiting: number;
  /** Which turns of one contact go first: those of chains that have begun, or those that came first. */
  readonly chains: "depth" | "breadth";
}

export const DEFAULT_SCHEDULING: Scheduling = { atOnce: 10, waiting: 1_000, chains: "depth" };

/**
 * How past turns are shown. `transcript`: as a conversation that grows. `log`: each turn is independent, its prefix is that of all senders,
 * and the last exchanges with this one are a live layer.
 */
export const HISTORIES = ["transcript", "log"] as const;

export const RECALLS = ["auto", "search", "frozen", "tools", "none"] as const;

/** The part of the declaration that every agent has. */
export interface CoreAgent {
  readonly org: OrgId;
  readonly name: AgentName;
  readonly description: string;
  /** Left out: the environment decides. */
  readonly model?: ModelRef;
  /** The model that computes vectors for its memories. Left out: memories are found by their words. */
  readonly embedder?: ModelRef;
  /** In the order of the prompt: by scope, then by rank. */
  readonly layers: readonly Layer[];
  readonly tools: readonly ToolName[];
  /** For tools with settings in the declaration, by name. */
  readonly rules?: readonly ToolRule[];
  /** A JSON Schema: each reply is one JSON value that matches it. Left out: replies are text. */
  readonly output?: JsonObject;
  /**
   * How memories get into the prompt. `auto`: by recall on each message, or frozen at the start if that costs less; `search` and
   * `frozen`: always one of the two, whatever it costs.
   */
  readonly recall: (typeof RECALLS)[number];
  readonly history: (typeof HISTORIES)[number];
  /** `auto`: `full` if it fits into the model's window with room for a conversation, else `compact`. */
  readonly mode: Mode | "auto";
  readonly budgets: Budgets;
}

/**
 * A declared agent, frozen at the start; any change creates another `version`. Each feature adds the fields of its own keys, next to
 * their declaration (`features/…/config.ts`).
 */
export interface Agent extends CoreAgent {
  /** Digest over all the rest. */
  readonly version: Digest;
}
