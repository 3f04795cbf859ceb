/** Search in earlier messages: how texts become terms, and how results are ranked. Pure, and the same for every database. */

export { type AskedText, asksChange, asksHelp, asksIn } from "./asked.ts";
export { fold, foldedWords, foldName } from "./fold.ts";
export { fuse, type Near, type Nearby } from "./fuse.ts";
export type { Candidate, IndexSize, LexicalIndex, PlacedUnit, Unit, UnitHead, WeightedTerm } from "./lexical-index.ts";
export { listIndex } from "./list-index.ts";
export { passageOf } from "./passage.ts";
export { type Features, type Ranked, speaks } from "./ranked.ts";
export { type Search, search } from "./search.ts";
export {
  type Holding,
  holding,
  isOfAnyAnswer,
  type LastingWish,
  mayHoldFor,
  STANDING_TAGS,
  standsIn,
} from "./standing.ts";
export { type Topic, type TopicText, topicsOf } from "./topics.ts";
export { FLAGS, unitsOf } from "./units.ts";
export { STOP_WORDS } from "./word-lists.ts";
