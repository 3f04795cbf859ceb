import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allParts } from "../../../src/app/entry/features.ts";
import { openEmbedder } from "../../../src/models/index.ts";
import {
  agentName,
  type ContactScope,
  contactId,
  type Embedder,
  issueId,
  type MemoryId,
  memoryId,
  type NewMemory,
  orgId,
  untrusted,
} from "../../../src/protocol/index.ts";
import { openSqlite, type Store } from "../../../src/store/index.ts";
import type { Remembered } from "../conversations.ts";
import type { MemoryEngine, OpenEngine } from "./engine.ts";
import { dice } from "./noise.ts";

/** As many are written in one transaction. */
const BATCH = 5_000;

/** Strata's own store on disk, with what was said as it keeps it. */
export const strata: MemoryEngine = {
  name: "strata",
  open: async (scopes, progress) => {
    const { store, names, bytes, close } = await filledStore(scopes, progress);
    return {
      find: async (scope, { text, asker, at }, limit) => {
        const who = { ...(asker !== undefined && { asker }), ...(at !== undefined && { at }) };
        const query = { texts: [{ text, weight: 1 }], limit, ...who };
        const hits = await store.searchMemories([scopeOf(scope)], query);
        return hits.map(({ id }) => names.get(id) ?? id);
      },
      bytes,
      close,
    };
  },
};

/** The same with vectors of these, however weak: those of chance, and those that count pieces of words. They may help, and must not harm. */
export const withVectors = (): readonly MemoryEngine[] =>
  [
    ["strata, vectors by chance", byChance(openEmbedder("rehearsal", () => undefined))] as const,
    ["strata, vectors of letters", openEmbedder("rehearsal", () => undefined)] as const,
  ].map(([name, embedder]) => ({ name, open: (scopes, progress) => openWith(embedder, scopes, progress) }));

async function openWith(
  embedder: Embedder,
  scopes: Parameters<MemoryEngine["open"]>[0],
  progress: (done: number) => void,
): Promise<OpenEngine> {
  const { store, names, bytes, close } = await filledStore(scopes, progress);
  const model = embedder.ref;
  const embed = async (texts: readonly string[]): Promise<readonly Float32Array[]> =>
    (await embedder.embed(texts, { signal: NEVER })).vectors;
  for (const scope of [...scopes.keys()].map(scopeOf))
    for (
      let some = await store.waitingTexts(scope, model, BATCH);
      some;
      some = await store.waitingTexts(scope, model, BATCH)
    ) {
      const values = await embed(some.texts.map(({ text }) => text));
      const vectors = some.texts.flatMap((one, at) =>
        values[at] === undefined ? [] : [{ ...one, values: values[at] }],
      );
      await store.saveVectors(scope, model, { ...some, vectors });
    }
  return {
    find: async (scope, { text, asker, at }, limit) => {
      const [values] = await embed([text]);
      const vectors = values === undefined ? [] : [{ model, values }];
      const who = { ...(asker !== undefined && { asker }), ...(at !== undefined && { at }) };
      const hits = await store.searchMemories([scopeOf(scope)], {
        texts: [{ text, weight: 1 }],
        limit,
        vectors,
        ...who,
      });
      return hits.map(({ id }) => names.get(id) ?? id);
    },
    bytes,
    close,
  };
}

const NEVER = new AbortController().signal;
const DIMENSIONS = 64;

/** Each vector by chance. */
function byChance({ ref }: Embedder): Embedder {
  const chance = dice(1);
  return {
    ref,
    embed: async (texts) => {
      const vectors = texts.map(() => {
        const values = Float32Array.from({ length: DIMENSIONS }, () => chance() + chance() + chance() - 1.5);
        const length = Math.hypot(...values);
        return values.map((value) => value / length);
      });
      return { vectors, tokens: 0 };
    },
  };
}

/** A store with memories, and what the data calls them. */
export interface FilledStore {
  readonly store: Store;
  readonly names: ReadonlyMap<string, string>;
  readonly bytes: number;
  close(): Promise<void>;
}

/** A store in a file of its own that holds these memories. */
export async function filledStore(
  scopes: ReadonlyMap<string, readonly Remembered[]>,
  progress: (done: number) => void = () => {},
): Promise<FilledStore> {
  const { store: filling, file, names, add, close: end } = await growingStore();
  for (const [name, memories] of scopes)
    for (let from = 0; from < memories.length; from += BATCH) {
      await add(name, memories.slice(from, from + BATCH));
      progress(names.size);
    }
  // Closed, the file holds all that its log held.
  await filling.close();
  const bytes = statSync(file).size;
  const store = await openSqlite(file, { parts: await allParts() });
  return { store, names, bytes, close: () => end(store) };
}

/** A store to which memories are added as talks go on. */
export interface GrowingStore extends Pick<FilledStore, "store" | "names"> {
  readonly file: string;
  add(scope: string, memories: readonly Remembered[]): Promise<void>;
  /** Closes it, or the store that was opened on its file since, and removes the file. */
  close(store?: Store): Promise<void>;
}

export async function growingStore(): Promise<GrowingStore> {
  const folder = mkdtempSync(join(tmpdir(), "bench-memory-"));
  const file = join(folder, "strata.db");
  const store = await openSqlite(file, { parts: await allParts() });
  const names = new Map<MemoryId, string>();
  const issue = ({ id, at }: Remembered): MemoryId => {
    const issued = memoryId(issueId("memory", at, crypto.getRandomValues(new Uint8Array(10))));
    names.set(issued, id);
    return issued;
  };
  const add = async (scope: string, memories: readonly Remembered[]): Promise<void> => {
    const all = memories.map((one) => ({ id: issue(one), memory: message(one) }));
    if (all.length > 0) await store.saveMemories(scopeOf(scope), all);
  };
  const close = async (open = store): Promise<void> => {
    await open.close();
    rmSync(folder, { recursive: true });
  };
  return { store, file, names, add, close };
}

/** Whose memory a conversation is. */
export const scopeOf = (name: string): ContactScope => ({
  org: orgId("bench"),
  agent: agentName("bench"),
  contact: contactId(name),
});

const message = ({ at, speaker, session, text }: Remembered): NewMemory => ({
  kind: "message",
  content: untrusted(text),
  tags: [],
  trust: "contact",
  speaker,
  session: String(session),
  at,
});
