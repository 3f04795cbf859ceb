import type { Agent } from "./agent.ts";
import { StrataError } from "./errors.ts";
import type { Layer } from "./layer.ts";

/** The layers that a word refers to: the one with that id, or else those of that rank (live layers may share a rank). */
export function layersNamed<L extends Pick<Layer, "id" | "rank">>(layers: readonly L[], word: string): readonly L[] {
  const own = layers.filter(({ id }) => id === word);
  return own.length > 0 ? own : layers.filter(({ rank }) => String(rank) === word);
}

/** The names of layers, for a sentence. */
export const idsOf = (layers: readonly Pick<Layer, "id">[]): string => layers.map(({ id }) => `\`${id}\``).join(", ");

/** The layer whose text operators write beside the declared layers: the soul, or the skills. @throws StrataError `text_not_found` */
export function layerWith(
  { name, layers }: Pick<Agent, "name" | "layers">,
  source: "soul" | "skills" | "files",
): Layer {
  const layer = layers.find((one) => one.source.kind === source);
  if (layer !== undefined) return layer;
  const none = source === "soul" ? "no soul" : `no ${source}`;
  const message = `${name} has ${none}: no layer of it in strata.yaml says \`source: ${source}\``;
  throw new StrataError("text_not_found", message, { agent: name, source });
}
