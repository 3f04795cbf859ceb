import type { ContactId, Digest, EventId, OutboxId, Spoken, ThreadId } from "../protocol/index.ts";

/** What the next turn of an inbox needs, if it is to be one of several senders. */
export interface BatchOpening {
  readonly id: ThreadId;
  /** A contact of its own, so that its record goes with any of its senders. */
  readonly contact: ContactId;
  readonly channel: string;
  readonly version: Digest;
  /** As many senders at the most. */
  readonly most: number;
  /** By what a sender is known in such a turn: no two of one name are in it, and none without a name is there with others. */
  readonly nameOf: (contact: ContactId) => string;
  /** Threads of these channels are nobody's mail. */
  readonly except: readonly string[];
  /** Left out: whatever waits. Else only where the message that waits longest was received before this id was issued. */
  readonly receivedBefore?: EventId;
  /** Whether a thread may be taken whose last turns failed. Left out: each. */
  readonly rested?: (failures: Failures) => boolean;
  /** Threads that shall keep waiting. Left out: none. */
  readonly resting?: ReadonlySet<ThreadId>;
  /** Real time, and time on the threads' own clock; milliseconds since 1970. */
  readonly now: number;
  readonly at: number;
  /** False for a holder that is surely gone. */
  readonly alive: (holder: string) => boolean;
}

/** A thread on which something waits and that nobody holds, and the message that waits there for longest. */
export interface WaitingThread {
  readonly thread: ThreadId;
  readonly first: EventId;
}

/** How many of a thread's last turns failed, one after the other, and when the newest ended, on the threads' own clock. */
export interface Failures {
  readonly count: number;
  readonly at: number;
}

/** What a turn of several senders came to for one of them. */
export interface BatchReply {
  /** The sender's. */
  readonly thread: ThreadId;
  /** None: it has handled the messages and answers nothing. */
  readonly reply: Spoken | null;
  /** For the reply. */
  readonly outbox: OutboxId;
  readonly unremembered: readonly (EventId | OutboxId)[];
}
