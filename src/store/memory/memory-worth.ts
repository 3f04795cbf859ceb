import { type Memory, type MemoryId, TRUSTS, type TurnId } from "../../protocol/index.ts";
import type { AddedMemory } from "../memory-store.ts";
import { type MemoryRow, toMemory } from "../rows.ts";
import { plain } from "../statement.ts";
import type { Row } from "../tables.ts";
import type { Tx } from "../tx.ts";
import { memoryRows } from "./memory-rows.ts";
import { type Countable, countOut, type OpenScope } from "./memory-scope.ts";
import { unindexMemory } from "./units.ts";

const DAY = 86_400_000;
/** One more support counts as much as being this much newer, and so does one step of trust. */
const SUPPORT = 30 * DAY;
const TRUST = 180 * DAY;
/** Later than any date. */
const EVER = 1e15;

/** Whether a person saved it, and not an agent on its own. */
export function isSavedByPerson({ by }: Pick<Memory, "by">): boolean {
  return by === "operator" || by === "member" || by === "platform";
}

/** The order of deletion: superseded memories first; what a person saved last, and before that what is new, often said and trusted. */
export function worthOf(memory: Pick<Memory, "at" | "by" | "support" | "trust" | "supersededBy">): number {
  const { at, support, trust, supersededBy } = memory;
  const counted = at + SUPPORT * (support - 1) + TRUST * (TRUSTS.length - 1 - TRUSTS.indexOf(trust));
  if (supersededBy !== undefined) return counted - EVER;
  return Math.trunc(isSavedByPerson(memory) ? counted + EVER : counted);
}

/** Makes room for what was just saved: the least useful memories are deleted, and their ids returned. Part of a write transaction. */
export async function evict(tx: Tx, own: OpenScope, newest: MemoryId): Promise<readonly MemoryId[]> {
  const evicted: MemoryId[] = [];
  while (own.saved > tx.limits.saved || own.characters > tx.limits.characters) {
    const least = `select row from memory where scope = ? and worth is not null and id != ? order by worth, row limit 1`;
    const [row] = await tx.column(plain<number>(least, own.number, newest));
    const [doomed] = row === undefined ? [] : await memoryRows(tx, own, `memory.row = ?`, row);
    if (!doomed) break;
    await removeMemory(tx, own, doomed);
    evicted.push(doomed.id);
  }
  return evicted;
}

/** Removes a memory with its units. `by`: the turn that forgets it; a retraction of that one brings it back. */
export async function removeMemory(tx: Tx, own: OpenScope, doomed: MemoryRow, by?: TurnId): Promise<void> {
  const memory = toMemory(doomed);
  await unindexMemory(tx, own, doomed.row);
  await tx.run(plain(`delete from memory where row = ?`, doomed.row));
  if (doomed.superseded_by === null) countOut(own, countable(memory));
  if (memory.kind === "message") return;
  countSaved(own, memory, -1);
  await forgetSaves(tx, own, memory.id, by);
}

/** Deletes a memory's saves, so that a rebuild does not save it again; what it superseded stays superseded. */
async function forgetSaves(
  tx: Tx,
  { number }: Pick<OpenScope, "number">,
  id: MemoryId,
  by: TurnId | undefined,
): Promise<void> {
  for (const { said, ...row } of await tx.all(plain<Row<"memory_save">>(SAVES, number, id))) {
    const added: Omit<AddedMemory, "id"> = JSON.parse(said);
    const { memory } = added;
    const at = [row.org, row.agent, row.contact, row.n];
    if (by !== undefined) {
      await tx.run(plain(PUT_SAVE, JSON.stringify({ ...added, forgotten: by }), ...at));
    } else if (memory.supersedes === undefined) {
      await tx.run(plain(`delete from memory_save where ${OF_SAVE}`, ...at));
    } else {
      const left = { memory: { ...memory, content: "", tags: [] }, forgotten: true };
      await tx.run(plain(PUT_SAVE, JSON.stringify(left), ...at));
    }
  }
}

const OF_SAVE = "org = ? and agent = ? and contact = ? and n = ?";
const PUT_SAVE = `update memory_save set said = ? where ${OF_SAVE}`;
const SAVES = `select memory_save.* from memory_save join memory_scope on memory_scope.org = memory_save.org
  and memory_scope.agent = memory_save.agent and memory_scope.contact = memory_save.contact
  where memory_scope.number = ? and memory_save.memory = ?`;

/** Counts what was saved on purpose against the limits. */
export function countSaved(own: OpenScope, { content }: Pick<Memory, "content">, by: 1 | -1): void {
  own.saved += by;
  own.characters += by * content.length;
}

/** The counted values of a memory. */
export function countable({ kind, at, content }: Memory): Countable {
  return { kind, at, characters: content.length };
}
