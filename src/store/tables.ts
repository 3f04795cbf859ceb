import type { Generated, Selectable } from "kysely";
import type {
  ActorId,
  AgentName,
  CallId,
  ContactId,
  Digest,
  EpochReason,
  ErrorCode,
  EventId,
  EventKind,
  EventStatus,
  FinishReason,
  Mode,
  ModelRef,
  OrgId,
  Proof,
  Role,
  StopReason,
  ThreadId,
  ToolName,
  Trust,
  TurnId,
  TurnStatus,
  WaitsFor,
} from "../protocol/index.ts";
import type { AgentTables } from "./agent-tables.ts";
import type { MemoryTables } from "./memory-tables.ts";

/** Stands in the `contact` column for "no contact": keys of tables cannot hold null, and no contact is empty. */
export const NOBODY = "";

/** Whose row it is: the columns every query of thread, memory or conversation data filters by (law 5). */
interface Owned {
  readonly org: OrgId;
  readonly agent: AgentName;
  readonly contact: ContactId;
}

/** Rows that may also be the agent's own. */
interface OwnedOrAgents extends Omit<Owned, "contact"> {
  readonly contact: ContactId | typeof NOBODY;
}

/** A declaration that the organization shares: `piece` names its text. */
interface AgentVersionTable {
  readonly org: OrgId;
  readonly agent: AgentName;
  readonly version: Digest;
  readonly piece: Digest;
  readonly at: number;
}

/** Text without anything personal in it, stored once per organization under its plain digest. */
interface SharedPieceTable {
  readonly org: OrgId;
  readonly digest: Digest;
  readonly text: string;
  /** By which retraction its text went. */
  readonly retracted: number | null;
}

/** The secret under which a contact's texts are digested: once it is gone, a guess cannot be confirmed. */
interface ContactKeyTable extends OwnedOrAgents {
  readonly key: Uint8Array;
}

/** Personal text, stored once per contact under its keyed digest. No text: it was erased, or went by the retraction of that number. */
interface PieceTable extends Owned {
  readonly digest: Digest;
  readonly text: string | null;
  readonly retracted: number | null;
}

interface ThreadTable extends Owned {
  readonly id: ThreadId;
  readonly channel: string;
  readonly key: string;
  readonly version: Digest;
  readonly forked_thread: ThreadId | null;
  readonly forked_turn: TurnId | null;
  readonly created_at: number;
  readonly last_activity: number;
  readonly turns: number;
  readonly fence: number;
  readonly holder: string | null;
  readonly lease_until: number | null;
  /** The link that records the erasure of its contact. Such a thread is closed. */
  readonly erased_link: number | null;
  /** The fence of the claim that is to stop. */
  readonly stop_fence: number | null;
  /** The call that this thread answers: on which thread, and of which agent, it is open. The contact is the same. */
  readonly caller_thread: ThreadId | null;
  readonly caller_agent: AgentName | null;
  readonly caller_call: CallId | null;
  /** Who asks here and who answers, if the counterpart is not the contact; otherwise null. */
  readonly initiator: string | null;
  readonly target: string | null;
}

/** `piece` holds name and content. */
interface EventTable extends Owned {
  readonly id: EventId;
  readonly thread: ThreadId;
  readonly seq: number;
  readonly kind: EventKind;
  readonly trust: Trust;
  readonly channel: string;
  readonly external_id: string | null;
  readonly piece: Digest;
  readonly at: number;
  readonly status: EventStatus;
  readonly turn: TurnId | null;
  /** Null in older rows, and if senders are not addresses. */
  readonly proof: Proof | null;
  /** The open call that it answers. */
  readonly answers: CallId | null;
  /** By which retraction it is gone. */
  readonly retracted: number | null;
}

/** `prefix` and `entries` name shared pieces; `start` is how many messages the transcript began with. */
interface EpochTable extends Owned {
  readonly thread: ThreadId;
  readonly n: number;
  readonly reason: EpochReason;
  readonly cut: number;
  readonly mode: Mode;
  readonly prefix: Digest;
  readonly entries: Digest;
  readonly turn: TurnId;
  readonly start: number;
}

/** The fields of a stored message, in every table that has one. */
interface MessageColumns extends Owned {
  readonly position: number;
  readonly piece: Digest;
  readonly trust: Trust;
  readonly tokens: number;
  readonly came_with: TurnId | null;
}

/** A place of a transcript. `rolling` digests all up to here. */
interface MessageTable extends MessageColumns {
  readonly thread: ThreadId;
  readonly epoch: number;
  readonly rolling: Digest;
}

/** A turn's messages, also if it failed. */
interface TurnMessageTable extends MessageColumns {
  readonly turn: TurnId;
}

/** `words` names the reply's text or the failure's sentence; `epoch` and `length` say where the transcript ended. */
interface TurnTable extends Owned {
  readonly id: TurnId;
  readonly thread: ThreadId;
  readonly seq: number;
  readonly status: TurnStatus;
  readonly attempt: number;
  readonly version: Digest;
  readonly started_at: number;
  readonly ended_at: number | null;
  readonly stop: StopReason | null;
  readonly code: ErrorCode | null;
  readonly words: Digest | null;
  readonly model: ModelRef | null;
  readonly wire: ModelRef | null;
  readonly mode: Mode | null;
  readonly totals: string | null;
  readonly epoch: number | null;
  readonly length: number | null;
  readonly link: number | null;
  /** How many messages at the end of its transcript it added; null if it did not end well, or in older rows. */
  readonly own: number | null;
  /** What features' steps did in it, as JSON; null: nothing. */
  readonly steps: string | null;
  /** The first turn of its run. */
  readonly run: TurnId;
  /** The last event that it takes, by its number on the thread; null in a turn of several senders, and before this was kept. */
  readonly upto: number | null;
  /** By which retraction it has left the transcript. */
  readonly retracted: number | null;
}

/** A call that a turn left open when it ended `waiting`. `call` is the provider's id, `reserved` and `used` are limits of the run as JSON. */
interface OpenCallTable extends Owned {
  readonly id: CallId;
  readonly thread: ThreadId;
  readonly turn: TurnId;
  readonly position: number;
  readonly call: string;
  readonly tool: ToolName;
  readonly waits_for: WaitsFor;
  /** 1: other messages wait until it is answered. */
  readonly keeps: number;
  /** In real time. */
  readonly due: number | null;
  readonly reserved: string | null;
  readonly state: "open" | "answered" | "cancelled" | "closed";
  /** The turn that gave it a result; null where its thread was erased before. */
  readonly closed_by: TurnId | null;
  readonly used: string | null;
}

/** What a turn that ended had to handle, in order. */
interface TurnEventTable extends Owned {
  readonly turn: TurnId;
  readonly position: number;
  readonly event: EventId;
}

/** `marks`, `parameters` and `ledger` name shared pieces, `tail` and `reply` the contact's. */
interface RequestTable extends Owned {
  readonly thread: ThreadId;
  readonly turn: TurnId;
  readonly n: number;
  readonly epoch: number;
  readonly base: number;
  readonly own: number;
  readonly tail: Digest;
  readonly marks: Digest;
  readonly parameters: Digest;
  readonly ledger: Digest;
  readonly taint: Trust;
  readonly reply: Digest | null;
  readonly finish: FinishReason | null;
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly output: number;
  readonly dollars: number;
  readonly at: number;
  readonly milliseconds: number;
  /** Part of `cache_write`. What follows is null in rows of before it was kept. */
  readonly cache_write_long: number | null;
  readonly predicted_read: number | null;
  readonly predicted_write: number | null;
  readonly predicted_write_long: number | null;
  readonly predicted_input: number | null;
}

/** `speaker` is a role and never a name, so that the record can tell it without naming the contact. */
interface SlotTable extends Owned {
  readonly thread: ThreadId;
  readonly position: number;
  readonly turn: TurnId;
  readonly kind: EventKind | "reply";
  readonly speaker: Trust;
  readonly piece: Digest;
  readonly at: number;
  /** The act of a person by which it came after its turn; null for what its turn said. */
  readonly act: string | null;
  /** By which retraction it is gone. */
  readonly retracted: number | null;
}

/** `input` is the keyed digest of the call's canonical input. */
interface JournalTable extends Owned {
  readonly thread: ThreadId;
  readonly turn: TurnId;
  readonly ordinal: number;
  readonly tool: ToolName;
  readonly input: Digest;
  readonly begun_at: number;
  readonly outcome: Digest | null;
  readonly ended_at: number | null;
}

/**
 * That an event was retracted, or what came from an erased contact (then without an event). `turns`, `texts` and `undone` are JSON or name it: turns that left
 * their transcripts, the digests of texts that went (a shared piece), and links whose rows are gone. `reason` names a text.
 */
interface RetractionTable extends Owned {
  readonly n: number;
  readonly event: EventId | null;
  readonly turns: string;
  readonly texts: Digest;
  readonly undone: string;
  readonly by: Role;
  readonly by_id: ActorId | null;
  readonly reason: Digest;
  readonly at: number;
  readonly link: number;
}

/** A sender's thread in a turn of several senders, whose own thread is `batch`; `turn` is the sender's, null before the first claim. */
interface BatchMemberTable extends Owned {
  readonly number: Generated<number>;
  readonly thread: ThreadId;
  readonly turn: TurnId | null;
  readonly batch: ThreadId;
  readonly batch_contact: ContactId;
}

/** The record of an organization: each link covers one turn or one erasure and all links before it. */
interface ChainTable {
  readonly org: OrgId;
  readonly seq: number;
  readonly prev: Digest | null;
  readonly hash: Digest;
  readonly body: string;
}

/** Every table, typed with the words of the protocol: what is written is checked by the compiler, what is read was written so. */
export interface Tables extends AgentTables, MemoryTables {
  readonly agent_version: AgentVersionTable;
  readonly shared_piece: SharedPieceTable;
  readonly contact_key: ContactKeyTable;
  readonly piece: PieceTable;
  readonly thread: ThreadTable;
  readonly event: EventTable;
  readonly epoch: EpochTable;
  readonly message: MessageTable;
  readonly turn: TurnTable;
  readonly turn_event: TurnEventTable;
  readonly turn_message: TurnMessageTable;
  readonly request: RequestTable;
  readonly slot: SlotTable;
  readonly journal: JournalTable;
  readonly open_call: OpenCallTable;
  readonly retraction: RetractionTable;
  readonly staged: BatchMemberTable;
  readonly chain: ChainTable;
}

/** A row as read. */
export type Row<Table extends keyof Tables> = Selectable<Tables[Table]>;
