import type { MemoryId } from "../protocol/index.ts";

/** The part of a memory that is found as one: at most some 80 words of it. */
export interface Unit {
  /** What is searched by, in the order of the text and as often as it stands there: folded, stemmed, cut into pairs where a script has no spaces. */
  readonly terms: readonly string[];
  /** Bits, see `FLAGS`. */
  readonly flags: number;
}

/** A unit where it stands. */
export interface PlacedUnit extends Unit {
  /** Its number in its scope. It only grows: what was said later stands later. */
  readonly place: number;
  readonly memory: MemoryId;
  /** Units of one stretch of talk share it; a saved fact is a session of its own. */
  readonly session: number;
  /** Folded as `foldName` does; empty where nobody is named. */
  readonly speaker: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A unit as ranking reads it: of its terms only those that are looked for. */
export interface ReadUnit extends Omit<PlacedUnit, "terms"> {
  /** In the order of the text, each as often as it stands there. */
  readonly has: readonly string[];
  /** How many terms the unit has in all. */
  readonly length: number;
  /** How many units its memory has. */
  readonly parts: number;
}

/** A unit as choosing reads it: all but its words. */
export interface UnitHead extends Pick<PlacedUnit, "place" | "session" | "speaker" | "flags"> {
  /** Units of one memory share it. */
  readonly whole: number;
}

/** How much is searched. */
export interface IndexSize {
  readonly units: number;
  /** Of all units together. */
  readonly terms: number;
}

/** A term with what it counts. */
export interface WeightedTerm {
  readonly term: string;
  readonly weight: number;
}

/** A unit that has some of the terms. */
export interface Candidate {
  readonly place: number;
  /** The sum of the weights of the terms it has. */
  readonly score: number;
}

/** The words of one scope, and nothing of any other (law 5): the first stage of every search, one implementation for each database. */
export interface LexicalIndex {
  size(): Promise<IndexSize>;
  /** In how many units each of the terms stands; those in none may be left out. */
  frequencies(terms: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Who has spoken in the scope. */
  speakers(): Promise<readonly string[]>;
  /** The best units by the sum of the weights of the terms they have, the newest first on ties. */
  candidates(terms: readonly WeightedTerm[], limit: number): Promise<readonly Candidate[]>;
  /** Those there are of these places, in any order. */
  heads(places: readonly number[]): Promise<readonly UnitHead[]>;
  /** The same with what they have of these terms. */
  rows(places: readonly number[], terms: ReadonlySet<string>): Promise<readonly ReadUnit[]>;
}
