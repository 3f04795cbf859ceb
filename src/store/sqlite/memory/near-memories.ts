import { fuse, type Near, type Ranked } from "../../../memory/index.ts";
import type { MemoryId, MemoryQuery } from "../../../protocol/index.ts";
import type { Connection } from "../connection.ts";
import { plain } from "../statement.ts";
import { conditionOf } from "./memory-rows.ts";
import { type MemoryScope, rangeOf } from "./memory-scope.ts";
import { vectorIndex } from "./vector-index.ts";
import { servingModel } from "./vectors.ts";

/** How many of each list are fused. */
export const FUSED = 100;

/** A long memory may be near by several of its parts. */
const PARTS = 2 * FUSED;

/**
 * What the words found, fused with what lies near the query's vectors. Every scope of such a query is fused, also one without
 * vectors, so that the scores of all are of one kind.
 */
export function fused(
  db: Connection,
  own: MemoryScope,
  query: MemoryQuery,
  ranked: readonly Ranked[],
): readonly Ranked[] {
  if (query.vectors === undefined || query.vectors.length === 0) return ranked;
  // Neighbours of what was found are ranked with it, also those that say nothing.
  const said = ranked.filter(({ evidence }) => evidence > 0);
  return fuse(said.slice(0, FUSED), nearMemories(db, own, query));
}

/**
 * How far along the way from what is usual in the scope to the very same a memory must lie, that being near says something for it.
 * What is usual differs from model to model: some have all texts half alike.
 */
const TELLING = 0.25;

/** So few vectors tell nothing of what is usual. */
const FEW = 8;

/** The memories nearest to what is asked, each by its nearest part. Only vectors of one model are compared with each other. */
function nearMemories(db: Connection, own: MemoryScope, query: MemoryQuery): readonly Near[] {
  const serving = servingModel(db, own);
  const asked = query.vectors?.find(({ model }) => model === serving?.model);
  if (serving === undefined || asked === undefined) return [];
  const condition = conditionOf(query);
  const found = vectorIndex(db).knn(serving, { values: asked.values, limit: PARTS, condition });
  const usual = found.length < FEW ? 0 : vectorIndex(db).usual(serving, asked.values);
  const likeness = new Map(found.toReversed().map((near) => [near.memory, near.likeness]));
  const rows = [...new Set(found.map(({ memory }) => memory))];
  const known = db.all(
    plain<{ readonly row: number; readonly id: MemoryId; readonly first: number }>(
      `select row, id, first from memory where scope = ? and row in (select value from json_each(?)) and first is not null`,
      ...[own.number, JSON.stringify(rows)],
    ),
  );
  const { from } = rangeOf(own);
  const byRow = new Map(known.map((one) => [one.row, one]));
  return rows.slice(0, FUSED).flatMap((row) => {
    const one = byRow.get(row);
    if (one === undefined) return [];
    const way = ((likeness.get(row) ?? 0) - usual) / (1 - usual);
    const [memory, place, evidence] = [one.id, one.first - from, way < TELLING ? 0 : way];
    return [{ memory, place, ranked: { memory, place, score: 0, evidence, features: {} } }];
  });
}
