import { type MemoryFilter, type MemoryKind, TRUSTS, type Trust } from "../../protocol/index.ts";
import { TEXT_OF } from "../record/pieces.ts";
import type { MemoryRow } from "../rows.ts";
import { type Dialect, plain } from "../statement.ts";
import type { Tx } from "../tx.ts";
import type { Condition } from "./memory-index.ts";
import type { MemoryScope } from "./memory-scope.ts";

/** Reading memories: one without its own text is read with the text of the slot that shows it. */

const OF_MEMORY = `slot.org = memory_scope.org and slot.agent = memory_scope.agent and slot.contact = memory_scope.contact
    and slot.turn = memory.turn and slot.position = memory.slot`;

/**
 * In PostgreSQL, the slot of each memory is looked up one by one: it underestimates a contact's slots, and would otherwise go through all
 * of them for each memory.
 */
const SLOT: Readonly<Record<Dialect, string>> = {
  sqlite: `left join slot on ${OF_MEMORY}`,
  postgres: `left join lateral (select * from slot where ${OF_MEMORY} limit 1) as slot on true`,
};

const IN_SCOPE = "memory.scope = ?";
const selectMemories = (
  dialect: Dialect,
  holds: string,
  inScope = IN_SCOPE,
): string => `select memory.*, memory_scope.agent, memory_scope.contact,
    slot.kind as slot_kind, slot.thread as slot_thread, ${TEXT_OF("slot")} as text
  from memory join memory_scope on memory_scope.number = memory.scope ${SLOT[dialect]}
  where ${inScope} and ${holds}`;

/** The memories of a scope that meet a condition in SQL. */
export async function memoryRows(
  tx: Tx,
  { number }: Pick<MemoryScope, "number">,
  holds: string,
  ...parameters: readonly unknown[]
): Promise<readonly MemoryRow[]> {
  return tx.all(plain<MemoryRow>(selectMemories(tx.dialect, holds), number, ...parameters));
}

/**
 * The memories in these rows that were not forgotten. The plus sign keeps SQLite from searching by the scope, which would go through all of
 * it.
 */
export async function memoriesIn(
  tx: Tx,
  { number }: Pick<MemoryScope, "number">,
  rows: readonly number[],
): Promise<readonly MemoryRow[]> {
  const holds = `memory.row in (select cast(value as bigint) from json_each(?)) and memory.first is not null`;
  return tx.all(plain<MemoryRow>(selectMemories(tx.dialect, holds, `+${IN_SCOPE}`), number, JSON.stringify(rows)));
}

/**
 * The row of the memory that was just inserted. It is a separate query, because an insert that returned it would make the full-text index
 * write out what it holds so far, each time.
 */
export async function addedRow(tx: Tx): Promise<number> {
  return (await tx.column(plain<number>(`select last_insert_rowid()`)))[0] ?? 0;
}

/** A filter in SQL; undefined if it lets everything pass. Lists are bound as one value, so that their length does not make a new query. */
export function conditionOf({ kinds, tags, since, before, trust }: MemoryFilter): Condition | undefined {
  const conditions: [string, unknown][] = [
    ...inList("memory.kind", kinds),
    ...(tags === undefined ? [] : [tagged(tags)]),
    ...(since === undefined ? [] : [[`memory.at >= ?`, since] satisfies [string, unknown]]),
    ...(before === undefined ? [] : [[`memory.at < ?`, before] satisfies [string, unknown]]),
    ...inList("memory.trust", trust === undefined ? undefined : atLeast(trust)),
  ];
  if (conditions.length === 0) return undefined;
  return { sql: conditions.map(([text]) => text).join(" and "), parameters: conditions.map(([, value]) => value) };
}

const inList = (column: string, values: readonly string[] | undefined): [string, unknown][] =>
  values === undefined ? [] : [[`${column} in (select value from json_each(?))`, JSON.stringify(values)]];

const tagged = (tags: readonly string[]): [string, unknown] => [
  `exists (select 1 from json_each(memory.tags) as has join json_each(?) as wanted on wanted.value = has.value)`,
  JSON.stringify(tags.map((tag) => tag.toWellFormed())),
];

const atLeast = (trust: Trust): readonly Trust[] => TRUSTS.slice(0, TRUSTS.indexOf(trust) + 1);

/** Whether only deliberately saved memories can pass: those are few, and have their own index. */
export function isOfKept({ kinds, tags }: MemoryFilter): boolean {
  return tags !== undefined || (kinds !== undefined && !kinds.includes("message"));
}

/** In the same words as the index `memory_kept`, so that it is used. */
export const KEPT = `(memory.kind != 'message' or memory.tags is not null)`;

/** Everything but messages: what a list shows by default. */
export const NOT_SAID: readonly MemoryKind[] = ["fact", "block", "summary"];
