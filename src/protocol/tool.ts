import type {
  ActorId,
  AgentName,
  ApprovalId,
  CallId,
  ContactId,
  EventId,
  OrgId,
  ThreadId,
  ToolName,
  TurnId,
} from "./ids.ts";
import type { Digest, Json, JsonObject } from "./json.ts";
import type { Layer, Source } from "./layer.ts";
import type { AgentState } from "./life.ts";
import type { FilePart, ImagePart, KeptResult } from "./message.ts";
import type { ToolSchema } from "./request.ts";
import type { Actor, ContactScope, DoneBy, Role } from "./scope.ts";
import type { Spoken, Trust, Untrusted } from "./trust.ts";

/** A tool's effect: none, a write inside the turn's commit, or something outside (journaled). */
export type ToolEffect = "none" | "store" | "external";

/**
 * What happens to a call in a turn that has read text from outside, whose author may have caused the call: it runs, waits
 * for a person, or is refused.
 */
export const TAINTED = ["run", "ask", "refuse"] as const;
export type Tainted = (typeof TAINTED)[number];

/** The information about its turn that a tool gets. */
export interface ToolContext {
  readonly scope: ContactScope;
  readonly thread: ThreadId;
  readonly turn: TurnId;
  readonly call: string;
  /** The events that the turn handles: the sources of the memories saved in it. */
  readonly events: readonly EventId[];
  /** In a turn of several senders: those without a reply yet. Left out in all others. */
  readonly unanswered?: readonly ContactId[];
  /** In a turn of one sender: that one, whom a call may answer instead of the final text. */
  readonly onlySender?: ContactId;
  /** Those who already have one. */
  readonly answered?: readonly ContactId[];
  /** What earlier calls of the turn will write in its commit. Left out: nothing. */
  readonly pending?: readonly PlannedWrite[];
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The lowest trust in the prompt that led to the call. */
  readonly taint: Trust;
  /** Who approved the call, where a person had to. */
  readonly approvedBy?: Pick<Actor, "id" | "role">;
  /** The state of the agent: `executing actions` in a turn; an approved call runs between two turns. */
  readonly state: AgentState;
  readonly signal: AbortSignal;
  /** The schemas of the agent's deferred tools, for the tool that finds them. */
  readonly deferred?: readonly ToolSchema[];
  /** The long results in the request, for the tool that reads them. `fits`: whether an answer is short enough. */
  readonly kept?: { readonly results: readonly KeptResult[]; readonly fits: (answer: string) => boolean };
  /** Reports the progress of a long call, in a few words, to whoever follows the turn. The model does not see it. */
  progress(message: string): void;
  /** A value named under `secrets` of strata.yaml. It is removed from the tool's result. @throws StrataError `secret_missing` */
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
 * A write that a tool requests; it is part of the turn's one commit or does not happen. Only holders of its kind's token know the rest of
 * its content (`writeKind` of the store).
 */
export interface StoreWrite {
  readonly kind: string;
}

/** A write of a turn, with the id of what it creates, if anything. */
export interface PlannedWrite {
  readonly id?: string;
  readonly write: StoreWrite;
}

/** A commit's additional effect: a sentence for people, and data under the feature's own name. */
export interface CommitReport {
  readonly what: string;
  readonly message: string;
  readonly data: JsonObject;
  /** Only for those who may have a request explained, because it names layers. */
  readonly isInternal?: true;
}

/** The result of a call. `failed` tells the model that it did not work; the text says why and what to do. */
export interface ToolOutcome {
  readonly text: Untrusted;
  readonly failed: boolean;
  /** Pictures and files beside the text. */
  readonly media?: readonly (ImagePart | FilePart)[];
  readonly writes?: readonly StoreWrite[];
  /** The trust of this result; if omitted, that of the tool. Only Strata's own tools set it. */
  readonly trust?: Trust;
  /** A reply to one of the turn's senders; it is sent with the turn's commit. */
  readonly reply?: SenderReply;
  /** The tools whose schemas the text shows. Only the tool that finds them sets it. */
  readonly loads?: readonly ToolName[];
}

/** The tool of agents with `inbox: batch`. */
export const REPLY_TOOL = "reply_to_sender";

/** A text for one sender of several. */
export interface SenderReply {
  readonly sender: ContactId;
  readonly text: Spoken;
}

/** The inputs that a tool's schema may depend on. A feature adds its own fields. */
export interface ToolReader {
  readonly layers: readonly Layer[];
  /** Tools that are found through another one. Default: none. */
  readonly defer?: readonly string[];
  /** Its model's provider loads found tools itself: they are then called by their own names. */
  readonly loadsTools?: boolean;
}

/** A call of a tool that was made through another tool: everything that holds for the tool holds for it. */
export interface ForwardedCall {
  readonly tool: ToolName;
  readonly input: Json;
}

/** A tool that an agent can have. */
export interface Tool {
  readonly schema: ToolSchema;
  /** Its description for a provider, for this agent. Left out: `schema`. */
  schemaFor?(agent: ToolReader): ToolSchema;
  readonly effect: ToolEffect;
  /** The trust of its results: `contact`, unless it returns only text of the platform itself. */
  readonly trust: Trust;
  readonly limits?: ToolLimits;
  /** Set if its results are memories: a reply that repeats them does not become one (law 12). */
  readonly returnsMemories?: true;
  /** Set if it takes its input with the names of secrets in the place of their values: what it measures and shows is then what is kept. */
  readonly hidesSecrets?: true;
  /** The source of the layer that lists the tool's objects: if that layer is left out, the tool is not offered. */
  readonly listedIn?: Source["kind"];
  /** The agent's states in which it may be called. Left out: all. Calls of a turn are made in `executing actions`. */
  readonly states?: readonly AgentState[];
  /** The agent's earlier calls that wait for a person, in a few words each, for the layer that lists its tools. */
  waiting?(agent: {
    readonly org: OrgId;
    readonly name: AgentName;
    readonly layers: readonly Layer[];
  }): Promise<readonly string[]>;
  /** Whether this call waits until a person has approved it. Left out: no call does. */
  needsApproval?(input: Json): boolean;
  /** How a call that waits is decided, where another person than an operator does: commands, and routes of HTTP. */
  readonly decidedWith?: (id: ApprovalId) => string;
  /** What happens to this call in a tainted turn. Left out: it runs. */
  tainted?(input: Json, scope: ContactScope): Tainted;
  /** The call that is meant by a call of this tool, if it only passes on a call of another one. */
  forwards?(input: Json): ForwardedCall | undefined;
  /** Set if it reads the parts of long results that were not shown. An agent with such a tool keeps them. */
  readonly readsResults?: true;
  /** A sentence for the model if the input does not match the schema. */
  check(input: Json): string | undefined;
  /** Gets only checked input. Expected problems are outcomes; whatever it throws becomes a failed outcome. */
  run(input: Json, context: ToolContext): Promise<ToolOutcome>;
}

/** The status of a call that needs a person's approval: it waits, was approved or denied, or has run. */
export const APPROVAL_STATUSES = ["waiting", "approved", "denied", "done"] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** A tool call that has to wait for a person, as the turn passes it to its commit. */
export interface NewApproval {
  readonly id: ApprovalId;
  /** The provider's id of the call. */
  readonly call: string;
  readonly tool: ToolName;
  readonly input: Json;
  /** The digest of the tool's schema when the call was made; none for a call that an earlier Strata asked for. */
  readonly schema?: Digest;
  /** The lowest trust in the prompt that led to the call. */
  readonly taint: Trust;
  /** The open call that the decision answers, where the agent waits for it. */
  readonly answers?: CallId;
  /** When a question must be answered, in milliseconds since 1970; none for a call that is approved or denied. */
  readonly due?: number;
  /** How it is decided, where another person than an operator does. It is derived from the tool, and not stored. */
  readonly decidedWith?: string;
}

/** A tool call that waits or waited for a person's decision. Of an erased contact the input is null and the texts are empty. */
export interface Approval extends NewApproval {
  readonly scope: ContactScope;
  readonly thread: ThreadId;
  readonly turn: TurnId;
  readonly status: ApprovalStatus;
  /** Milliseconds since 1970, like all times here. */
  readonly askedAt: number;
  readonly decidedAt?: number;
  readonly decidedBy?: Role;
  readonly decidedById?: ActorId;
  /** The person's note on it. */
  readonly note?: Untrusted;
  /** Who looks after a question, until it is answered. */
  readonly taken?: DoneBy & { readonly at: number };
  /** The result of the call, once it has run; of a question, the answer. */
  readonly outcome?: { readonly text: Untrusted; readonly failed: boolean };
}
