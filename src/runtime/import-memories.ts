import { clean, secretProblem } from "../guard/index.ts";
import {
  type Actor,
  asStrataError,
  authorize,
  lowestTrust,
  type MemoryId,
  type NewMemory,
  type Scope,
  StrataError,
  trustOf,
  untrusted,
} from "../protocol/index.ts";
import { type KnownMemories, type KnownMemory, knownMemories } from "./known-memories.ts";
import type { ImportProgress, ImportReport, MemoryImport } from "./memory-doors.ts";
import { isDraft, isRefused, type MemoryDraft, type RefusedEntry } from "./memory-files/draft.ts";
import { readMemories } from "./memory-files/read.ts";
import { newMemoryId } from "./memory-id.ts";
import type { Parts } from "./parts.ts";

/** So many are saved between two signs of life. */
const STEP = 100;

/**
 * Saves what a file holds, each entry that is good, and says of every other where it stands and why not. The same file again saves
 * nothing; an import that was left in the middle goes on. Nothing gets more trust than the actor has.
 * @throws StrataError `not_allowed`; `invalid_input` for a file of which nothing can be read, or of several users' memories
 */
export async function* importMemories(
  parts: Parts,
  { actor, scope }: { readonly actor: Actor; readonly scope: Scope },
  file: MemoryImport,
): AsyncGenerator<ImportProgress, ImportReport> {
  authorize(actor, "operate", scope);
  const reading = { contact: scope.contact ?? "contact", agent: scope.agent, file: file.name };
  const entries = readMemories(file, reading);
  const drafts = chosen(entries.filter(isDraft), file);
  const work: Importing = {
    ...{ parts, actor, scope },
    check: file.check === true,
    known: await knownMemories(parts.store, scope),
    ...successions(drafts),
    ids: new Map(),
  };
  const tally = { saved: 0, known: 0, outdated: 0, evicted: 0, refused: entries.filter(isRefused) };
  let done = 0;
  for (const draft of work.ordered) {
    if (done++ % STEP === 0) yield { done: done - 1, total: drafts.length };
    const came = await keep(work, draft);
    if ("says" in came) tally.refused.push(came);
    else tally[came.state]++;
    if ("evicted" in came) tally.evicted += came.evicted;
  }
  yield { done, total: drafts.length };
  return tally;
}

/** Memories of several people must not become one contact's (law 5). @throws StrataError `invalid_input` */
function chosen(drafts: readonly MemoryDraft[], { name, user, kinds }: MemoryImport): readonly MemoryDraft[] {
  const owners = [...new Set(drafts.flatMap(({ owner }) => owner ?? []))];
  if (user === undefined && owners.length > 1) {
    const some = owners.slice(0, 5).map((owner) => JSON.stringify(owner));
    const whose = `${some.join(", ")}${owners.length > 5 ? ", …" : ""}`;
    const message = `${name} holds memories of ${owners.length} users (${whose}): say whose shall become this contact's`;
    throw new StrataError("invalid_input", message, { users: owners });
  }
  return drafts.filter(
    ({ owner, memory: { kind = "fact" } }) =>
      (user === undefined || owner === user) && (kinds === undefined || kinds.includes(kind)),
  );
}

/** An import at work. */
interface Importing extends Successions {
  readonly parts: Parts;
  readonly actor: Actor;
  readonly scope: Scope;
  readonly check: boolean;
  readonly known: KnownMemories;
  /** Under which ids the file's memories are kept here. */
  readonly ids: Map<MemoryId, MemoryId>;
}

/** Who takes whose place in the file. */
interface Successions {
  /** What takes another's place comes after it, wherever it stands in the file. */
  readonly ordered: readonly MemoryDraft[];
  readonly byId: ReadonlyMap<MemoryId, MemoryDraft>;
  readonly before: (draft: MemoryDraft) => readonly MemoryDraft[];
}

function successions(drafts: readonly MemoryDraft[]): Successions {
  const byId = new Map(drafts.flatMap((draft) => (draft.id === undefined ? [] : [[draft.id, draft] as const])));
  const superseded = Map.groupBy(drafts, ({ supersededBy }) => supersededBy);
  const before = ({ id }: MemoryDraft): readonly MemoryDraft[] => (id === undefined ? [] : (superseded.get(id) ?? []));
  const ordered = new Set<MemoryDraft>();
  const entered = new Set<MemoryDraft>();
  const waiting = drafts.toReversed();
  for (let draft = waiting.at(-1); draft !== undefined; draft = waiting.at(-1)) {
    entered.add(draft);
    // A circle is entered once.
    const first = before(draft).filter((one) => !entered.has(one));
    waiting.push(...first);
    if (first.length > 0) continue;
    ordered.add(draft);
    waiting.pop();
  }
  return { ordered: [...ordered], byId, before };
}

type Came =
  | RefusedEntry
  | { readonly state: "known" | "outdated" }
  | { readonly state: "saved"; readonly evicted: number };

async function keep(work: Importing, draft: MemoryDraft): Promise<Came> {
  const { where, id, support = 1, memory } = draft;
  const problem = problemOf(draft);
  if (problem !== undefined) return { where, says: problem };
  const same = work.known.same(draft);
  if (same?.isItself === true && id !== undefined) work.ids.set(id, same.known.id);
  const replaced = replacedBy(work, draft);
  if (same !== undefined && isCovered(same.known, draft) && replaced.length === 0) return { state: "known" };
  if (same === undefined && isOutdated(work, draft)) return { state: "outdated" };
  try {
    const evicted = await save(work, draft, { replaced, times: support - (same?.known.support ?? 0) });
    return same === undefined ? { state: "saved", evicted } : { state: "known" };
  } catch (thrown) {
    const error = asStrataError(thrown);
    if (error.code !== "invalid_input") throw thrown;
    return { where, says: `${memory.kind ?? "fact"} cannot be kept: ${error.message}` };
  }
}

/** Why an entry may not be kept, as a sentence without its text. */
function problemOf({ memory: { content, tags, speaker = "" } }: MemoryDraft): string | undefined {
  if (content.trim() === "") return "says nothing";
  return secretProblem(clean(content)) ?? secretProblem(clean(untrusted([speaker, ...tags].join("\n"))));
}

/** What the entry takes the place of and what is still found. */
function replacedBy({ ids, known, before }: Importing, draft: MemoryDraft): readonly KnownMemory[] {
  const there = before(draft).flatMap(({ id }) => (id === undefined ? [] : (ids.get(id) ?? [])));
  const named = draft.supersedes === undefined ? [] : [ids.get(draft.supersedes) ?? draft.supersedes];
  const all = [...new Set([...there, ...named])].flatMap((id) => known.get(id) ?? []);
  return all.filter(({ isSuperseded }) => !isSuperseded);
}

/** What was superseded is settled; else it was said as often, under the same tags. */
function isCovered(known: KnownMemory, { support = 1, memory: { tags } }: MemoryDraft): boolean {
  return known.isSuperseded || (known.support >= support && tags.every((tag) => known.tags.has(tag)));
}

/** It must not come back to life where nothing would take its place again. */
function isOutdated({ byId, known }: Importing, { supersededBy }: MemoryDraft): boolean {
  if (supersededBy === undefined) return false;
  const successor = byId.get(supersededBy);
  return successor === undefined || known.same(successor) !== undefined;
}

interface Saving {
  readonly replaced: readonly KnownMemory[];
  /** How often it is still to be saved. */
  readonly times: number;
}

/** Saves it as often as it was saved where it comes from; each time takes one place. Gives how many had to go for it. */
async function save(work: Importing, draft: MemoryDraft, { replaced, times }: Saving): Promise<number> {
  const { parts, scope, known, ids } = work;
  const memory = await asMemory(work, draft);
  let evicted = 0;
  for (let n = 0; n < Math.max(1, times, replaced.length); n++) {
    const id = draft.id === undefined || known.get(draft.id) !== undefined ? newMemoryId(parts) : draft.id;
    const supersedes = replaced[n]?.id;
    const given = { ...memory, ...(supersedes !== undefined && { supersedes }) };
    const saved = work.check
      ? { memory: { kind: "fact" as const, ...given, id, support: n + 1 }, evicted: [] }
      : await parts.store.saveMemory(scope, id, given);
    evicted += saved.evicted.length;
    known.learn(saved.memory);
    if (supersedes !== undefined) known.putAway(supersedes);
    if (draft.id !== undefined) ids.set(draft.id, saved.memory.id);
  }
  return evicted;
}

/** A turn that is not recorded here is a source and no more; no file says more for itself than the person who imports it. */
async function asMemory({ parts, actor, scope }: Importing, { memory }: MemoryDraft): Promise<NewMemory> {
  const { turn, sources = [], ...rest } = memory;
  const isHere = turn !== undefined && (await parts.store.turn(scope, turn)) !== undefined;
  const from = turn === undefined || isHere ? sources : [...new Set([...sources, turn])];
  return {
    by: actor.role,
    ...rest,
    ...(isHere && { turn }),
    ...(from.length > 0 && { sources: from }),
    trust: lowestTrust([trustOf(actor), memory.trust ?? trustOf(actor)]),
    at: memory.at ?? parts.clock(),
  };
}
