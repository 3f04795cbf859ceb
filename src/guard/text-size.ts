import { inPlace, type Layer, type LayerId, type TextLimits, type TextVersion } from "../protocol/index.ts";

/** Where a layer's text stands, or is to stand. */
export interface LayerPlace {
  readonly layers: readonly Layer[];
  readonly limits: TextLimits;
  readonly active: readonly Pick<TextVersion, "layer" | "part" | "text" | "place">[];
  readonly layer: LayerId;
}

/** Characters of a layer's text as it stands now, and of all others of the prefix; and how many there may be. */
export interface PrefixSize {
  readonly limits: TextLimits;
  readonly now: number;
  readonly beside: number;
}

/** The immutable texts and of the others what is active, without soul, skills and what is live. */
export function prefixSize({ layers, limits, active, layer }: LayerPlace): PrefixSize {
  const standing = inPlace(layers, active).filter(({ part }) => part === undefined);
  const edited = new Map(standing.map((one) => [one.layer, one.text]));
  const size = { now: 0, beside: 0 };
  for (const { id, source } of layers) {
    if (source.kind === "text") size[id === layer ? "now" : "beside"] += (edited.get(id) ?? source.text).length;
  }
  return { limits, ...size };
}

/** Why a layer's text may not be so long after an edit, as the rest of a sentence about it. */
export function layerSizeProblem(length: number, size: PrefixSize): string | undefined {
  const most = size.limits.layer;
  return length > most && roomFor(size) >= most
    ? `${leftFor(length, most)}: a layer may have ${number(most)}`
    : sumProblem(length, size);
}

/**
 * Why all texts would be too long together with one of this length. Where more are declared than edits may leave, no edit may make the
 * sum larger, and one that does not is never refused for it.
 */
export function sumProblem(length: number, size: PrefixSize): string | undefined {
  const room = roomFor(size);
  if (length <= room) return undefined;
  const { now, beside, limits } = size;
  const [sum, most] = [now + beside, number(limits.total)];
  const why =
    sum > limits.total
      ? `have ${number(sum)}, where ${most} may be, so none of them may grow`
      : `may have ${most}, of which the others take ${number(beside)}`;
  return `${leftFor(length, room)}: all texts of the prefix together ${why}`;
}

const roomFor = ({ now, beside, limits }: PrefixSize): number => Math.max(limits.total - beside, now);

const leftFor = (length: number, left: number): string =>
  `it has ${number(length)} characters, and ${number(left)} are left for it`;

/** As people write it, on any machine: `4,000`. */
export const number = (value: number): string => String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");
