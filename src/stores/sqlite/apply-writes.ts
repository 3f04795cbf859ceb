import { type ContactScope, never, StrataError } from "../../protocol/index.ts";
import type { TurnOutcome } from "../store.ts";
import type { Connection } from "./connection.ts";
import { addMemory } from "./memories.ts";

/** Applies what tools asked to be written, each under its id. Part of a write transaction. */
export function applyWrites(
  db: Connection,
  scope: ContactScope,
  { writes, memories }: Pick<TurnOutcome, "writes" | "memories">,
  whose: string,
): void {
  for (const [i, write] of writes.entries()) {
    const id = memories[i];
    if (id === undefined) {
      const says = `the commit of ${whose} has ${writes.length} writes and ${memories.length} ids`;
      throw new StrataError("invalid_input", `${says}: issue one id for each`, { whose });
    }
    switch (write.kind) {
      case "memory":
        addMemory(db, scope, { id, memory: write.memory });
        break;
      default:
        never(write.kind);
    }
  }
}
