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
import { NOTHING_NOW } from "./wording.ts";

/** A turn's tail as it will be sent. */
export interface Tail {
  /** For the turn's requests only. */
  readonly parts: readonly TailPart[];
  /** What stays with the turn's own message. */
  readonly kept: readonly TextPart[];
  /** The full texts of the layers whose changes stay: they are sent again if a cut removes what they changed. */
  readonly whole: readonly TextPart[];
  /** Each layer's entry of the ledger, by what is sent of it now. */
  readonly entries: readonly LedgerEntry[];
}

/** What decides how the tail is sent. */
export interface Carrying {
  readonly plan: TailPlan;
  readonly shown: ShownLayers;
  /**
   * Whether the turn is independent (`history: log`): content that its requests do not change is then in its message, before the events.
   */
  readonly isAlone: boolean;
  /** How many requests the transcript will probably serve before it is cut. */
  readonly requests: number;
  readonly count: CountTokens;
}

/** Places the live layers as the plan says. Pure. */
export function carry(rendered: readonly Rendered[], carrying: Carrying): Tail {
  const { count } = carrying;
  const said = rendered.flatMap(sayingOf);
  const isStaying = (one: TailText): boolean =>
    wayOf(one, carrying.plan) === "delta" || (carrying.isAlone && isBefore(one.layer));
  const staying = said.filter(isStaying);
  const changes = staying.flatMap((one) => changeOf(one, carrying.shown.get(one.layer.id)) ?? []);
  const stays = keeps(staying, changes, carrying);
  const passing = stays ? said.filter((one) => !isStaying(one)) : said;
  const kept = stays ? changes : [];
  const sizes = new Map(kept.flatMap(({ text, told }) => (told ? [[told.layer, countBlock(text, count)]] : [])));
  const still = new Set(stays ? staying.map(({ layer }) => layer.id) : []);
  return {
    parts: systemLast(passing.map((one) => passingPart(one, carrying.plan))),
    kept,
    whole: stays ? staying.map(wholeOf) : [],
    entries: rendered.map(({ entry, layer }) =>
      still.has(layer.id) ? { ...entry, tokens: sizes.get(layer.id) ?? 0 } : entry,
    ),
  };
}

interface TailText extends Saying {
  /** Whether only the platform and the operator speak in it. */
  readonly isOurs: boolean;
}

function sayingOf({ layer, text, entry, items }: Rendered): readonly TailText[] {
  if (text === undefined) return [];
  const inItems = entry.items !== undefined && entry.fate !== "dropped";
  const isOurs = !inItems && (entry.trust === "platform" || entry.trust === "operator");
  if (layer.source.kind !== "recall") return [{ layer, text, inItems, isOurs }];
  return [{ layer, text, inItems, isOurs, memories: memoriesIn(items) }];
}

/** The memories by the frames that show them; two memories may look the same. */
function memoriesIn(items: Rendered["items"]): ReadonlyMap<string, readonly MemoryId[]> {
  const memories = new Map<string, readonly MemoryId[]>();
  for (const one of items) {
    const frame = frameItem(one);
    const { ids = one.id === undefined ? [] : [one.id] } = one;
    memories.set(frame, [...(memories.get(frame) ?? []), ...ids.map((id) => memoryId(id))]);
  }
  return memories;
}

/**
 * The earlier messages: each request of an independent turn shows the same ones, so all but the first read them from the provider's cache.
 */
const isBefore = ({ source }: Layer): boolean => source.kind === "conversation" || source.kind === "recent";

const wayOf = ({ isOurs }: TailText, plan: TailPlan): TailPlan["trusted"] => (isOurs ? plan.trusted : plan.framed);

/**
 * Whether changed lines stay in the transcript. If reasoning is not bound to the history, they stay only while w c + r c (T - 1) / 2 < d,
 * with c changed tokens, d tokens of the full texts, and T requests until the transcript is cut.
 */
function keeps(
  staying: readonly TailText[],
  changes: readonly TextPart[],
  { plan, shown, requests, count }: Carrying,
): boolean {
  const sizeOf = (texts: readonly { readonly text: string }[]): number =>
    texts.reduce((sum, { text }) => sum + countBlock(text, count), 0);
  // A layer must be shown in full once before changes can refer to it.
  if (plan.keep === undefined || staying.every(({ layer }) => !shown.has(layer.id))) return true;
  const changed = sizeOf(changes);
  const { read, write } = plan.keep;
  return changed === 0 || write * changed + (read * changed * (requests - 1)) / 2 < sizeOf(staying);
}

function passingPart({ layer, text, isOurs }: TailText, plan: TailPlan): TailPart {
  const part = { layer: layer.id, text };
  if (isOurs && plan.trusted === "turn-scoped") return { ...part, way: "turn-scoped" };
  return plan.place === "before-events" ? { ...part, way: "before-events" } : part;
}

/** A system message comes after the user message. */
const systemLast = (parts: readonly TailPart[]): readonly TailPart[] => [
  ...parts.filter(({ way }) => way !== "turn-scoped"),
  ...parts.filter(({ way }) => way === "turn-scoped"),
];

/** The user message with the part of the tail that stays in it. Its trust is the lowest of everything in it. */
export function withKept(
  one: TranscriptMessage,
  { kept, entries }: Tail,
  { plan, count, isAlone }: Pick<Carrying, "plan" | "count" | "isAlone">,
): TranscriptMessage {
  const { message } = one;
  if (kept.length === 0 || message.role !== "user") return one;
  const parts: readonly UserPart[] =
    isAlone || plan.place === "before-events" ? [...kept, ...message.parts] : [...message.parts, ...kept];
  const whole = { role: "user", parts } as const;
  return { ...one, message: whole, trust: trustOf(kept, entries, one.trust), tokens: countMessage(whole, count) };
}

/** The repeated layers: their message, its tokens, and the ledger's entries with it. */
interface ShownAnew {
  readonly message: TranscriptMessage;
  /** Tokens of the texts alone. */
  readonly tokens: number;
  readonly entries: readonly LedgerEntry[];
}

/** The full texts of the layers whose changes stay, in a separate message; undefined if the turn has shown all of them already. */
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
      const [layer] = [...sizes.keys()].filter((one) => one === entry.section);
      return layer === undefined ? entry : { ...entry, tokens: entry.tokens + (sizes.get(layer) ?? 0) };
    }),
  };
}

/** How many requests a running transcript will serve before it is cut, if it goes on growing as before. */
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
  return lowestTrust([other, ...entries.filter(({ section }) => isOf(section, layers)).map(({ trust }) => trust)]);
}

/**
 * A layer that had content and is empty now reports that, because its old words would still apply. Memories that no longer fit are still
 * valid.
 */
export function nothingNow(
  layers: readonly Layer[],
  contents: Contents,
  { plan, shown }: Pick<Carrying, "plan" | "shown">,
): Contents {
  const silent = layers.filter(({ id, source }) => {
    if (source.kind === "recall" || !shown.has(id)) return false;
    const content = contents.get(id);
    if (content?.kind === "text") return content.text.trim() === "";
    return content?.kind === "items" && content.items.length === 0;
  });
  if (silent.length === 0 || plan.framed !== "delta") return contents;
  const now = new Map(contents);
  for (const { id } of silent) now.set(id, { kind: "text", text: trusted(NOTHING_NOW) });
  return now;
}

/** The message that remains after the provider has cleared this request's tail by itself; undefined if there was nothing to clear. */
export function clearedTail({
  tail,
  ledger,
}: {
  readonly tail: readonly TailPart[];
  readonly ledger: Pick<Ledger, "entries">;
}): TrustedMessage | undefined {
  const scoped = tail.filter(({ way }) => way === "turn-scoped");
  if (scoped.length === 0) return undefined;
  // `carry` puts only text of the platform and the operator here.
  const parts = scoped.map(({ text }) => ({ type: "text", text: trusted(text) }) as const);
  const layers = new Set(scoped.map(({ layer }) => layer));
  const trusts = ledger.entries.filter(({ section }) => isOf(section, layers)).map(({ trust }) => trust);
  return { message: { role: "system", parts }, trust: lowestTrust(trusts) };
}

const isOf = (section: LedgerEntry["section"], layers: ReadonlySet<LayerId | undefined>): boolean =>
  [...layers].some((layer) => layer === section);
