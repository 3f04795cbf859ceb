import {
  lowestTrust,
  type Memory,
  type MemoryId,
  type NewMemory,
  type Scope,
  StrataError,
  type TurnId,
  untrusted,
} from "../../protocol/index.ts";
import { foldedDigest, memoryDigest } from "../digests.ts";
import type { AddedMemory, SavedMemory } from "../memory-store.ts";
import { scopeKey } from "../record/pieces.ts";
import { type MemoryRow, toMemory } from "../rows.ts";
import { insert, ownerOrAgent, plain } from "../statement.ts";
import type { Row } from "../tables.ts";
import { inOrder, type Tx } from "../tx.ts";
import type { MemoryLimits } from "./memory-index.ts";
import { addedRow, memoryRows } from "./memory-rows.ts";
import { changeScope, countIn, countOut, memoryScope, type OpenScope, ownMemoryScope } from "./memory-scope.ts";
import { countable, countSaved, evict, isSavedByPerson, removeMemory, worthOf } from "./memory-worth.ts";
import { findable } from "./messages.ts";
import { type Findable, indexMemory, NOWHERE, placeFor, putUnits, unindexMemory, unitColumns } from "./units.ts";

/** Saves a memory outside any turn. */
export async function saveMemory(tx: Tx, scope: Scope, id: MemoryId, memory: NewMemory): Promise<SavedMemory> {
  return addMemory(tx, scope, { id, memory });
}

/** Saves many, all or none. */
export async function saveMemories(tx: Tx, scope: Scope, all: readonly AddedMemory[]): Promise<readonly SavedMemory[]> {
  return saving(tx, scope, (at) => inOrder(all, (added) => keepMemory(tx, at, added)));
}

/** Saves a memory: if it already exists, its count rises; a new one is indexed. Part of a write transaction. */
export async function addMemory(tx: Tx, scope: Scope, added: AddedMemory): Promise<SavedMemory> {
  return saving(tx, scope, (at) => keepMemory(tx, at, added));
}

/** Whose it is, the scope and its key. */
interface Saving {
  readonly scope: Scope;
  readonly own: OpenScope;
  readonly key: Uint8Array;
}

async function saving<T>(tx: Tx, scope: Scope, work: (at: Saving) => T): Promise<T> {
  const key = await scopeKey(tx, scope);
  return changeScope(tx, await ownMemoryScope(tx, scope), (own) => work({ scope, own, key }));
}

async function keepMemory(tx: Tx, at: Saving, added: AddedMemory): Promise<SavedMemory> {
  const { own } = at;
  const memory = wellFormed(added.memory);
  checkLength(tx.limits, memory);
  if (added.kept?.supersededBy !== undefined) return logged(tx, at, added, await putAway(tx, at, { ...added, memory }));
  const old = await supersedable(tx, own, { ...added, memory });
  const folded = foldedDigest(at.key, memory);
  const same = await sameMemory(tx, own, folded);
  const saved = same
    ? await merge(tx, at, same, memory)
    : await insertMemory(tx, { ...at, folded }, { ...memory, id: added.id, support: added.kept?.support ?? 1 });
  if (old && old.id !== saved.id) await supersede(tx, at, old, { memory: saved.id, at: memory.at });
  const evicted = await evict(tx, own, saved.id);
  return logged(tx, at, added, { memory: saved, merged: same !== undefined, evicted });
}

/** Records each save in full: a memory that was saved twice, or superseded another, can be rebuilt from it without one of the saves. */
async function logged(
  tx: Tx,
  { scope }: Saving,
  { id, ...added }: AddedMemory,
  saved: SavedMemory,
): Promise<SavedMemory> {
  if (added.memory.kind === "message") return saved;
  const { turn = null } = added.memory;
  await noteSave(tx, scope, { id, memory: saved.memory.id, turn, said: JSON.stringify(added) });
  return saved;
}

/** Adds to the end of the list of what was saved. */
export async function noteSave(
  tx: Tx,
  scope: Scope,
  said: Pick<Row<"memory_save">, "id" | "memory" | "turn" | "said">,
): Promise<void> {
  const whose = ownerOrAgent(scope);
  const last = `select max(n) from memory_save where org = ? and agent = ? and contact = ?`;
  const [n] = await tx.column(plain<number | null>(last, whose.org, whose.agent, whose.contact));
  await tx.run(insert("memory_save", { ...whose, n: (n ?? 0) + 1, ...said }));
}

/**
 * A memory that is superseded in another record is not found here: it is stored as it was there or, if it exists here and is still found,
 * marked as superseded.
 */
async function putAway(tx: Tx, at: Saving, { id, memory, kept }: AddedMemory): Promise<SavedMemory> {
  const known = (await memoryRows(tx, at.own, `memory.id = ?`, id))[0];
  const by = kept?.supersededBy;
  if (known && known.superseded_by === null && by) await supersede(tx, at, known, by);
  const [now] = known ? await memoryRows(tx, at.own, `memory.id = ?`, id) : [];
  const saved = now ? toMemory(now) : await insertMemory(tx, at, { ...memory, support: 1, ...kept, id });
  return { memory: saved, merged: now !== undefined, evicted: await evict(tx, at.own, saved.id) };
}

/** The oldest memory that says the same. The condition is worded like that of the index, so that no plan depends on a value. */
async function sameMemory(tx: Tx, own: OpenScope, folded: Uint8Array): Promise<MemoryRow | undefined> {
  const same = `select row from memory where scope = ? and folded = ? and folded is not null`;
  const rows = await tx.column(plain<number>(same, own.number, folded));
  return rows.length === 0 ? undefined : (await memoryRows(tx, own, `memory.row = ?`, Math.min(...rows)))[0];
}

/** Half a character cannot be stored as text: it would come back as another one, and the digest would not match. */
function wellFormed(memory: NewMemory): NewMemory {
  const { content, tags, speaker, session, sources } = memory;
  return {
    ...memory,
    content: untrusted(content.toWellFormed()),
    tags: tags.map((tag) => tag.toWellFormed()),
    ...(speaker !== undefined && { speaker: speaker.toWellFormed() }),
    ...(session !== undefined && { session: session.toWellFormed() }),
    ...(sources !== undefined && { sources: sources.map((source) => source.toWellFormed()) }),
  };
}

function checkLength(limits: MemoryLimits, { kind, content, tags }: NewMemory): void {
  const most = kind === "message" ? limits.message : limits.length;
  const length = content.length + tags.reduce((sum, tag) => sum + tag.length, 0);
  if (length <= most) return;
  const message = `the memory has ${length} characters with its tags, and one may have ${most}: shorten it or save it in parts`;
  throw new StrataError("invalid_input", message, { length, most });
}

/** The memory that it replaces, if that is still found. @throws StrataError `memory_not_found` */
async function supersedable(tx: Tx, own: OpenScope, { memory, kept }: AddedMemory): Promise<MemoryRow | undefined> {
  const { supersedes: id } = memory;
  if (id === undefined) return undefined;
  const [old] = await memoryRows(tx, own, `memory.id = ?`, id);
  // A memory that was already superseded keeps its date.
  if (old) return old.superseded_by === null ? old : undefined;
  if (kept) return undefined;
  const message = `memory ${id}, which shall be superseded, is not in reach: list the memories, or save without it`;
  throw new StrataError("memory_not_found", message, { memory: id });
}

/** A new row: indexed, with the digest that recognizes the same memory again, unless it is superseded. */
async function insertMemory(
  tx: Tx,
  { own, key, folded = null }: Saving & { readonly folded?: Uint8Array | null },
  given: NewMemory & Pick<Memory, "id" | "support" | "supersededBy">,
): Promise<Memory> {
  const memory: Memory = { kind: "fact", ...given };
  const { supersededBy } = memory;
  const units = supersededBy ? [] : unitColumns(memory);
  const place = supersededBy ? NOWHERE : placeFor(tx, own, units);
  if (!supersededBy && place.first === null) throw full(tx);
  await tx.run(
    insert("memory", {
      ...contentColumns(memory),
      ...countedColumns(memory, key),
      scope: own.number,
      folded,
      slot: null,
      ...place,
      superseded_by: supersededBy?.memory ?? null,
      superseded_at: supersededBy?.at ?? null,
    } satisfies Columns),
  );
  if (!supersededBy) {
    await putUnits(tx, own, { ...findable(memory, await addedRow(tx)), first: place.first }, units);
    countIn(own, countable(memory));
  }
  if (memory.kind !== "message") countSaved(own, memory, 1);
  return memory;
}

type Columns = Omit<Row<"memory">, "row">;

function full({ limits }: Tx): StrataError {
  const message = `the scope has used all of its ${limits.range} places for memories: export them, erase the contact and import what is still wanted`;
  return new StrataError("invalid_input", message, { range: limits.range });
}

function contentColumns(
  memory: Memory,
): Pick<
  Columns,
  "id" | "kind" | "at" | "turn" | "content" | "speaker" | "session" | "valid_from" | "valid_until" | "supersedes"
> {
  const { id, kind, at, content, turn = null, speaker = null, session = null, supersedes = null } = memory;
  const { validFrom = null, validUntil = null } = memory;
  return { id, kind, at, turn, content, speaker, session, valid_from: validFrom, valid_until: validUntil, supersedes };
}

type DigestedColumns = Pick<Columns, "tags" | "trust" | "by" | "by_id" | "sources" | "support" | "worth" | "digest">;

/** The columns that change when the same is said again. */
function countedColumns(memory: Memory, key: Uint8Array): DigestedColumns {
  const { tags, trust, by = null, byId = null, sources, support } = memory;
  return {
    tags: tags.length === 0 ? null : JSON.stringify(tags),
    trust,
    by,
    by_id: byId,
    sources: sources === undefined ? null : JSON.stringify(sources),
    support,
    worth: memory.kind === "message" ? null : worthOf(memory),
    digest: memoryDigest(key, memory),
  };
}

/** Merges the same memory said again. It gets the higher trust of the two, because both said every word of it. */
async function merge(tx: Tx, { own, key }: Saving, known: MemoryRow, again: NewMemory): Promise<Memory> {
  const before = toMemory(known);
  const trust = lowestTrust([before.trust, again.trust]) === before.trust ? again.trust : before.trust;
  const { by, byId } = isSavedByPerson(before) || again.by === undefined ? before : again;
  const tags = [...new Set([...before.tags, ...again.tags])];
  const sources = [...new Set([...(before.sources ?? []), ...(again.sources ?? [])])].slice(0, MOST_SOURCES);
  const { by: _by, byId: _byId, ...said } = before;
  const memory: Memory = {
    ...said,
    tags,
    trust,
    support: before.support + 1,
    ...(by !== undefined && { by }),
    ...(byId !== undefined && { byId }),
    ...(sources.length > 0 && { sources }),
  };
  const { support, worth, digest, ...columns } = countedColumns(memory, key);
  const newest = worth === null ? null : worthOf({ ...memory, at: Math.max(memory.at, again.at) });
  await tx.run(
    plain(
      `update memory set tags = ?, trust = ?, "by" = ?, by_id = ?, sources = ?, support = ?, worth = ?, digest = ? where row = ?`,
      ...[columns.tags, columns.trust, columns.by, columns.by_id, columns.sources, support, newest, digest, known.row],
    ),
  );
  if (tags.length > before.tags.length) await reindex(tx, own, findable(memory, known.row));
  return memory;
}

/** More sources of one memory add no information. */
const MOST_SOURCES = 100;

async function reindex(tx: Tx, own: OpenScope, memory: Findable): Promise<void> {
  await unindexMemory(tx, own, memory.row);
  await indexMemory(tx, own, memory);
}

/** The old memory stays in the record, with a date, and is no longer found. */
async function supersede(
  tx: Tx,
  { own, key }: Saving,
  old: MemoryRow,
  by: NonNullable<Memory["supersededBy"]>,
): Promise<void> {
  await unindexMemory(tx, own, old.row);
  const memory: Memory = { ...toMemory(old), supersededBy: by };
  // A turn's message has no digest of its own: the turn's link covers its text.
  const digest = old.digest === null ? null : memoryDigest(key, memory);
  const worth = old.worth === null ? null : worthOf(memory);
  await tx.run(
    plain(
      `update memory set superseded_by = ?, superseded_at = ?, folded = null, worth = ?, digest = ? where row = ?`,
      ...[by.memory, by.at, worth, digest, old.row],
    ),
  );
  countOut(own, countable(memory));
}

/** Marks a memory as superseded by one that was forgotten since. */
export async function supersedeByForgotten(
  tx: Tx,
  scope: Scope,
  id: MemoryId,
  by: NonNullable<Memory["supersededBy"]>,
): Promise<void> {
  await saving(tx, scope, async (at) => {
    const [old] = await memoryRows(tx, at.own, `memory.id = ?`, id);
    if (old !== undefined && old.superseded_by === null) await supersede(tx, at, old, by);
  });
}

/** Removes a memory and its words; false if the scope has none with that id. `by`: the turn that forgets it; the list of what was saved keeps them then. */
export async function forgetMemory(tx: Tx, scope: Scope, id: MemoryId, by?: TurnId): Promise<boolean> {
  const own = await memoryScope(tx, scope);
  const row = own && (await memoryRows(tx, own, `memory.id = ?`, id))[0];
  if (!own || !row) return false;
  await changeScope(tx, own, (open) => removeMemory(tx, open, row, by));
  return true;
}
