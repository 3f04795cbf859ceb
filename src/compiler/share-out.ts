import { StrataError } from "../protocol/index.ts";

/** One piece that takes part in sharing the room. All figures are tokens. */
export interface Piece {
  readonly id: string;
  readonly rank: number;
  readonly wanted: number;
  readonly minimum: number;
  readonly budget?: number;
  /** It gets no more than this, however much is free. */
  readonly most?: number;
  /** False for what is sent whole or not at all: immutable layers, tools. */
  readonly cuttable: boolean;
  /** True for what may be left out. */
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

/** A live source without a budget gets at most this share of the tail's room, so that one huge source leaves the rest to the others. */
const LIVE_SHARE = 1 / 4;

interface LiveRoom {
  readonly room: number;
  readonly fits: boolean;
  /** The minimum that its layer declares. (The piece's own minimum may be more: a required source reserves all that it wants.) */
  readonly reserved: number;
}

/**
 * A live source's piece if not everything fits: it gets its budget, or its share of the room, and no more. If only the transcript would
 * have to make room for it (`fits`), it gets its share even if its budget is lower.
 */
export function liveWithin(piece: Piece, { room, fits, reserved }: LiveRoom): Piece {
  const { wanted, minimum, budget } = piece;
  const share = Math.floor(Math.max(room, 0) * LIVE_SHARE);
  const most = Math.max(fits ? Math.max(budget ?? 0, share) : (budget ?? share), reserved);
  return most >= wanted || !piece.cuttable ? piece : { ...piece, most, minimum: Math.min(minimum, most) };
}

/** Tokens that the pieces would take. */
export const wantedSum = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, { wanted, most = wanted }) => sum + Math.min(wanted, most), 0);

/** The fewest tokens that the pieces can take. */
export const leastSum = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, piece) => sum + (piece.cuttable || piece.droppable ? piece.minimum : piece.wanted), 0);

/** How much room each piece that had to be cut gets; 0 means dropped, and a piece without an entry stays whole. */
export type Allotment = ReadonlyMap<string, number>;

/**
 * Tokens that a piece which was cut may take if this many are free for it; undefined if all of it fits. A soft budget protects the others:
 * what all of them leave free may go `beyond` it.
 */
export function regrown(
  { wanted, minimum, budget = wanted, most }: Piece,
  free: number,
  beyond = false,
): number | undefined {
  if (most === undefined && wanted <= free) return undefined;
  return Math.min(Math.max(most ?? (beyond ? wanted : budget), minimum), free);
}

/** A piece with fewer tokens is of no use: it is dropped instead. */
export const LEAST_BEGINNING = 64;

/**
 * Shares out `limit` tokens, from the highest rank number down. First, each cuttable piece is cut to its budget. Then droppable pieces are
 * trimmed as far as necessary, and dropped (down to their reserved minimum, if they have one) if too little would be left. Then the other
 * cuttable pieces are trimmed down to their minimum. `margin` stays free where pieces are trimmed.
 * @throws StrataError `budget_too_small` if what must be sent does not fit
 */
export function shareOut(pieces: readonly Piece[], limit: number, margin = 0): Allotment {
  const room = new Map(pieces.flatMap(({ id, most }) => (most === undefined ? [] : [[id, most] as const])));
  const least = [...pieces].sort((a, b) => b.rank - a.rank);
  let over = wantedSum(pieces) - limit;

  const give = (piece: Piece, tokens: number): void => {
    const now = room.get(piece.id) ?? piece.wanted;
    if (over <= 0 || tokens >= now) return;
    room.set(piece.id, tokens);
    over -= now - tokens;
  };
  for (const piece of least) {
    if (piece.cuttable && piece.budget !== undefined) give(piece, Math.max(piece.budget, piece.minimum));
  }
  const trimmed = (piece: Piece): number => (room.get(piece.id) ?? piece.wanted) - over - margin;
  for (const piece of least) {
    if (!piece.droppable) continue;
    const left = piece.cuttable ? trimmed(piece) : 0;
    give(piece, left >= LEAST_BEGINNING ? Math.max(left, piece.minimum) : piece.minimum);
  }
  for (const piece of least)
    if (piece.cuttable && !piece.droppable) give(piece, Math.max(trimmed(piece), piece.minimum));

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
