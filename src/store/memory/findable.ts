import type { Memory, ThreadId } from "../../protocol/index.ts";
import { talkOf } from "./messages.ts";
import type { Findable } from "./units.ts";

/** A memory as it is found. What shares a label is one stretch of talk, whenever it was said; a thread's has pauses. */
export function findable(memory: Memory, row: number, thread: ThreadId | null = null): Findable {
  const { session } = memory;
  const labelled = session === undefined ? undefined : { name: `= ${session}`, gap: Number.MAX_VALUE };
  const talk = thread === null ? labelled : talkOf(thread);
  return { ...memory, row, ...(talk && { talk }) };
}
