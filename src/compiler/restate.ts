import {
  type CountTokens,
  type Layer,
  type LayerContent,
  type LedgerEntry,
  lowestTrust,
  type TailPart,
  type TextPart,
  type Trust,
} from "../protocol/index.ts";
import type { Compilation } from "./compile.ts";
import { draft, trustOf } from "./layers.ts";
import { wholeOf } from "./shown-layers.ts";
import { countBlock } from "./tokens.ts";

/** A compilation whose live layers say what holds now. `added`: what has to be said in a message, because the transcript holds what was said before. */
export interface Restated {
  readonly compilation: Compilation;
  readonly added?: { readonly parts: readonly TextPart[]; readonly trust: Trust };
}

/**
 * The current text of these live layers, if the turn itself has changed it. A layer of the tail is replaced: the tail belongs to one
 * request. For a layer that stays in the transcript, the current text is added again: sent bytes are never edited (law 1). A layer that was
 * cut, dropped or shown as its line does not change.
 */
export function restate(
  compilation: Compilation,
  said: readonly (readonly [Layer, LayerContent])[],
  count: CountTokens,
): Restated {
  const { ledger, kept } = compilation;
  const tail = new Map(compilation.tail.map((part) => [part.layer, part]));
  const whole = new Map(
    kept.whole.flatMap((part) => (part.told === undefined ? [] : [[part.told.layer, part] as const])),
  );
  const tokens = new Map<LedgerEntry["section"], number>();
  const parts: TextPart[] = [];
  const trusts: Trust[] = [];
  for (const [layer, content] of said) {
    const entry = ledger.entries.find(({ section, place }) => section === layer.id && place === "tail");
    const now = draft(layer, content, ledger.mode, count);
    if (now === undefined || now.lined || now.text === "" || entry?.fate !== "kept") continue;
    const before: TailPart | TextPart | undefined = tail.get(layer.id) ?? whole.get(layer.id);
    if (before === undefined || before.text === now.text) continue;
    if ("layer" in before) {
      tail.set(layer.id, { ...before, text: now.text });
      tokens.set(layer.id, countBlock(now.text, count));
      continue;
    }
    const anew = wholeOf({ layer, text: now.text, inItems: now.content.kind === "items" });
    whole.set(layer.id, anew);
    parts.push(anew);
    trusts.push(trustOf(now));
  }
  const entries = ledger.entries.map((entry) => {
    const size = entry.place === "tail" ? tokens.get(entry.section) : undefined;
    return size === undefined ? entry : { ...entry, tokens: size, wanted: size };
  });
  return {
    compilation: {
      ...compilation,
      tail: [...tail.values()],
      kept: { ...kept, whole: [...whole.values()] },
      ledger: { ...ledger, entries },
    },
    ...(parts.length > 0 && { added: { parts, trust: lowestTrust(trusts) } }),
  };
}
