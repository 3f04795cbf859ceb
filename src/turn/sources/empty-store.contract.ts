import type { GatherContext } from "./index.ts";

/** What sources ask the store, where nothing was ever kept. */
export const EMPTY_STORE: GatherContext["store"] = {
  searchMemories: async () => [],
  memoryRevisions: async () => [],
  memory: async () => undefined,
  memories: async () => [],
  memoryStats: async () => [],
  conversation: async () => undefined,
  proposals: async () => [],
};
