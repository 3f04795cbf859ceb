import type {
  Actor,
  AgentName,
  CallId,
  ContactId,
  ContactScope,
  Digest,
  Epoch,
  EventId,
  Json,
  ModelRef,
  OrgId,
  Scope,
  StoredEvent,
  ThreadId,
  ToolName,
  ToolOutcome,
  TurnId,
} from "../protocol/index.ts";
import type { Renaming } from "./agent/rename-agent.ts";
import type { AgentOwner, AgentStore } from "./agent-store.ts";
import type { OpenCall } from "./call-records.ts";
import type { MemoryStore, VectorStore } from "./memory-store.ts";
import type { ContactCursor, ContactRow } from "./record/contact-rows.ts";
import type { FoundEvent, Retracted, Retraction } from "./record/retract.ts";
import type {
  ArrivingEvent,
  ChainHead,
  Claim,
  Claimed,
  ClaimRequest,
  Finding,
  HeldThread,
  Paging,
  Posted,
  RebuiltRequest,
  ReceivedAndClaimed,
  RequestStart,
  SentRequest,
  Settled,
  Slot,
  Thread,
  ThreadChoice,
  ThreadMove,
  ThreadOpening,
  TurnOutcome,
  TurnRecord,
  UsageTotal,
  WholeHistoryEntry,
} from "./records.ts";
import type { AnswerTimes } from "./threads/answers.ts";
import type { AlsoStored, BackupProgress, StorePart, Writes } from "./tx.ts";

/**
 * The contract of the store. Every read and write of thread, memory or conversation data takes a scope; data outside of it does not
 * exist for the function. One function is one transaction.
 * @throws StrataError `store_busy`, `store_failed`, and what each function names
 */
export interface Store extends MemoryStore, VectorStore, AgentStore {
  /** A feature's data here. @throws StrataError `unexpected` if the store was opened without that feature */
  part<Functions extends object>(of: StorePart<Functions>): Functions;
  /** Every kind of write that a turn's commit can do here. */
  readonly writes: Writes;

  /** Keeps an agent version's frozen declaration (canonical JSON); the same digest again changes nothing. */
  saveAgentVersion(org: OrgId, agent: AgentName, version: Digest, spec: string, at: number): Promise<void>;
  agentVersion(org: OrgId, agent: AgentName, version: Digest): Promise<string | undefined>;
  /** The last stored declaration of each agent of the organization, except these. */
  lastVersions(
    org: OrgId,
    except: readonly AgentName[],
  ): Promise<readonly { readonly agent: AgentName; readonly version: Digest; readonly spec: string }[]>;
  /** Rows that are kept of a contact, table by table, with their texts; `next` says where to continue, and is left out at the end. */
  contactRows(
    scope: ContactScope,
    limit: number,
    after?: ContactCursor,
  ): Promise<{ readonly rows: readonly ContactRow[]; readonly next?: ContactCursor }>;
  /** The same contact under agents that were called for it, at whatever depth: the questions they were asked are the contact's words. */
  calledFrom(scope: ContactScope): Promise<readonly ContactScope[]>;
  /** Those of which anything is kept, declared or not. */
  keptAgents(org: OrgId): Promise<readonly AgentName[]>;
  /**
   * Gives all that is kept of an agent to another name, in one transaction; the chain says so.
   * @throws StrataError `agent_not_found`, `invalid_input` where the new name has a record, `thread_busy`
   */
  renameAgent(owner: AgentOwner, renaming: Renaming): Promise<void>;

  /**
   * A thread that had no turn yet is pinned to the version it is opened with, like a new one. A fork keeps its version, and
   * continues in the epoch and transcript in which that turn of its scope ended; without a turn it begins again.
   */
  openThread(scope: ContactScope, opening: ThreadOpening): Promise<Thread>;
  thread(scope: Scope, id: ThreadId): Promise<Thread | undefined>;
  /** Pins the thread to that version from its next turn on. @throws StrataError `thread_busy` while a turn runs on it, `thread_not_found` */
  moveThread(scope: ContactScope, id: ThreadId, move: ThreadMove): Promise<Thread>;
  /** Newest activity first. A scope with `contact: null` lists all contacts of the agent. */
  threads(scope: Scope, limit: number, on?: ThreadChoice): Promise<readonly Thread[]>;
  /** The open thread of that channel and key. */
  threadNamed(
    scope: ContactScope,
    name: { readonly channel: string; readonly key: string },
  ): Promise<Thread | undefined>;
  /** The same as the last turn that this program ended there left it, without asking the record: only for those who compare it later, as a claim does. */
  knownThread(scope: ContactScope, name: { readonly channel: string; readonly key: string }): Thread | undefined;
  /**
   * How many threads of an agent, of whatever contacts, have changed since then or wait for a turn or an answer, except those of calls; and
   * the oldest that waits for nothing.
   */
  liveThreads(owner: AgentOwner, since: number): Promise<{ readonly count: number; readonly oldest?: Thread }>;
  /** Of these, those on which nothing has come after a warning: one later than `before` (`open`), or one that had its turn (`over`). */
  warnedThreads(
    owner: AgentOwner,
    when: { readonly since: number; readonly before: number },
  ): Promise<{ readonly open: number; readonly over: number }>;
  slots(scope: ContactScope, thread: ThreadId, page?: Paging): Promise<readonly Slot[]>;
  /** The newest slots, and in their places what the thread's agent asked other agents, and what they answered. */
  wholeHistory(scope: ContactScope, thread: ThreadId, limit: number): Promise<readonly WholeHistoryEntry[]>;

  /** Stores events in order, all or none; one whose `(channel, externalId)` is known of this contact is not stored again, unless it was taken back or erased. Proven ones are known to each other alone, by `externalId`, for ever. Gives all as stored.
   * @throws StrataError `thread_not_found`; `invalid_input` for one that is known with other content, or a proven one that is gone */
  receive(
    scope: ContactScope,
    thread: ThreadId,
    events: readonly ArrivingEvent[],
    also?: AlsoStored,
  ): Promise<readonly StoredEvent[]>;
  /** Opens a thread and stores events on it, both or neither. */
  openAndReceive(
    scope: ContactScope,
    opening: ThreadOpening,
    events: readonly ArrivingEvent[],
    also?: AlsoStored,
  ): Promise<Posted>;
  pending(scope: ContactScope, thread: ThreadId): Promise<readonly StoredEvent[]>;
  /** Whether a turn may begin there: something is pending. */
  isDue(scope: ContactScope, thread: ThreadId): Promise<boolean>;
  /**
   * Withdraws all waiting messages of the thread: no turn will handle them, and an interrupted turn ends as failed. Returns the
   * withdrawn events.
   * @throws StrataError `thread_busy` while a turn handles it, `thread_not_found`
   */
  withdraw(
    scope: ContactScope,
    thread: ThreadId,
    request: Pick<ClaimRequest, "now" | "at" | "alive">,
  ): Promise<readonly StoredEvent[]>;

  /** The thread's running epoch with its transcript; none before the first turn. For those who only look: no lease is taken. */
  epoch(scope: ContactScope, thread: ThreadId): Promise<Epoch | undefined>;

  /**
   * The thread whose turn is next: one of several senders that was interrupted or never begun; otherwise a new one for those who have
   * waited longest, each with one thread; if only one sender waits, theirs. Undefined if all that waits is held. A claim of a thread of
   * several senders also claims theirs, each with a separate turn, and one commit settles all.
   */
  openBatch(owner: AgentOwner, opening: BatchOpening): Promise<Thread | undefined>;
  /**
   * Every thread whose turn could be next, those who have waited longest first; an interrupted one of several senders represents theirs.
   * Nothing is created or written.
   */
  waitingThreads(
    owner: AgentOwner,
    wish: Pick<BatchOpening, "except" | "rested" | "resting" | "now" | "alive">,
  ): Promise<readonly WaitingThread[]>;
  /** Calls at the end of the thread's transcript that have no result there yet, in their order. Empty if nothing is waited for. */
  openCalls(scope: ContactScope, thread: ThreadId, turns?: number): Promise<readonly OpenCall[]>;
  /** A call that some turn of the thread left open, whatever became of it since. */
  callLeftOpen(scope: ContactScope, thread: ThreadId, id: CallId): Promise<OpenCall | undefined>;
  /**
   * Nobody waits for the thread's open calls any more: they are answered with its next message. Returns those that were open.
   * @throws StrataError `thread_not_found`
   */
  cancelCalls(scope: ContactScope, thread: ThreadId): Promise<readonly OpenCall[]>;
  /** What no turn has taken yet, in the order received: also what waits for something else first, or goes along with the next turn. */
  untaken(scope: ContactScope, thread: ThreadId): Promise<readonly StoredEvent[]>;
  /** The threads that answer open calls of this thread. */
  calledThreads(scope: ContactScope, thread: ThreadId): Promise<readonly Thread[]>;
  /** The agent's threads on which a run goes on: a turn is due that continues it, or that answers another turn's call. */
  dueRuns(owner: AgentOwner): Promise<readonly Thread[]>;
  /** Answers the agent's open calls whose time is up with a sentence. Returns their threads. */
  answerOverdue(owner: AgentOwner, times: AnswerTimes): Promise<readonly ThreadId[]>;
  /** When the next one is overdue, in real time. */
  nextOverdue(owner: AgentOwner): Promise<number | undefined>;
  /** @throws StrataError `thread_not_found`; `thread_busy` if it belongs to an interrupted turn of several senders */
  claim(scope: ContactScope, thread: ThreadId, request: ClaimRequest): Promise<Claimed>;
  /**
   * `receive` and `claim` in one commit, for a sender who waits for the answer: no other worker ever finds the message waiting. Gives it before it is on the disk.
   * @throws StrataError as both: then nothing was stored
   */
  receiveAndClaim(
    scope: ContactScope,
    thread: ThreadId,
    events: readonly ArrivingEvent[],
    request: ClaimRequest,
    also?: AlsoStored,
  ): Promise<ReceivedAndClaimed>;
  /** Asks the thread's holder to end its turn. False if it has none, or only one that is surely gone. */
  askStop(scope: ContactScope, thread: ThreadId, at: Pick<ClaimRequest, "now" | "alive">): Promise<boolean>;
  /** Whether this claim's turn was asked to end. */
  stopAsked(claim: Claim): Promise<boolean>;
  /** Every thread of the organization that is held. */
  leases(org: OrgId): Promise<readonly HeldThread[]>;
  /** False when the lease is lost. */
  renew(claim: Claim, until: number): Promise<boolean>;
  /**
   * The commit of a turn. Returns the turn's link in the chain.
   * @throws StrataError `lease_lost`, also where one of several senders was erased, or `thread_not_found` where the only one was: then nothing was written.
   */
  settle(claim: Claim, outcome: TurnOutcome): Promise<Settled>;

  /** Journals a call before it acts. @throws StrataError `thread_not_found`, `turn_not_found`, `lease_lost` when the turn has ended */
  beginCall(scope: ContactScope, key: JournalKey, at: number): Promise<JournalState>;
  /** The journal's entry for a call of a turn that may have ended. @throws StrataError as `beginCall`, except for the end */
  recordedCall(scope: ContactScope, key: JournalKey): Promise<JournalState | undefined>;
  /** Journals what came of it; a second outcome changes nothing. @throws StrataError `invalid_input` for a call that was not begun */
  endCall(scope: ContactScope, key: JournalKey, outcome: ToolOutcome, at: number): Promise<void>;

  turn(scope: Scope, id: TurnId): Promise<TurnRecord | undefined>;
  /** Oldest first. */
  turns(scope: Scope, thread: ThreadId, page?: Paging): Promise<readonly TurnRecord[]>;
  /** The 64 newest answered requests of the thread's ended turns, oldest first. `turns`: how many have ended there, where the asker knows: then less is read. */
  sent(scope: ContactScope, thread: ThreadId, turns?: number): Promise<readonly SentRequest[]>;
  /** The provider's id of the newest answer that the thread got from this model, if it is known. */
  lastAnswer(scope: ContactScope, thread: ThreadId, wire: ModelRef): Promise<string | undefined>;
  /** When the 128 newest requests of all the agent's threads were made, the newest first; those of one channel left out. */
  starts(org: OrgId, agent: AgentName, except: readonly string[]): Promise<readonly RequestStart[]>;
  /** @throws StrataError `turn_not_found`, `record_broken` when a piece was erased or does not match */
  rebuild(scope: Scope, turn: TurnId, n: number): Promise<RebuiltRequest>;

  usage(scope: Scope): Promise<UsageTotal>;
  /** Dollars of all requests of the agent since then, with all contacts; those of failed turns too. */
  spent(org: OrgId, agent: AgentName, since: number): Promise<number>;

  /**
   * Blanks every text of the contact, deletes its key and memories and closes its threads: the next opening creates a new one. A
   * running turn ends as failed. The chain stays valid; requests with these texts cannot be rebuilt. Ids, names of channels, counts
   * and costs stay, under a pseudonym. Returns the scope of the pseudonym; undefined if nothing was stored for the contact.
   */
  eraseContact(scope: ContactScope, actor: Actor, at: number): Promise<ContactScope | undefined>;
  /**
   * Retracts an event with all that came from it, in one transaction: its words, the turns that handled it, everything remembered, asked
   * and proposed in them, and the results of that. Running turns end as failed, and their messages wait. The chain stays valid; requests
   * with these texts cannot be rebuilt. Undefined if there is no such event in the scope, or if it was already retracted.
   */
  retractEvent(scope: ContactScope, id: EventId, retraction: Retraction): Promise<Retracted | undefined>;
  /** The event of that id, whether it was retracted or not. */
  event(scope: Scope, id: EventId): Promise<FoundEvent | undefined>;
  /** Contacts whose rows are erased, and whose files may not be yet: what is left of an erasure that was interrupted. */
  unfinishedErasures(): Promise<readonly ContactScope[]>;
  /** Ends an erasure whose files are gone: the contact's name goes, too. */
  finishErasure(scope: ContactScope): Promise<void>;

  /**
   * A store in memory with what the contact and the agent have in this one, for turns that must change nothing: this store is read once
   * and never written. `before`: what people decided and what was remembered since then is not in it.
   * @throws StrataError `invalid_input` for a contact with too many rows
   */
  shadow(scope: ContactScope, before?: number): Promise<Store>;

  organizations(): Promise<readonly OrgId[]>;
  /** Every agent of the organization that ever had a thread, its own text, credits or a state; whether or not it is still declared. */
  agents(org: OrgId): Promise<readonly AgentName[]>;
  head(org: OrgId): Promise<ChainHead>;
  /** Re-derives every stored digest and the chain; with an anchor, that the record still reaches it. */
  verify(org: OrgId, anchor?: ChainHead): AsyncIterable<Finding>;
  /** A whole copy in a new file, while others write. @throws StrataError `invalid_input` for a file that exists, `file_not_found` */
  backup(file: string, onProgress?: (progress: BackupProgress) => void): Promise<void>;
  /**
   * Resolves once everything that this program has stored so far is on the disk. Writes wait for that by themselves; a reader that passes
   * data on to the outside waits here first.
   */
  onDisk(): Promise<void>;
  /** Why nothing more can be kept, in a sentence: the data was moved or deleted while it was open, or the last commit failed because of the disk or the server. Nothing where all is well. */
  trouble(): Promise<string | undefined>;
  close(): Promise<void>;
}

/** One call of a tool with an effect outside the store, journaled before it acts. */
export interface JournalKey {
  readonly thread: ThreadId;
  readonly turn: TurnId;
  /** 1 for the turn's first call of this tool with this input. Its position among other calls does not matter. */
  readonly ordinal: number;
  readonly tool: ToolName;
  readonly input: Json;
  /** In a turn of several senders: the turns of those whose messages it handles. The call counts for each of them. */
  readonly senders?: readonly JournalTurn[];
}

/** One sender's part of a turn of several senders. */
export interface JournalTurn {
  readonly scope: ContactScope;
  readonly thread: ThreadId;
  readonly turn: TurnId;
}

/**
 * `new`: act. `done`: it acted, and this was the result. `elsewhere`: it acted in a turn that also had other senders, and the result is not
 * for those of this one. `unknown`: it began, and its end was not recorded. Tool and input are part of the identity: another call at the
 * same ordinal is new, and the first one stays known.
 */
export type JournalState =
  | { readonly state: "new" }
  | { readonly state: "done"; readonly outcome: ToolOutcome }
  | { readonly state: "elsewhere" }
  | { readonly state: "unknown" };

/** What is needed to open the next turn of several senders, if an inbox has one. */
export interface BatchOpening {
  readonly id: ThreadId;
  /** A separate contact, so that the record of this turn can be erased with any of its senders. */
  readonly contact: ContactId;
  readonly channel: string;
  readonly version: Digest;
  /** At most this many senders. */
  readonly most: number;
  /** The name of a sender in such a turn. Two senders of the same name are never in one turn, and one without a name gets a turn alone. */
  readonly nameOf: (contact: ContactId) => string;
  /** Threads on these channels are not part of the inbox. */
  readonly except: readonly string[];
  /** If set, nothing is opened unless the message that has waited longest was received before this id was issued. */
  readonly receivedBefore?: EventId;
  /** Whether a thread whose last turns failed may be taken. Default: any. */
  readonly rested?: (failures: Failures) => boolean;
  /** Threads that are to keep waiting. Default: none. */
  readonly resting?: ReadonlySet<ThreadId>;
  /** Real time, and time on the threads' own clock; milliseconds since 1970. */
  readonly now: number;
  readonly at: number;
  /** False for a holder that is certainly gone. */
  readonly alive: (holder: string) => boolean;
}

/** An unheld thread, with the message that has waited there longest. */
export interface WaitingThread {
  readonly thread: ThreadId;
  readonly contact: ContactId;
  readonly first: EventId;
}

/** How many of a thread's last turns failed in a row, and when the newest ended, on the threads' own clock. */
export interface Failures {
  readonly count: number;
  readonly at: number;
}
