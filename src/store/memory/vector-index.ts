import { crc32 } from "node:zlib";
import { plain } from "../statement.ts";
import type { Tx } from "../tx.ts";
import type { Condition, StoredVector, WantedVectors } from "./memory-index.ts";

/** The positions of the vectors of one model in one scope, all of one length. */
export interface VectorRange {
  readonly number: number;
  readonly dimensions: number;
}

/** A vector of a memory or of a part of it. `memory` is the row number of the memory. */
export interface VectorRow {
  readonly memory: number;
  readonly part: number;
  readonly values: Float32Array;
}

/** A vector that is near. */
export interface NearVector {
  readonly memory: number;
  readonly part: number;
  /** The cosine: 1 for the same direction. */
  readonly likeness: number;
}

/** The vectors of one model in one scope, and of no other (law 5). All have length 1. */
interface VectorIndex {
  /** Adds vectors at the end of the range, replacing earlier ones of the same parts; `next` is the first free place. */
  upsert(range: VectorRange, next: number, rows: readonly VectorRow[]): Promise<void>;
  /** The nearest vectors, nearest first and on ties the newest first; only of memories that meet the condition. */
  knn(range: VectorRange, wanted: WantedVectors): Promise<readonly NearVector[]>;
  isEmpty(range: Pick<VectorRange, "number">): Promise<boolean>;
  /** How many of the memories that meet the condition have a vector. */
  memories(range: Pick<VectorRange, "number">, condition?: Condition): Promise<number>;
  /** How similar the vectors of the range usually are to a vector: the median of a sample. */
  usual(range: VectorRange, values: Float32Array): Promise<number>;
  /** Empties the range. */
  delete(range: Pick<VectorRange, "number">): Promise<void>;
}

/** As wide as the range of units, because a scope has no more memories than units. */
const WIDTH = 2 ** 26;

const boundsOf = ({ number }: Pick<VectorRange, "number">): readonly [number, number] => [
  number * WIDTH,
  (number + 1) * WIDTH,
];

/**
 * Rows of one table, whatever compares them, so that a file can move from a machine with sqlite-vec to one without. With it, SQLite ranks
 * the vectors, otherwise JavaScript does. The results are compared again, so that their order is the same.
 */
export function vectorIndex(tx: Tx): VectorIndex {
  return {
    upsert: async (range, next, rows) => {
      const [from] = boundsOf(range);
      for (const [n, { memory, part, values }] of rows.entries()) {
        const same = `delete from vector where memory = ? and part = ? and id >= ? and id < ?`;
        await tx.run(plain(same, memory, part, ...boundsOf(range)));
        const bytes = bytesOf(values);
        const row = [from + next + n, memory, part, bytes, crc32(bytes)];
        await tx.run(plain(`insert into vector (id, memory, part, value, crc) values (?, ?, ?, ?, ?)`, ...row));
      }
    },
    knn: async (range, wanted) => {
      if (wanted.values.length !== range.dimensions || wanted.limit < 1) return [];
      const [from, to] = boundsOf(range);
      const most = { ...wanted, limit: wanted.limit + SPARE };
      return ranked((await tx.index.nearest({ from, to }, most)) ?? (await byHand(tx, range, most)), wanted);
    },
    isEmpty: async (range) =>
      (await tx.first(plain<object>(`select id from vector where id >= ? and id < ? limit 1`, ...boundsOf(range)))) ===
      undefined,
    memories: async (range, condition) => {
      const counted = `select count(*) as count from vector ${joinMemory(condition)} where vector.id >= ? and vector.id < ? and vector.part = 0`;
      const row = plain<{ readonly count: number }>(counted, ...(condition?.parameters ?? []), ...boundsOf(range));
      return (await tx.first(row))?.count ?? 0;
    },
    usual: async (range, values) => {
      const some = plain<StoredVector>(
        `select value from vector where id >= ? and id < ? limit ?`,
        ...boundsOf(range),
        SOME,
      );
      const likenesses = (await tx.all(some)).map(({ value }) => cosine(values, value));
      return likenesses.sort((a, b) => a - b)[likenesses.length >> 1] ?? 0;
    },
    delete: async (range) =>
      void (await tx.run(plain(`delete from vector where id >= ? and id < ?`, ...boundsOf(range)))),
  };
}

/** The size of the sample. */
const SOME = 128;

/** Sums in C differ slightly, so a few more are read than wanted, and compared again. */
const SPARE = 16;

const joinMemory = (condition: Condition | undefined): string =>
  condition === undefined ? "" : `cross join memory on memory.row = vector.memory and ${condition.sql}`;

/** How many are in memory at once. */
const STEP = 512;

async function byHand(
  tx: Tx,
  range: VectorRange,
  { values, limit, condition }: WantedVectors,
): Promise<readonly StoredVector[]> {
  const some = `select vector.id, vector.memory, vector.part, vector.value from vector ${joinMemory(condition)}
    where vector.id >= ? and vector.id < ? order by vector.id limit ${STEP}`;
  const [start, to] = boundsOf(range);
  let from = start;
  let best: (StoredVector & { readonly likeness: number })[] = [];
  for (;;) {
    const rows = await tx.all(
      plain<StoredVector & { readonly id: number }>(some, ...(condition?.parameters ?? []), from, to),
    );
    const seen = rows.map((row) => ({ ...row, likeness: cosine(values, row.value) }));
    best = [...best, ...seen].sort(byLikeness).slice(0, limit);
    const last = rows.at(-1);
    if (last === undefined || rows.length < STEP) return best;
    from = last.id + 1;
  }
}

function ranked(rows: readonly StoredVector[], { values, limit }: WantedVectors): readonly NearVector[] {
  return rows
    .map(({ memory, part, value }) => ({ memory, part, likeness: cosine(values, value) }))
    .sort(byLikeness)
    .slice(0, limit);
}

function byLikeness(a: NearVector, b: NearVector): number {
  return b.likeness - a.likeness || b.memory - a.memory || a.part - b.part;
}

const bytesOf = (values: Float32Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

/** The cosine of two vectors of length 1. Stored bytes may begin at any offset; if necessary, they are read number by number. */
function cosine(values: Float32Array, stored: Uint8Array): number {
  const other = numbersOf(stored);
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i] ?? 0) * (other[i] ?? 0);
  return sum;
}

function numbersOf(bytes: Uint8Array): Float32Array {
  const fits = bytes.byteOffset % Float32Array.BYTES_PER_ELEMENT === 0;
  const own = fits ? bytes : bytes.slice();
  return new Float32Array(own.buffer, own.byteOffset, own.byteLength / Float32Array.BYTES_PER_ELEMENT);
}
