import { type CheckedText, charactersBeside, checkNewText } from "../guard/index.ts";
import { inPlace, type Layer, type LayerId, TEXT_LIMITS, type TextVersion } from "../protocol/index.ts";

/** Where a text is to stand. */
export interface LayerPlace {
  readonly layers: readonly Layer[];
  readonly active: readonly TextVersion[];
  readonly layer: LayerId;
}

/**
 * Whether a text may take the place of a layer's. What is declared may be longer than edits may be: then no edit may make all texts
 * together longer than they are, and one that does not is never refused for their sum.
 */
export async function checkLayerText(
  place: LayerPlace,
  given: { readonly text: string; readonly line?: string | undefined },
): Promise<CheckedText> {
  const { beside, now } = charactersOf(place);
  const together = beside + now;
  if (together <= TEXT_LIMITS.stored) return checkNewText({ kind: "layer", ...given, beside });
  const { length } = given.text.replaceAll("\r\n", "\n").trimEnd();
  const left = Math.min(now, TEXT_LIMITS.layer);
  if (length <= left) return checkNewText({ kind: "layer", ...given, beside: TEXT_LIMITS.stored - left });
  const why =
    now < TEXT_LIMITS.layer
      ? `all texts of the prefix together have ${together}, where ${TEXT_LIMITS.stored} may be, so none of them may grow`
      : `a layer may have ${TEXT_LIMITS.layer}`;
  return { problem: `it has ${length} characters, and ${left} are left for it: ${why}` };
}

/** Characters of a layer's text as it stands now, and of all others of the prefix. */
export function charactersOf({ layers, active, layer }: LayerPlace): { readonly beside: number; readonly now: number } {
  const standing = inPlace(layers, active);
  const beside = charactersBeside(layers, standing, layer);
  const edited = standing.find((one) => one.layer === layer && one.part === undefined);
  const source = layers.find(({ id }) => id === layer)?.source;
  return { beside, now: edited?.text.length ?? (source?.kind === "text" ? source.text.length : 0) };
}
