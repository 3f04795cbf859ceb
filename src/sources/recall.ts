import { clean, truncateText } from "../guard/index.ts";
import { type Agent, type ContentItem, type LayerContent, type StoredEvent, untrusted } from "../protocol/index.ts";
import type { GatherContext } from "./context.ts";
import { smallTalk } from "./small-talk.ts";

/** How much of what was written is searched for; the best of a longer message is rarely past it. */
const QUERY = 4_000;

/**
 * The contact's memories that fit what they just wrote, best first. Law 12: the query is the text of the turn's own
 * messages and nothing else; what was recalled before, reminders and the prompt never come near it.
 */
export async function recall(
  agent: Agent,
  limit: number,
  { scope, events, store }: Pick<GatherContext, "scope" | "events" | "store">,
): Promise<LayerContent> {
  if (agent.recall !== "auto") return empty(`recall is set to ${agent.recall} for this agent`);
  const query = queryOf(events);
  if (query === "") return empty("no message waits: there is nothing to search for");
  const idle = smallTalk(query);
  if (idle !== undefined) return empty(idle);
  const own = { ...scope, contact: null };
  const hits = await store.searchMemories([scope, own], { texts: [{ text: query, weight: 1 }], limit });
  if (hits.length === 0) return empty("no memory fits the message");
  return {
    kind: "items",
    items: hits
      .slice(0, limit)
      .map(({ id, content, trust, at }): ContentItem => ({ id, kind: "memory", text: content, trust, at })),
  };
}

function queryOf(events: readonly StoredEvent[]): string {
  const texts = events
    .filter(({ kind }) => kind === "message")
    .flatMap(({ content }) => content.flatMap((part) => (part.type === "text" ? [part.text] : [])));
  // Cut first: what is cleaned is then never large.
  return clean(untrusted(truncateText(texts.join("\n"), QUERY, ""))).trim();
}

function empty(because: string): LayerContent {
  return { kind: "empty", because };
}
