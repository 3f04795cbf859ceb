import type {
  Agent,
  AgentName,
  Allowed,
  Budgets,
  ContactId,
  ContactScope,
  Digest,
  EventId,
  Ledger,
  Mode,
  Model,
  ModelRef,
  Request,
  Sampling,
  Scope,
  SignedEvent,
  StoredEvent,
  ThreadId,
  ToolName,
  Trust,
  TurnEvent,
  TurnId,
  Untrusted,
} from "../protocol/index.ts";
import type {
  AlsoStored,
  ChannelChoice,
  OpenCall,
  Paging,
  Position,
  Posted,
  RebuiltRequest,
  Slot,
  StorePart,
  Thread,
  TurnRecord,
  UsageTotal,
} from "../store/index.ts";
import type { FeatureApi } from "./feature-api.ts";
import type { Arrival } from "./intake/arrival.ts";
import type { Load } from "./intake/turn-queue.ts";

/** Which conversation. `key` names it inside `(agent, contact, channel)`; the platform issues the thread's id. */
export interface Conversation {
  readonly agent: AgentName;
  readonly contact: ContactId;
  readonly channel: string;
  readonly key: string;
  /** Whether a recording is replayed in it: on that channel nothing else is. */
  readonly recorded?: true;
  /** What will be said on it: where that would be refused, no empty thread is left behind. */
  readonly first?: readonly SignedEvent[];
}

/** How events are posted. */
export interface PostOptions {
  /**
   * The caller does not run a turn for them: the background work of this program answers them at once. Left out: for a while, they are
   * left to the caller.
   */
  readonly handed?: boolean;
  /** Stored with the events or not at all. */
  readonly also?: AlsoStored | undefined;
}

/** How a request is composed. */
export interface ComposeOptions {
  /** The assumed mode of the prompt; if omitted, the one that would be chosen. */
  readonly mode?: Mode | undefined;
  /** As if there were room for everything: nothing is cut. */
  readonly uncut?: boolean;
}

/** What `compose` shows: the request that would be sent now. Nothing was sent, nothing stored. */
export interface Composed {
  readonly agent: Agent;
  readonly model: ModelRef;
  readonly wire: ModelRef;
  readonly request: Request;
  readonly ledger: Ledger;
  /** The lowest trust of all that would be sent. */
  readonly taint: Trust;
}

/** How a fork is made. */
export interface ForkOptions {
  /** After which turn; if omitted, the last one that is done. */
  readonly turn?: TurnId;
  /** The key of the new conversation; the same key returns the same fork. If omitted, a new key. */
  readonly key?: string;
  /** The channel. Default: the parent's; for a recording `chat`, because its own channel takes no messages. */
  readonly channel?: string;
}

/** The result of moving a thread to the declared version of its agent: the current thread, and what is new in it. */
export interface Migration {
  readonly thread: Thread;
  /** The version before; the thread's current version if it did not have to be moved. */
  readonly from: Digest;
  readonly changes: readonly string[];
}

/** Whose threads or calls are listed: if omitted, of every agent that has any, declared or not, and of every contact. */
export interface Whose extends ChannelChoice {
  readonly agent?: AgentName | undefined;
  readonly contact?: ContactId | undefined;
  /** The maximum number. */
  readonly limit: number;
  readonly after?: Position | undefined;
}

/** Whose data is erased: if `agent` is omitted, with every agent that is declared or has a record. */
export interface Forgotten {
  readonly contact: ContactId;
  readonly agent?: AgentName | undefined;
}

/** A tool's answer that is known before the call: what a recording holds. */
export interface RecordedResult {
  readonly text: Untrusted;
  readonly failed: boolean;
}

/**
 * Who takes a turn's reply. `reader`: the reader of the turn's events; it counts as delivered once `done` was read. `outbox`: it waits for
 * the agent's `deliver`, or until it is fetched. `nobody`: it counts as delivered at once, because a recording's replies were sent in the
 * past.
 */
export type ReplyTo = "reader" | "outbox" | "nobody";

/** How the model is to answer one message: fewer tokens than `budgets.reply`, and its words drawn otherwise than the agent says. */
export interface CallParameters extends Sampling {
  readonly maxTokens?: number;
  /** Of the agent's tools those alone that may be called. */
  readonly tools?: readonly ToolName[];
}

/** How one turn may differ from the agent's own way. */
export interface RunOptions {
  /** Ends the turn as `failed: turn_cancelled`; its events keep waiting. */
  readonly signal?: AbortSignal;
  /** Who answers instead of the agent's model. */
  readonly model?: Model;
  /** Answers of a recording by call id: such a call is answered, not run. */
  readonly recorded?: ReadonlyMap<string, RecordedResult>;
  /** Who takes the reply; if omitted, `reader`. */
  readonly replyTo?: ReplyTo;
  /** How much of the prompt is sent, whatever the agent's own mode is. A running conversation begins an epoch if it had another. */
  readonly mode?: Mode;
  readonly parameters?: CallParameters | undefined;
  /** How far the turn may go instead of the agent's own limits. */
  readonly limits?: Budgets["turn"];
  /** Whether it continues a chain of agents that ask each other; by default, it does on a thread that another has begun. */
  readonly goesOn?: boolean;
  /** Told which events the turn has taken, once it is kept: so whoever follows one of them need not ask the record. */
  readonly taken?: (events: readonly EventId[]) => void;
}

/** How a turn begins. */
export interface TurnOptions extends RunOptions {
  /**
   * What the turn begins with, stored in the commit of its claim. The turn begins at once or not at all: where the program has no place for
   * it, or nothing is to be answered, no event is yielded, and these events may not be stored yet.
   */
  readonly arriving?: Arrival;
}

/** One turn of a thread; it can be cancelled like any other. */
export type Run = (thread: Thread, options: TurnOptions) => AsyncGenerator<TurnEvent>;

/** An event that was handled, and how the run that handled it ended: well, or waiting for answers. */
export interface Ended {
  readonly event: StoredEvent;
  readonly end: Extract<TurnEvent, { type: "done" | "waiting" }>;
}

/** How a turn is answered again. */
export interface RegenerateOptions extends RunOptions {
  /** Only this one turn: if it waits for others, they are not asked. */
  readonly alone?: true;
  /** Also where the turn called tools that act outside, which may act again, or where its sender would be sent a second reply. */
  readonly again?: boolean;
}

/**
 * The functions behind the CLI, the HTTP server and programs. Each takes the actor; data that the actor has no access to does not
 * exist for it: `thread_not_found` and `turn_not_found` are the same for missing and for hidden data.
 */
export interface CoreRuntime {
  /** What a feature stores, for its own operations and jobs. @throws StrataError `not_allowed` if the actor has no access to the scope */
  keeps<Functions extends object>(actor: Allowed<"view">, scope: Scope, part: StorePart<Functions>): Functions;
  agents(actor: Allowed<"view">): readonly Agent[];
  /** @throws StrataError `agent_not_found` */
  agent(actor: Allowed<"view">, name: AgentName): Agent;
  /** The same, also for one that is no longer declared and has a record: for read-only callers. @throws StrataError `agent_not_found` */
  recordedAgent(actor: Allowed<"view">, name: AgentName): Agent;
  /** Agents of the record that are no longer declared. */
  formerAgents(actor: Allowed<"view">): readonly Agent[];
  /**
   * The contact as the agent knows it: in lower case, if senders are addresses.
   * @throws StrataError `agent_not_found`, `invalid_id` for an invalid address or a wrong checksum, `not_allowed`
   */
  contact(actor: Allowed<"post">, agent: AgentName, contact: ContactId): Promise<ContactId>;
  /** The conversation's thread, created if missing. @throws StrataError `agent_not_found`, `not_allowed` */
  open(actor: Allowed<"post">, conversation: Conversation): Promise<Thread>;
  thread(actor: Allowed<"view">, id: ThreadId): Promise<Thread>;
  /** The thread with the version of its agent that its next turn runs: the declared one, if its turns are independent. */
  nextRun(actor: Allowed<"view">, id: ThreadId): Promise<Thread>;
  /** How the declared layers and tools of the agent differ from those that the thread's next turn runs, in plain English. */
  changes(actor: Allowed<"read">, id: ThreadId): Promise<readonly string[]>;
  /**
   * Moves a thread to the currently declared version of its agent, between two turns; the conversation continues. Operators only.
   * @throws StrataError `thread_busy` while a turn runs on it, `agent_not_found` if the agent is no longer declared
   */
  migrate(actor: Allowed<"operate">, id: ThreadId): Promise<Migration>;
  /** Newest activity first. */
  threads(actor: Allowed<"view">, scope: Scope, limit: number): Promise<readonly Thread[]>;
  /** Of one agent or of all, newest activity first. @throws StrataError `agent_not_found` for a name never heard of */
  newestThreads(actor: Allowed<"read">, whose: Whose): Promise<readonly Thread[]>;
  /** The thread's messages: for a contact, its own and the replies to it. */
  slots(actor: Allowed<"view">, id: ThreadId, page?: Paging): Promise<readonly Slot[]>;
  /** Stores events on the thread, all or none; a known `externalId` is not stored again. Answers at once.
   * @throws StrataError `not_allowed` when an event claims more trust than the actor has; `invalid_input` where an `externalId` belongs to another message */
  post(
    actor: Allowed<"post">,
    thread: Thread,
    events: readonly SignedEvent[],
    how?: PostOptions,
  ): Promise<readonly StoredEvent[]>;
  /** The same checks. The events are stored by the turn that begins with them, in the commit of its claim, or when they are asked for. @throws StrataError as `post` */
  arrival(
    actor: Allowed<"post">,
    thread: Thread,
    events: readonly SignedEvent[],
    how?: Pick<PostOptions, "also">,
  ): Promise<Arrival>;
  /** Opens the conversation's thread and stores the events on it, both or neither. @throws StrataError as `open` and `post` */
  openAndPost(
    actor: Allowed<"post">,
    conversation: Conversation,
    events: readonly SignedEvent[],
    how?: PostOptions,
  ): Promise<Posted>;
  pending(actor: Allowed<"view">, thread: Thread): Promise<readonly StoredEvent[]>;
  /**
   * Withdraws all messages of the thread without an answer. Operators only.
   * @throws StrataError `thread_busy` while a turn handles it
   */
  withdraw(actor: Allowed<"operate">, id: ThreadId): Promise<readonly StoredEvent[]>;
  /**
   * Runs one turn for the thread's waiting events. Yields nothing if nothing waits; otherwise it ends with exactly one `done`, `waiting`
   * or `failed`, and never throws after its start. Read the events to the end: then the reply counts as delivered.
   * @throws StrataError before the start: `thread_busy`, `not_allowed`, `thread_not_found`; `queue_full` if a caller waits for the reply
   */
  run(actor: Allowed<"run">, thread: Thread, options?: RunOptions): AsyncGenerator<TurnEvent>;
  /**
   * The event's current state, and the end of the turn that answered it: from the record, cut to what the actor may know, as `run` reported
   * it.
   * @throws StrataError `turn_not_found` if no turn has answered it; if it waited and could not continue, its run's error, or
   * `turn_cancelled`
   */
  ended(actor: Allowed<"run">, event: StoredEvent): Promise<Ended>;
  /**
   * The same, and then the next turns of the run where one waits for other agents: they are run here unless another program does. Ends
   * with `done` or `failed`, or with `waiting` where a client or a person must answer.
   * @throws StrataError as `run`
   */
  follow(actor: Allowed<"run">, thread: Thread, options?: RunOptions): AsyncGenerator<TurnEvent>;
  /** The calls that the thread waits for, in their order. */
  openCalls(actor: Allowed<"view">, thread: ThreadId): Promise<readonly OpenCall[]>;
  /** Answers the agent's open calls whose time is up, with a sentence. Operators only. */
  answerOverdue(actor: Allowed<"operate">, agent: AgentName): Promise<readonly ThreadId[]>;
  /** When the next of the agent's open calls is overdue, in real time. Operators only. */
  nextOverdue(actor: Allowed<"operate">, agent: AgentName): Promise<number | undefined>;
  /** The agent's threads on which a run goes on: a turn is due that continues it, or that answers another turn's call. Operators only. */
  dueRuns(actor: Allowed<"operate">, agent: AgentName): Promise<readonly Thread[]>;
  /** Runs that turn. Operators only. */
  runDue(actor: Allowed<"operate">, thread: Thread, options?: RunOptions): AsyncGenerator<TurnEvent>;
  /**
   * A new thread of the same contact and version that continues after a turn of this one, by default its last finished one. Its next
   * request continues the same bytes; this thread is only read. The same key returns the same fork.
   * @throws StrataError `turn_not_found`, `invalid_input` when the key names another thread
   */
  fork(actor: Allowed<"post" | "read">, thread: ThreadId, options: ForkOptions): Promise<Thread>;
  /**
   * Answers a turn's events again, on a fork from before it; the turn and its thread do not change. Runs like `run`.
   * @throws StrataError before the start: as `run`, `turn_not_found`, `invalid_input` for a turn that has no events yet, whose
   * events still wait, or that called what acts outside, or whose agent sends its replies, and is not asked for with `again`
   */
  regenerate(actor: Allowed<"operate">, turn: TurnId, options?: RegenerateOptions): AsyncGenerator<TurnEvent>;
  /**
   * Cancels the turn that runs on the thread, also in another program, where it takes some seconds; its events keep waiting. If none runs
   * and the thread waits for answers, the wait ends. False if there is neither.
   */
  cancel(actor: Allowed<"run">, id: ThreadId): Promise<boolean>;
  /** @throws StrataError `budget_too_small`, `source_failed`, `agent_not_found` */
  compose(
    actor: Allowed<"explain">,
    conversation: Conversation,
    message: Untrusted,
    options?: ComposeOptions,
  ): Promise<Composed>;
  turn(actor: Allowed<"explain">, id: TurnId): Promise<TurnRecord>;
  /** Oldest first. */
  turns(actor: Allowed<"explain">, thread: ThreadId, page?: Paging): Promise<readonly TurnRecord[]>;
  /** A past request, rebuilt from the record. `n` is 1 for the turn's first. @throws StrataError `record_broken` */
  rebuilt(actor: Allowed<"explain">, turn: TurnId, n: number): Promise<RebuiltRequest>;
  /**
   * Blanks every text of a contact, forgets their memories and keys, closes their threads and deletes their files, for one agent or
   * for all. What stays are counts and costs under a pseudonym. Gives the agents that knew them. Operators only.
   * @throws StrataError `file_not_found` where a file cannot be deleted: all else is erased, and the next start tries again
   */
  erase(actor: Allowed<"operate">, whose: Forgotten): Promise<readonly AgentName[]>;
  usage(actor: Allowed<"read">, scope: Scope): Promise<UsageTotal>;
  /**
   * Whether this program takes one more turn with the contact: for doors, before they store the message that begins it.
   * @throws StrataError `queue_full`
   */
  checkRoom(actor: Allowed<"run">, scope: ContactScope): Promise<void>;
  /** How many turns run in this program just now, and how many wait for their place. */
  load(): Load;
  /** The place in the queue that a turn of theirs would have now: 1 if it is next, 0 if it would begin at once. */
  place(scope: Pick<ContactScope, "agent" | "contact">): number;
  /** Resolves once everything stored so far is on the disk: a door waits for it before it sends out anything it has read. */
  onDisk(): Promise<void>;
}

/** Gives the functions of a feature. @throws StrataError `unexpected` where the feature is not in the list */
export type Use = <Functions extends object>(api: FeatureApi<Functions>) => Functions;

/** All that doors and programs call: the core's functions, and by `use` those of each feature. */
export interface Runtime extends CoreRuntime {
  readonly use: Use;
}
