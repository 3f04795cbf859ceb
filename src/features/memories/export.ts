import { type Actor, authorize, MEMORY_KINDS, type Memory, type Scope } from "../../protocol/index.ts";
import type { Parts } from "../../turn/index.ts";
import type { MemoryExport } from "./door-types.ts";
import { everyMemory } from "./every-memory.ts";
import { markdownOf } from "./formats/markdown.ts";
import { PAUSE, sessions } from "./summaries/stretches.ts";

const SAVED = MEMORY_KINDS.filter((kind) => kind !== "message");

/**
 * The scope's memories as text, piece by piece, oldest first, so that a file reads as it was said and comes back in that order.
 * What was said as a message only where `kinds` names it. In JSON lines also what was superseded, for the record.
 */
export async function* exportMemories(
  { store }: Parts,
  { actor, scope }: { readonly actor: Actor; readonly scope: Scope },
  { format, ...listing }: MemoryExport,
): AsyncGenerator<string> {
  authorize(actor, "read", scope);
  const wanted = { kinds: SAVED, ...listing, ...(format === "jsonl" && { superseded: true as const }) };
  const all: Memory[] = [];
  for await (const memory of everyMemory(store, scope, wanted)) all.push(memory);
  const labelled = label(store, scope);
  const inOrder: Memory[] = [];
  for (const memory of all.reverse()) inOrder.push(memory.kind === "message" ? await labelled(memory) : memory);
  if (format === "markdown") yield* markdownOf(inOrder);
  else for (const memory of inOrder) yield `${lineOf(memory)}\n`;
}

/** Says of each message in turn who wrote it and of which stretch of talk it is: where it is imported nothing else tells. */
function label(store: Parts["store"], scope: Scope): (message: Memory) => Promise<Memory> {
  const sessionOf = sessions({ store }, scope);
  const stretches = new Map<string, { n: number; at: number }>();
  return async (message) => {
    const by = message.by ?? (message.speaker === scope.agent ? "agent" : "contact");
    const thread = message.session === undefined ? await sessionOf(message) : undefined;
    if (thread === undefined) return { ...message, by };
    const last = stretches.get(thread);
    const n = last === undefined ? 1 : last.n + (message.at - last.at > PAUSE ? 1 : 0);
    stretches.set(thread, { n, at: message.at });
    return { ...message, by, session: `${thread}#${n}` };
  };
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
