import { MEMORY_KINDS, type Memory, type MemoryId, type NewMemory, type Scope } from "../protocol/index.ts";
import type { Store } from "../stores/index.ts";
import { everyMemory } from "./every-memory.ts";
import type { MemoryDraft } from "./memory-files/draft.ts";

/** What of a kept memory tells whether an entry of a file is it. */
export interface KnownMemory {
  readonly id: MemoryId;
  readonly at: number;
  readonly support: number;
  readonly tags: ReadonlySet<string>;
  isSuperseded: boolean;
}

/** What a scope holds already, as far as an import must know it. */
export interface KnownMemories {
  /** The one that is this entry, or says the very same. */
  readonly same: (draft: MemoryDraft) => { readonly known: KnownMemory; readonly isItself: boolean } | undefined;
  readonly get: (id: MemoryId) => KnownMemory | undefined;
  readonly learn: (memory: Memory) => void;
  /** Another took its place. */
  readonly putAway: (id: MemoryId) => void;
}

/** Reads the scope once: a memory of it is looked for in no time then. */
export async function knownMemories(store: Pick<Store, "memories">, scope: Scope): Promise<KnownMemories> {
  const byText = new Map<string, Map<MemoryId, KnownMemory>>();
  const bySource = new Map<string, KnownMemory>();
  const byId = new Map<MemoryId, KnownMemory>();
  const learn = (memory: Memory): void => {
    const { id, at, support, tags, kind, sources = [], supersededBy } = memory;
    const known = { id, at, support, tags: new Set(tags), isSuperseded: supersededBy !== undefined };
    const key = textKey(memory);
    byText.set(key, (byText.get(key) ?? new Map<MemoryId, KnownMemory>()).set(id, known));
    if (kind === "message") for (const source of sources) bySource.set(source, known);
    byId.set(id, known);
  };
  const listing = { kinds: MEMORY_KINDS, superseded: true } as const;
  for await (const memory of everyMemory(store, scope, listing)) learn(memory);
  return {
    same: ({ id, memory }) => {
      const alike = [...(byText.get(textKey(memory))?.values() ?? [])];
      const itself = alike.find((one) => one.id === id || one.at === memory.at);
      if (itself !== undefined) return { known: itself, isItself: true };
      // The same may be said again and again; where each time comes from tells them apart.
      const said = memory.kind === "message" ? memory.sources?.map((source) => bySource.get(source)) : alike;
      const other = said?.find((one) => one !== undefined && (memory.at === undefined || !one.isSuperseded));
      return other && { known: other, isItself: memory.kind === "message" };
    },
    get: (id) => byId.get(id),
    learn,
    putAway: (id) => {
      const known = byId.get(id);
      if (known !== undefined) known.isSuperseded = true;
    },
  };
}

type Said = Pick<NewMemory, "kind" | "content" | "speaker" | "validFrom" | "validUntil">;

/** As the store tells the very same: it decides, this only foretells it. */
function textKey({ kind = "fact", content, speaker, validFrom, validUntil }: Said): string {
  const words = content.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim();
  return [kind, speaker, validFrom, validUntil, words.replace(/[.!。！]+$/u, "")].join("\u0000");
}
