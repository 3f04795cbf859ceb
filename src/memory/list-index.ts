import type { Candidate, LexicalIndex, PlacedUnit, ReadUnit } from "./lexical-index.ts";

/** An index over units in memory: it does the work of a search without a database. */
export function listIndex(units: readonly PlacedUnit[]): LexicalIndex {
  const byPlace = new Map(units.map((unit) => [unit.place, unit]));
  const parts = Map.groupBy(units, ({ memory }) => memory);
  const wholes = new Map([...parts.keys()].map((memory, whole) => [memory, whole]));
  const postings = new Map<string, number[]>();
  for (const { place, terms } of units.toSorted((a, b) => b.place - a.place)) {
    for (const term of new Set(terms)) {
      const known = postings.get(term);
      if (known === undefined) postings.set(term, [place]);
      else known.push(place);
    }
  }
  const size = { units: units.length, terms: units.reduce((sum, { terms }) => sum + terms.length, 0) };
  const speakers = [...new Set(units.map(({ speaker }) => speaker))].toSorted();
  return {
    size: async () => size,
    frequencies: async (terms) =>
      new Map(
        terms.flatMap((term) => {
          const places = postings.get(term);
          return places === undefined ? [] : [[term, places.length] as const];
        }),
      ),
    speakers: async () => speakers,
    candidates: async (terms, limit) => {
      const scores = new Map<number, number>();
      for (const { term, weight } of terms) {
        for (const place of postings.get(term) ?? []) scores.set(place, (scores.get(place) ?? 0) + weight);
      }
      return best(
        [...scores].map(([place, score]) => ({ place, score })),
        limit,
      );
    },
    heads: async (places) =>
      places
        .flatMap((place) => byPlace.get(place) ?? [])
        .map(({ place, memory, session, speaker, flags }) => {
          return { place, session, speaker, flags, whole: wholes.get(memory) ?? -1 };
        }),
    rows: async (places, wanted) =>
      places
        .flatMap((place) => byPlace.get(place) ?? [])
        .map((unit) => ({ ...readUnit(unit, wanted), parts: parts.get(unit.memory)?.length ?? 1 })),
  };
}

function readUnit({ terms, ...unit }: PlacedUnit, wanted: ReadonlySet<string>): Omit<ReadUnit, "parts"> {
  return { ...unit, has: terms.filter((term) => wanted.has(term)), length: terms.length };
}

function best(candidates: readonly Candidate[], limit: number): readonly Candidate[] {
  return candidates.toSorted((a, b) => b.score - a.score || b.place - a.place).slice(0, Math.max(0, Math.floor(limit)));
}
