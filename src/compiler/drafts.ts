import {
  type CountTokens,
  inPromptOrder,
  type Layer,
  type LayerContent,
  type LayerId,
  type Mode,
} from "../protocol/index.ts";
import { type Draft, draft } from "./layers.ts";

/** What the live layers' sources gave. */
export type Contents = ReadonlyMap<LayerId, LayerContent>;

/** What the layers of the prefix or of the tail would say in this mode, in the order of the prompt. */
export function drafts(
  layers: readonly Layer[],
  where: "system" | "tail",
  mode: Mode,
  contents: Contents,
  count: CountTokens,
): Draft[] {
  return inPromptOrder(layers).flatMap((layer) => {
    if ((layer.scope === "turn") !== (where === "tail")) return [];
    return draft(layer, contentOf(layer, contents), mode, count) ?? [];
  });
}

/** Law 2: what an immutable layer says was locked at the start; nothing that was gathered replaces it. */
export function contentOf(layer: Layer, contents: Contents): LayerContent {
  const written: LayerContent | undefined =
    layer.source.kind === "text" ? { kind: "text", text: layer.source.text } : undefined;
  const locked = layer.mutability === "immutable" ? written : undefined;
  return locked ?? contents.get(layer.id) ?? written ?? { kind: "empty", because: "its source was not asked" };
}
