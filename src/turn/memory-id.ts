import { issueId, type MemoryId, memoryId } from "../protocol/index.ts";
import type { Parts } from "./parts.ts";

/** The id of a memory that will be. */
export function newMemoryId({ wall, random }: Pick<Parts, "wall" | "random">): MemoryId {
  return memoryId(issueId("memory", wall(), random(10)));
}
