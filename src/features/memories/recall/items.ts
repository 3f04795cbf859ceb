import { setImmediate } from "node:timers/promises";
import { isEarlier } from "../../../compiler/index.ts";
import { clean, cleanName, frame } from "../../../guard/index.ts";
import { passageOf } from "../../../memory/index.ts";
import {
  type ContentItem,
  type CountTokens,
  framesOf,
  frozenIn,
  lowestTrust,
  type Memory,
  type TranscriptMessage,
  untrusted,
} from "../../../protocol/index.ts";
import type { MemoryHit, SeenMemories } from "../../../store/index.ts";
import type { GatherContext } from "../../../turn/sources/index.ts";

/** Of a longer memory the passage that fits is shown, in characters. */
const PASSAGE = 700;

/** The hits as they are shown for a question: a long one is cut to the part that fits, which leaves room for others. */
export async function asPassages(
  hits: readonly RecalledMemory[],
  question: string,
): Promise<readonly RecalledMemory[]> {
  const shown: RecalledMemory[] = [];
  for (const hit of hits) {
    const isLong = hit.content.length > PASSAGE;
    shown.push(isLong ? { ...hit, content: untrusted(passageOf(hit.content, question, PASSAGE)) } : hit);
    if (isLong) await setImmediate();
  }
  return shown;
}

/** A memory that may be shown, and its position in the conversation. */
export type RecalledMemory = Memory & Pick<MemoryHit, "scope" | "session" | "place">;

/** What fits into a layer, and what does not. */
export interface Filled {
  /** The best first. */
  readonly hits: readonly RecalledMemory[];
  readonly left: number;
}

/**
 * Takes hits in the order of their rank as long as they fit the tokens; one that is too long leaves its room to the next. By
 * value for each token less is found: that prefers short memories, and what answers is rarely the shortest (decisions/0019).
 */
export function fill(
  hits: readonly RecalledMemory[],
  room: { readonly tokens: number; readonly items: number },
  count: CountTokens,
): Filled {
  const chosen: RecalledMemory[] = [];
  let tokens = room.tokens;
  for (const hit of hits) {
    if (chosen.length >= room.items) break;
    const cost = costOf(hit, count);
    if (cost > tokens) continue;
    chosen.push(hit);
    tokens -= cost;
  }
  return { hits: chosen, left: hits.length - chosen.length };
}

/** The tokens of one hit shown alone. */
export const costOf = (hit: RecalledMemory, count: CountTokens): number => count(frameRecalled(recalledItem([hit])));

/** The hits as items, the best first: those that were said one after the other as one. */
export function itemsOf(hits: readonly RecalledMemory[]): readonly ContentItem[] {
  const groups: RecalledMemory[][] = [];
  const inOrder = hits.toSorted((a, b) =>
    streamOf(a) < streamOf(b) ? -1 : streamOf(a) > streamOf(b) ? 1 : a.place - b.place,
  );
  for (const hit of inOrder) {
    const last = groups.at(-1)?.at(-1);
    if (last !== undefined && follows(last, hit)) groups.at(-1)?.push(hit);
    else groups.push([hit]);
  }
  const rank = new Map(hits.map((hit, i) => [hit, i]));
  const best = (group: readonly RecalledMemory[]): number => Math.min(...group.map((hit) => rank.get(hit) ?? 0));
  return groups.sort((a, b) => best(a) - best(b)).map(recalledItem);
}

/** What counts places together. */
const streamOf = ({ scope, session }: RecalledMemory): string => `${scope.contact ?? ""}/${session}`;

const follows = (before: RecalledMemory, after: RecalledMemory): boolean =>
  before.kind === "message" &&
  after.kind === "message" &&
  streamOf(before) === streamOf(after) &&
  // In one item with others a text loses its lines.
  !isLaidOut(before) &&
  !isLaidOut(after) &&
  after.place === before.place + 1;

/** Whether line breaks are part of its meaning: code, lists, indented text. */
const isLaidOut = ({ content }: RecalledMemory): boolean =>
  /^\s{0,3}(?:```|~~~)|^(?: {2,}|\t)\S|^\s*(?:[-*+]|\d+[.)])\s\S/m.test(content);

/** A single memory under its speaker's name; several on one line each, with the name in front. */
function recalledItem(hits: readonly RecalledMemory[]): ContentItem {
  const [first] = hits;
  if (first === undefined) throw new RangeError("an item is made of one memory at least");
  const trust = lowestTrust(hits.map((hit) => hit.trust));
  const base = { id: first.id, kind: "memory", trust, at: first.at } as const;
  const { speaker } = first;
  if (hits.length === 1)
    return { ...base, text: first.content, ...(speaker !== undefined && { name: untrusted(speaker) }) };
  return { ...base, ids: hits.map(({ id }) => id), text: untrusted(hits.map(memoryLine).join("\n")) };
}

/** Replaces a message's line breaks with spaces, so that it cannot pose as another speaker's line. */
function memoryLine({ speaker, content }: RecalledMemory): string {
  const name = speaker === undefined ? "" : cleanName(untrusted(speaker));
  return `${name === "" ? "" : `${name}: `}${content.replace(/\s*[\r\n\u0085\u2028\u2029]+\s*/gu, " ")}`;
}

const frameRecalled = ({ kind, trust, at, text, name }: ContentItem): string => frame({ kind, trust, at }, text, name);

/** The turns and the frozen memories in the request, including this turn's. */
export function standingIn({ epoch, frozen = frozenIn(epoch), turn }: GatherContext): SeenMemories {
  const turns = [turn, ...(epoch?.transcript.map((one) => one.turn) ?? [])];
  return { turns: [...new Set(turns)].filter((one) => one !== undefined && one !== null), memories: frozen };
}

/** Whether the model sees a memory anyway: its turn is still in the request (or is this one), or it is frozen at the start. */
export function seenIn(context: GatherContext): (memory: Memory) => boolean {
  const { epoch, events } = context;
  const standing = standingIn(context);
  const [turns, frozen] = [new Set(standing.turns), new Set(standing.memories)];
  const earlier = earlierTexts(epoch?.transcript ?? []);
  const own = new Set<string>(events.map(({ id }) => id));
  return ({ id, turn: from, kind, content, sources = [] }) =>
    frozen.has(id) ||
    (kind === "message" && earlier.size > 0 && earlier.has(clean(content))) ||
    (from !== undefined && turns.has(from)) ||
    sources.some((source) => own.has(source));
}

/** The messages of which a cut has left the words. */
function earlierTexts(transcript: readonly TranscriptMessage[]): ReadonlySet<string> {
  const frames = transcript
    .filter(isEarlier)
    .flatMap(({ message }) => (message.role === "user" ? message.parts : []))
    .flatMap((part) => (part.type === "text" ? framesOf(part) : []));
  return new Set(frames.flatMap(({ text, messages }) => messages?.map((one) => one.text) ?? [text]));
}

/** Whether a memory's source exists on this thread. A memory that was saved again since then counts, whoever saved it first. */
export function happenedFor({ undone = NONE }: Pick<GatherContext, "undone">): (memory: Memory) => boolean {
  return ({ turn, sources = [], support }) =>
    support > 1 || !((turn !== undefined && undone.has(turn)) || sources.some((source) => undone.has(source)));
}

const NONE: ReadonlySet<string> = new Set();
