import type {
  Actor,
  AgentName,
  Approval,
  ApprovalId,
  ContactScope,
  Digest,
  Epoch,
  ErrorCode,
  EventId,
  Ledger,
  Mark,
  MemoryId,
  Mode,
  ModelRef,
  NewApproval,
  OrgId,
  OutboxId,
  Parameters,
  Prediction,
  Reply,
  Request,
  Scope,
  Spoken,
  StopReason,
  StoredEvent,
  StoreWrite,
  TailPart,
  ThreadId,
  ToolOutcome,
  TranscriptMessage,
  Trust,
  TurnEdit,
  TurnId,
  TurnTotals,
  VersionKey,
} from "../protocol/index.ts";
import type { AgentOwner, AgentStore } from "./agent-store.ts";
import type { BatchOpening, StagedReply, WaitingThread } from "./batch.ts";
import type { ApprovalFilter, ArrivingEvent, Decision, Finish } from "./decision.ts";
import type { JournalKey, JournalState } from "./journal-key.ts";
import type { MemoryStore } from "./memory-store.ts";
import type { OutboxMessage } from "./outbox-message.ts";
import type { Slot } from "./slot.ts";
import type { VectorStore } from "./vectors.ts";

/** One conversation of one agent with one counterpart. `version` is the agent version it is pinned to. */
export interface Thread {
  readonly id: ThreadId;
  readonly scope: ContactScope;
  readonly channel: string;
  /** What the door calls the conversation; with scope and channel it names one open thread. */
  readonly key: string;
  readonly version: Digest;
  readonly forkedFrom?: { readonly thread: ThreadId; readonly turn: TurnId | null };
  readonly createdAt: number;
  /** The newest of its opening, its events and its turns, on the thread's own clock. */
  readonly lastActivity: number;
  /** Turns that ended, well or not. */
  readonly turns: number;
}

/** What opening a thread needs. Opening the same `(scope, channel, key)` again gives the thread that is there. */
export interface ThreadOpening {
  readonly id: ThreadId;
  readonly channel: string;
  readonly key: string;
  readonly version: Digest;
  readonly at: number;
  readonly forkedFrom?: { readonly thread: ThreadId; readonly turn: TurnId | null };
}

/** To which version a thread is moved. */
export type ThreadMove = Pick<ClaimRequest, "now" | "alive"> & { readonly version: Digest };

/** Who asks for a thread, and for how long. */
export interface ClaimRequest {
  /** The id the turn gets, unless an interrupted turn of this thread is taken up again: then it keeps its own. */
  readonly turn: TurnId;
  readonly holder: string;
  /** Real time, milliseconds since 1970, and until when the lease holds. */
  readonly now: number;
  readonly until: number;
  /** Time on the thread's own clock. */
  readonly at: number;
  /** The agent version that would run the turn. A thread that is at another one is pinned to it where no transcript runs there. */
  readonly version?: Digest;
  /** False for a holder that is surely gone: its lease is void. Asked for the asker's own name too: no one holds a thread twice. */
  readonly alive: (holder: string) => boolean;
}

/** A thread held by one worker, with the waiting events. Never without events. */
export interface Claim {
  readonly thread: Thread;
  readonly turn: TurnId;
  readonly attempt: number;
  /** Grows with every claim of the thread: the commit is refused when a later claim exists. */
  readonly fence: number;
  readonly holder: string;
  readonly events: readonly StoredEvent[];
  readonly epoch: Epoch | undefined;
  /** Of a turn of several senders: the claim of each one's thread. `events` are then all of theirs. */
  readonly staged?: readonly Claim[];
}

/** What came of asking: the thread, who has it, that its transcript runs with another version than was asked for, or nothing to do. */
export type Claimed =
  | { readonly state: "claimed"; readonly claim: Claim }
  | { readonly state: "busy"; readonly holder: string; readonly until: number }
  | { readonly state: "moved"; readonly thread: Thread }
  | { readonly state: "idle" };

/** One request as it was sent, without the bytes that its epoch and turn hold already. */
export interface RequestRecord {
  /** 1 for the turn's first. */
  readonly n: number;
  readonly epoch: number;
  /** The epoch's transcript messages before this turn that were sent. */
  readonly base: number;
  /** The turn's own messages that were sent. */
  readonly own: number;
  readonly tail: readonly TailPart[];
  readonly marks: readonly Mark[];
  readonly parameters: Parameters;
  readonly ledger: Ledger;
  /** The lowest trust of all that was sent. */
  readonly taint: Trust;
  /** What was expected before the call; none in records of before it was kept. */
  readonly prediction?: Prediction;
  /** None where the model gave no whole answer. */
  readonly reply: Reply | null;
  readonly dollars: number;
  readonly at: number;
  readonly milliseconds: number;
}

/** What a later request of the thread must know of one that was answered: what of it a provider's cache may still hold. */
export interface SentRequest extends Pick<RequestRecord, "epoch" | "base" | "own" | "marks" | "at"> {
  /** Whose cache it was sent to. */
  readonly wire: ModelRef;
  /** Whether the turn's own messages went into the transcript: those of a turn that failed did not. */
  readonly kept: boolean;
}

/** When a request of some thread was made. */
export interface RequestStart {
  readonly thread: ThreadId;
  readonly at: number;
}

/** How a turn ended. */
export type TurnEnd =
  | { readonly status: "done"; readonly stop: StopReason; readonly reply: Spoken | null }
  | { readonly status: "failed"; readonly code: ErrorCode; readonly message: string };

/** All that a turn changes: it lands in one transaction or not at all (law 7). */
export interface TurnOutcome {
  readonly end: TurnEnd;
  /** On the thread's own clock. */
  readonly at: number;
  readonly model: ModelRef;
  readonly wire: ModelRef;
  readonly mode: Mode;
  /** Epochs that the turn opened, in order, each with the transcript it starts from. They stay even when the turn failed. */
  readonly epochs: readonly Epoch[];
  /** What the turn adds to the transcript of its last epoch when it is done; kept for the record only when it failed. */
  readonly messages: readonly TranscriptMessage[];
  readonly requests: readonly RequestRecord[];
  /** Applied when the turn is done. */
  readonly writes: readonly StoreWrite[];
  /** Calls that wait for a person from now on, when the turn is done. */
  readonly approvals: readonly NewApproval[];
  readonly totals: TurnTotals;
  /** Ids for what the commit creates: the outbox row and the writes' memories. */
  readonly outbox: OutboxId;
  readonly memories: readonly MemoryId[];
  /** What was said and is not to be remembered, by its event and by the outbox row for the reply: it stays in the thread's record. */
  readonly unremembered: readonly (EventId | OutboxId)[];
  /** Whether what was said goes into its senders' logs. */
  readonly log?: true;
  /** Real time, before which nobody is given the reply to deliver it: who listens may take it. `never`: it counts as delivered. */
  readonly deliverAfter?: number | "never";
  /** Of a turn of several senders: what it came to for each whose messages it has handled. Those of the others keep waiting. */
  readonly replies?: readonly StagedReply[];
}

/** A turn as recorded, without the bytes of its requests. */
export interface TurnRecord {
  readonly id: TurnId;
  readonly thread: ThreadId;
  readonly scope: ContactScope;
  /** 1 for the thread's first. */
  readonly seq: number;
  readonly status: "running" | "done" | "failed";
  readonly attempt: number;
  readonly end?: TurnEnd;
  readonly version: Digest;
  readonly model?: ModelRef;
  readonly wire?: ModelRef;
  readonly mode?: Mode;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly totals?: TurnTotals;
  /** Requests and events are recorded when the turn ends; while it runs there are none. Erased texts are empty. */
  readonly requests: readonly Omit<RequestRecord, "tail">[];
  readonly events: readonly StoredEvent[];
  /** The texts that it wrote, in the order in which it did. */
  readonly edits?: readonly TurnEdit[];
  /** The thread of the turn that handled these messages with those of other senders. */
  readonly batch?: ThreadId;
  /** Of a turn of several senders: their turns, which hold what each wrote and was told. */
  readonly senders?: readonly { readonly thread: ThreadId; readonly turn: TurnId }[];
  /** Its link in the organization's chain. */
  readonly link?: ChainHead;
}

/** A past request, rebuilt from the record. */
export interface RebuiltRequest {
  readonly request: Request;
  readonly reply: Reply | null;
  readonly wire: ModelRef;
  /** Its transcript holds what was sent of it. */
  readonly epoch: Epoch;
}

export type { Slot } from "./slot.ts";

/** The newest link of an organization's record. Kept elsewhere, it is an anchor: a shortened record no longer reaches it. */
export interface ChainHead {
  readonly org: OrgId;
  /** 0 and no hash for an empty record. */
  readonly seq: number;
  readonly hash: Digest | null;
}

/** A turn's link in the chain, and what its commit came to besides. */
export interface Settled extends ChainHead {
  /** Memories that had to go for what the turn saved. */
  readonly evicted?: readonly MemoryId[];
  /** Edits that wait for an operator, because another text was changed meanwhile. */
  readonly overtaken?: readonly VersionKey[];
}

/** What `verify` finds, as it finds it: what does not match, and `count` as how many of a kind it has checked so far. */
export type Finding =
  | { readonly type: "checked"; readonly what: "piece" | "epoch" | "turn" | "link"; readonly count: number }
  | { readonly type: "problem"; readonly where: string; readonly says: string };

/**
 * Usage summed over a scope; turns that failed were paid for too. A turn of several senders counts once: for one of them as a turn
 * that cost nothing, for what it cost is nobody's alone.
 */
export interface UsageTotal {
  readonly turns: number;
  readonly requests: number;
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly dollars: number;
}

/** A thread that a worker holds. */
export interface HeldThread {
  readonly thread: ThreadId;
  readonly scope: ContactScope;
  readonly holder: string;
  readonly until: number;
}

/** Pages of a backup. */
export interface BackupProgress {
  readonly done: number;
  readonly total: number;
}

/**
 * The one contract of storage. Every read and write of thread, memory or conversation data takes a scope; what is out of
 * scope does not exist. One function is one transaction.
 * @throws StrataError `store_busy`, `store_failed`, and what each function names
 */
export interface Store extends MemoryStore, VectorStore, AgentStore {
  /** Keeps an agent version's frozen declaration (canonical JSON); the same digest again changes nothing. */
  saveAgentVersion(org: OrgId, agent: AgentName, version: Digest, spec: string, at: number): Promise<void>;
  agentVersion(org: OrgId, agent: AgentName, version: Digest): Promise<string | undefined>;

  /**
   * A thread that had no turn yet is pinned to the version it is opened with, like a new one. A fork keeps its version, and
   * goes on in the epoch and transcript in which that turn of its scope ended; without a turn it begins anew.
   */
  openThread(scope: ContactScope, opening: ThreadOpening): Promise<Thread>;
  thread(scope: Scope, id: ThreadId): Promise<Thread | undefined>;
  /** Pins the thread to that version from its next turn on. @throws StrataError `thread_busy` while a turn runs on it, `thread_not_found` */
  moveThread(scope: ContactScope, id: ThreadId, move: ThreadMove): Promise<Thread>;
  /** Newest activity first. A scope with `contact: null` lists all contacts of the agent. */
  threads(scope: Scope, limit: number): Promise<readonly Thread[]>;
  slots(scope: ContactScope, thread: ThreadId): Promise<readonly Slot[]>;

  /** Stores events in order, all or none; one whose `(channel, externalId)` is known of this contact is not stored again, unless it was taken back or erased. Proven ones are known to each other alone, by `externalId`, for ever. Gives all as stored.
   * @throws StrataError `thread_not_found`; `invalid_input` for one that is known with other content, or a proven one that is gone */
  receive(scope: ContactScope, thread: ThreadId, events: readonly ArrivingEvent[]): Promise<readonly StoredEvent[]>;
  pending(scope: ContactScope, thread: ThreadId): Promise<readonly StoredEvent[]>;
  /** Takes back all that waits on the thread: no turn will handle it, and one that was interrupted ends as failed. Gives what was taken back.
   * @throws StrataError `thread_busy` while a turn handles it, `thread_not_found` */
  withdraw(
    scope: ContactScope,
    thread: ThreadId,
    request: Pick<ClaimRequest, "now" | "at" | "alive">,
  ): Promise<readonly StoredEvent[]>;

  /** The thread's running epoch with its transcript; none before the first turn. For those who only look: no lease is taken. */
  epoch(scope: ContactScope, thread: ThreadId): Promise<Epoch | undefined>;

  /**
   * The thread whose turn is next: one that stages several senders and was interrupted or never begun, else a new one for those who
   * wait longest, each with one thread; where one sender waits, theirs. None: nothing waits that nobody holds. A claim of one that
   * stages others takes theirs as well, each with a turn of its own, and the commit settles all at once.
   */
  openBatch(owner: AgentOwner, opening: BatchOpening): Promise<Thread | undefined>;
  /**
   * Every thread whose turn could be next, who wait longest first; one that stages several senders and was interrupted stands for
   * theirs. Nothing is made or written.
   */
  waitingThreads(
    owner: AgentOwner,
    wish: Pick<BatchOpening, "except" | "rested" | "now" | "alive">,
  ): Promise<readonly WaitingThread[]>;
  /** @throws StrataError `thread_not_found`; `thread_busy` where it is staged in a turn of several that was interrupted */
  claim(scope: ContactScope, thread: ThreadId, request: ClaimRequest): Promise<Claimed>;
  /** Asks whoever holds the thread to end its turn. False where nobody does, or only somebody who is surely gone. */
  askStop(scope: ContactScope, thread: ThreadId, at: Pick<ClaimRequest, "now" | "alive">): Promise<boolean>;
  /** Whether this claim's turn was asked to end. */
  stopAsked(claim: Claim): Promise<boolean>;
  /** Every thread of the organization that somebody holds. */
  leases(org: OrgId): Promise<readonly HeldThread[]>;
  /** False when the lease is lost. */
  renew(claim: Claim, until: number): Promise<boolean>;
  /** The one commit. Gives the turn's link in the chain.
   * @throws StrataError `lease_lost`, also where one of several senders was erased, or `thread_not_found` where the only one was: then nothing was written. */
  settle(claim: Claim, outcome: TurnOutcome): Promise<Settled>;

  /** Journals a call before it acts. @throws StrataError `thread_not_found`, `turn_not_found`, `lease_lost` when the turn has ended */
  beginCall(scope: ContactScope, key: JournalKey, at: number): Promise<JournalState>;
  /** Journals what came of it; a second outcome changes nothing. @throws StrataError `invalid_input` for a call that was not begun */
  endCall(scope: ContactScope, key: JournalKey, outcome: ToolOutcome, at: number): Promise<void>;

  turn(scope: Scope, id: TurnId): Promise<TurnRecord | undefined>;
  /** Oldest first. */
  turns(scope: Scope, thread: ThreadId): Promise<readonly TurnRecord[]>;
  /** The 64 newest answered requests of the thread's ended turns, oldest first. */
  sent(scope: ContactScope, thread: ThreadId): Promise<readonly SentRequest[]>;
  /** When the 128 newest requests of all the agent's threads were made, the newest first; those of one channel left out. */
  starts(org: OrgId, agent: AgentName, except: string): Promise<readonly RequestStart[]>;
  /** @throws StrataError `turn_not_found`, `record_broken` when a piece was erased or does not match */
  rebuild(scope: Scope, turn: TurnId, n: number): Promise<RebuiltRequest>;

  /** Newest first. A scope with `contact: null` lists those of all contacts of the agent. */
  approvals(scope: Scope, filter: ApprovalFilter, limit: number): Promise<readonly Approval[]>;
  approval(scope: Scope, id: ApprovalId): Promise<Approval | undefined>;
  /** Decides about a waiting call: of two that decide, one is refused.
   * @throws StrataError `approval_not_found`, `approval_decided`, `thread_not_found` when its contact was erased */
  decideApproval(scope: ContactScope, id: ApprovalId, decision: Decision): Promise<Approval>;
  /** Keeps what came of an approved call, all of it or nothing.
   * @throws StrataError `approval_not_found`, `approval_decided` when it is not approved or has run already */
  finishApproval(scope: ContactScope, id: ApprovalId, finish: Finish): Promise<Approval>;

  /** Oldest first. */
  outbox(scope: Scope, limit: number): Promise<readonly OutboxMessage[]>;
  /** Marks a waiting message as delivered; false when it is not waiting any more. */
  deliver(scope: Scope, id: OutboxId, at: number): Promise<boolean>;
  usage(scope: Scope): Promise<UsageTotal>;
  /** Dollars of all requests of the agent since then, with all contacts; those of failed turns too. */
  spent(org: OrgId, agent: AgentName, since: number): Promise<number>;

  /**
   * Blanks every text of the contact, forgets its key and memories and closes its threads: the next opening makes a new one.
   * A turn that runs ends as failed. The chain stays valid; requests that held the texts cannot be rebuilt. Ids, names of
   * channels, counts and costs stay, under a pseudonym. Gives the scope where they are now; nothing where nothing was kept of it.
   */
  eraseContact(scope: ContactScope, actor: Actor, at: number): Promise<ContactScope | undefined>;
  /** Contacts whose rows are erased, and whose files may not be yet: what is left of an erasure that was interrupted. */
  unfinishedErasures(): Promise<readonly ContactScope[]>;
  /** Ends an erasure whose files are gone: the contact's name goes, too. */
  finishErasure(scope: ContactScope): Promise<void>;

  organizations(): Promise<readonly OrgId[]>;
  /** Every agent of the organization that ever had a thread, a text of its own, credits or a state; declared today or not. */
  agents(org: OrgId): Promise<readonly AgentName[]>;
  head(org: OrgId): Promise<ChainHead>;
  /** Re-derives every stored digest and the chain; with an anchor, that the record still reaches it. */
  verify(org: OrgId, anchor?: ChainHead): AsyncIterable<Finding>;
  /** A whole copy in a new file, while others write. @throws StrataError `invalid_input` for a file that exists, `file_not_found` */
  backup(file: string, onProgress?: (progress: BackupProgress) => void): Promise<void>;
  /** Why nothing more can be kept, in a sentence: the data was moved or deleted while it was open. Nothing where all is well. */
  trouble(): Promise<string | undefined>;
  close(): Promise<void>;
}
