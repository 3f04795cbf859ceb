import type { Epoch, ToolSchema } from "../protocol/index.ts";
import type { CompileInput } from "./compile-input.ts";
import { drafts } from "./drafts.ts";
import { type Draft, pieceOf } from "./layers.ts";
import { orderTools, renderPrefix, toolsEntry } from "./prefix.ts";
import { fixedPiece, leastSum, type Piece, shareOut } from "./share-out.ts";

/** What a prefix is rendered from. */
export type PrefixInput = Pick<CompileInput, "agent" | "mode" | "contents" | "count" | "limit" | "tools">;

/** A prefix before anything of it is cut. */
export interface Unfit {
  readonly tools: readonly ToolSchema[];
  readonly made: readonly Draft[];
  readonly pieces: readonly Piece[];
}

/** All that the prefix would say, in the order of the prompt. */
export function prefixOf({ agent, mode, contents, count, ...input }: PrefixInput): Unfit {
  const tools = orderTools(input.tools);
  const made = drafts(agent.layers, "system", mode, contents, count);
  return { tools, made, pieces: [fixedPiece("tools", toolsEntry(tools, count).tokens), ...made.map(pieceOf)] };
}

/** The prefix within so many tokens. What cannot be cut takes the room it needs. */
export function prefixWithin(
  { tools, made, pieces }: Unfit,
  size: number,
  { count }: Pick<PrefixInput, "count">,
): Pick<Epoch, "prefix" | "prefixEntries"> {
  const room = Math.max(size, leastSum(pieces));
  const { prefix, entries } = renderPrefix(tools, made, { pieces, allotment: shareOut(pieces, room), room }, count);
  return { prefix, prefixEntries: entries };
}

/**
 * Tokens that a prefix may have, the first that leaves enough. Whole where all fits, and else one of few sizes, whatever the
 * first message says: so threads of one agent send the same bytes, and not each its own. Live layers need room, too.
 */
export function sizesFor(limit: number, needed: number, hasTail: boolean): readonly number[] {
  if (needed <= limit) return [limit];
  const eighth = limit - Math.min(Math.ceil(limit / 8), 2_000);
  const most = hasTail ? [] : [limit - Math.min(Math.ceil(limit / 20), 2_000)];
  return [...most, eighth, limit - Math.ceil(limit / 4), limit - Math.ceil(limit / 2), 0];
}

/**
 * The same where no message has a say at all: a quarter is always left for it. Of several events that do not fit there, fewer are
 * taken first; for one alone that cannot be cut so far, the prefix gives way.
 */
export function sizesAlone(limit: number, events: number): readonly number[] {
  const usual = limit - Math.ceil(limit / 4);
  return events > 1 ? [usual] : [usual, limit - Math.ceil(limit / 2), 0];
}
