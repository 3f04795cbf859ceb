import { asStrataError, type ThreadId, type TurnEvent } from "../../protocol/index.ts";

/** What this program knows about threads with waiting messages that is not in the record. */
export interface WaitingThreads {
  /** The poster runs no turn for what was posted there: background work answers it at once. */
  readonly handOver: (thread: ThreadId) => void;
  /** A new message was posted there. */
  readonly wake: (thread: ThreadId) => void;
  readonly isHandedOver: (thread: ThreadId) => boolean;
  /** Whether a person has cancelled its last turn: its messages wait until a new one is posted or a turn is asked for. */
  readonly isStopped: (thread: ThreadId) => boolean;
  /** Passes the events of a turn of the thread on, and notes how it ends. */
  readonly watch: (thread: ThreadId, turn: AsyncIterable<TurnEvent>) => AsyncGenerator<TurnEvent>;
}

export function openWaitingThreads(): WaitingThreads {
  const handed = new Set<ThreadId>();
  const stopped = new Set<ThreadId>();
  return {
    handOver: (thread) => void handed.add(thread),
    wake: (thread) => void stopped.delete(thread),
    isHandedOver: (thread) => handed.has(thread),
    isStopped: (thread) => stopped.has(thread),
    async *watch(thread, turn) {
      stopped.delete(thread);
      try {
        for await (const event of turn) {
          if (event.type === "turn-start") handed.delete(thread);
          if (event.type === "failed" && event.error.code === "turn_cancelled") stopped.add(thread);
          yield event;
        }
      } catch (thrown) {
        // Cancelled before its turn had a place.
        if (asStrataError(thrown).code === "turn_cancelled") stopped.add(thread);
        throw thrown;
      }
    },
  };
}
