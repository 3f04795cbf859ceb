import { type Memory, type MemoryId, TRUSTS } from "../../../protocol/index.ts";
import { type MemoryRow, toMemory } from "../../rows.ts";
import type { Connection } from "../connection.ts";
import { plain } from "../statement.ts";
import { type Countable, countOut } from "./memory-count.ts";
import { memoryRows } from "./memory-rows.ts";
import { countChange, type MemoryScope } from "./memory-scope.ts";
import { unindexMemory } from "./units.ts";

const DAY = 86_400_000;
/** Once more said is as good as so much newer, and so is one step of trust. */
const SUPPORT = 30 * DAY;
const TRUST = 180 * DAY;
/** Beyond any date. */
const EVER = 1e15;

/** Whether a person wrote it down, and no agent on its own. */
export function isSavedByPerson({ by }: Pick<Memory, "by">): boolean {
  return by === "operator" || by === "member" || by === "platform";
}

/** What goes last: what a person saved, then what is new, often said and trusted. What was superseded goes first. */
export function worthOf(memory: Pick<Memory, "at" | "by" | "support" | "trust" | "supersededBy">): number {
  const { at, support, trust, supersededBy } = memory;
  const counted = at + SUPPORT * (support - 1) + TRUST * (TRUSTS.length - 1 - TRUSTS.indexOf(trust));
  if (supersededBy !== undefined) return counted - EVER;
  return Math.trunc(isSavedByPerson(memory) ? counted + EVER : counted);
}

/** Makes room for what was just saved: the least useful go, and are named. Part of a write transaction. */
export function evict(db: Connection, own: MemoryScope, newest: MemoryId): readonly MemoryId[] {
  const evicted: MemoryId[] = [];
  while (isOver(db, own)) {
    const least = `select row from memory where scope = ? and worth is not null and id != ? order by worth, row limit 1`;
    const [row] = db.column(plain<number>(least, own.number, newest));
    const [doomed] = row === undefined ? [] : memoryRows(db, own, `memory.row = ?`, row);
    if (!doomed) break;
    removeMemory(db, own, doomed);
    evicted.push(doomed.id);
  }
  return evicted;
}

function isOver(db: Connection, { number }: MemoryScope): boolean {
  const { saved, characters } = db.limits;
  const over = `select 1 from memory_scope where number = ? and (saved > ? or characters > ?)`;
  return db.column(plain<number>(over, number, saved, characters)).length > 0;
}

/** Removes a memory with its units. */
export function removeMemory(db: Connection, own: MemoryScope, doomed: MemoryRow): void {
  const memory = toMemory(doomed);
  unindexMemory(db, own, doomed.row);
  db.run(plain(`delete from memory where row = ?`, doomed.row));
  if (doomed.superseded_by === null) countOut(db, own.number, countable(memory));
  if (memory.kind !== "message") countChange(db, own, { saved: -1, characters: -memory.content.length });
}

/** What is counted of a memory. */
export function countable({ kind, at, content }: Memory): Countable {
  return { kind, at, characters: content.length };
}
