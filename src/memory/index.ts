/** Finding what was said before: how texts become terms, and how what was found is ranked. Pure, the same for every database. */

export type { Candidate, IndexSize, LexicalIndex, PlacedUnit, Unit, WeightedTerm } from "./lexical-index.ts";
export type { Features, Ranked } from "./ranked.ts";
