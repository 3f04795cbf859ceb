/** The memories of agents: list, show, save, search, explain, forget, import and export them, with their vectors and summaries. */

import type { Feature } from "../feature.ts";
import { embedApi, memoryApi } from "./api.ts";
import { MEMORY_API } from "./api-types.ts";
import { KEYS } from "./config.ts";
import { FILE_OPERATIONS } from "./files.ts";
import { MEMORY_OPERATIONS } from "./operations.ts";
import { type MemoryPorts, memorySteps } from "./steps.ts";
import { CONSOLIDATION, consolidateApi } from "./summaries/consolidate.ts";
import { memoryTools, rememberTools } from "./tools.ts";
import { UPKEEP_JOBS, UPKEEP_OPERATIONS } from "./upkeep.ts";

export * from "./api-types.ts";
export { memoryLines } from "./lines.ts";
export { type MemoryPorts, memorySources, withoutDoubles } from "./steps.ts";
export { contentProblem, forgetMemory, type MemoryCalls, newestMemories, saveMemory } from "./tool-calls.ts";
export { memoryTools, rememberTools } from "./tools.ts";
export { openVectors, type Vectors } from "./vectors/embed.ts";

export const FEATURE: Feature<MemoryPorts> = {
  name: "memories",
  needs: ["approvals"],
  keys: KEYS,
  channels: [CONSOLIDATION],
  tools: ({ store }) => [...memoryTools(store), ...rememberTools(store)],
  operations: [...MEMORY_OPERATIONS, ...FILE_OPERATIONS, ...UPKEEP_OPERATIONS],
  jobs: UPKEEP_JOBS,
  open: (world) => ({
    steps: memorySteps(world),
    api: ({ parts, turnParts }) =>
      MEMORY_API.open({ ...memoryApi(parts), ...embedApi(parts, world.vectors), ...consolidateApi(turnParts) }),
  }),
};
