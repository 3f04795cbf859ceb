import type { Memory, ThreadId } from "../../protocol/index.ts";
import { talkOf } from "./messages.ts";
import type { Findable } from "./units.ts";

/**
 * A memory in the form in which it is indexed. Memories of the same label are one conversation, whenever they were said; in a thread, a
 * long pause begins another one.
 */
export function findable(memory: Memory, row: number, thread: ThreadId | null = null): Findable {
  const { session } = memory;
  const labelled = session === undefined ? undefined : { name: `= ${session}`, gap: Number.MAX_VALUE };
  const talk = thread === null ? labelled : talkOf(thread);
  return { ...memory, row, ...(talk && { talk }) };
}
