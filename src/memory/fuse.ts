import type { MemoryId } from "../protocol/index.ts";
import type { Features, Ranked } from "./ranked.ts";

/** Of reciprocal rank fusion: how little a rank counts against the next. */
const FLATNESS = 60;
/** What a place in the list of the vectors counts beside one in the list of the words. */
const VECTOR_WEIGHT = 2;

/** A memory that a vector was near to, the nearest first. */
export interface Near {
  readonly memory: MemoryId;
  readonly place: number;
  /** Of a hit that the words did not find, where it was ranked all the same. */
  readonly ranked?: Ranked;
}

/** One list of two: by the ranks alone, for the scores of words and vectors are not of one kind. Newest first on ties. */
export function fuse(lexical: readonly Ranked[], near: readonly Near[]): readonly Ranked[] {
  const fused = new Map<MemoryId, Ranked>();
  lexical.forEach((ranked, at) => {
    const words = 1 / (FLATNESS + at + 1);
    fused.set(ranked.memory, { ...ranked, score: words, features: { words } });
  });
  [...new Map(near.toReversed().map((one) => [one.memory, one])).values()].toReversed().forEach((one, at) => {
    const vector = VECTOR_WEIGHT / (FLATNESS + at + 1);
    const known = fused.get(one.memory);
    const features: Features = { ...known?.features, vector };
    fused.set(one.memory, {
      memory: one.memory,
      place: known?.place ?? one.place,
      score: (known?.score ?? 0) + vector,
      evidence: Math.max(known?.evidence ?? 0, one.ranked?.evidence ?? 0),
      features,
    });
  });
  return [...fused.values()].sort((a, b) => b.score - a.score || b.place - a.place);
}
