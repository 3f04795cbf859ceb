import { StrataError } from "../protocol/index.ts";

/** One piece that wants room. Tokens throughout. */
export interface Piece {
  readonly id: string;
  readonly rank: number;
  readonly wanted: number;
  readonly minimum: number;
  readonly budget?: number;
  /** False for what is sent whole or not at all: immutable layers, tools. */
  readonly cuttable: boolean;
  /** True for what may go. */
  readonly droppable: boolean;
}

/** A piece that is sent whole. */
export const fixedPiece = (id: string, wanted: number): Piece => ({
  id,
  rank: 0,
  wanted,
  minimum: wanted,
  cuttable: false,
  droppable: false,
});

/** Tokens that pieces take at the least. */
export const leastSum = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, piece) => sum + (piece.cuttable || piece.droppable ? piece.minimum : piece.wanted), 0);

/** How much room each piece that has to give way still gets; 0 is dropped, a piece not named stays whole. */
export type Allotment = ReadonlyMap<string, number>;

/**
 * Shares out `limit` tokens. From the highest rank number down: first each cuttable piece goes to its budget, then what may
 * go is dropped (to its reserved minimum, where it has one), then the rest of the cuttable ones go to their minimum.
 * @throws StrataError `budget_too_small` when what must be sent does not fit
 */
export function shareOut(pieces: readonly Piece[], limit: number): Allotment {
  const room = new Map<string, number>();
  const least = [...pieces].sort((a, b) => b.rank - a.rank);
  let over = pieces.reduce((sum, piece) => sum + piece.wanted, 0) - limit;

  const give = (piece: Piece, tokens: number): void => {
    const now = room.get(piece.id) ?? piece.wanted;
    if (over <= 0 || tokens >= now) return;
    room.set(piece.id, tokens);
    over -= now - tokens;
  };
  for (const piece of least) {
    if (piece.cuttable && piece.budget !== undefined) give(piece, Math.max(piece.budget, piece.minimum));
  }
  for (const piece of least) if (piece.droppable) give(piece, piece.cuttable ? piece.minimum : 0);
  for (const piece of least) if (piece.cuttable && !piece.droppable) give(piece, piece.minimum);

  if (over > 0) throw tooSmall(pieces, room, limit);
  return room;
}

function tooSmall(pieces: readonly Piece[], room: Allotment, limit: number): StrataError {
  const must = pieces
    .map((piece) => ({ piece: piece.id, tokens: room.get(piece.id) ?? piece.wanted }))
    .filter((one) => one.tokens > 0);
  const sum = must.reduce((total, one) => total + one.tokens, 0);
  const listed = must
    .sort((a, b) => b.tokens - a.tokens)
    .slice(0, 6)
    .map((one) => `${one.piece} ${one.tokens}`)
    .join(", ");
  const what = `what must be sent needs ${sum} tokens and only ${limit} may be sent (${listed})`;
  const details = { needed: sum, limit, pieces: must, what };
  return new StrataError(
    "budget_too_small",
    `${what}; raise budgets.total, lower budgets.reply or shorten these`,
    details,
  );
}
