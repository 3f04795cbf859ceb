import { frame } from "../guard/index.ts";
import {
  type ContentItem,
  type CountTokens,
  digestOf,
  type Fate,
  type Framed,
  type Layer,
  type LayerContent,
  type LedgerEntry,
  type LedgerPart,
  layerHeading,
  lowestTrust,
  type Mode,
  type Place,
  StrataError,
  type Trust,
  type Trusted,
  trusted,
} from "../protocol/index.ts";
import { cutParts } from "./cut-parts.ts";
import { LEAST_BEGINNING, type Section } from "./share-out.ts";
import { countBlock } from "./tokens.ts";
import { LAYER_OMITTED, moreItems } from "./wording.ts";

/** A layer with what it says this turn, before anything is cut. */
export interface Draft {
  readonly layer: Layer;
  readonly content: LayerContent;
  readonly lined: boolean;
  readonly text: Trusted | Framed;
  readonly wanted: number;
  /** The line that replaces it if it is left out. */
  readonly omission: () => { readonly text: Trusted; readonly tokens: number };
}

/** A layer as it will be sent. Without a text, it is not sent. */
export interface Rendered {
  readonly layer: Layer;
  readonly text: Trusted | Framed | undefined;
  readonly entry: LedgerEntry;
  /** The items that its text shows. */
  readonly items: readonly ContentItem[];
}

/** A layer's content in this mode; undefined if the mode leaves it out. */
export function draft(layer: Layer, content: LayerContent, mode: Mode, count: CountTokens): Draft | undefined {
  const appearance = layer.modes[mode];
  if (appearance === "absent") return undefined;
  const line = appearance === "line" ? editedLine(layer, content) : undefined;
  const said = line === undefined ? orEmpty(content) : lined(content, line);
  const text = write(layer, said);
  return {
    layer,
    content: said,
    lined: line !== undefined,
    text,
    wanted: countBlock(text, count),
    omission: () => {
      const sentence = onOneLine(layer, LAYER_OMITTED);
      return { text: sentence, tokens: countBlock(sentence, count) };
    },
  };
}

/**
 * The line that replaces the layer's current text: the edit's own, otherwise the reviewed one. It is never made from the edited text: a
 * truncated beginning would lose the rest, which may be what keeps the agent safe.
 */
const editedLine = ({ line }: Layer, content: LayerContent): Trusted | undefined =>
  content.kind === "text" && (content.version ?? 0) > 0 ? (content.line ?? line) : line;

const lined = (content: LayerContent, line: Trusted): LayerContent =>
  content.kind === "text" ? { ...content, text: line } : { kind: "text", text: line };

/** A layer without content has no text, not even its heading. */
function orEmpty(content: LayerContent): LayerContent {
  if (content.kind === "text" && content.text.trim() === "") return { kind: "empty", because: "its text is empty" };
  if (content.kind === "items" && content.items.length === 0) return { kind: "empty", because: "nothing was found" };
  return content;
}

/**
 * The fewest tokens that stay of a layer, however little room there is. An immutable layer is never cut or dropped; a required one keeps at
 * least its minimum or, if it has none, its budget.
 */
export function leastOfLayer(layer: Layer, wanted: number): number {
  if (layer.mutability === "immutable") return wanted;
  const needed = layer.required ? (layer.budget ?? wanted) : 0;
  return Math.min(layer.minimum || needed, wanted);
}

/** The draft as a section that takes part in sharing the room. */
export function sectionOf({ layer, wanted, omission }: Draft): Section {
  const free = layer.mutability !== "immutable";
  return {
    id: layer.id,
    rank: layer.rank,
    wanted,
    minimum: leastOfLayer(layer, wanted),
    ...(layer.budget === undefined ? {} : { budget: layer.budget }),
    cuttable: free,
    droppable: free && !layer.required,
    omission: () => omission().tokens,
  };
}

/**
 * Renders a draft into the room it got; undefined means all that it wants.
 * @throws StrataError `budget_too_small` if nothing of a required layer fits
 */
export function render(one: Draft, room: number | undefined, place: Place, count: CountTokens): Rendered {
  const { layer, content } = one;
  const at = { place, count };
  if (content.kind === "empty") {
    const said = one.wanted === 0 ? undefined : { text: one.text, tokens: one.wanted };
    return finish(one, at, said, { fate: "empty", because: content.because });
  }
  if (room === undefined) {
    const fate: Fate = one.lined ? { fate: "lined", because: "mode" } : { fate: "kept" };
    return finish(one, at, { text: one.text, tokens: one.wanted }, fate);
  }
  if (room < LEAST_BEGINNING && room <= one.omission().tokens) return drop(one, at, room);
  const cut = content.kind === "text" ? cutText(one, content, room, count) : cutItems(layer, content, room, count);
  if (cut === undefined) return drop(one, at, room);
  return finish(one, at, { ...cut, tokens: countBlock(cut.text, count) }, { fate: "truncated", because: "budget" });
}

/** A layer's position, and how its tokens are counted. */
interface At {
  readonly place: Place;
  readonly count: CountTokens;
}

/** The sent part of a layer. */
interface SentLayer {
  readonly text: Trusted | Framed;
  readonly tokens: number;
  /** How many of its items. Default: all. */
  readonly shown?: number;
  /** How many characters of each of its parts. Default: all. */
  readonly lengths?: readonly number[];
}

/** Leaves it out: a line says so if there is room for that. */
function drop(one: Draft, at: At, room: number): Rendered {
  const { layer, wanted } = one;
  if (!layer.required) {
    const omission = one.omission();
    const { entry, ...left } = finish(one, at, undefined, { fate: "dropped", because: "budget" });
    if (omission.tokens > room) return { ...left, entry };
    const version = at.place === "tail" ? {} : { version: digestOf(omission.text) };
    return {
      ...left,
      text: omission.text,
      entry: { ...entry, trust: "platform", tokens: omission.tokens, ...version },
    };
  }
  throw new StrataError(
    "budget_too_small",
    `layer ${layer.id} is required and of its ${wanted} tokens nothing fits into the ${room} it may take; raise its budget or minimum`,
    { layer: layer.id, wanted, room },
  );
}

function finish(one: Draft, { place, count }: At, sent: SentLayer | undefined, fate: Fate): Rendered {
  const { layer, content } = one;
  const { text, shown } = sent ?? {};
  const items = content.kind === "items" ? countItems(content, text === undefined ? 0 : shown) : undefined;
  const parts = one.lined ? undefined : sentParts(content, sent === undefined ? [] : sent.lengths, count);
  const entry: LedgerEntry = {
    section: layer.id,
    place,
    rank: layer.rank,
    scope: layer.scope,
    trust: text === undefined ? layer.trust : trustOf(one, shown),
    tokens: sent?.tokens ?? 0,
    wanted: one.wanted,
    ...fate,
    // Only frozen text has a version. A live layer may hold personal text, which a plain digest would let anybody confirm.
    ...(text === undefined || place === "tail" ? {} : { version: digestOf(text) }),
    ...(content.kind === "text" && (content.version ?? 0) > 0 && { edited: content.version }),
    ...(items && { items }),
    ...(parts && { parts }),
  };
  const inText = content.kind === "items" && text !== undefined ? content.items.slice(0, shown) : [];
  return { layer, text, entry, items: inText };
}

/** The state of a layer's parts, if this many characters of each are sent. Default: all. */
function sentParts(
  content: LayerContent,
  lengths: readonly number[] | undefined,
  count: CountTokens,
): LedgerEntry["parts"] | undefined {
  if (content.kind === "items" || content.parts === undefined) return undefined;
  return content.parts.map(({ name, text, because, cut }, i): LedgerPart => {
    const reason = because === undefined ? {} : { because };
    if (text === "") return { name, fate: "empty", ...reason, tokens: 0 };
    const shown = lengths === undefined ? text : text.slice(0, lengths[i] ?? 0);
    const base = { name, tokens: count(shown), digest: digestOf(text) };
    if (shown === "") return { ...base, fate: "dropped", because: "budget" };
    if (shown.length < text.length) return { ...base, fate: "truncated", because: "budget" };
    return { ...base, fate: cut ? "truncated" : "kept", ...reason };
  });
}

function countItems(content: Items, shown?: number): LedgerEntry["items"] {
  const { items, left = [] } = content;
  return { shown: shown ?? items.length, of: items.length, ...(left.length > 0 && { left }) };
}

/** The lowest trust of what it shows: an edited text may be the agent's own. */
export function trustOf({ layer, content }: Draft, shown?: number): Trust {
  if (content.kind === "text") return content.trust ?? layer.trust;
  if (content.kind === "empty") return content.message === undefined ? layer.trust : "platform";
  return lowestTrust([layer.trust, ...content.items.slice(0, shown).map((item) => item.trust)]);
}

/** A layer's heading and what it says; nothing for an empty layer of which the model need not know. */
function write(layer: Layer, content: LayerContent): Trusted | Framed {
  switch (content.kind) {
    case "text":
      return isLine(layer, content.text) ? onOneLine(layer, content.text) : headed(layer, content.text);
    case "items":
      return headed(layer, framesOf(content, content.items));
    case "empty":
      return content.message === undefined ? trusted("") : onOneLine(layer, content.message);
  }
}

/** A live layer of one line is on the line of its heading: it is sent again each turn and read from no cache, so it is kept short. */
const isLine = ({ scope }: Layer, text: Trusted): boolean => scope === "turn" && !text.includes("\n");

const onOneLine = (layer: Layer, text: string): Trusted => trusted(`${layerHeading(layer)}: ${text}`);

/** The platform writes the heading, and the body was trusted or framed before it came here, so the whole is trusted. */
function headed(layer: Layer, body: string): Trusted | Framed {
  return trusted(`${layerHeading(layer)}\n${body}`);
}

type Items = Extract<LayerContent, { kind: "items" }>;

/** The platform's introduction, if there is one, and the frames, the oldest first. */
const framesOf = ({ intro }: Items, items: readonly ContentItem[]): string =>
  [...(intro === undefined ? [] : [intro]), ...inTime(items).map(frameItem)].join("\n");

export const frameItem = ({ kind, trust, proof, at, text, name }: ContentItem): Framed =>
  frame({ kind, trust, at, ...(proof && { proof }) }, text, name);

export const inTime = (items: readonly ContentItem[]): ContentItem[] => [...items].sort((a, b) => a.at - b.at);

/** Cuts the text between characters, and says so. Undefined if not even the mark fits. */
function cutText(
  { layer }: Draft,
  { text, parts = [{ name: layer.id, text }] }: Extract<LayerContent, { readonly kind: "text" }>,
  room: number,
  count: CountTokens,
): Pick<SentLayer, "text" | "lengths"> | undefined {
  const write = (body: string): Trusted | Framed => headed(layer, body);
  const cut = cutParts(layer.id, parts, { room, count, block: (body) => countBlock(write(body), count) });
  return cut && { text: write(cut.text), lengths: cut.lengths };
}

/** Leaves out whole items, the least fitting first (the best come first), and says how many. */
function cutItems(
  layer: Layer,
  content: Items,
  room: number,
  count: CountTokens,
): Pick<SentLayer, "text" | "shown"> | undefined {
  const { items } = content;
  const showing = (shown: number): Trusted | Framed =>
    headed(layer, `${framesOf(content, items.slice(0, shown))}\n${moreItems(items.length - shown)}`);
  let shown = 0;
  let tooMany = items.length;
  while (tooMany - shown > 1) {
    const middle = Math.floor((shown + tooMany) / 2);
    if (countBlock(showing(middle), count) <= room) shown = middle;
    else tooMany = middle;
  }
  return shown === 0 ? undefined : { text: showing(shown), shown };
}
