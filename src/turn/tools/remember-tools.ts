import { z } from "zod";
import { isoSecond, type Tool } from "../../protocol/index.ts";
import type { MemoryStats, Store } from "../../store/index.ts";
import { defineTool } from "./define-tool.ts";
import { findMemories, forgetMemory, type MemoryCalls, type Reads, saveMemory, scopesOf } from "./memory-calls.ts";
import { ASKED, SAVED, shownId } from "./memory-tools.ts";

/** The same under short names and with less to choose, for agents that have little room: and what there is to remember. */
export function rememberTools(store: Reads & Pick<Store, "memoryStats">): readonly Tool[] {
  const calls = { store, search: "recall" };
  return [remember(calls), recall(store), forget(calls), memoryStats(store)];
}

function remember(calls: MemoryCalls): Tool {
  return defineTool({
    name: "remember",
    description:
      "Remembers one fact: about this contact, or in a turn of your own for all turns. One self-contained sentence with names " +
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
    description: "Searches by keywords what was remembered about this contact and for all turns.",
    input: z.object(ASKED),
    effect: "none",
    trust: "contact",
    shows: "memories",
    run: (input, context) => findMemories(store, input, context),
  });
}

function forget(calls: MemoryCalls): Tool {
  return defineTool({
    name: "forget",
    description: "Forgets one memory for good that you saved about this contact, or in a turn of your own.",
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
    description: "Tells how much is remembered about this contact and for all turns.",
    input: z.object({}),
    effect: "none",
    // Numbers, days and the names of kinds.
    trust: "platform",
    run: async (_, { scope }) => {
      const lines = scopesOf(scope).map(async (one) => {
        const whose = one.contact === null ? "For all turns" : "Of this contact";
        return `${whose}: ${told(await store.memoryStats(one))}.`;
      });
      return (await Promise.all(lines)).join("\n");
    },
  });
}

function told(stats: readonly MemoryStats[]): string {
  const some = stats.filter(({ memories }) => memories > 0);
  if (some.length === 0) return "nothing";
  const kinds = some.map(
    ({ kind, memories }) => `${memories} ${memories === 1 ? kind : `${kind.replace(/y$/, "ie")}s`}`,
  );
  const characters = some.reduce((sum, one) => sum + one.characters, 0);
  const newest = Math.max(...some.map((one) => one.newest));
  return `${kinds.join(", ")} with ${characters} characters, the newest of ${isoSecond(newest).slice(0, 10)}`;
}
