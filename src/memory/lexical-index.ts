import type { MemoryId } from "../protocol/index.ts";

/** A part of a memory that is found by itself: at most about 80 words. */
export interface Unit {
  /**
   * Its search terms, in the order of the text and with repetitions: folded, stemmed, and cut into pairs if a script has no spaces.
   */
  readonly terms: readonly string[];
  /** Bits, see `FLAGS`. */
  readonly flags: number;
}

/** A unit at its place. */
export interface PlacedUnit extends Unit {
  /** Its number in its scope. Numbers only grow: what was said later has a higher one. */
  readonly place: number;
  readonly memory: MemoryId;
  /** Units of the same stretch of conversation share it; a saved fact is a separate session. */
  readonly session: number;
  /** Folded by `foldName`; empty if no one is named. */
  readonly speaker: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A unit as the ranking reads it: of its terms, only those that are looked for. */
export interface ReadUnit extends Omit<PlacedUnit, "terms"> {
  /** In the order of the text, with repetitions. */
  readonly has: readonly string[];
  /** How many terms the unit has in all. */
  readonly length: number;
  /** How many units its memory has. */
  readonly parts: number;
}

/** A unit as it is read for a first choice: everything except its words. */
export interface UnitHead extends Pick<PlacedUnit, "place" | "session" | "speaker" | "flags"> {
  /** Units of one memory share it. */
  readonly whole: number;
}

/** The size of what is searched. */
export interface IndexSize {
  readonly units: number;
  /** Of all units together. */
  readonly terms: number;
}

/** A term with its weight. */
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

/** The words of one scope and no other (law 5): the first stage of every search, implemented once for each database. */
export interface LexicalIndex {
  size(): Promise<IndexSize>;
  /** In how many units each of the terms appears; terms that appear in none may be missing. */
  frequencies(terms: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** The speakers of the scope. */
  speakers(): Promise<readonly string[]>;
  /** The best units by the sum of the weights of their terms; on ties the newest comes first. */
  candidates(terms: readonly WeightedTerm[], limit: number): Promise<readonly Candidate[]>;
  /** The units that exist at these places, in any order. */
  heads(places: readonly number[]): Promise<readonly UnitHead[]>;
  /** The same, with those of these terms that each has. */
  rows(places: readonly number[], terms: ReadonlySet<string>): Promise<readonly ReadUnit[]>;
}
