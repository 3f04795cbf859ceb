import type { AgentName, ContactId, EventId, MemoryId, OrgId, ThreadId, TurnId } from "./ids.ts";
import type { Json } from "./json.ts";
import type { Layer } from "./layer.ts";
import type { AgentState } from "./life.ts";
import type { NewMemory } from "./memory.ts";
import type { FilePart, ImagePart } from "./message.ts";
import type { ToolSchema } from "./request.ts";
import type { ContactScope } from "./scope.ts";
import type { NewText } from "./text-version.ts";
import type { Spoken, Trust, Untrusted } from "./trust.ts";

/** What a tool does to the world: nothing, a write inside the turn's commit, or something outside (journaled). */
export type ToolEffect = "none" | "store" | "external";

/**
 * What becomes of a call in a turn that has read what somebody outside wrote, so that they may have had it made: it runs, waits
 * for a person, or is refused.
 */
export const TAINTED = ["run", "ask", "refuse"] as const;
export type Tainted = (typeof TAINTED)[number];

/** What a tool may know of the turn it runs in. */
export interface ToolContext {
  readonly scope: ContactScope;
  readonly thread: ThreadId;
  readonly turn: TurnId;
  readonly call: string;
  /** What the turn handles: the sources of what is saved in it. */
  readonly events: readonly EventId[];
  /** In a turn with messages of several senders: who of them has no reply yet. Left out in all others. */
  readonly unanswered?: readonly ContactId[];
  /** Beside them: who has one. */
  readonly answered?: readonly ContactId[];
  /** What earlier calls of the turn write in its commit, each with the id that a new memory will have. Left out: nothing. */
  readonly pending?: readonly { readonly id: MemoryId; readonly write: StoreWrite }[];
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The lowest trust in the prompt that led to the call. */
  readonly taint: Trust;
  /** What the agent is doing: `executing actions` in a turn; a call that a person approved runs between two turns. */
  readonly state: AgentState;
  readonly signal: AbortSignal;
  /** Tells who follows the turn how far a long call has come, in a few words. The model hears nothing of it. */
  progress(says: string): void;
  /** A value named under `secrets` of strata.yaml. What a tool answers is searched for it. @throws StrataError `secret_missing` */
  secret(name: string): string;
}

/** How far one turn may go with one tool. */
export interface ToolLimits {
  /** Calls in one turn; further ones are refused. One that failed and has not acted outside does not count. */
  readonly calls?: number;
  /** Seconds that one call may take. */
  readonly seconds?: number;
}

/**
 * A write that a tool asks for; it lands in the turn's one commit or not at all. `forget` takes away what the agent itself saved
 * of the contact: what a person saved stays, whoever asks.
 */
export type StoreWrite =
  | { readonly kind: "memory"; readonly memory: NewMemory }
  | { readonly kind: "forget"; readonly memory: MemoryId }
  | { readonly kind: "edit"; readonly edit: NewText };

/** What came of a call. `failed` tells the model that it did not work; the text says why and what to do. */
export interface ToolOutcome {
  readonly text: Untrusted;
  readonly failed: boolean;
  /** Pictures and files beside the text. */
  readonly media?: readonly (ImagePart | FilePart)[];
  readonly writes?: readonly StoreWrite[];
  /** How far this answer may be trusted; left out, as far as its tool. Only Strata's own tools say it. */
  readonly trust?: Trust;
  /** What one of the turn's senders is told; it goes out with the turn's commit. */
  readonly reply?: SenderReply;
}

/** The tool of agents with `inbox: batch`. */
export const REPLY_TOOL = "reply_to_sender";

/** The tool by which an agent changes a layer of its own prompt. */
export const EDIT_TOOL = "update_prompt_layer";

/** A text for one sender of several. */
export interface SenderReply {
  readonly sender: ContactId;
  readonly text: Spoken;
}

/** What of an agent a tool's schema may depend on. A feature adds the members of its own. */
export interface ToolReader {
  readonly layers: readonly Layer[];
}

/** A tool an agent may be given. */
export interface Tool {
  readonly schema: ToolSchema;
  /** What a provider is told of it for this agent. Left out: `schema`. */
  schemaFor?(agent: ToolReader): ToolSchema;
  readonly effect: ToolEffect;
  /** How far its results may be trusted; `contact` unless it only tells what the platform itself wrote. */
  readonly trust: Trust;
  readonly limits?: ToolLimits;
  /** What its results hold, where they are memories: a reply that repeats them becomes none (law 12). */
  readonly shows?: "memories";
  /** In which of its states an agent may call it. Left out, in each; calls of a turn are made while `executing actions`. */
  readonly states?: readonly AgentState[];
  /** What of an agent's earlier calls waits for a person, in a few words each, for the layer that lists its tools. */
  waiting?(agent: {
    readonly org: OrgId;
    readonly name: AgentName;
    readonly layers: readonly Layer[];
  }): Promise<readonly string[]>;
  /** Whether this call waits until a person has approved it. Left out: no call does. */
  needsApproval?(input: Json): boolean;
  /** What becomes of this call in a tainted turn. Left out: it runs. */
  tainted?(input: Json, scope: ContactScope): Tainted;
  /** A sentence for the model when the input does not fit the schema, else nothing. */
  check(input: Json): string | undefined;
  /** Gets checked input only. Normal trouble is an outcome; what it throws becomes a failed outcome. */
  run(input: Json, context: ToolContext): Promise<ToolOutcome>;
}
