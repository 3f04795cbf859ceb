import type {
  AnswerFields,
  Breakpoint,
  CommitReport,
  ContactScope,
  Digest,
  Epoch,
  ErrorCode,
  EventId,
  Json,
  Ledger,
  Mode,
  ModelRef,
  NewEvent,
  OrgId,
  OutboxId,
  Parameters,
  PlannedWrite,
  Prediction,
  Reply,
  Request,
  Spoken,
  StepRecord,
  StopReason,
  StoredEvent,
  TailPart,
  ThreadId,
  TranscriptMessage,
  Trust,
  TurnEdit,
  TurnId,
  TurnStatus,
  TurnTotals,
  Untrusted,
} from "../protocol/index.ts";
import type { Caller, ContinuedRun, NewOpenCall, OpenCall, Parties } from "./call-records.ts";

/** One conversation of one agent with one counterpart. `version` is the agent version it is pinned to. */
export interface Thread {
  readonly id: ThreadId;
  readonly scope: ContactScope;
  readonly channel: string;
  /** The door's name for the conversation; with scope and channel it names one open thread. */
  readonly key: string;
  readonly version: Digest;
  readonly forkedFrom?: { readonly thread: ThreadId; readonly turn: TurnId | null };
  readonly createdAt: number;
  /** The newest of its opening, its events and its turns, on the thread's own clock. */
  readonly lastActivity: number;
  /** Turns that ended, well or not. */
  readonly turns: number;
  /** The call that it answers, where another turn opened it. */
  readonly caller?: Caller;
  readonly parties?: Parties;
}

/**
 * Where a reader of a list has come to: what the last row is sorted by, and its id where several have the same. A list is read on
 * from there, whatever was added meanwhile.
 */
export interface Position {
  readonly at: number;
  readonly id: string;
}

/** The maximum number of rows, starting after a position. */
export interface Paging {
  readonly limit: number;
  readonly after?: Position | undefined;
}

/** Only what is on one channel, or what is on none of some; or the conversation of that key. */
export interface ChannelChoice {
  readonly channel?: string | undefined;
  readonly key?: string | undefined;
  readonly except?: readonly string[] | undefined;
}

/** Which threads are listed. */
export interface ThreadChoice extends ChannelChoice, Partial<Pick<Paging, "after">> {
  /** Only those on which a turn may begin: something is pending. */
  readonly isDue?: true;
}

/** What opening a thread needs. Opening the same `(scope, channel, key)` again gives the thread that is there. */
export interface ThreadOpening {
  readonly id: ThreadId;
  readonly channel: string;
  readonly key: string;
  readonly version: Digest;
  readonly at: number;
  readonly forkedFrom?: { readonly thread: ThreadId; readonly turn: TurnId | null };
  /** The thread whose turn asks for it: when that is erased, nothing is opened (`thread_not_found`). */
  readonly parent?: ThreadId;
  /** The open call that it answers. */
  readonly caller?: Caller;
  readonly parties?: Parties;
}

/** An event for a thread, with the id that it gets. */
export type ArrivingEvent = NewEvent & AnswerFields & { readonly id: EventId };

/** A thread with the events that were just stored on it. */
export interface Posted {
  readonly thread: Thread;
  readonly events: readonly StoredEvent[];
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
  /** The agent version that would run the turn. A thread at another version is pinned to this one unless it has a running transcript. */
  readonly version?: Digest;
  /** The version that the asker knows the thread at. One that is at another by now is not pinned: it has moved. Left out: whatever it is at. */
  readonly seen?: Digest;
  /** How many turns had ended when the caller looked: if another has ended since, the thread has moved. If omitted, this is not checked. */
  readonly turns?: number;
  /** False for a holder that is surely gone: its lease is void. Asked for the asker's own name too: no one holds a thread twice. */
  readonly alive: (holder: string) => boolean;
  /** The maximum number of messages that are taken, besides the answers to open calls; if omitted, 200. */
  readonly most?: number;
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
  /** Calls at the end of the transcript, each of which gets a result before all else. `events` begins with the answers there are. */
  readonly open: readonly OpenCall[];
  /** Where an earlier turn left them open on this thread. */
  readonly continues?: ContinuedRun;
  /** Of a turn of several senders: the claim of each one's thread. `events` are then all of theirs. */
  readonly batchMembers?: readonly Claim[];
}

/** The result of a claim: the thread, its holder, a transcript that runs with another version than was asked for, or nothing to do. */
export type Claimed =
  | { readonly state: "claimed"; readonly claim: Claim }
  | { readonly state: "busy"; readonly holder: string; readonly until: number }
  | { readonly state: "moved"; readonly thread: Thread }
  | { readonly state: "idle" };

/** The events as stored, and what the claim of their thread gave: `idle` also where the last of them begins no turn. */
export interface ReceivedAndClaimed {
  readonly events: readonly StoredEvent[];
  readonly claimed: Claimed;
  /** Until then, nobody is told that they are stored. Rejects where the disk has failed. */
  readonly onDisk: Promise<void>;
}

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
  readonly breakpoints: readonly Breakpoint[];
  readonly parameters: Parameters;
  readonly ledger: Ledger;
  /** The lowest trust of everything that was sent. */
  readonly taint: Trust;
  /** The estimate before the call; missing in records from before it was stored. */
  readonly prediction?: Prediction;
  /** None where the model gave no whole answer. */
  readonly reply: Reply | null;
  readonly dollars: number;
  readonly at: number;
  readonly milliseconds: number;
}

/** What a later request of the thread must know of an answered one: what of it a provider's cache may still hold. */
export interface SentRequest
  extends Pick<RequestRecord, "epoch" | "base" | "own" | "breakpoints" | "parameters" | "at"> {
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
  | { readonly status: "waiting"; readonly reply: Spoken | null; readonly calls: readonly NewOpenCall[] }
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
  /** What the turn adds to the transcript of its last epoch when it is done; kept for the record only if it failed. */
  readonly messages: readonly TranscriptMessage[];
  readonly requests: readonly RequestRecord[];
  /** Applied when the turn is done. */
  readonly writes: readonly PlannedWrite[];
  /** The key of each feature's `outcomePart`: what it left for its own `onCommit`. */
  readonly extras: object;
  readonly totals: TurnTotals;
  /** What features' steps did. Left out: nothing. */
  readonly steps?: StepRecord;
  /** The id that the reply gets, in the conversation, in memory and where it waits for delivery. */
  readonly replyId: OutboxId;
  /** Messages that are not to be remembered, by their event or by the reply: they stay in the thread's record. */
  readonly unremembered: readonly (EventId | OutboxId)[];
  /** How a turn of several senders ends for those whose messages it has not answered because the agent's money ran out. */
  readonly unpaid?: Extract<TurnEnd, { status: "failed" }>;
  /** Of a turn of several senders: what it came to for each whose messages it has handled. Those of the others keep waiting. */
  readonly replies?: readonly BatchReply[];
  /** What begins elsewhere with this commit, when it is kept: threads of other agents, or of this one, with their first events. */
  readonly starts?: readonly Start[];
  /** On a called thread: how the turn ends for its caller. Of a failed turn only if it is not retried. */
  readonly forCaller?: ForCaller;
  /** Of a failed turn that continues a run and is not retried: the run ends with it, and its calls are no longer waited for. */
  readonly endsRun?: true;
}

/** A thread that a turn begins, with what is said there. */
export interface Start {
  readonly scope: ContactScope;
  readonly opening: ThreadOpening;
  readonly events: readonly ArrivingEvent[];
}

/** `responds` with the answer to the caller's call, `ends` it with a sentence, or `forwards` it to a thread that the same commit starts. */
export type ForCaller =
  | { readonly way: "responds" | "ends"; readonly answer: Omit<ArrivingEvent, "answers" | "externalId"> }
  | { readonly way: "forwards" };

/** The result of a turn of several senders for one of them. */
export interface BatchReply {
  /** The sender's thread. */
  readonly thread: ThreadId;
  /** Null: the turn handled the messages without a reply. */
  readonly reply: Spoken | null;
  /** The id that the reply gets. */
  readonly replyId: OutboxId;
  readonly unremembered: readonly (EventId | OutboxId)[];
}

/** A turn as recorded, without the bytes of its requests. */
export interface TurnRecord {
  readonly id: TurnId;
  readonly thread: ThreadId;
  readonly scope: ContactScope;
  /** 1 for the thread's first. */
  readonly seq: number;
  readonly status: TurnStatus;
  readonly attempt: number;
  readonly end?: TurnEnd;
  readonly version: Digest;
  readonly model?: ModelRef;
  readonly wire?: ModelRef;
  readonly mode?: Mode;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly totals?: TurnTotals;
  readonly steps?: StepRecord;
  /** Requests and events are recorded when the turn ends; while it runs there are none. Erased texts are empty. */
  readonly requests: readonly Omit<RequestRecord, "tail">[];
  readonly events: readonly StoredEvent[];
  /** The texts that it wrote, in the order in which it did. */
  readonly edits?: readonly TurnEdit[];
  /** The thread of the turn that handled these messages with those of other senders. */
  readonly batch?: ThreadId;
  /** For a turn with several senders: their turns, with what each of them wrote and received. */
  readonly senders?: readonly { readonly thread: ThreadId; readonly turn: TurnId }[];
  /** The first turn of its run; its own id if it began one. */
  readonly run: TurnId;
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

/** The newest link of an organization's record. Kept elsewhere, it is an anchor: a shortened record no longer reaches it. */
export interface ChainHead {
  readonly org: OrgId;
  /** 0 and no hash for an empty record. */
  readonly seq: number;
  readonly hash: Digest | null;
}

/** A turn's link in the chain, and what its commit came to besides. */
export interface Settled extends ChainHead {
  /** Left out: nothing. */
  readonly reports?: readonly CommitReport[];
}

/** What `verify` finds, as it finds it: what does not match, and `count` as how many of a kind it has checked so far. */
export type Finding =
  | { readonly type: "checked"; readonly what: "piece" | "epoch" | "turn" | "link"; readonly count: number }
  | { readonly type: "problem"; readonly where: string; readonly message: string }
  | { readonly type: "covered"; readonly columns: readonly ColumnCover[] };

/**
 * Columns that may change without a trace, or one that rows have only since a link of the record: null if no row has it yet. All other
 * columns are covered throughout.
 */
export type ColumnCover =
  | { readonly table: string; readonly columns: readonly string[]; readonly by: "nothing" }
  | { readonly table: string; readonly columns: readonly string[]; readonly by: "links"; readonly from: number | null };

/**
 * Usage summed over a scope; turns that failed were paid for too. A turn of several senders counts once: for one of them as a turn that
 * cost nothing, because its cost cannot be assigned to one sender.
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

/** One entry of a thread's history: what was said, without any prompt or configuration. `kind` is that of the event, or `reply`. */
export interface Slot {
  readonly thread: ThreadId;
  readonly index: number;
  /** The turn that handled it, or that said it. */
  readonly turn: TurnId;
  readonly from: string;
  readonly to: string;
  /** What the sender is: a contact may have the name of an agent, or of a role. */
  readonly role: Trust;
  readonly kind: string;
  readonly text: Untrusted;
  /** Where JSON of a named type was sent: the first of its parts. */
  readonly payload?: Json;
  readonly payloadType?: string;
  readonly at: number;
}

/** One entry of a thread's history with what was asked of other agents there. `failed`: the one who was asked had no answer. */
export interface WholeHistoryEntry
  extends Pick<Slot, "from" | "to" | "kind" | "text" | "payload" | "payloadType" | "at"> {
  readonly failed?: true;
}
