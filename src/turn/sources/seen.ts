import { frozenIn, type Memory, type MemoryId } from "../../protocol/index.ts";
import type { GatherContext } from "./context.ts";

/** Whether the model sees a memory anyway: it came with a turn that still stands, this one too, or stands at the start. */
export function seenIn({ epoch, frozen: atStart, turn, events }: GatherContext): (memory: Memory) => boolean {
  const turns = new Set(epoch?.transcript.map((one) => one.turn) ?? []);
  const own = new Set<string>(events.map(({ id }) => id));
  const frozen = new Set<MemoryId>(atStart ?? frozenIn(epoch));
  return ({ id, turn: from, sources = [] }) =>
    frozen.has(id) ||
    (from !== undefined && (from === turn || turns.has(from))) ||
    sources.some((source) => own.has(source));
}

/** Whether what a memory is of has happened on the thread. What was saved again since has, whoever saved it first. */
export function happenedFor({ undone = NONE }: Pick<GatherContext, "undone">): (memory: Memory) => boolean {
  return ({ turn, sources = [], support }) =>
    support > 1 || !((turn !== undefined && undone.has(turn)) || sources.some((source) => undone.has(source)));
}

const NONE: ReadonlySet<string> = new Set();
