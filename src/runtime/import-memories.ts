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

/** So many are saved in one transaction, and between two signs of life. */
const BATCH = 200;

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
  const tally: Tally = { saved: 0, known: 0, outdated: 0, evicted: 0, refused: entries.filter(isRefused) };
  let batch: Planned[] = [];
  for (const [n, draft] of work.ordered.entries()) {
    if (n % BATCH === 0) {
      await flush(work, tally, batch);
      batch = [];
      yield { done: n, total: drafts.length };
    }
    const planned = await plan(work, draft);
    if ("adds" in planned) batch.push(planned);
    else if ("says" in planned) tally.refused.push(planned);
    else tally[planned.state]++;
  }
  await flush(work, tally, batch);
  yield { done: drafts.length, total: drafts.length };
  return tally;
}

type Tally = { -readonly [Field in keyof Omit<ImportReport, "refused">]: number } & {
  readonly refused: RefusedEntry[];
};

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

/** An entry that is to be saved, and as what. */
interface Planned {
  readonly where: string;
  readonly isNew: boolean;
  /** As often as it was saved where it comes from; each time takes one place. */
  readonly adds: readonly { readonly id: MemoryId; readonly memory: NewMemory }[];
}

/** What becomes of an entry, seen from what is known; what is to be saved counts as known from then on. */
async function plan(
  work: Importing,
  draft: MemoryDraft,
): Promise<Planned | RefusedEntry | { readonly state: "known" | "outdated" }> {
  const { where, id, support = 1 } = draft;
  const problem = problemOf(draft);
  if (problem !== undefined) return { where, says: problem };
  const same = work.known.same(draft);
  if (same?.isItself === true && id !== undefined) work.ids.set(id, same.known.id);
  const replaced = replacedBy(work, draft);
  if (same !== undefined && isCovered(same.known, draft) && replaced.length === 0) return { state: "known" };
  if (same === undefined && isOutdated(work, draft)) return { state: "outdated" };
  const memory = await asMemory(work, draft);
  const times = Math.max(1, support - (same?.known.support ?? 0), replaced.length);
  const adds = Array.from({ length: times }, (_, n) => {
    const supersedes = replaced[n]?.id;
    return { id: freeId(work, draft), memory: { ...memory, ...(supersedes !== undefined && { supersedes }) } };
  });
  foresee(work, draft, {
    id: same?.known.id ?? adds[0]?.id,
    replaced,
    support: times + (same?.known.support ?? 0),
    memory,
  });
  return { where, isNew: same === undefined, adds };
}

/** The id it had, where that is free here. */
function freeId({ known, parts }: Importing, { id }: MemoryDraft): MemoryId {
  return id === undefined || known.get(id) !== undefined ? newMemoryId(parts) : id;
}

interface Foreseen {
  readonly id: MemoryId | undefined;
  readonly replaced: readonly KnownMemory[];
  readonly support: number;
  readonly memory: NewMemory;
}

function foresee({ known, ids }: Importing, draft: MemoryDraft, { id, replaced, support, memory }: Foreseen): void {
  if (id === undefined) return;
  const before = known.get(id);
  const tags = [...(before?.tags ?? []), ...memory.tags];
  known.learn({ kind: "fact", ...memory, at: before?.at ?? memory.at, tags, id, support });
  for (const one of replaced) known.putAway(one.id);
  if (draft.id !== undefined) ids.set(draft.id, id);
}

/** Saves what was planned, at once; where one cannot be kept, each for itself, so that only that one is refused. */
async function flush(
  { parts: { store }, scope, check }: Importing,
  tally: Tally,
  batch: readonly Planned[],
): Promise<void> {
  const count = (planned: readonly Planned[], evicted: number): void => {
    tally.evicted += evicted;
    for (const { isNew } of planned) tally[isNew ? "saved" : "known"]++;
  };
  if (check || batch.length === 0) return count(batch, 0);
  const save = async (planned: readonly Planned[]): Promise<void> => {
    const saved = await store.saveMemories(
      scope,
      planned.flatMap(({ adds }) => adds),
    );
    count(
      planned,
      saved.reduce((sum, { evicted }) => sum + evicted.length, 0),
    );
  };
  if (batch.length > 1 && (await refusal(save(batch))) === undefined) return;
  for (const one of batch) {
    const error = await refusal(save([one]));
    if (error !== undefined) tally.refused.push({ where: one.where, says: `cannot be kept: ${error.message}` });
  }
}

/** What the store does not keep; any other trouble ends the import. */
async function refusal(saving: Promise<void>): Promise<StrataError | undefined> {
  try {
    await saving;
    return undefined;
  } catch (thrown) {
    const error = asStrataError(thrown);
    if (error.code !== "invalid_input" && error.code !== "memory_not_found") throw thrown;
    return error;
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
