import type { ContactId, Digest, EventId, OutboxId, Spoken, ThreadId } from "../protocol/index.ts";

/** What is needed to open the next turn of several senders, if an inbox has one. */
export interface BatchOpening {
  readonly id: ThreadId;
  /** A contact of its own, so that the record of this turn can be erased with any of its senders. */
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
  /** Threads that shall keep waiting. Default: none. */
  readonly resting?: ReadonlySet<ThreadId>;
  /** Real time, and time on the threads' own clock; milliseconds since 1970. */
  readonly now: number;
  readonly at: number;
  /** False for a holder that is certainly gone. */
  readonly alive: (holder: string) => boolean;
}

/** A thread that nobody holds, with the message that has waited there longest. */
export interface WaitingThread {
  readonly thread: ThreadId;
  readonly first: EventId;
}

/** How many of a thread's last turns failed in a row, and when the newest ended, on the threads' own clock. */
export interface Failures {
  readonly count: number;
  readonly at: number;
}

/** The result of a turn of several senders for one of them. */
export interface BatchReply {
  /** The sender's thread. */
  readonly thread: ThreadId;
  /** Null: the turn handled the messages without a reply. */
  readonly reply: Spoken | null;
  /** The id that the reply gets. */
  readonly outbox: OutboxId;
  readonly unremembered: readonly (EventId | OutboxId)[];
}
