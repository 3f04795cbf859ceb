import { StrataError } from "../protocol/index.ts";

/** One piece that wants room. Tokens throughout. */
export interface Piece {
  readonly id: string;
  readonly rank: number;
  readonly wanted: number;
  readonly minimum: number;
  readonly budget?: number;
  /** It gets no more, however much is free. */
  readonly most?: number;
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

/** A live source gets so much of the tail's room where it names no budget: a flood leaves the rest to the others. */
const LIVE_SHARE = 1 / 4;

interface LiveRoom {
  readonly room: number;
  readonly fits: boolean;
  /** The minimum that its layer declares: a source that must be there has all that it wants as its piece's. */
  readonly reserved: number;
}

/**
 * A live source's piece where not everything fits: it gets its budget or its share of the room, and no more. Where only the
 * transcript would give way to it (`fits`), a budget below its share takes nothing away.
 */
export function liveWithin(piece: Piece, { room, fits, reserved }: LiveRoom): Piece {
  const { wanted, minimum, budget } = piece;
  const share = Math.floor(Math.max(room, 0) * LIVE_SHARE);
  const most = Math.max(fits ? Math.max(budget ?? 0, share) : (budget ?? share), reserved);
  return most >= wanted || !piece.cuttable ? piece : { ...piece, most, minimum: Math.min(minimum, most) };
}

/** Tokens that pieces would take. */
export const wantedSum = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, { wanted, most = wanted }) => sum + Math.min(wanted, most), 0);

/** Tokens that pieces take at the least. */
export const leastSum = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, piece) => sum + (piece.cuttable || piece.droppable ? piece.minimum : piece.wanted), 0);

/** How much room each piece that has to give way still gets; 0 is dropped, a piece not named stays whole. */
export type Allotment = ReadonlyMap<string, number>;

/**
 * Tokens that a piece which gave way may take where so many are free for it; nothing where all of it fits. A soft budget is there for
 * the others: what they all leave may go `beyond` it.
 */
export function regrown(
  { wanted, minimum, budget = wanted, most }: Piece,
  free: number,
  beyond = false,
): number | undefined {
  if (most === undefined && wanted <= free) return undefined;
  return Math.min(Math.max(most ?? (beyond ? wanted : budget), minimum), free);
}

/** A beginning of fewer tokens tells nobody anything: rather it is dropped. */
export const LEAST_BEGINNING = 64;

/**
 * Shares out `limit` tokens. From the highest rank number down: first each cuttable piece goes to its budget, then what may
 * go is trimmed as far as it must, and dropped (to its reserved minimum, where it has one) where too little would be left of
 * it, then the rest of the cuttable ones are trimmed, down to their minimum. `margin` stays free of what is trimmed.
 * @throws StrataError `budget_too_small` when what must be sent does not fit
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
