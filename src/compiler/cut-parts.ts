import { BETWEEN_PARTS, type CountTokens, type LayerPart } from "../protocol/index.ts";
import { LEAST_BEGINNING } from "./share-out.ts";
import { beginningWithin } from "./tokens.ts";
import { layerTruncated } from "./wording.ts";

/** The visible rest of a layer's parts: the text with the marks of what was cut, and how many characters of each part. */
interface CutParts {
  readonly text: string;
  readonly lengths: readonly number[];
}

interface CutRoom {
  /** Tokens that the whole block may have. */
  readonly room: number;
  readonly count: CountTokens;
  /** Tokens of the block with this text. */
  readonly block: CountTokens;
}

/**
 * Cuts the parts of a layer to the room of the layer: between characters, and marked in the text. Every part keeps a floor, so that a
 * long one does not take all; the first ones get what is left. Undefined if nothing fits.
 */
export function cutParts(
  layer: string,
  parts: readonly LayerPart[],
  { room, count, block }: CutRoom,
): CutParts | undefined {
  const filled = parts.filter(({ text }) => text !== "");
  const sizes = filled.map(({ text }) => count(text));
  const shares = sharesOf(filled, sizes, Math.max(room - block(layerTruncated(layer, 0)), 0));
  const isCut = (i: number): boolean => (shares[i] ?? 0) > 0 && (shares[i] ?? 0) < (sizes[i] ?? 0);
  // The longest of the cut parts fills what the others leave: it is measured with everything around it.
  const [longest] = [...shares.keys()].filter(isCut).toSorted((a, b) => (shares[b] ?? 0) - (shares[a] ?? 0));
  const shown = filled.map(({ name, text }, i) => {
    if (!isCut(i)) return shares[i] === 0 ? "" : text;
    return i === longest ? "" : beginningWithin(text, (shares[i] ?? 0) - count(layerTruncated(name, 0)), count);
  });
  const written = (beginning: string): string =>
    joinShownParts(
      layer,
      filled,
      shown.map((text, i) => (i === longest ? beginning : text)),
    );
  if (longest !== undefined)
    shown[longest] = beginningWithin(filled[longest]?.text ?? "", room, (part) => block(written(part)));
  const text = joinShownParts(layer, filled, shown);
  if (shown.every((one) => one === "") || block(text) > room) return undefined;
  const lengths = new Map(filled.map((part, i) => [part, shown[i]?.length ?? 0]));
  return { text, lengths: parts.map((part) => lengths.get(part) ?? 0) };
}

/**
 * Tokens of each part: first its floor, one after the other as long as there is room; then the first ones get the rest. A part that only
 * represents others gets none: the mark counts them.
 */
function sharesOf(parts: readonly LayerPart[], sizes: readonly number[], room: number): readonly number[] {
  const floor = Math.min(Math.max(Math.floor(room / (2 * parts.length)), LEAST_BEGINNING), room);
  let left = room;
  let isFull = false;
  const floors = sizes.map((size, i) => {
    const share = Math.min(size, floor);
    isFull ||= share > left;
    if (isFull || parts[i]?.others !== undefined) return 0;
    left -= share;
    return share;
  });
  return floors.map((share, i) => {
    const more = parts[i]?.others === undefined ? Math.min((sizes[i] ?? 0) - share, left) : 0;
    left -= more;
    return share + more;
  });
}

function joinShownParts(layer: string, parts: readonly LayerPart[], shown: readonly string[]): string {
  const isOnly = parts.length === 1;
  const texts = parts.flatMap(({ name, text }, i) => {
    const beginning = shown[i] ?? "";
    if (beginning === "") return [];
    return beginning === text || isOnly ? [beginning] : [`${beginning}\n${layerTruncated(name, 0)}`];
  });
  const gone = parts.reduce((sum, { others = 1 }, i) => sum + (shown[i] === "" ? others : 0), 0);
  return `${texts.join(BETWEEN_PARTS)}\n${layerTruncated(layer, gone)}`;
}
