import {
  lowestTrust,
  type Memory,
  type MemoryId,
  type NewMemory,
  type Scope,
  StrataError,
  untrusted,
} from "../../../protocol/index.ts";
import { foldedDigest, memoryDigest } from "../../digests.ts";
import type { AddedMemory, SavedMemory } from "../../memory-store.ts";
import { toMemory } from "../../rows.ts";
import { insert, plain } from "../../statement.ts";
import type { Row } from "../../tables.ts";
import type { Connection } from "../connection.ts";
import { scopeKey } from "../pieces.ts";
import { findable } from "./findable.ts";
import { addedRow, memoryRows } from "./memory-rows.ts";
import { memoryScope, ownMemoryScope } from "./memory-scope.ts";
import { countable, countSaved, evict, isSavedByPerson, removeMemory, worthOf } from "./memory-worth.ts";
import { changeScope, countIn, countOut, type OpenScope } from "./open-scope.ts";
import { type Findable, indexMemory, NOWHERE, placeFor, putUnits, unindexMemory, unitColumns } from "./units.ts";

/** Saves a memory outside any turn. */
export function saveMemory(db: Connection, scope: Scope, id: MemoryId, memory: NewMemory): SavedMemory {
  return db.write(() => addMemory(db, scope, { id, memory }));
}

/** Saves many, all or none. */
export function saveMemories(db: Connection, scope: Scope, all: readonly AddedMemory[]): readonly SavedMemory[] {
  if (all.length === 0) return [];
  return db.write(() => saving(db, scope, (at) => all.map((added) => keep(db, at, added))));
}

/** Keeps a memory: one that says the very same counts once more, a new one is put into the index. Part of a write transaction. */
export function addMemory(db: Connection, scope: Scope, added: AddedMemory): SavedMemory {
  return saving(db, scope, (at) => keep(db, at, added));
}

/** Where and under which key. */
interface Saving {
  readonly own: OpenScope;
  readonly key: Uint8Array;
}

function saving<T>(db: Connection, scope: Scope, work: (at: Saving) => T): T {
  const key = scopeKey(db, scope);
  return changeScope(db, ownMemoryScope(db, scope), (own) => work({ own, key }));
}

function keep(db: Connection, at: Saving, added: AddedMemory): SavedMemory {
  const { own } = at;
  const memory = wellFormed(added.memory);
  checkLength(db, memory);
  if (added.kept?.supersededBy !== undefined) return putAway(db, at, { ...added, memory });
  const old = supersedable(db, own, { ...added, memory });
  const folded = foldedDigest(at.key, memory);
  const same = sameMemory(db, own, folded);
  const saved = same
    ? merge(db, at, same, memory)
    : add(db, { ...at, folded }, { ...memory, id: added.id, support: added.kept?.support ?? 1 });
  if (old && old.id !== saved.id) supersede(db, at, old, { memory: saved.id, at: memory.at });
  return { memory: saved, merged: same !== undefined, evicted: evict(db, own, saved.id) };
}

/** What another record keeps as superseded is never found here: it is kept as it was there, or put away where it is found yet. */
function putAway(db: Connection, at: Saving, { id, memory, kept }: AddedMemory): SavedMemory {
  const known = memoryRows(db, at.own, `memory.id = ?`, id)[0];
  const by = kept?.supersededBy;
  if (known && known.superseded_by === null && by) supersede(db, at, known, by);
  const [now] = known ? memoryRows(db, at.own, `memory.id = ?`, id) : [];
  const saved = now ? toMemory(now) : add(db, at, { ...memory, support: 1, ...kept, id });
  return { memory: saved, merged: now !== undefined, evicted: evict(db, at.own, saved.id) };
}

/** The oldest that says the very same. The condition stands there as the index has it, so that no plan waits for a value. */
function sameMemory(db: Connection, own: OpenScope, folded: Uint8Array): MemoryRow | undefined {
  const same = `select row from memory where scope = ? and folded = ? and folded is not null`;
  const rows = db.column(plain<number>(same, own.number, folded));
  return rows.length === 0 ? undefined : memoryRows(db, own, `memory.row = ?`, Math.min(...rows))[0];
}

type MemoryRow = ReturnType<typeof memoryRows>[number];

/** Half a sign cannot be stored as text: it would come back as another one, and the digest would not fit. */
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

function checkLength({ limits }: Connection, { kind, content, tags }: NewMemory): void {
  const most = kind === "message" ? limits.message : limits.length;
  const length = content.length + tags.reduce((sum, tag) => sum + tag.length, 0);
  if (length <= most) return;
  const says = `the memory has ${length} characters with its tags, and one may have ${most}: shorten it or save it in parts`;
  throw new StrataError("invalid_input", says, { length, most });
}

/** What it takes the place of, where that is still found. @throws StrataError `memory_not_found` */
function supersedable(db: Connection, own: OpenScope, { memory, kept }: AddedMemory): MemoryRow | undefined {
  const { supersedes: id } = memory;
  if (id === undefined) return undefined;
  const [old] = memoryRows(db, own, `memory.id = ?`, id);
  // What was superseded before stays dated as it is.
  if (old) return old.superseded_by === null ? old : undefined;
  if (kept) return undefined;
  const says = `memory ${id}, which shall be superseded, is not in reach: list the memories, or save without it`;
  throw new StrataError("memory_not_found", says, { memory: id });
}

/** A new row: in the index, with what tells the same again, unless it is put away. */
function add(
  db: Connection,
  { own, key, folded = null }: Saving & { readonly folded?: Uint8Array | null },
  given: NewMemory & Pick<Memory, "id" | "support" | "supersededBy">,
): Memory {
  const memory: Memory = { kind: "fact", ...given };
  const { supersededBy } = memory;
  const units = supersededBy ? [] : unitColumns(memory);
  const place = supersededBy ? NOWHERE : placeFor(db, own, units);
  if (!supersededBy && place.first === null) throw full(db);
  db.run(
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
    putUnits(db, own, { ...findable(memory, addedRow(db)), first: place.first }, units);
    countIn(own, countable(memory));
  }
  if (memory.kind !== "message") countSaved(own, memory, 1);
  return memory;
}

type Columns = Omit<Row<"memory">, "row">;

function full({ limits }: Connection): StrataError {
  const says = `the scope has used all of its ${limits.range} places for memories: export them, erase the contact and import what is still wanted`;
  return new StrataError("invalid_input", says, { range: limits.range });
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

type Counted = Pick<Columns, "tags" | "trust" | "by" | "sources" | "support" | "worth" | "digest">;

/** What changes when the same is said again. */
function countedColumns(memory: Memory, key: Uint8Array): Counted {
  const { tags, trust, by = null, sources, support } = memory;
  return {
    tags: tags.length === 0 ? null : JSON.stringify(tags),
    trust,
    by,
    sources: sources === undefined ? null : JSON.stringify(sources),
    support,
    worth: memory.kind === "message" ? null : worthOf(memory),
    digest: memoryDigest(key, memory),
  };
}

/** The same once more: as trusted as the more trusted of the two, for both said every word of it. */
function merge(db: Connection, { own, key }: Saving, known: MemoryRow, again: NewMemory): Memory {
  const before = toMemory(known);
  const trust = lowestTrust([before.trust, again.trust]) === before.trust ? again.trust : before.trust;
  const by = isSavedByPerson(before) ? before.by : (again.by ?? before.by);
  const tags = [...new Set([...before.tags, ...again.tags])];
  const sources = [...new Set([...(before.sources ?? []), ...(again.sources ?? [])])].slice(0, MOST_SOURCES);
  const memory: Memory = {
    ...before,
    tags,
    trust,
    support: before.support + 1,
    ...(by !== undefined && { by }),
    ...(sources.length > 0 && { sources }),
  };
  const { support, worth, digest, ...columns } = countedColumns(memory, key);
  const newest = worth === null ? null : worthOf({ ...memory, at: Math.max(memory.at, again.at) });
  db.run(
    plain(
      `update memory set tags = ?, trust = ?, by = ?, sources = ?, support = ?, worth = ?, digest = ? where row = ?`,
      ...[columns.tags, columns.trust, columns.by, columns.sources, support, newest, digest, known.row],
    ),
  );
  if (tags.length > before.tags.length) reindex(db, own, findable(memory, known.row));
  return memory;
}

/** More sources of one memory tell nothing more. */
const MOST_SOURCES = 100;

function reindex(db: Connection, own: OpenScope, memory: Findable): void {
  unindexMemory(db, own, memory.row);
  indexMemory(db, own, memory);
}

/** The old one stays in the record, dated, and is found no more. */
function supersede(
  db: Connection,
  { own, key }: Saving,
  old: MemoryRow,
  by: NonNullable<Memory["supersededBy"]>,
): void {
  unindexMemory(db, own, old.row);
  const memory: Memory = { ...toMemory(old), supersededBy: by };
  // A message of a turn has no digest of its own: the turn's link covers its text.
  const digest = old.digest === null ? null : memoryDigest(key, memory);
  const worth = old.worth === null ? null : worthOf(memory);
  db.run(
    plain(
      `update memory set superseded_by = ?, superseded_at = ?, folded = null, worth = ?, digest = ? where row = ?`,
      ...[by.memory, by.at, worth, digest, old.row],
    ),
  );
  countOut(own, countable(memory));
}

/** Removes a memory and its words; no when the scope has none of that id. */
export function forgetMemory(db: Connection, scope: Scope, id: MemoryId): boolean {
  return db.write(() => {
    const own = memoryScope(db, scope);
    const row = own && memoryRows(db, own, `memory.id = ?`, id)[0];
    if (!own || !row) return false;
    changeScope(db, own, (open) => removeMemory(db, open, row));
    return true;
  });
}
