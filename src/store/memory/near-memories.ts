import { fuse, type Nearby, type Ranked } from "../../memory/index.ts";
import type { MemoryId, MemoryQuery } from "../../protocol/index.ts";
import { plain } from "../statement.ts";
import type { Tx } from "../tx.ts";
import { conditionOf, KEPT } from "./memory-rows.ts";
import { type MemoryScope, rangeOf } from "./memory-scope.ts";
import { type NearVector, vectorIndex } from "./vector-index.ts";
import { servingModel } from "./vectors.ts";

/** How many of each list are fused. */
export const FUSED = 100;

/** A long memory may be near by several of its parts. */
const PARTS = 2 * FUSED;

/** So few vectors tell nothing of what is usual. */
const FEW = 8;

/** What the words found, fused with what lies near the query's vectors. */
export async function fused(
  tx: Tx,
  own: MemoryScope,
  query: MemoryQuery,
  ranked: readonly Ranked[],
): Promise<readonly Ranked[]> {
  const near = await nearMemories(tx, own, query);
  return near === undefined ? ranked : fuse(ranked, near);
}

/** The memories nearest to what is asked, each by its nearest part. Only vectors of one model are compared with each other. */
async function nearMemories(tx: Tx, own: MemoryScope, query: MemoryQuery): Promise<Nearby | undefined> {
  if (query.vectors === undefined || query.vectors.length === 0) return undefined;
  const serving = await servingModel(tx, own);
  const asked = query.vectors.find(({ model }) => model === serving?.model);
  if (serving === undefined || asked === undefined) return undefined;
  const condition = conditionOf(query);
  const index = vectorIndex(tx);
  const found = await index.knn(serving, { values: asked.values, limit: PARTS, condition });
  const usual = found.length < FEW ? 0 : await index.usual(serving, asked.values);
  const known = await memoriesOf(tx, own, found);
  const { from } = rangeOf(own);
  const nearest = new Map(found.toReversed().map((near) => [near.memory, near.likeness]));
  const rows = [...new Set(found.map(({ memory }) => memory))].slice(0, FUSED);
  const order = found.flatMap(({ memory, part }) => (part === 0 ? (known.get(memory)?.id ?? []) : []));
  return {
    memories: rows.flatMap((row) => {
      const one = known.get(row);
      if (one === undefined) return [];
      const way = ((nearest.get(row) ?? 0) - usual) / Math.max(1 - usual, Number.EPSILON);
      return [{ memory: one.id, place: one.first - from, way, isSaved: one.isSaved === 1 }];
    }),
    order,
    size: found.length < PARTS ? order.length : await index.memories(serving, condition),
  };
}

interface Known {
  readonly row: number;
  readonly id: MemoryId;
  readonly first: number;
  readonly isSaved: number;
}

async function memoriesOf(tx: Tx, own: MemoryScope, found: readonly NearVector[]): Promise<ReadonlyMap<number, Known>> {
  const rows = [...new Set(found.map(({ memory }) => memory))];
  const known = await tx.all(
    plain<Known>(
      `select row, id, first, (${KEPT}) as "isSaved" from memory where scope = ? and row in (select cast(value as bigint) from json_each(?)) and first is not null`,
      ...[own.number, JSON.stringify(rows)],
    ),
  );
  return new Map(known.map((one) => [one.row, one]));
}
