import { type LexicalIndex, listIndex, type PlacedUnit } from "../../memory/index.ts";
import type { Memory, MemoryId, Scope } from "../../protocol/index.ts";
import { toMemory } from "../rows.ts";
import { plain } from "../statement.ts";
import type { Tx } from "../tx.ts";
import type { PlaceOf } from "./lexical-index.ts";
import { memoriesIn } from "./memory-rows.ts";
import { type MemoryScope, rangeOf } from "./memory-scope.ts";
import { termsOf, type UnitColumns } from "./units.ts";

/** What searches read of a scope, at one revision of it. */
export interface ScopeReads {
  readonly revision: number;
  /** In a scope that is searched without its index: all its units and their positions. */
  few?: { readonly index: LexicalIndex; readonly seen: ReadonlyMap<number, PlaceOf> };
  /** By the row. */
  readonly memories: Map<number, Memory>;
  /** Names that appear in messages. */
  readonly names: string;
}

/** This many scopes are cached, with this many memories each. */
const MOST_SCOPES = 32;
const MOST_MEMORIES = 256;
/** Characters of a memory that is remembered. */
const LONGEST = 4_000;

/**
 * Caches what searches read, so that another search reads only what these did not. Every write of memories makes a new revision of their
 * scope, and no revision comes twice: of the data read at another revision, only messages are used, which do not change until they are no
 * longer found.
 */
export function openScopeReads(): (own: Omit<MemoryScope, "org">) => ScopeReads {
  const known = new Map<number, ScopeReads>();
  return ({ number, revision, agent, contact }) => {
    const names = JSON.stringify([agent, contact]);
    const before = known.get(number);
    if (before?.revision === revision) return before;
    known.delete(number);
    const [oldest] = known.keys();
    if (known.size >= MOST_SCOPES && oldest !== undefined) known.delete(oldest);
    const messages = before?.names === names ? [...before.memories].filter(([, one]) => isMessage(one)) : [];
    const reads: ScopeReads = { revision, memories: new Map(messages), names };
    known.set(number, reads);
    return reads;
  };
}

/** A turn's message. An imported message may be merged with another. */
const isMessage = ({ kind, turn }: Memory): boolean => kind === "message" && turn !== undefined;

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

/** A memory, and the row where its place says that it is. */
export interface MemoryAt {
  readonly id: MemoryId;
  readonly row: number;
}

/** Memories by their rows: what another search read is not read again. A row that is free again may be another memory's. */
export async function readTexts(
  tx: Tx,
  { own, reads: { memories } }: Pick<Opened, "own" | "reads">,
  wanted: readonly MemoryAt[],
): Promise<ReadonlyMap<MemoryId, Memory>> {
  const found = new Map<number, Memory>();
  const left: number[] = [];
  for (const { row, id } of wanted) {
    const known = memories.get(row);
    if (known?.id === id) found.set(row, known);
    else left.push(row);
    memories.delete(row);
  }
  if (left.length > 0) for (const row of await memoriesIn(tx, own, left)) found.set(row.row, toMemory(row));
  for (const [row, memory] of found) if (memory.content.length <= LONGEST) memories.set(row, memory);
  // Those that were asked for longest ago go first.
  for (const row of memories.keys()) {
    if (memories.size <= MOST_MEMORIES) break;
    memories.delete(row);
  }
  return new Map(wanted.flatMap(({ row }) => found.get(row) ?? []).map((memory) => [memory.id, memory]));
}
