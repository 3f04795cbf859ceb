import { clean, cleanName, secretProblem } from "../../guard/index.ts";
import { passageOf } from "../../memory/index.ts";
import {
  isBatch,
  isoSecond,
  lowestTrust,
  type Memory,
  type MemoryFilter,
  type MemoryId,
  memoryId,
  memoryScope,
  readFrames,
  type Scope,
  type ToolContext,
  type ToolOutcome,
  untrusted,
} from "../../protocol/index.ts";
import { FORGET_MEMORY, SAVE_MEMORY, type Store } from "../../store/index.ts";
import { answered, answeredAs, refused } from "../../turn/tools/index.ts";
import {
  badText,
  HAS_FRAME,
  hasSecret,
  isMessage,
  LABELS,
  NO_MATCH,
  noSuchMemory,
  notForgotten,
  notSaved,
  OWN_ONLY,
  replaced,
  replacedAlready,
  SAVED,
  SEVERAL_SENDERS,
  saidBy,
  savedBefore,
  savedByPerson,
  tagged,
  trustedMore,
  validUntil as validUntilDay,
  willBeForgotten,
} from "./wording.ts";

/** What the tools call on the store: they only read; their writes go into the turn's commit. */
export type Reads = Pick<Store, "searchMemories" | "memory">;

/** At most this many characters and tags in one memory that a tool saves. */
export const LONGEST = 4_000;
export const MOST_TAGS = 8;
export const LONGEST_TAG = 40;

export const MEMORY_ID = /^mem_[0-9a-hjkmnp-tv-z]{26}$/;

/** The calls under any tool name; `search` is the name of the tool that shows ids. */
export interface MemoryCalls {
  readonly store: Reads;
  readonly search: string;
}

/** Saves in the turn's scope: its contact's, or the agent's own if there is no other participant. */
export async function saveMemory(
  calls: MemoryCalls,
  {
    content,
    tags = [],
    supersedes,
  }: { content: string; tags?: readonly string[] | undefined; supersedes?: string | undefined },
  context: ToolContext,
): Promise<ToolOutcome> {
  // A memory kept for all of them would be shown to the others, and nobody could know whom it is about.
  if (isBatch(context.scope)) return refused(notSaved(SEVERAL_SENDERS));
  const names = cleanTags(tags);
  const problem = contentProblem(content) ?? secretProblem(names.join("\n"), "a tag");
  if (problem !== undefined) return refused(notSaved(badText(problem)));
  const old = supersedes === undefined ? undefined : memoryId(supersedes);
  const kept = old === undefined ? undefined : await whyKept(calls, old, context);
  if (kept !== undefined) return refused(notSaved(kept));
  const memory = {
    content: untrusted(content),
    tags: names,
    // The model wrote it, even without any other participant.
    trust: lowestTrust([context.taint, "agent"]),
    turn: context.turn,
    sources: context.events,
    at: context.at,
    ...(old !== undefined && { supersedes: old }),
  };
  const text = await savedText(calls.store, content, memoryScope(context.scope), old);
  return answered(text, [SAVE_MEMORY.plan({ memory })]);
}

/** A tag is shown in the line of its memory and must not make another. */
function cleanTags(tags: readonly string[]): readonly string[] {
  return [...new Set(tags.map((tag) => cleanName(untrusted(tag))).filter((tag) => tag !== ""))];
}

/** Law 12: what the platform framed is already remembered or in the record; copying it would make memory feed on itself. */
export function contentProblem(content: string): string | undefined {
  const plain = clean(untrusted(content));
  if (readFrames(plain).length > 0) return HAS_FRAME;
  const secret = secretProblem(plain);
  return secret === undefined ? undefined : hasSecret(secret);
}

async function savedText(store: Reads, content: string, scope: Scope, old: MemoryId | undefined): Promise<string> {
  if (old !== undefined) return replaced(old);
  const texts = [{ text: content, weight: 1 }];
  const alike = await store.searchMemories([scope], { texts, kinds: ["fact", "block", "summary"], limit: 3 });
  const same = alike.find((hit) => foldMemory(hit.content) === foldMemory(content));
  if (same === undefined) return SAVED;
  return savedBefore(same.id, same.support + 1);
}

/** Compares as the store does: the store decides, this only predicts it. */
const foldMemory = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\s+/gu, " ")
    .trim()
    .replace(/[.!。！]+$/u, "");

/** Why the agent may not put a memory away in this turn, as a sentence. */
async function whyKept(
  { store, search }: MemoryCalls,
  id: MemoryId,
  { scope, taint }: ToolContext,
): Promise<string | undefined> {
  const home = memoryScope(scope);
  const memory = await store.memory(home, id);
  if (memory === undefined) return noSuchMemory(id, home.contact === null, search);
  if (memory.supersededBy !== undefined) return replacedAlready(id, memory.supersededBy.memory);
  if (memory.kind === "message") return isMessage(id);
  const by = memory.by ?? "agent";
  if (by !== "agent") return savedByPerson(id, by);
  // Less trusted input cannot remove what was saved with more trust (law 6).
  if (lowestTrust([memory.trust, taint]) === memory.trust) return undefined;
  return trustedMore(id, memory.trust, taint);
}

/** Finds memories of the contact and for all contacts; what the turn itself saved is included, and what it forgot is not. */
export async function findMemories(
  store: Reads,
  wanted: { readonly query: string; readonly limit: number } & Omit<MemoryFilter, "kinds">,
  context: ToolContext,
): Promise<ToolOutcome> {
  const { query, tags, limit, ...rest } = wanted;
  const saved = savedNow(wanted, context);
  const gone = goneNow(context);
  const hits = await store.searchMemories(scopesOf(context.scope), {
    texts: [{ text: query, weight: 1 }],
    validAt: context.at,
    at: context.at,
    limit: limit + gone.size,
    ...rest,
    ...(tags !== undefined && { tags: cleanTags(tags) }),
    signal: context.signal,
  });
  const found: readonly MemoryResult[] = [...saved, ...hits.filter(({ id }) => !gone.has(id))].slice(0, limit);
  const lowest = lowestTrust(found.map(({ trust }) => trust));
  const lines = found.length === 0 ? [NO_MATCH] : found.map((hit) => renderHit(asPassage(hit, query)));
  return answeredAs(lowest, [...lines, ...(isBatch(context.scope) ? [OWN_ONLY] : [])].join("\n"));
}

/** The newest facts about the turn's contact, whole; without those that the turn itself forgot. */
export async function newestMemories(
  store: Pick<Store, "memories">,
  limit: number,
  context: ToolContext,
): Promise<ToolOutcome> {
  const gone = goneNow(context);
  const kept = await store.memories(memoryScope(context.scope), limit + gone.size, { kinds: ["fact", "block"] });
  const found = kept.filter(({ id }) => !gone.has(id)).slice(0, limit);
  const lines = found.map((one) => renderHit({ ...one, scope: context.scope }));
  return answeredAs(lowestTrust(found.map(({ trust }) => trust)), lines.length === 0 ? NO_MATCH : lines.join("\n"));
}

/** Of a longer memory the passage that fits is given, in characters. */
const PASSAGE = 1_500;

const asPassage = (hit: MemoryResult, query: string): MemoryResult =>
  hit.content.length <= PASSAGE ? hit : { ...hit, content: untrusted(passageOf(hit.content, query, PASSAGE)) };

/** What of a memory is shown. */
type MemoryResult = Pick<Memory, "id" | "at" | "trust" | "speaker" | "tags" | "content" | "validUntil"> & {
  readonly scope: Scope;
  /** Saved in this very turn: it lands with its commit. */
  readonly isNew?: true;
};

/** The turn's earlier calls that save something with a word of the query, or its beginning, and that match the filters. */
function savedNow(
  { query, tags, since, before, trust }: { readonly query: string } & Omit<MemoryFilter, "kinds">,
  { pending = [], scope }: ToolContext,
): readonly MemoryResult[] {
  const asked = wordsIn(query);
  return pending.flatMap(({ id, write }) => {
    const memory = SAVE_MEMORY.read(write)?.memory;
    if (id === undefined || memory === undefined) return [];
    const fits =
      (tags === undefined || cleanTags(tags).some((tag) => memory.tags.includes(tag))) &&
      (since === undefined || memory.at >= since) &&
      (before === undefined || memory.at < before) &&
      (trust === undefined || lowestTrust([memory.trust, trust]) === trust);
    const has = wordsIn([memory.content, ...memory.tags].join(" "));
    const isMeant = asked.some((word) => has.some((one) => isAlike(word, one)));
    return fits && isMeant ? [{ ...memory, id: memoryId(id), scope: memoryScope(scope), isNew: true as const }] : [];
  });
}

/** What earlier calls of the turn forget, or put another memory in the place of. */
function goneNow({ pending = [] }: ToolContext): ReadonlySet<MemoryId> {
  return new Set(
    pending.flatMap(({ write }) => {
      const gone = FORGET_MEMORY.read(write)?.memory ?? SAVE_MEMORY.read(write)?.memory.supersedes;
      return gone === undefined ? [] : [gone];
    }),
  );
}

const wordsIn = (text: string): readonly string[] =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];

/**
 * The same word, or two with the same beginning; in scripts without spaces, one inside the other. The store's own search is more precise,
 * once it has it.
 */
function isAlike(one: string, other: string): boolean {
  if (one === other) return true;
  if (/[^\p{Script=Latin}\p{N}\p{M}]/u.test(one)) return one.includes(other) || other.includes(one);
  const shorter = Math.min(one.length, other.length);
  const alike = shorter < 4 ? shorter : shorter - 1;
  return shorter >= 3 && one.slice(0, alike) === other.slice(0, alike);
}

/** The scopes of the memories that a turn may read: the contact's, and the agent's own. */
export function scopesOf(scope: Scope): readonly Scope[] {
  const own: Scope = { ...scope, contact: null };
  return memoryScope(scope).contact === null ? [own] : [scope, own];
}

/**
 * One line from the platform, then the content, indented: no content line starts where a platform line does. Names and tags are in
 * brackets, which they cannot contain.
 */
function renderHit(hit: MemoryResult): string {
  const { id, at, trust, speaker, tags, content, scope, isNew } = hit;
  const said = speaker === undefined ? [] : [saidBy(cleanName(untrusted(speaker)))];
  const labels = tags.length === 0 ? [] : [tagged(cleanTags(tags).join(", "))];
  const own = [...(scope.contact === null ? [LABELS.allContacts] : []), ...(isNew ? [LABELS.thisTurn] : [])];
  const line = [id, day(at), trust, ...own, ...until(hit), ...said, ...labels].join(" · ");
  return `- ${line}\n  ${clean(content).replaceAll("\n", "\n  ")}`;
}

const day = (at: number): string => isoSecond(at).slice(0, 10);

const until = ({ validUntil }: MemoryResult): readonly string[] =>
  validUntil === undefined ? [] : [validUntilDay(day(validUntil))];

/** Forgets a memory that the agent itself saved in the turn's scope. */
export async function forgetMemory(calls: MemoryCalls, id: string, context: ToolContext): Promise<ToolOutcome> {
  const memory = memoryId(id);
  const kept = await whyKept(calls, memory, context);
  if (kept !== undefined) return refused(notForgotten(kept));
  return answered(willBeForgotten(memory), [FORGET_MEMORY.plan({ memory })]);
}
