import { MEMORY_KINDS, type Memory, type MemoryId, memoryId, type Scope, untrusted } from "../../protocol/index.ts";
import type { MemoryHit, MemoryStats, Store } from "../../store/index.ts";

const AT = Date.UTC(2026, 10, 21, 9, 30);

/** The store methods that the tools call, and the calls they made. */
export type FakeStore = Pick<Store, "searchMemories" | "memory" | "memoryStats"> & { readonly asked: unknown[] };
export type Kept = Partial<Omit<Memory, "content">> & { readonly content: string };

export const idOf = (n: number): MemoryId => memoryId(`mem_${String(n).padStart(26, "0")}`);

/** A store in which every contact has separate memories, and which records its calls. `""` are the agent's own. */
export function fakeStore(memories: Readonly<Record<string, readonly (string | Kept)[]>>): FakeStore {
  const asked: unknown[] = [];
  const of = (scope: Scope): readonly MemoryHit[] =>
    (memories[scope.contact ?? ""] ?? []).map((kept, n) => hit(scope, kept, n));
  return {
    asked,
    async searchMemories(scopes, query) {
      asked.push({ scopes, query });
      return scopes.flatMap(of).slice(0, query.limit);
    },
    memory: async (scope, id) => of(scope).find((one) => one.id === id),
    memoryStats: async (scope) => statsOf(of(scope)),
  };
}

function hit(scope: Scope, kept: string | Kept, n: number): MemoryHit {
  const { content, ...more } = typeof kept === "string" ? { content: kept } : kept;
  return {
    id: idOf(n),
    kind: "fact",
    content: untrusted(content),
    tags: [],
    trust: "contact",
    support: 1,
    at: AT,
    scope,
    score: 0,
    evidence: 1,
    features: {},
    session: `talk ${n}`,
    place: 0,
    ...more,
  };
}

function statsOf(memories: readonly Memory[]): readonly MemoryStats[] {
  return MEMORY_KINDS.flatMap((kind) => {
    const some = memories.filter((one) => one.kind === kind);
    if (some.length === 0) return [];
    const characters = some.reduce((sum, { content }) => sum + content.length, 0);
    return [{ kind, memories: some.length, characters, newest: Math.max(...some.map(({ at }) => at)) }];
  });
}
