import { type LexicalIndex, listIndex, type PlacedUnit } from "../../memory/index.ts";
import type { Memory, MemoryId, Scope } from "../../protocol/index.ts";
import { toMemory } from "../rows.ts";
import { plain } from "../statement.ts";
import type { Tx } from "../tx.ts";
import type { PlaceOf } from "./lexical-index.ts";
import { memoriesIn } from "./memory-rows.ts";
import { type MemoryScope, rangeOf } from "./memory-scope.ts";
import { termsOf, type UnitColumns } from "./units.ts";

/** What searches read of a scope, as it stood at one revision of it. */
export interface ScopeReads {
  readonly revision: number;
  /** Of a scope that is searched without its index: all its units, and where each stands. */
  few?: { readonly index: LexicalIndex; readonly seen: ReadonlyMap<number, PlaceOf> };
  /** By the row. */
  readonly memories: Map<number, Memory>;
}

/** So many scopes are remembered, with so many memories each. */
const MOST_SCOPES = 8;
const MOST_MEMORIES = 256;

/**
 * Remembers what searches read, so that the second search of a turn reads only what the first did not. Every write of memories makes
 * a new revision of their scope, and no revision comes twice: what was read at another one is not used.
 */
export function openScopeReads(): (own: Pick<MemoryScope, "number" | "revision">) => ScopeReads {
  const known = new Map<number, ScopeReads>();
  return ({ number, revision }) => {
    const before = known.get(number);
    if (before?.revision === revision && before.memories.size <= MOST_MEMORIES) return before;
    known.delete(number);
    const [oldest] = known.keys();
    if (known.size >= MOST_SCOPES && oldest !== undefined) known.delete(oldest);
    const reads: ScopeReads = { revision, memories: new Map() };
    known.set(number, reads);
    return reads;
  };
}

/** A scope in the snapshot in which it is searched. */
export interface Opened {
  readonly scope: Scope;
  readonly own: MemoryScope;
  readonly reads: ScopeReads;
}

/** A unit as it is searched without the index. */
export interface KeptUnit extends UnitColumns {
  readonly id: number;
  readonly memory: MemoryId;
  readonly session: number;
  readonly at: number;
}

/** A scope with no more units is read as a whole, in one question instead of six. */
const FEWEST = 128;

/** All of it, where that is little. */
export async function allOfFew(
  tx: Tx,
  { own, reads }: Pick<Opened, "own" | "reads">,
  seen: Map<number, PlaceOf>,
): Promise<LexicalIndex | undefined> {
  if (own.next > FEWEST) return undefined;
  reads.few ??= await readFew(tx, own);
  for (const [place, at] of reads.few.seen) seen.set(place, at);
  return reads.few.index;
}

async function readFew(tx: Tx, own: MemoryScope): Promise<Required<ScopeReads>["few"]> {
  const { from } = rangeOf(own);
  const rows = await tx.all(plain<KeptUnit & Pick<PlaceOf, "row" | "parts">>(ALL, from, from + FEWEST));
  const seen = new Map<number, PlaceOf>();
  const units = rows.map(({ id, terms, row, parts, ...unit }): PlacedUnit => {
    seen.set(id - from, { session: `#${unit.session}`, row, parts });
    return { ...unit, place: id - from, terms: termsOf(terms) };
  });
  return { index: listIndex(units), seen };
}

const ALL = `select unit.id, unit.session, unit.speaker, unit.flags, unit.terms, memory.id as memory, memory.row, memory.at,
    memory.units as parts from unit join memory on memory.row = unit.memory where unit.id >= ? and unit.id < ? order by unit.id`;

/** Memories by their rows, in the snapshot of the ranking: what another search read at this revision is not read again. */
export async function firstTexts(
  tx: Tx,
  { own, reads: { memories } }: Opened,
  rows: readonly number[],
): Promise<ReadonlyMap<MemoryId, Memory>> {
  const left = rows.filter((row) => !memories.has(row));
  if (left.length > 0) for (const row of await memoriesIn(tx, own, left)) memories.set(row.row, toMemory(row));
  const known = rows.flatMap((row) => memories.get(row) ?? []);
  return new Map(known.map((memory) => [memory.id, memory]));
}
