/** The memories of agents: list, show, save, search, explain, forget, import and export them, with their vectors and summaries. */
import type { Parts, TurnParts, TurnSteps } from "../../turn/index.ts";
import type { Feature } from "../feature.ts";
import { embedDoors, memoryDoors } from "./api.ts";
import type { ConsolidateDoors, EmbedDoors, MemoryDoors } from "./api-types.ts";
import { KEYS } from "./config.ts";
import { FILE_OPERATIONS } from "./files.ts";
import { MEMORY_OPERATIONS } from "./operations.ts";
import { type MemoryPorts, memorySteps } from "./steps.ts";
import { CONSOLIDATION, consolidateDoors } from "./summaries/consolidate.ts";
import { memoryTools, rememberTools } from "./tools.ts";
import { UPKEEP_JOBS, UPKEEP_OPERATIONS } from "./upkeep.ts";

export type * from "./api-types.ts";
export { memoryLines } from "./lines.ts";
export { type MemoryPorts, memorySources, withoutDoubles } from "./steps.ts";
export { memoryTools, rememberTools } from "./tools.ts";
export { openVectors, type Vectors } from "./vectors/embed.ts";

/** What memories add to a runtime: what they do in each turn, and what doors call of them. */
export interface Memories {
  readonly steps: TurnSteps;
  readonly doors: (parts: Parts, turnParts: () => TurnParts) => MemoryDoors & EmbedDoors & ConsolidateDoors;
}

/** The memories of a runtime's agents. */
export function openMemories(ports: MemoryPorts): Memories {
  return {
    steps: memorySteps(ports),
    doors: (parts, turnParts) => ({
      ...memoryDoors(parts),
      ...embedDoors(parts, ports.vectors),
      ...consolidateDoors(turnParts),
    }),
  };
}

export const FEATURE: Feature = {
  name: "memories",
  needs: ["approvals"],
  keys: KEYS,
  channels: [CONSOLIDATION],
  tools: ({ store }) => [...memoryTools(store), ...rememberTools(store)],
  operations: [...MEMORY_OPERATIONS, ...FILE_OPERATIONS, ...UPKEEP_OPERATIONS],
  jobs: UPKEEP_JOBS,
};
