import {
  type CountTokens,
  inPromptOrder,
  type Layer,
  type LayerContent,
  type LayerId,
  type Ledger,
  type Mode,
  type Place,
} from "../protocol/index.ts";
import { type Draft, draft, type Rendered, render } from "./layers.ts";
import { type Allotment, LEAST_BEGINNING, regrown, type Section } from "./share-out.ts";

/** The results of the live layers' sources. */
export type Contents = ReadonlyMap<LayerId, LayerContent>;

/** The contents of the layers of the prefix or of the tail in this mode, in the order of the prompt. */
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

/** Law 2: the text of an immutable layer was locked at the start; nothing that was gathered replaces it. */
export function contentOf(layer: Layer, contents: Contents): LayerContent {
  const written: LayerContent | undefined =
    layer.source.kind === "text" ? { kind: "text", text: layer.source.text } : undefined;
  const locked = layer.mutability === "immutable" ? written : undefined;
  return locked ?? contents.get(layer.id) ?? written ?? { kind: "empty", because: "its source was not asked" };
}

/** The room that the sections of one place got, and the tokens that they may take together. */
export interface Shares {
  readonly sections: readonly Section[];
  readonly allotment: Allotment;
  readonly room: number;
}

/** Free room that is not worth filling: this many tokens, or this share of the room. If more is free, layers may exceed their budgets. */
const SPARE = 1_000;
const SPARE_SHARE = 1 / 32;

/**
 * Renders drafts into their allotted room. Room that is left over, because whole items or texts were left out, goes back to the layers that
 * were cut, the lowest rank number first: up to their budgets, and beyond them if much is still free because budgets are small compared
 * with the room.
 */
export function renderWithin(
  drafts: readonly Draft[],
  { sections, allotment, room }: Shares,
  { place, count }: { readonly place: Place; readonly count: CountTokens },
): Rendered[] {
  const rendered = drafts.map((one) => render(one, allotment.get(one.layer.id), place, count));
  let free = room - rendered.reduce((sum, { entry }) => sum + entry.tokens, 0);
  const grown = (one: Draft, { entry }: Rendered, beyond: boolean): Rendered | undefined => {
    const section = sections.find(({ id }) => id === one.layer.id);
    const had = allotment.get(one.layer.id);
    if (had === undefined || section === undefined || free <= 0) return undefined;
    const tokens = regrown(section, entry.tokens + free, beyond);
    if (tokens !== undefined && (tokens <= had || (entry.fate === "dropped" && tokens < LEAST_BEGINNING)))
      return undefined;
    const wider = render(one, tokens, place, count);
    return wider.entry.tokens > entry.tokens ? wider : undefined;
  };
  const byRank = [...drafts.entries()].sort(([, a], [, b]) => a.layer.rank - b.layer.rank);
  for (const beyond of [false, true]) {
    if (beyond && free <= Math.max(SPARE, room * SPARE_SHARE)) break;
    for (const [i, one] of byRank) {
      const had = rendered[i];
      const wider = had && grown(one, had, beyond);
      if (had === undefined || wider === undefined) continue;
      rendered[i] = wider;
      free -= wider.entry.tokens - had.entry.tokens;
    }
  }
  for (const [i, one] of byRank) {
    if (rendered[i]?.entry.fate !== "dropped" || rendered[i].text !== undefined) continue;
    const { tokens } = one.omission();
    if (tokens > free) continue;
    rendered[i] = render(one, tokens, place, count);
    free -= tokens;
  }
  return rendered;
}

/** How the sources of layers used their caches, for the ledger. */
export function cachesIn(contents: Contents): Pick<Ledger, "caches"> {
  const caches = [...contents].flatMap(([layer, content]) =>
    content.kind === "items" || content.cache === undefined ? [] : [{ layer, use: content.cache }],
  );
  return caches.length === 0 ? {} : { caches };
}
