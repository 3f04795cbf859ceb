import { LAYER_SCOPES, type Layer } from "./layer.ts";

/**
 * The order of the prompt and of the ledger: by scope, then by rank, then as declared. A layer with `after` comes
 * right after that other layer; several of them are ordered by rank.
 */
export function inPromptOrder<L extends Pick<Layer, "id" | "rank" | "scope" | "after">>(layers: readonly L[]): L[] {
  const byRank = layers.toSorted(
    (a, b) => LAYER_SCOPES.indexOf(a.scope) - LAYER_SCOPES.indexOf(b.scope) || a.rank - b.rank,
  );
  const ids = new Set(layers.map(({ id }) => id));
  const stands = ({ after }: L): boolean => after === undefined || !ids.has(after);
  return byRank
    .filter(stands)
    .flatMap((one) => [one, ...byRank.filter((other) => !stands(other) && other.after === one.id)]);
}
