import { topicsOf } from "../../memory/index.ts";
import { isValidAt, type Scope } from "../../protocol/index.ts";
import type { MemoryTopic, TopicWish } from "../memory-store.ts";
import type { Tx } from "../tx.ts";
import { memories } from "./memories.ts";

/** As many are looked through: a server answers nobody meanwhile. */
const MOST = 5_000;

/** What the newest memories are about. */
export async function memoryTopics(
  tx: Tx,
  scope: Scope,
  { least, validAt, except, ...filter }: TopicWish,
): Promise<readonly MemoryTopic[]> {
  const newest = await memories(tx, scope, MOST + except.size, filter);
  const wanted = newest.filter((memory) => !except.has(memory.id) && isValidAt(memory, validAt));
  const texts = wanted.slice(0, MOST).toReversed();
  const named = new Set(texts.flatMap(({ speaker }) => speaker ?? []));
  const speakers = [...named, scope.agent, ...(scope.contact === null ? [] : [scope.contact])];
  return topicsOf(texts, { least, speakers }).map(({ name, of }) => ({
    topic: name,
    memories: of.flatMap((place) => texts[place] ?? []),
  }));
}
