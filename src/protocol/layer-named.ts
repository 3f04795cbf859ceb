import type { Layer } from "./layer.ts";

/** The layers that a word means: the one of that id, else those of that rank, of which live ones may be several. */
export function layersNamed<L extends Pick<Layer, "id" | "rank">>(layers: readonly L[], word: string): readonly L[] {
  const own = layers.filter(({ id }) => id === word);
  return own.length > 0 ? own : layers.filter(({ rank }) => String(rank) === word);
}

/** The names of layers, for a sentence. */
export const idsOf = (layers: readonly Pick<Layer, "id">[]): string => layers.map(({ id }) => `\`${id}\``).join(", ");
