import {
  type CountTokens,
  type Digest,
  digestOf,
  type Framed,
  type Layer,
  type LayerId,
  type LayerMark,
  layerHeading,
  looksLikeOurs,
  type MemoryId,
  type TextPart,
  type TranscriptMessage,
  type Trusted,
  trusted,
  type UserPart,
} from "../protocol/index.ts";
import { countMessage } from "./tokens.ts";
import { ADDITIONAL, CHANGED_LINES, isMoreItems } from "./wording.ts";

/** A live layer in a transcript: its visible lines or frames and, if their order matters, the digest of its text. */
export interface ShownLayer {
  readonly units: ReadonlySet<string>;
  readonly of?: Digest;
}

/** The live layers in a transcript. A layer whose full text was cut away is not among them. */
export type ShownLayers = ReadonlyMap<LayerId, ShownLayer>;

export const NOTHING_SHOWN: ShownLayers = new Map();

/** Collects what the transcript's texts show. */
export function shownLayersIn(transcript: readonly TranscriptMessage[]): ShownLayers {
  const layers = new Map<LayerId, ShownLayer>();
  for (const { message } of transcript) {
    if (message.role !== "user") continue;
    for (const part of message.parts) if (part.type === "text") hear(layers, part);
  }
  return layers;
}

function hear(layers: Map<LayerId, ShownLayer>, { text, told }: TextPart): void {
  if (told === undefined) return;
  const { layer, as, of } = told;
  const before = layers.get(layer);
  if (as !== "whole" && before === undefined) return;
  const units = new Set(as === "whole" ? [] : before?.units);
  for (const unit of unitsOf(text)) {
    if (as === "lines" && unit.startsWith(GONE)) units.delete(unit.slice(GONE.length));
    else units.add(as === "lines" ? unit.slice(NEW.length) : unit);
  }
  layers.set(layer, { units, ...(of !== undefined && { of }) });
}

const GONE = "- ";
const NEW = "+ ";

/** A layer's current content. */
export interface Saying {
  readonly layer: Layer;
  readonly text: Trusted | Framed;
  /** Whether its content consists of items, that is, independent frames. */
  readonly inItems: boolean;
  /** The memories that it shows, by their frames. */
  readonly memories?: ReadonlyMap<string, readonly MemoryId[]>;
}

const recalled = (mark: LayerMark, memories: readonly MemoryId[]): LayerMark =>
  memories.length === 0 ? mark : { ...mark, memories };

/** The memories that a text shows. */
const memoriesOf = (part: UserPart): readonly MemoryId[] => (part.type === "text" && part.told?.memories) || [];

/** The memories that a transcript shows: they stay in it, whatever is recalled later. */
export function memoriesShown(transcript: readonly TranscriptMessage[]): ReadonlySet<MemoryId> {
  return new Set(
    transcript.flatMap(({ message }) => (message.role === "user" ? message.parts.flatMap(memoriesOf) : [])),
  );
}

/** The transcript without the memories that it shows. A message that contained nothing else is removed. */
export function withoutRecalled(
  transcript: readonly TranscriptMessage[],
  count: CountTokens,
): readonly TranscriptMessage[] {
  return transcript.flatMap((one) => {
    if (one.message.role !== "user") return [one];
    const parts = one.message.parts.filter((part) => memoriesOf(part).length === 0);
    if (parts.length === one.message.parts.length) return [one];
    const message = { role: "user", parts } as const;
    return parts.length === 0 ? [] : [{ ...one, message, tokens: countMessage(message, count) }];
  });
}

/** The layer's full text. */
export const wholeOf = ({ layer, text, inItems, memories }: Saying): TextPart => ({
  type: "text",
  text,
  told: recalled(
    { layer: layer.id, as: "whole", ...(!inItems && { of: digestOf(text) }) },
    [...(memories?.values() ?? [])].flat(),
  ),
});

/**
 * What has changed since the transcript showed the layer: nothing, its changed lines, or all of it if that is shorter or the change cannot
 * be shown otherwise. A memory that no longer fits the message is still valid; other items that are gone are not.
 */
export function changeOf(saying: Saying, shown: ShownLayer | undefined): TextPart | undefined {
  // Items have no order and texts have one: if a layer changed from one to the other, nothing can be compared.
  if (shown === undefined || (shown.of === undefined) !== saying.inItems) return wholeOf(saying);
  return saying.inItems ? newItems(saying, shown) : changedLines(saying, shown);
}

function newItems(saying: Saying, { units }: ShownLayer): TextPart | undefined {
  const { layer, text, memories } = saying;
  const all = unitsOf(text);
  // The platform's line before the frames has changed.
  if (all.some((unit) => !isFrame(unit) && !units.has(unit) && !isMoreItems(unit))) return wholeOf(saying);
  const now = all.filter(isFrame);
  const fresh = now.filter((unit) => !units.has(unit));
  const gone = [...units].filter((unit) => isFrame(unit) && !now.includes(unit));
  if (gone.length > 0 && layer.source.kind !== "recall") return wholeOf(saying);
  if (fresh.length === 0) return undefined;
  // Never longer than the whole, which the budget was calculated for.
  const heading = `${layerHeading(layer)}${fresh.length < now.length ? ` ${ADDITIONAL}` : ""}`;
  // The platform writes the heading, and the frames were part of the layer's own text.
  const mark = recalled(
    { layer: layer.id, as: "more" },
    fresh.flatMap((unit) => memories?.get(unit) ?? []),
  );
  return { type: "text", text: trusted(`${heading}\n${fresh.join("\n")}`), told: mark };
}

function changedLines(saying: Saying, { units, of }: ShownLayer): TextPart | undefined {
  const { layer, text } = saying;
  const digest = digestOf(text);
  if (of === digest) return undefined;
  const now = unitsOf(text);
  const gone = [...units].filter((unit) => !now.includes(unit)).map((unit) => GONE + unit);
  const fresh = now.filter((unit) => !units.has(unit)).map((unit) => NEW + unit);
  // The same lines in another order, or repeated: a list of changes cannot say that.
  if (gone.length + fresh.length === 0 || new Set(now).size < now.length) return wholeOf(saying);
  const sentence = [`${layerHeading(layer)} ${CHANGED_LINES}`, ...gone, ...fresh].join("\n");
  return shorter({ type: "text", text: trusted(sentence), told: { layer: layer.id, as: "lines", of: digest } }, saying);
}

const shorter = (change: TextPart, saying: Saying): TextPart =>
  change.text.length < saying.text.length ? change : wholeOf(saying);

const isFrame = (unit: string): boolean => unit.startsWith("[") && looksLikeOurs(unit.split("\n", 1)[0] ?? "");

/**
 * A layer's text below its heading, or after it on the same line, split into lines. A frame stays one unit, because its lines mean nothing
 * without the header.
 */
function unitsOf(text: string): readonly string[] {
  const [head = "", ...lines] = text.split("\n");
  const units: string[] = [];
  let inFrame = false;
  for (const line of lines.length === 0 ? [head] : lines) {
    const last = units.length - 1;
    if (inFrame && line.startsWith("|")) units[last] = `${units[last]}\n${line}`;
    else units.push(line);
    inFrame = isFrame(line) || (inFrame && line.startsWith("|"));
  }
  return units.filter((unit) => unit.trim() !== "");
}
