import { clean, secretProblem } from "../../guard/index.ts";
import {
  type Allowed,
  asStrataError,
  authorize,
  doneBy,
  lowestTrust,
  type MemoryId,
  type NewMemory,
  type Scope,
  StrataError,
  trustOf,
  untrusted,
} from "../../protocol/index.ts";
import { type AddedMemory, newMemoryId } from "../../store/index.ts";
import type { Parts } from "../../turn/index.ts";
import type { ImportProgress, ImportReport, MemoryImport } from "./api-types.ts";
import {
  asSaid,
  inOrder,
  isDraft,
  isRefused,
  type MemoryDraft,
  notesOn,
  type RefusedEntry,
  spanProblem,
} from "./formats/draft.ts";
import { readMemories } from "./formats/read.ts";
import { type KnownMemories, type KnownMemory, knownMemories } from "./known.ts";

/** How many are saved in one transaction, and between two reports of progress. */
const BATCH = 200;

/**
 * Saves each valid entry of a file, and reports the location and the reason for every other. Importing the same file again saves nothing;
 * an interrupted import continues. Nothing gets more trust than the actor has.
 * @throws StrataError `not_allowed`; `invalid_input` if nothing in the file can be read, or if it holds several users' memories
 */
export async function* importMemories(
  parts: Parts,
  { actor, scope }: { readonly actor: Allowed<"view">; readonly scope: Scope },
  file: MemoryImport,
): AsyncGenerator<ImportProgress, ImportReport> {
  authorize(actor, scope);
  const reading = { contact: scope.contact ?? "contact", agent: scope.agent, file: file.name };
  const entries = readMemories(file, reading);
  const drafts = inOrder(
    chooseDrafts(entries.filter(isDraft), file).map((draft) => hideSecrets(parts, asSaid(draft, reading))),
  );
  const work: Importing = {
    parts,
    actor,
    scope,
    check: file.check === true,
    known: await knownMemories(parts.store, scope),
    ids: new Map(),
  };
  const tally: ImportTally = { saved: 0, known: 0, evicted: 0, refused: entries.filter(isRefused) };
  const recognised = recognise(work, tally, drafts);
  let batch: PlannedEntry[] = [];
  for (const [n, one] of recognised.entries()) {
    if (n % BATCH === 0) {
      await flush(work, tally, batch);
      batch = [];
      yield { done: n, total: recognised.length };
    }
    const planned = await plan(work, one);
    if (planned === undefined) tally.known++;
    else batch.push(planned);
  }
  await flush(work, tally, batch);
  yield { done: recognised.length, total: recognised.length };
  const order = new Map(entries.map(({ where }, n) => [where, n]));
  const refused = tally.refused.toSorted((a, b) => (order.get(a.where) ?? 0) - (order.get(b.where) ?? 0));
  const notes = notesOn(drafts);
  return { ...tally, refused, ...(notes.length > 0 && { notes }) };
}

/** Like a tool's answer, a file may contain secrets. */
function hideSecrets({ vault }: Parts, draft: MemoryDraft): MemoryDraft {
  const { content, tags } = draft.memory;
  const memory = { ...draft.memory, content: untrusted(vault.hide(content)), tags: tags.map((tag) => vault.hide(tag)) };
  return { ...draft, memory };
}

type ImportTally = { -readonly [Field in keyof Omit<ImportReport, "refused" | "notes">]: number } & {
  readonly refused: RefusedEntry[];
};

/** Memories of several people must not become one contact's (law 5). @throws StrataError `invalid_input` */
function chooseDrafts(drafts: readonly MemoryDraft[], { name, user, kinds }: MemoryImport): readonly MemoryDraft[] {
  const owners = [...new Set(drafts.flatMap(({ owner }) => owner ?? []))];
  if (user === undefined && owners.length > 1) {
    const some = owners.slice(0, 5).map((owner) => JSON.stringify(owner));
    const whose = `${some.join(", ")}${owners.length > 5 ? ", …" : ""}`;
    const message = `${name} holds memories of ${owners.length} users (${whose}): say whose to import for this contact, with --user or \`user\``;
    throw new StrataError("invalid_input", message, { users: owners });
  }
  if (user !== undefined && !owners.includes(user)) {
    const there = owners.length === 0 ? "it names no users" : `there are ${owners.slice(0, 5).join(", ")}`;
    const message = `${name} holds no memories of ${JSON.stringify(user)}: ${there}; correct or leave out --user or \`user\``;
    throw new StrataError("invalid_input", message, { user, users: owners });
  }
  return drafts.filter(
    ({ owner, memory: { kind = "fact" } }) =>
      (user === undefined || owner === user) && (kinds === undefined || kinds.includes(kind)),
  );
}

/** An import at work. */
interface Importing {
  readonly parts: Parts;
  readonly actor: Allowed<"view">;
  readonly scope: Scope;
  readonly check: boolean;
  readonly known: KnownMemories;
  /** Under which ids the file's memories are kept here: links between them are kept under these. */
  readonly ids: Map<MemoryId, MemoryId>;
}

/** An entry, and its match here. */
interface Recognised {
  readonly draft: MemoryDraft;
  readonly id: MemoryId;
  /** The stored memory that matches it, as it was before the import. */
  readonly before: KnownMemory | undefined;
}

/**
 * Matches each entry with what is stored before anything is saved. Superseded entries come first, since their replacement sometimes has the
 * same text.
 */
function recognise(work: Importing, tally: ImportTally, drafts: readonly MemoryDraft[]): readonly Recognised[] {
  const { known, ids, parts } = work;
  const [past, present] = [drafts.filter(isPast), drafts.filter((draft) => !isPast(draft))];
  const recognised = [...past, ...present].flatMap((draft) => {
    const { where, memory, supersededBy } = draft;
    const problem = whyNotKept(draft, work.scope);
    if (problem !== undefined) {
      tally.refused.push({ where, message: problem });
      return [];
    }
    const before = known.same(draft);
    const id = before?.id ?? freeId(work, draft);
    if (draft.id !== undefined) ids.set(draft.id, id);
    if (before !== undefined && isCovered(before, draft)) return [{ draft, id, before: { ...before } }];
    const at = before?.at ?? memory.at ?? parts.clock.recorded();
    const tags = [...(before?.tags ?? []), ...memory.tags];
    const support = Math.max((before?.support ?? 0) + (before === undefined ? 0 : 1), draft.support ?? 1);
    const kept = { kind: "fact" as const, trust: trustOf(work.actor), ...memory, at, tags, id, support };
    known.learn({ ...kept, ...(supersededBy !== undefined && { supersededBy }) }, draft);
    return [{ draft, id, before: before && { ...before } }];
  });
  const order = new Map(drafts.map((draft, n) => [draft, n]));
  return recognised.sort((a, b) => (order.get(a.draft) ?? 0) - (order.get(b.draft) ?? 0));
}

const isPast = ({ supersededBy }: MemoryDraft): boolean => supersededBy !== undefined;

/** Its former id, if that is free here. */
function freeId({ known, parts }: Importing, { id }: MemoryDraft): MemoryId {
  return id === undefined || known.get(id) !== undefined ? newMemoryId(parts.clock.real(), parts.random) : id;
}

/** An entry that is to be saved, and as what. */
interface PlannedEntry {
  readonly where: string;
  readonly isNew: boolean;
  readonly adds: readonly AddedMemory[];
}

/** What to save of an entry; nothing if all of it is already known. */
async function plan(work: Importing, { draft, id, before }: Recognised): Promise<PlannedEntry | undefined> {
  const { where, support = 1, supersededBy } = draft;
  const supersedes = draft.supersedes && idHere(work, draft.supersedes);
  if (before !== undefined && isCovered(before, draft) && !takesPlace(work, supersedes)) return undefined;
  const memory = { ...(await asMemory(work, draft)), ...(supersedes !== undefined && { supersedes }) };
  const by = supersededBy && { ...supersededBy, memory: idHere(work, supersededBy.memory) };
  if (supersedes !== undefined) work.known.putAway(supersedes);
  if (before === undefined || by !== undefined) {
    const kept = { support, ...(by !== undefined && { supersededBy: by }) };
    return { where, isNew: before === undefined, adds: [{ id, memory, kept }] };
  }
  // Each repetition of the same statement counts.
  const times = Math.max(1, support - before.support);
  const again = { memory, kept: { support: 1 } };
  return {
    where,
    isNew: false,
    adds: Array.from({ length: times }, () => ({
      id: newMemoryId(work.parts.clock.real(), work.parts.random),
      ...again,
    })),
  };
}

const idHere = ({ ids }: Importing, id: MemoryId): MemoryId => ids.get(id) ?? id;

/** Whether the memory that it supersedes is still found here. */
function takesPlace({ known }: Importing, id: MemoryId | undefined): boolean {
  return id !== undefined && known.get(id)?.isSuperseded === false;
}

/** Saves what was planned, together; if one cannot be kept, each separately, so that only that one is refused. */
async function flush(
  { parts: { store }, scope, check }: Importing,
  tally: ImportTally,
  batch: readonly PlannedEntry[],
): Promise<void> {
  const count = (planned: readonly PlannedEntry[], evicted: number): void => {
    tally.evicted += evicted;
    for (const { isNew } of planned) tally[isNew ? "saved" : "known"]++;
  };
  if (check || batch.length === 0) return count(batch, 0);
  const save = async (planned: readonly PlannedEntry[]): Promise<void> => {
    const saved = await store.saveMemories(
      scope,
      planned.flatMap(({ adds }) => adds),
    );
    count(
      planned,
      saved.reduce((sum, { evicted }) => sum + evicted.length, 0),
    );
  };
  if (batch.length > 1 && (await catchRefusal(save(batch))) === undefined) return;
  for (const one of batch) {
    const error = await catchRefusal(save([one]));
    if (error !== undefined) tally.refused.push({ where: one.where, message: `cannot be kept: ${error.message}` });
  }
}

/** Catches what the store refuses; any other error ends the import. */
async function catchRefusal(saving: Promise<void>): Promise<StrataError | undefined> {
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
function whyNotKept({ memory }: MemoryDraft, { contact }: Scope): string | undefined {
  const { content, tags, speaker = "" } = memory;
  if (content.trim() === "") return "says nothing";
  if (memory.kind === "message" && contact === null)
    return "is what was said in a conversation, and the agent's own memories are for all contacts: import it for its contact";
  const span = spanProblem(memory);
  if (span !== undefined) return span;
  return secretProblem(clean(content)) ?? secretProblem(clean(untrusted([speaker, ...tags].join("\n"))));
}

/**
 * A superseded memory is settled, and one that the entry supersedes is not; otherwise it must have been said as often, under the same tags.
 */
function isCovered(known: KnownMemory, { support = 1, supersededBy, memory: { tags } }: MemoryDraft): boolean {
  if (known.isSuperseded || supersededBy !== undefined) return known.isSuperseded;
  return known.support >= support && tags.every((tag) => known.tags.has(tag));
}

/** A turn that is not recorded here is a source and no more; no file says more for itself than the person who imports it. */
async function asMemory({ parts, actor, scope }: Importing, { memory }: MemoryDraft): Promise<NewMemory> {
  const { turn, sources = [], by, byId, ...rest } = memory;
  const isHere = turn !== undefined && (await parts.store.turn(scope, turn)) !== undefined;
  const from = turn === undefined || isHere ? sources : [...new Set([...sources, turn])];
  return {
    // If the file names the author, the importer is not the author.
    ...(by === undefined ? doneBy(actor) : { by, ...(byId !== undefined && { byId }) }),
    ...rest,
    ...(isHere && { turn }),
    ...(from.length > 0 && { sources: from }),
    trust: lowestTrust([trustOf(actor), memory.trust ?? trustOf(actor)]),
    at: memory.at ?? parts.clock.recorded(),
  };
}
