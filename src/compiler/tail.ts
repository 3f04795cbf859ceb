import {
  type CountTokens,
  type Epoch,
  type Layer,
  type LayerId,
  type Ledger,
  type LedgerEntry,
  lowestTrust,
  type MemoryId,
  memoryId,
  type TailPart,
  type TailPlan,
  type TextPart,
  type TranscriptMessage,
  type TrustedMessage,
  trusted,
  type UserPart,
} from "../protocol/index.ts";
import type { Contents } from "./drafts.ts";
import { frameItem, type Rendered } from "./layers.ts";
import { changeOf, type Saying, type ShownLayers, wholeOf } from "./shown-layers.ts";
import { countBlock, countMessage, transcriptSum } from "./tokens.ts";

/** A turn's tail as it will be carried. */
export interface Tail {
  /** For the turn's requests only. */
  readonly parts: readonly TailPart[];
  /** What stays with the turn's own message. */
  readonly kept: readonly TextPart[];
  /** All that the layers say whose changes stay: said once more where a cut takes away what they changed. */
  readonly whole: readonly TextPart[];
  /** Each layer's line of the ledger, by what is sent of it now. */
  readonly entries: readonly LedgerEntry[];
}

/** What decides how the tail is carried. */
export interface Carrying {
  readonly plan: TailPlan;
  readonly shown: ShownLayers;
  /** How many requests the transcript will probably hold before it is cut. */
  readonly requests: number;
  readonly count: CountTokens;
}

/** Lays the live layers out as the plan says. Pure. */
export function carry(rendered: readonly Rendered[], carrying: Carrying): Tail {
  const { count } = carrying;
  const said = rendered.flatMap(sayingOf);
  const staying = said.filter((one) => wayOf(one, carrying.plan) === "delta");
  const changes = staying.flatMap((one) => changeOf(one, carrying.shown.get(one.layer.id)) ?? []);
  const stays = keeps(staying, changes, carrying);
  const passing = stays ? said.filter((one) => wayOf(one, carrying.plan) !== "delta") : said;
  const kept = stays ? changes : [];
  const sizes = new Map(kept.flatMap(({ text, told }) => (told ? [[told.layer, countBlock(text, count)]] : [])));
  const still = new Set(stays ? staying.map(({ layer }) => layer.id) : []);
  return {
    parts: inOrder(passing.map((one) => passingPart(one, carrying.plan))),
    kept,
    whole: stays ? staying.map(wholeOf) : [],
    entries: rendered.map(({ entry, layer }) =>
      still.has(layer.id) ? { ...entry, tokens: sizes.get(layer.id) ?? 0 } : entry,
    ),
  };
}

interface Said extends Saying {
  /** Nobody but the platform and the operator speaks in it. */
  readonly isOurs: boolean;
}

function sayingOf({ layer, text, entry, items }: Rendered): readonly Said[] {
  if (text === undefined) return [];
  const inItems = entry.items !== undefined;
  const isOurs = !inItems && (entry.trust === "platform" || entry.trust === "operator");
  if (layer.source.kind !== "recall") return [{ layer, text, inItems, isOurs }];
  return [{ layer, text, inItems, isOurs, memories: memoriesIn(items) }];
}

/** The memories by the frames that show them: two may look the same. */
function memoriesIn(items: Rendered["items"]): ReadonlyMap<string, readonly MemoryId[]> {
  const memories = new Map<string, readonly MemoryId[]>();
  for (const one of items) {
    const frame = frameItem(one);
    const { ids = one.id === undefined ? [] : [one.id] } = one;
    memories.set(frame, [...(memories.get(frame) ?? []), ...ids.map((id) => memoryId(id))]);
  }
  return memories;
}

const wayOf = ({ isOurs }: Said, plan: TailPlan): TailPlan["trusted"] => (isOurs ? plan.trusted : plan.framed);

/**
 * Whether changed lines are kept. Where nothing binds the history to them, only while w c + r c (T - 1) / 2 < d: with c changed
 * tokens, d of all that changes are told of, and T requests until the transcript is cut.
 */
function keeps(
  staying: readonly Said[],
  changes: readonly TextPart[],
  { plan, shown: told, requests, count }: Carrying,
): boolean {
  const sizeOf = (texts: readonly { readonly text: string }[]): number =>
    texts.reduce((sum, { text }) => sum + countBlock(text, count), 0);
  // What nothing was told of yet has to be told as a whole once, for changes to have something to change.
  if (plan.keep === undefined || staying.every(({ layer }) => !told.has(layer.id))) return true;
  const changed = sizeOf(changes);
  const { read, write } = plan.keep;
  return changed === 0 || write * changed + (read * changed * (requests - 1)) / 2 < sizeOf(staying);
}

function passingPart({ layer, text, isOurs }: Said, plan: TailPlan): TailPart {
  const part = { layer: layer.id, text };
  if (isOurs && plan.trusted === "turn-scoped") return { ...part, way: "turn-scoped" };
  return plan.place === "before-events" ? { ...part, way: "before-events" } : part;
}

/** A message of the system's stands behind the user's. */
const inOrder = (parts: readonly TailPart[]): readonly TailPart[] => [
  ...parts.filter(({ way }) => way !== "turn-scoped"),
  ...parts.filter(({ way }) => way === "turn-scoped"),
];

/** A message of the user's with what stays of the tail in it. Its trust is the lowest of all that stands in it. */
export function withKept(
  one: TranscriptMessage,
  { kept, entries }: Tail,
  { plan, count }: Pick<Carrying, "plan" | "count">,
): TranscriptMessage {
  const { message } = one;
  if (kept.length === 0 || message.role !== "user") return one;
  const parts: readonly UserPart[] =
    plan.place === "before-events" ? [...kept, ...message.parts] : [...message.parts, ...kept];
  const whole = { role: "user", parts } as const;
  return { ...one, message: whole, trust: trustOf(kept, entries, one.trust), tokens: countMessage(whole, count) };
}

/** What is told again: its message, its tokens, and the ledger's lines with it. */
interface ShownAnew {
  readonly message: TranscriptMessage;
  /** Of the texts alone. */
  readonly tokens: number;
  readonly entries: readonly LedgerEntry[];
}

/** All that the layers say whose changes stay, in a message of its own; none where the turn has told all of it already. */
export function shownAnew(
  { own, whole, entries }: { readonly own: readonly TranscriptMessage[] } & Pick<Tail, "whole" | "entries">,
  count: CountTokens,
): ShownAnew | undefined {
  const said = own.flatMap(({ message }) => (message.role === "user" ? message.parts : []));
  const known = new Set(
    said.flatMap((part) => (part.type === "text" && part.told?.as === "whole" ? [part.told.layer] : [])),
  );
  const parts = whole.filter(({ told }) => told !== undefined && !known.has(told.layer));
  const turn = own[0]?.turn ?? null;
  if (parts.length === 0) return undefined;
  const message = { role: "user", parts } as const;
  const sizes = new Map(parts.map(({ text, told }) => [told?.layer, countBlock(text, count)]));
  const around = countMessage({ role: "user", parts: [] }, count);
  return {
    message: { message, turn, trust: trustOf(parts, entries, "platform"), tokens: countMessage(message, count) },
    tokens: [...sizes.values()].reduce((sum, size) => sum + size, 0),
    entries: entries.map((entry) => {
      if (entry.place === "message") return { ...entry, tokens: entry.tokens + around, wanted: entry.wanted + around };
      const [layer] = [...sizes.keys()].filter((one) => one === entry.piece);
      return layer === undefined ? entry : { ...entry, tokens: entry.tokens + (sizes.get(layer) ?? 0) };
    }),
  };
}

/** How many requests a running transcript will hold before it is cut, if it goes on growing as it did. */
export function requestsLeft({ transcript, prefixEntries }: Epoch, limit: number): number {
  const { tokens } = transcriptSum(transcript);
  const answers = transcript.filter(({ message }) => message.role === "assistant").length;
  if (answers === 0 || tokens === 0) return Number.POSITIVE_INFINITY;
  const prefix = prefixEntries.reduce((sum, entry) => sum + entry.tokens, 0);
  return Math.max(1, Math.floor((limit - prefix - tokens) / (tokens / answers)));
}

function trustOf(
  parts: readonly TextPart[],
  entries: readonly LedgerEntry[],
  other: TranscriptMessage["trust"],
): TranscriptMessage["trust"] {
  const layers = new Set(parts.map(({ told }) => told?.layer));
  return lowestTrust([other, ...entries.filter(({ piece }) => isOf(piece, layers)).map(({ trust }) => trust)]);
}

/** A layer that said something and has nothing to say now says so: its words would stand on. Memories that do not fit still hold. */
export function nothingNow(
  layers: readonly Layer[],
  contents: Contents,
  { plan, shown: told }: Pick<Carrying, "plan" | "shown">,
): Contents {
  const silent = layers.filter(({ id, source }) => {
    if (source.kind === "recall" || !told.has(id)) return false;
    const content = contents.get(id);
    if (content?.kind === "text") return content.text.trim() === "";
    return content?.kind === "items" && content.items.length === 0;
  });
  if (silent.length === 0 || plan.framed !== "delta") return contents;
  const now = new Map(contents);
  for (const { id } of silent) now.set(id, { kind: "text", text: NOTHING_NOW });
  return now;
}

const NOTHING_NOW = trusted("(nothing now)");

/** The message that stays where the provider has cleared this request's tail by itself; none where it had none to clear. */
export function clearedTail({
  tail,
  ledger,
}: {
  readonly tail: readonly TailPart[];
  readonly ledger: Pick<Ledger, "entries">;
}): TrustedMessage | undefined {
  const scoped = tail.filter(({ way }) => way === "turn-scoped");
  if (scoped.length === 0) return undefined;
  // `carry` takes no text here but what the platform and the operator say.
  const parts = scoped.map(({ text }) => ({ type: "text", text: trusted(text) }) as const);
  const layers = new Set(scoped.map(({ layer }) => layer));
  const trusts = ledger.entries.filter(({ piece }) => isOf(piece, layers)).map(({ trust }) => trust);
  return { message: { role: "system", parts }, trust: lowestTrust(trusts) };
}

const isOf = (piece: LedgerEntry["piece"], layers: ReadonlySet<LayerId | undefined>): boolean =>
  [...layers].some((layer) => layer === piece);
