import type {
  Actor,
  Agent,
  AgentName,
  ContactId,
  ContactScope,
  Ledger,
  ModelRef,
  NewEvent,
  Request,
  StoredEvent,
  Scope,
  ThreadId,
  ToolName,
  Trust,
  TurnEvent,
  TurnId,
  Untrusted,
} from "../protocol/index.ts";
import type { RebuiltRequest, Slot, Thread, TurnRecord } from "../stores/index.ts";

/** Which conversation. `key` names it inside `(agent, contact, channel)`; the platform issues the id. */
export interface Conversation {
  readonly agent: AgentName;
  readonly contact: ContactId;
  readonly channel: string;
  readonly key: string;
}

/** What `compose` shows: the request that would be sent now, without sending or storing anything. */
export interface Composed {
  readonly agent: Agent;
  readonly model: ModelRef;
  readonly wire: ModelRef;
  readonly request: Request;
  readonly ledger: Ledger;
  readonly taint: Trust;
}

/** A tool's answer that is known before the call: what a recording holds. */
export interface RecordedResult {
  readonly text: Untrusted;
  readonly failed: boolean;
}

/** How one turn may differ from the agent's own way. */
export interface RunOptions {
  /** Ends the turn as `failed: turn_cancelled`; its events keep waiting. */
  readonly signal?: AbortSignal;
  /** Who answers instead of the agent's model. */
  readonly model?: import("../protocol/index.ts").Model;
  /** Answers of a recording by call id: such a call is not run. */
  readonly recorded?: ReadonlyMap<string, RecordedResult>;
}

/** What every door calls. Each function asks who is asking; nothing out of the actor's reach exists for it. */
export interface Runtime {
  agents(actor: Actor): readonly Agent[];
  /** The open thread of the conversation, made when there is none. @throws StrataError `agent_not_found`, `not_allowed` */
  open(actor: Actor, conversation: Conversation): Promise<Thread>;
  thread(actor: Actor, id: ThreadId): Promise<Thread>;
  threads(actor: Actor, scope: Scope, limit?: number): Promise<readonly Thread[]>;
  slots(actor: Actor, id: ThreadId): Promise<readonly Slot[]>;
  /** Stores events on the thread, all or none; a known `externalId` is not stored again. Answers at once. */
  post(actor: Actor, thread: Thread, events: readonly NewEvent[]): Promise<readonly StoredEvent[]>;
  pending(actor: Actor, thread: Thread): Promise<readonly StoredEvent[]>;
  /**
   * One turn over the thread's waiting events. Yields nothing when nothing waits; else ends in exactly one `done` or
   * `failed` and never throws past its start.
   * @throws StrataError before the start: `thread_busy`, `not_allowed`, `thread_not_found`
   */
  run(actor: Actor, thread: Thread, options?: RunOptions): AsyncGenerator<TurnEvent>;
  compose(actor: Actor, conversation: Conversation, message: Untrusted): Promise<Composed>;
  turn(actor: Actor, id: TurnId): Promise<TurnRecord>;
  turns(actor: Actor, thread: ThreadId): Promise<readonly TurnRecord[]>;
  /** A past request rebuilt from the record. `n` is 1 for the turn's first. */
  rebuilt(actor: Actor, turn: TurnId, n: number): Promise<RebuiltRequest>;
}

/** A scope as one contact's. */
export type { ContactScope, ToolName };
