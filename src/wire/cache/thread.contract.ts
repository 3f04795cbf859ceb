import type { Lifetime, SeenBlock, SeenRequest } from "../index.ts";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;

/** A test request's fields besides its blocks. */
type Rest = Partial<Omit<SeenRequest, "blocks">>;

export const request = (blocks: readonly SeenBlock[], rest: Rest = {}): SeenRequest => ({
  at: 0,
  model: "claude",
  ...rest,
  blocks,
});

export const block = (key: string, rest: Partial<SeenBlock> = {}): SeenBlock => ({
  key,
  tokens: 1_000,
  kind: "text",
  role: "user",
  ...rest,
});

/** Blocks 1 to `n`, each another, with breakpoints after the blocks that are named. */
export function blocks(
  n: number,
  breakpoints: readonly number[] = [n],
  breakpoint: Lifetime = "5m",
): readonly SeenBlock[] {
  return Array.from({ length: n }, (_, at) => block(`${at + 1}`, breakpoints.includes(at + 1) ? { breakpoint } : {}));
}
