import type { Agent, LayerContent, StoredEvent } from "../protocol/index.ts";
import type { GatherContext } from "./gather.ts";

/** Words of messages that ask for nothing: with only these in it, a message is not searched for. */
const SMALL_TALK = new Set(
  "hi hello hey hiya yo good morning afternoon evening night day there how are you doing today is it going what's whats up thanks thank so much many a lot very ok okay k sure yes yeah yep no nope bye goodbye see later soon cool great nice fine well alright all right right please welcome cheers lol haha and im i'm too me".split(
    " ",
  ),
);

/**
 * The memories that fit this turn's message best, best first. The query is the waiting events' own text and nothing else:
 * what was injected before is never searched with (law 12).
 */
export async function recall(
  agent: Agent,
  limit: number,
  { scope, events, store }: GatherContext,
): Promise<LayerContent> {
  if (agent.recall !== "auto") return { kind: "empty", because: `recall is ${agent.recall}` };
  const query = events.map(textOf).join("\n");
  if (isSmallTalk(query)) return { kind: "empty", because: "a greeting asks for no memory" };
  const found = await store.searchMemories(scope, query, limit);
  if (found.length === 0) return { kind: "empty", because: "no memory fits" };
  return {
    kind: "items",
    items: found.map(({ id, content, trust, at }) => ({ id, kind: "memory", text: content, trust, at })),
  };
}

const textOf = ({ content }: StoredEvent): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("\n");

/** Whether nothing but greetings, thanks and the like is in it. */
function isSmallTalk(text: string): boolean {
  const words = text.toLowerCase().match(/[\p{L}\p{N}\p{M}'’]+/gu) ?? [];
  return words.every((word) => SMALL_TALK.has(word.replaceAll("’", "'")));
}
