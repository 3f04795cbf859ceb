/** What agents remember: list, show, save, search, explain and forget it, as files too, with its vectors and summaries. */
import type { Feature } from "../feature.ts";
import { KEYS } from "./config.ts";
import { FILE_OPERATIONS } from "./files.ts";
import { MEMORY_OPERATIONS } from "./operations.ts";
import { memoryTools, rememberTools } from "./tools.ts";
import { UPKEEP_JOBS, UPKEEP_OPERATIONS } from "./upkeep.ts";

export { memoryLines } from "./lines.ts";
export { memoryTools, rememberTools } from "./tools.ts";

export const FEATURE: Feature = {
  name: "memories",
  keys: KEYS,
  tools: ({ store }) => [...memoryTools(store), ...rememberTools(store)],
  operations: [...MEMORY_OPERATIONS, ...FILE_OPERATIONS, ...UPKEEP_OPERATIONS],
  jobs: UPKEEP_JOBS,
};
