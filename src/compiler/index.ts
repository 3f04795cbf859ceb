/**
 * Input: layers, transcript, events and a budget. Output: one request, independent of providers, with what became of every section. Pure: no
 * clock, no randomness, no input or output; the same input gives the same bytes. It decides order, frames, cuts and epochs. It does not
 * know providers, stores or how its input was gathered.
 */
export { type Compilation, compile, extend, requestOf, roomLeft, unreasoned } from "./compile.ts";
export type { CompileInput } from "./compile-input.ts";
export { type Summary, summarizedBy } from "./cut.ts";
export type { EarlyCut } from "./cut-plan.ts";
export { isEarlier } from "./earlier.ts";
export { frameResult, type Keeping, saidAbove, wholeMessage } from "./events.ts";
export { leastOfLayer } from "./layers.ts";
export { chooseMode, type ModeInput, type Room, roomIn } from "./mode.ts";
export { type Restated, restate } from "./restate.ts";
export { memoriesShown } from "./shown-layers.ts";
export { type StretchRequest, type SummaryGroup, stretchRequest } from "./stretch.ts";
export { messagesCut, saidSummaryRequest, summaryRequest } from "./summary.ts";
export { clearedTail } from "./tail.ts";
export { countMessage, countRequest, countTools, transcriptSum } from "./tokens.ts";
export { beginningShown, STANDING_LINES } from "./wording.ts";
