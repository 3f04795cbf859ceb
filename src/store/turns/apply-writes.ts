import {
  type ContactScope,
  lowestTrust,
  type Memory,
  type MemoryId,
  memoryScope,
  type NewMemory,
  never,
  type Scope,
  StrataError,
  type VersionKey,
} from "../../protocol/index.ts";
import { addVersion } from "../agent/edit-texts.ts";
import { memory } from "../memory/memories.ts";
import { addMemory, forgetMemory } from "../memory/save-memory.ts";
import type { TurnOutcome } from "../records.ts";
import type { Tx } from "../tx.ts";

/** What happened beyond what was asked for: memories that were deleted to make room, and edits that now wait for an operator. */
export interface Applied {
  readonly evicted: readonly MemoryId[];
  readonly overtaken: readonly VersionKey[];
}

/** Applies the writes of tools, each under its id. Part of a write transaction. */
export async function applyWrites(
  tx: Tx,
  scope: ContactScope,
  { writes, memories, at }: Pick<TurnOutcome, "writes" | "memories" | "at">,
  whose: string,
): Promise<Applied> {
  const own = memoryScope(scope);
  const evicted: MemoryId[] = [];
  const overtaken: VersionKey[] = [];
  for (const [i, write] of writes.entries()) {
    const id = memories[i];
    if (id === undefined) {
      const says = `the commit of ${whose} has ${writes.length} writes and ${memories.length} ids`;
      throw new StrataError("invalid_input", `${says}: issue one id for each`, { whose });
    }
    switch (write.kind) {
      case "memory":
        evicted.push(...(await addMemory(tx, own, { id, memory: await current(tx, own, write.memory) })).evicted);
        break;
      case "forget":
        if (isAgents(await memory(tx, own, write.memory))) await forgetMemory(tx, own, write.memory);
        break;
      case "edit": {
        const { layer, part, n, status } = await addVersion(tx, scope, write.edit, at);
        if (status !== write.edit.status) overtaken.push({ layer, ...(part !== undefined && { part }), n });
        break;
      }
      default:
        never(write);
    }
  }
  return { evicted, overtaken };
}

/**
 * The tool has checked what it forgets or replaces, but a person may have saved the same meanwhile. A memory that is not the agent's stays,
 * whatever a turn asks for.
 */
function isAgents(kept: Memory | undefined): kept is Memory {
  return kept !== undefined && kept.kind !== "message" && (kept.by ?? "agent") === "agent";
}

/**
 * What it was meant to replace may be gone by now, may no longer be the agent's, or may be trusted more than the turn (law 6). Then it is
 * stored as a memory of its own, and the commit succeeds.
 */
async function current(tx: Tx, scope: Scope, given: NewMemory): Promise<NewMemory> {
  const { supersedes, ...alone } = given;
  if (supersedes === undefined) return given;
  const old = await memory(tx, scope, supersedes);
  if (isAgents(old) && lowestTrust([old.trust, given.trust]) === old.trust) return given;
  return { ...alone, sources: [...(given.sources ?? []), supersedes] };
}
