import { z } from "zod";
import { clean, cleanName } from "../guard/index.ts";
import { isoSecond, type Tool, untrusted } from "../protocol/index.ts";
import type { MemoryHit, Store } from "../stores/index.ts";
import { defineTool } from "./define-tool.ts";
import { answered } from "./outcome.ts";

/** The tools by which an agent remembers. What they save and find belongs to the contact of the turn, and to no other. */
export function memoryTools(store: Pick<Store, "searchMemories">): readonly Tool[] {
  return [memorySave(), memorySearch(store)];
}

function memorySave(): Tool {
  return defineTool({
    name: "memory_save",
    description:
      "Remembers one fact about this contact or conversation for later. Save what will still matter in another " +
      "conversation: one self-contained sentence or short note each, with names and dates instead of 'he' and 'today'.",
    input: z.object({
      content: z
        .string()
        .min(1)
        .max(4_000)
        .refine((text) => text.trim() !== "", "it must say something")
        .describe("What to remember."),
      tags: z.array(z.string().min(1).max(40)).max(8).optional().describe("Words to find it by."),
    }),
    effect: "store",
    // Its answer is the sentence below and nothing else.
    trust: "platform",
    run: async ({ content, tags = [] }, { taint, turn, at }) => {
      // A tag is shown in the line of its memory and must not make another.
      const names = new Set(tags.map((tag) => cleanName(untrusted(tag))).filter((tag) => tag !== ""));
      const memory = { content: untrusted(content), tags: [...names], trust: taint, turn, at };
      return answered("Saved.", [{ kind: "memory", memory }]);
    },
  });
}

function memorySearch(store: Pick<Store, "searchMemories">): Tool {
  return defineTool({
    name: "memory_search",
    description:
      "Searches what was remembered about this contact, by keywords. Gives the best matches with their dates and tags.",
    input: z.object({
      query: z.string().min(1).max(1_000).describe("Keywords, such as names, things and places."),
      limit: z.int().min(1).max(20).default(5).describe("How many memories at most."),
    }),
    effect: "none",
    trust: "contact",
    run: async ({ query, limit }, { scope }) => {
      const hits = await store.searchMemories([scope, { ...scope, contact: null }], {
        texts: [{ text: query, weight: 1 }],
        limit,
      });
      if (hits.length === 0) return answered("No memory matches; try other or fewer words.");
      return answered(hits.map(line).join("\n"));
    },
  });
}

/** Lines after a memory's first are set in, so that no memory can pass for two. */
function line({ at, tags, content }: MemoryHit): string {
  const label = tags.length > 0 ? ` (${tags.join(", ")})` : "";
  return `- ${isoSecond(at).slice(0, 10)}${label}: ${clean(content).replaceAll("\n", "\n  ")}`;
}
