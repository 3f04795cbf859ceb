import { type ContactScope, type MemoryId, type NewMemory, never, StrataError } from "../../protocol/index.ts";
import type { TurnOutcome } from "../store.ts";
import type { Connection } from "./connection.ts";
import { memory } from "./memories.ts";
import { addMemory, forgetMemory } from "./save-memory.ts";

/** Applies what tools asked to be written, each under its id. Gives what had to go for it. Part of a write transaction. */
export function applyWrites(
  db: Connection,
  scope: ContactScope,
  { writes, memories }: Pick<TurnOutcome, "writes" | "memories">,
  whose: string,
): readonly MemoryId[] {
  const evicted: MemoryId[] = [];
  for (const [i, write] of writes.entries()) {
    const id = memories[i];
    if (id === undefined) {
      const says = `the commit of ${whose} has ${writes.length} writes and ${memories.length} ids`;
      throw new StrataError("invalid_input", `${says}: issue one id for each`, { whose });
    }
    switch (write.kind) {
      case "memory":
        evicted.push(...addMemory(db, scope, { id, memory: current(db, scope, write.memory) }).evicted);
        break;
      case "forget":
        // What it was, the tool has looked at; what is gone meanwhile is forgotten.
        forgetMemory(db, scope, write.memory);
        break;
      default:
        never(write);
    }
  }
  return evicted;
}

/** What it was to take the place of may have gone since the tool looked: then it is kept as one of its own, and the commit lands. */
function current(db: Connection, scope: ContactScope, given: NewMemory): NewMemory {
  const { supersedes, ...alone } = given;
  if (supersedes === undefined || memory(db, scope, supersedes)) return given;
  return { ...alone, sources: [...(given.sources ?? []), supersedes] };
}
