import {
  type Action,
  type Actor,
  authorize,
  issueId,
  type MemoryId,
  type MemoryQuery,
  memoryId,
  reaches,
  type Scope,
  trustOf,
} from "../protocol/index.ts";
import type { MemoryDoors, MemoryWish } from "./memory-doors.ts";
import type { Parts } from "./parts.ts";

/** What people and programs do with memories, each under the actor who asks. */
export function memoryDoors(parts: Parts): MemoryDoors {
  const { store } = parts;
  return {
    memories: async (actor, scope, limit, listing) => store.memories(reach(actor, scope, "read"), limit, listing),
    memory: async (actor, scope, id) => store.memory(reach(actor, scope, "read"), id),
    searchMemories: async (actor, scope, wish) =>
      store.searchMemories(scopesFor(actor, scope, "read"), queryOf(scope, wish)),
    remember: async (actor, scope, note) => {
      const memory = { ...note, trust: trustOf(actor), by: actor.role, at: parts.clock() };
      return store.saveMemory(reach(actor, scope, "operate"), newMemoryId(parts), memory);
    },
    forget: async (actor, scope, id) => store.forgetMemory(reach(actor, scope, "operate"), id),
    memoryStats: async (actor, scope) => store.memoryStats(reach(actor, scope, "read")),
  };
}

export function newMemoryId({ wall, random }: Pick<Parts, "wall" | "random">): MemoryId {
  return memoryId(issueId("memory", wall(), random(10)));
}

function reach(actor: Actor, scope: Scope, action: Action): Scope {
  authorize(actor, action, scope);
  return scope;
}

/** A contact's memories and the agent's own, as recall searches them; who reaches the contact alone finds the contact's alone. */
function scopesFor(actor: Actor, scope: Scope, action: Action): readonly Scope[] {
  const whose = reach(actor, scope, action);
  const own = { ...scope, contact: null };
  return scope.contact === null || !reaches(actor, own) ? [whose] : [whose, own];
}

/** What a person types is one text; "I" and "my" mean the contact. */
function queryOf({ contact }: Scope, { query, ...rest }: MemoryWish): MemoryQuery {
  return { ...rest, texts: [{ text: query, weight: 1 }], ...(contact !== null && { asker: contact }) };
}
