import { MEMORY_KINDS, type Memory, type MemoryId, type NewMemory, type Scope } from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import { everyMemory } from "./every-memory.ts";
import type { MemoryDraft } from "./formats/draft.ts";

/** The parts of a kept memory that decide whether an entry of a file is the same. */
export interface KnownMemory {
  readonly id: MemoryId;
  readonly at: number;
  readonly support: number;
  readonly tags: ReadonlySet<string>;
  isSuperseded: boolean;
}

/** What a scope already holds, as far as an import must know it. */
export interface KnownMemories {
  /** The stored memory that is this entry or says the same; an entry superseded in the file only ever matches itself. */
  readonly same: (draft: MemoryDraft) => KnownMemory | undefined;
  readonly get: (id: MemoryId) => KnownMemory | undefined;
  /** From now on `draft` is kept as this memory: no other entry with its own id matches it. */
  readonly learn: (memory: Memory, draft?: MemoryDraft) => void;
  /** Another replaced it. */
  readonly putAway: (id: MemoryId) => void;
}

/** Reads the scope once: a memory of it is looked for in no time then. */
export async function knownMemories(store: Pick<Store, "memories">, scope: Scope): Promise<KnownMemories> {
  const byText = new Map<string, Map<MemoryId, KnownMemory>>();
  const bySource = new Map<string, KnownMemory>();
  const byId = new Map<MemoryId, KnownMemory>();
  const taken = new Set<MemoryId>();
  const learn = (memory: Memory, draft?: MemoryDraft): void => {
    const { id, at, support, tags, kind, sources = [], supersededBy } = memory;
    const known = { id, at, support, tags: new Set(tags), isSuperseded: supersededBy !== undefined };
    const key = textKey(memory);
    byText.set(key, (byText.get(key) ?? new Map<MemoryId, KnownMemory>()).set(id, known));
    if (kind === "message") for (const source of sources) bySource.set(source, known);
    byId.set(id, known);
    if (draft?.id !== undefined) taken.add(id);
  };
  const listing = { kinds: MEMORY_KINDS, superseded: true } as const;
  for await (const memory of everyMemory(store, scope, listing)) learn(memory);
  const same = ({ id, memory, supersededBy }: MemoryDraft): KnownMemory | undefined => {
    const alike = [...(byText.get(textKey(memory))?.values() ?? [])];
    const isFree = (one: KnownMemory): boolean => id === undefined || !taken.has(one.id);
    const ofThatTime = alike.filter((one) => one.at === memory.at && isFree(one));
    const itself =
      alike.find((one) => one.id === id) ??
      ofThatTime.find(({ isSuperseded }) => isSuperseded === (supersededBy !== undefined)) ??
      ofThatTime[0];
    if (itself !== undefined || supersededBy !== undefined) return itself;
    // The same message may be repeated; its sources distinguish the occurrences.
    const said = memory.kind === "message" ? memory.sources?.map((source) => bySource.get(source)) : alike;
    return said?.find((one) => one !== undefined && (memory.at === undefined || !one.isSuperseded));
  };
  return {
    same: (draft) => {
      const found = same(draft);
      if (found !== undefined && draft.id !== undefined) taken.add(found.id);
      return found;
    },
    get: (id) => byId.get(id),
    learn,
    putAway: (id) => {
      const known = byId.get(id);
      if (known !== undefined) known.isSuperseded = true;
    },
  };
}

type MemoryContent = Pick<NewMemory, "kind" | "content" | "speaker" | "validFrom" | "validUntil">;

/** Compares as the store does: the store decides, this only predicts it. */
function textKey({ kind = "fact", content, speaker, validFrom, validUntil }: MemoryContent): string {
  const words = content.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim();
  return [kind, speaker, validFrom, validUntil, words.replace(/[.!。！]+$/u, "")].join("\u0000");
}
