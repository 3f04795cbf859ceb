import { type Actor, authorize, MEMORY_KINDS, type Memory, type Scope } from "../protocol/index.ts";
import { everyMemory } from "./every-memory.ts";
import type { MemoryExport } from "./memory-doors.ts";
import { markdownOf } from "./memory-files/markdown.ts";
import type { Parts } from "./parts.ts";

const SAVED = MEMORY_KINDS.filter((kind) => kind !== "message");

/**
 * The scope's memories as text, piece by piece, newest first. What was said as a message only where `kinds` names it. In JSON
 * lines also what was superseded, for the record.
 */
export async function* exportMemories(
  { store }: Parts,
  { actor, scope }: { readonly actor: Actor; readonly scope: Scope },
  { format, ...listing }: MemoryExport,
): AsyncGenerator<string> {
  authorize(actor, "read", scope);
  const wanted = { kinds: SAVED, ...listing };
  if (format === "markdown") {
    // Tags are its headings: all of it is put in order first.
    const all: Memory[] = [];
    for await (const memory of everyMemory(store, scope, wanted)) all.push(memory);
    return yield* markdownOf(all);
  }
  for await (const memory of everyMemory(store, scope, { ...wanted, superseded: true })) yield `${lineOf(memory)}\n`;
}

/** Times to the millisecond; who wrote it down is always said. */
function lineOf({ at, validFrom, validUntil, supersededBy, by = "agent", ...memory }: Memory): string {
  const iso = (time: number): string => new Date(time).toISOString();
  return JSON.stringify({
    ...memory,
    by,
    at: iso(at),
    ...(validFrom !== undefined && { validFrom: iso(validFrom) }),
    ...(validUntil !== undefined && { validUntil: iso(validUntil) }),
    ...(supersededBy !== undefined && { supersededBy: { ...supersededBy, at: iso(supersededBy.at) } }),
  });
}
