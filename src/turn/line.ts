import type { ThreadId, TurnEvent } from "../protocol/index.ts";

/** What this program knows of threads on which something waits, and no record says. */
export interface Line {
  /** Nobody answers what was posted there but whoever looks after what waits. */
  readonly hand: (thread: ThreadId) => void;
  /** Something new was said there. */
  readonly wake: (thread: ThreadId) => void;
  readonly isHanded: (thread: ThreadId) => boolean;
  /** Whether a person has stopped its last turn: what waits is left alone until something new is said, or a turn is asked for. */
  readonly isStopped: (thread: ThreadId) => boolean;
  /** Passes a turn of the thread on, and sees how it ends. */
  readonly watch: (thread: ThreadId, turn: AsyncIterable<TurnEvent>) => AsyncGenerator<TurnEvent>;
}

export function openLine(): Line {
  const handed = new Set<ThreadId>();
  const stopped = new Set<ThreadId>();
  return {
    hand: (thread) => void handed.add(thread),
    wake: (thread) => void stopped.delete(thread),
    isHanded: (thread) => handed.has(thread),
    isStopped: (thread) => stopped.has(thread),
    async *watch(thread, turn) {
      stopped.delete(thread);
      for await (const event of turn) {
        if (event.type === "turn-start") handed.delete(thread);
        if (event.type === "failed" && event.error.code === "turn_cancelled") stopped.add(thread);
        yield event;
      }
    },
  };
}
