import { z } from "zod";
import { isoSecond, type Tool, TRUSTS } from "../../protocol/index.ts";
import type { MemoryStats, Store } from "../../store/index.ts";
import { defineTool } from "../../turn/tools/index.ts";
import {
  findMemories,
  forgetMemory,
  LONGEST,
  LONGEST_TAG,
  MEMORY_ID,
  type MemoryCalls,
  MOST_TAGS,
  type Reads,
  saveMemory,
  scopesOf,
} from "./tool-calls.ts";
import { counted, DATE_WANTED, EMPTY, idWanted, NONE, statsOf } from "./wording.ts";

/**
 * The tools by which an agent remembers. They save and forget only memories of the turn's contact, or the agent's own in a turn without a
 * contact; a search also finds the agent's own, which no turn with a contact writes (law 5).
 */
export function memoryTools(store: Reads): readonly Tool[] {
  const calls = { store, search: "memory_search" };
  return [memorySave(calls), memorySearch(store), memoryForget(calls)];
}

// The formats are described in words, because every character of a schema is in every prompt.
const id = ({ search }: MemoryCalls) => z.string().refine((text) => MEMORY_ID.test(text), idWanted(search));

/** The memory's text, and the words to find it by. */
const SAVED = {
  content: z
    .string()
    .min(1)
    .max(LONGEST)
    .refine((text) => text.trim() !== "", EMPTY)
    .describe("What to remember."),
  tags: z.array(z.string().min(1).max(LONGEST_TAG)).max(MOST_TAGS).optional().describe("Words to find it by."),
};

/** The query. */
const ASKED = {
  query: z.string().min(1).max(1_000).describe("Keywords, such as names, things and places."),
  limit: z.int().min(1).max(20).default(5).describe("Maximum number of memories."),
};

/** Which memory is meant. */
const shownId = (calls: MemoryCalls) => id(calls).describe(`The memory's id, from ${calls.search}.`);

function memorySave(calls: MemoryCalls): Tool {
  return defineTool({
    name: "memory_save",
    description:
      "Remembers one fact about this contact. One self-contained sentence, with names and dates instead of 'he' and " +
      "'today'. No secrets.",
    input: z.object({
      ...SAVED,
      supersedes: id(calls).optional().describe("Id of a memory that this one replaces."),
    }),
    effect: "store",
    // Its answers are the sentences of `saveMemory` and nothing else.
    trust: "platform",
    run: (input, context) => saveMemory(calls, input, context),
  });
}

const INSTANT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

const instant = () => z.string().refine((text) => INSTANT.test(text) && !Number.isNaN(Date.parse(text)), DATE_WANTED);

function memorySearch(store: Reads): Tool {
  return defineTool({
    name: "memory_search",
    description: "Searches this contact's memories by keyword. Returns the best matches, with their ids.",
    input: z.object({
      ...ASKED,
      tags: z.array(z.string()).min(1).optional().describe("Only with at least one of these tags."),
      since: instant().optional().describe("Only on or after this date, e.g. 2026-11-21."),
      before: instant().optional().describe("Only before this date."),
      trust: z.enum(TRUSTS).optional().describe("Only memories with at least this trust."),
    }),
    effect: "none",
    trust: "contact",
    returnsMemories: true,
    run: ({ query, limit, tags, since, before, trust }, context) => {
      const wanted = {
        query,
        limit,
        ...(tags !== undefined && { tags }),
        ...(since !== undefined && { since: Date.parse(since) }),
        ...(before !== undefined && { before: Date.parse(before) }),
        ...(trust !== undefined && { trust }),
      };
      return findMemories(store, wanted, context);
    },
  });
}

function memoryForget(calls: MemoryCalls): Tool {
  return defineTool({
    name: "memory_forget",
    description: "Permanently forgets one memory that you saved. To correct one, save the new fact with `supersedes`.",
    input: z.object({ id: shownId(calls) }),
    effect: "store",
    // Its answers are the sentences of `forgetMemory` and nothing else.
    trust: "platform",
    run: ({ id }, context) => forgetMemory(calls, id, context),
  });
}

/** The same under short names and with less to choose, for agents that have little room: and what there is to remember. */
export function rememberTools(store: Reads & Pick<Store, "memoryStats">): readonly Tool[] {
  const calls = { store, search: "recall" };
  return [remember(calls), recall(store), forget(calls), memoryStats(store)];
}

function remember(calls: MemoryCalls): Tool {
  return defineTool({
    name: "remember",
    description:
      "Remembers one fact about this contact (in a self-started turn: for all turns). One self-contained sentence with names " +
      "and dates. No secrets.",
    input: z.object(SAVED),
    effect: "store",
    // Its answers are the sentences of `saveMemory` and nothing else.
    trust: "platform",
    run: (input, context) => saveMemory(calls, input, context),
  });
}

function recall(store: Reads): Tool {
  return defineTool({
    name: "recall",
    description: "Searches the memories about this contact and for all turns by keyword.",
    input: z.object(ASKED),
    effect: "none",
    trust: "contact",
    returnsMemories: true,
    run: (input, context) => findMemories(store, input, context),
  });
}

function forget(calls: MemoryCalls): Tool {
  return defineTool({
    name: "forget",
    description:
      "Permanently forgets one memory that you saved about this contact (in a self-started turn: for all turns).",
    input: z.object({ id: shownId(calls) }),
    effect: "store",
    // Its answers are the sentences of `forgetMemory` and nothing else.
    trust: "platform",
    run: ({ id }, context) => forgetMemory(calls, id, context),
  });
}

function memoryStats(store: Pick<Store, "memoryStats">): Tool {
  return defineTool({
    name: "memory_stats",
    description: "Counts the memories about this contact and those for all turns.",
    input: z.object({}),
    effect: "none",
    // Numbers, days and the names of kinds.
    trust: "platform",
    run: async (_, { scope }) => {
      const lines = scopesOf(scope).map(async (one) => {
        return statsOf(one.contact !== null, statsText(await store.memoryStats(one)));
      });
      return (await Promise.all(lines)).join("\n");
    },
  });
}

function statsText(stats: readonly MemoryStats[]): string {
  const some = stats.filter(({ memories }) => memories > 0);
  if (some.length === 0) return NONE;
  const kinds = some.map(
    ({ kind, memories }) => `${memories} ${memories === 1 ? kind : `${kind.replace(/y$/, "ie")}s`}`,
  );
  const characters = some.reduce((sum, one) => sum + one.characters, 0);
  const newest = Math.max(...some.map((one) => one.newest));
  return counted(kinds.join(", "), characters, isoSecond(newest).slice(0, 10));
}
