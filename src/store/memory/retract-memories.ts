import type { MemoryId, TurnId } from "../../protocol/index.ts";
import { memoryDigest } from "../digests.ts";
import type { AddedMemory } from "../memory-store.ts";
import { knownKey } from "../record/pieces.ts";
import { type MemoryRow, toMemory } from "../rows.ts";
import { plain } from "../statement.ts";
import type { Row } from "../tables.ts";
import { inOrder, type Lineage, type Tx } from "../tx.ts";
import { memoryRows } from "./memory-rows.ts";
import { type MemoryScope, memoryScope } from "./memory-scope.ts";
import { memoryOf } from "./messages.ts";
import { reindexScope } from "./reindex.ts";
import { addMemory, noteSave, supersedeByForgotten } from "./save-memory.ts";

/** What of a contact's memories came from what is retracted. */
export interface GoneMemories {
  readonly ids: ReadonlySet<MemoryId>;
  /** Of the list of what was saved. */
  readonly saves: readonly Save[];
  /** Of that list, too: a turn had forgotten it that is retracted. */
  readonly known: readonly Save[];
  /** Turns that only summed up memories, of which these were some. */
  readonly turns: readonly TurnId[];
}

/** `forgotten`: it counts only as what it superseded. Where a turn forgot it, that turn; where a person did, its words are gone. */
type Save = Pick<Row<"memory_save">, "n" | "id" | "memory" | "turn"> & {
  readonly added: Omit<AddedMemory, "id"> & { readonly forgotten?: true | TurnId };
};

/** The fields of a memory that say what it came from. */
interface Origin {
  readonly turn?: TurnId | undefined;
  readonly sources?: readonly string[] | undefined;
}

const NONE: GoneMemories = { ids: new Set(), saves: [], known: [], turns: [] };

/**
 * `also`: memories that go in any case. A message goes with its event or its turn; what was saved goes with its turn, or where a source of
 * it goes: a summary with any message that it sums up.
 */
export async function goneMemories(
  tx: Tx,
  { scope, events: all, notices, whole }: Lineage,
  also: readonly MemoryId[] = [],
): Promise<GoneMemories> {
  const own = await memoryScope(tx, scope);
  if (own === undefined) return NONE;
  const events = new Set([...all].filter((id) => !notices.has(id)));
  const rows = await memoryRows(tx, own, "true");
  const saves = await savesOf(tx, own);
  const saved = new Set(saves.map(({ memory }) => memory));
  const ids = new Set<MemoryId>([...[...events].map(memoryOf), ...also]);
  const gone = new Set(saves.filter(({ memory }) => also.includes(memory)));
  const named: Pick<ReadonlySet<string>, "has">[] = [ids, events];
  const isGone = ({ turn, sources = [] }: Origin): boolean =>
    (turn !== undefined && whole.has(turn)) || sources.some((source) => named.some((one) => one.has(source)));
  for (const { id, turn, slot, slot_kind } of rows)
    if (slot !== null && slot_kind === "reply" && turn !== null && whole.has(turn)) ids.add(id);
  for (let before = -1; before !== ids.size + gone.size; ) {
    before = ids.size + gone.size;
    for (const one of saves) if (isGone(one.added.memory)) gone.add(one);
    for (const id of saved) if (saves.every((one) => one.memory !== id || gone.has(one))) ids.add(id);
    for (const row of rows) if (row.slot === null && !saved.has(row.id) && isGone(toMemory(row))) ids.add(row.id);
  }
  const origins = [
    ...[...gone].map(({ added }) => added.memory),
    ...rows.filter(({ id }) => ids.has(id)).map(toMemory),
  ];
  const summing = origins.flatMap(({ turn, sources = [] }) =>
    turn !== undefined && sources.length > 0 && sources.every((one) => one.startsWith("mem_")) ? [turn] : [],
  );
  const known = saves.filter((one) => !gone.has(one) && wasForgottenIn(one, whole));
  return { ids, saves: [...gone], known, turns: summing };
}

const wasForgottenIn = ({ added: { forgotten } }: Save, turns: ReadonlySet<TurnId>): boolean =>
  forgotten !== undefined && forgotten !== true && turns.has(forgotten);

async function savesOf(tx: Tx, own: MemoryScope): Promise<readonly Save[]> {
  const all = `select n, id, memory, turn, said from memory_save where org = ? and agent = ? and contact = ? order by n`;
  const rows = await tx.all(plain<Row<"memory_save">>(all, own.org, own.agent, own.contact));
  return rows.map(({ said, ...row }) => ({ ...row, added: JSON.parse(said) }));
}

/**
 * Removes these memories. The scope's saves are repeated without them, in the same order: memories they were merged with count less, and
 * those they had superseded are valid again. Then the scope is indexed again. Returns how many were removed.
 */
export async function retractMemories(
  tx: Tx,
  { scope }: Pick<Lineage, "scope">,
  { ids, saves, known: again }: Omit<GoneMemories, "turns">,
): Promise<number> {
  const own = await memoryScope(tx, scope);
  if (own === undefined) return 0;
  const before = await memoryRows(tx, own, "true");
  const doomed = before.filter(({ id }) => ids.has(id));
  const isSavedAgain = saves.length + again.length > 0;
  if (doomed.length === 0 && !isSavedAgain) return 0;
  const logged = await savesOf(tx, own);
  const left = isSavedAgain ? logged.filter(({ n }) => !saves.some((one) => one.n === n)) : [];
  const replayed = new Set(isSavedAgain ? logged.map(({ memory }) => memory) : []);
  const leaves = (id: MemoryId): boolean => ids.has(id) || replayed.has(id);
  await reindexScope(tx, own, async () => {
    await removeRows(
      tx,
      own,
      before.filter(({ id }) => leaves(id)),
    );
    if (isSavedAgain) await tx.run(plain(FORGET_SAVES, own.org, own.agent, own.contact));
    await restored(
      tx,
      scope,
      before.filter(({ id, superseded_by }) => superseded_by !== null && leaves(superseded_by) && !leaves(id)),
    );
  });
  // Whatever a memory was called when something superseded it, it has the name under which it is saved now.
  const names = new Map<string, MemoryId>();
  await inOrder(left, async ({ n, id, memory: was, turn, added: { forgotten: by, ...added } }) => {
    const forgotten = again.some((one) => one.n === n) ? undefined : by;
    const { supersedes, ...memory } = added.memory;
    const over = supersedes === undefined ? undefined : (names.get(supersedes) ?? supersedes);
    const known = over !== undefined && (await memoryRows(tx, own, "memory.id = ?", over)).length > 0;
    if (forgotten && over !== undefined && known)
      await supersedeByForgotten(tx, scope, over, { memory: was, at: memory.at });
    if (forgotten) {
      await noteSave(tx, scope, { id, memory: was, turn, said: JSON.stringify({ ...added, forgotten }) });
      return;
    }
    const { memory: saved } = await addMemory(tx, scope, {
      ...added,
      id,
      memory: { ...memory, ...(known && { supersedes: over }) },
    });
    names.set(was, saved.id).set(id, saved.id);
  });
  const now = left.length === 0 ? undefined : await memoryScope(tx, scope);
  if (now !== undefined) await reindexScope(tx, now);
  return doomed.length;
}

const FORGET_SAVES = `delete from memory_save where org = ? and agent = ? and contact = ?`;

async function removeRows(tx: Tx, own: MemoryScope, rows: readonly MemoryRow[]): Promise<void> {
  const of = JSON.stringify(rows.map(({ row }) => row));
  await tx.run(
    plain(
      `delete from memory where scope = ? and "row" in (select cast(value as bigint) from json_each(?))`,
      own.number,
      of,
    ),
  );
}

/** What they had superseded holds again. */
async function restored(tx: Tx, scope: Lineage["scope"], rows: readonly MemoryRow[]): Promise<void> {
  const key = rows.length === 0 ? undefined : await knownKey(tx, scope);
  for (const row of rows) {
    const { supersededBy: _, ...memory } = toMemory(row);
    const digest = row.digest === null || key === undefined ? null : memoryDigest(key, memory);
    const put = `update memory set superseded_by = null, superseded_at = null, digest = ? where "row" = ?`;
    await tx.run(plain(put, digest, row.row));
  }
}
