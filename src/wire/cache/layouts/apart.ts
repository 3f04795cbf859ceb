import type { SeenBlock, SeenRequest } from "../seen.ts";

/** A request's blocks without marks, by what they are. */
export interface Apart {
  readonly tools: readonly SeenBlock[];
  readonly system: readonly SeenBlock[];
  readonly messages: readonly SeenBlock[];
  /** The turn's context. */
  readonly tail: readonly SeenBlock[];
}

export function apart({ blocks }: Pick<SeenRequest, "blocks">): Apart {
  const bare = blocks.map(({ mark: _, ...block }): SeenBlock => block);
  const kept = bare.filter(({ tail }) => tail !== true);
  return {
    tools: kept.filter(({ kind }) => kind === "tool"),
    system: kept.filter(({ kind }) => kind === "system"),
    messages: kept.filter(({ kind }) => kind !== "tool" && kind !== "system"),
    tail: bare.filter(({ tail }) => tail === true),
  };
}

/** The same blocks with marks behind those that are named; none where a place is -1. */
export const markedAt = (blocks: readonly SeenBlock[], places: readonly number[]): readonly SeenBlock[] =>
  blocks.map((block, at) => (places.includes(at) ? { ...block, mark: "5m" } : block));

/** The last block that may carry a mark, up to a place. */
export const carrierUpTo = (blocks: readonly SeenBlock[], end = blocks.length): number =>
  blocks.slice(0, end).findLastIndex(({ kind }) => kind !== "reasoning");

export const markedLast = (blocks: readonly SeenBlock[]): readonly SeenBlock[] =>
  markedAt(blocks, [carrierUpTo(blocks)]);

/** Where the newest thing that the user wrote ends. Results of tools are no words of theirs. */
export const userEnd = (messages: readonly SeenBlock[]): number =>
  messages.findLastIndex(({ role, kind }) => role === "user" && kind !== "tool-result") + 1;

/** Whether the first list is where the second begins. */
export const goesOn = (before: readonly SeenBlock[], now: readonly SeenBlock[]): boolean =>
  before.every(({ key }, at) => now[at]?.key === key);
