/**
 * How a provider's cache works and what it costs: model cards, the placement of breakpoints, and a simulator that is independent of this
 * placement. Pure: no clock, no randomness, no input or output. It knows requests, not layers or threads, and of providers' formats only
 * what a cache sees of a dumped body.
 */

export { type Planning, planBreakpoints } from "./breakpoints.ts";
export { AGREES, agreementOf, type Taken } from "./cache/agreement.ts";
export {
  type AttributedRequest,
  attribute,
  type BlockPlace,
  type Caused,
  type RequestFacts,
} from "./cache/attribute.ts";
export { type AttributionTotals, attributionTotals, type CauseTotal } from "./cache/attribution-totals.ts";
export { CAUSE_SAYS, CAUSES, type Cause, isAvoidable } from "./cache/causes.ts";
export { confirms } from "./cache/diagnosed.ts";
export { optimum, type ReadWrite } from "./cache/optimum.ts";
export { type Prewarming, prewarming } from "./cache/prewarming.ts";
export { seenOfBody } from "./cache/read-body.ts";
export { seenOf } from "./cache/read-request.ts";
export { anthropicRules, openaiExactRules, openaiRules, rulesOf, serverRules } from "./cache/rules.ts";
export type { Bill, CacheRules, Lifetime, Multipliers, SeenBlock, SeenRequest } from "./cache/seen.ts";
export { simulate } from "./cache/simulate.ts";
export {
  type CardBook,
  type CardOverride,
  cardBook,
  cardOf,
  dollars,
  guessedWindow,
  type ModelCard,
  mostDollars,
  samplingFor,
} from "./cards.ts";
export { changedSection } from "./changed.ts";
export { FAMILIES, UNKNOWN } from "./families.ts";
export type { CacheWay, Family, Lifetimes, Price, SamplingRule } from "./family.ts";
export { type Conversation, type Folding, type FoldRates, whenToFold } from "./fold.ts";
export {
  type Beginning,
  hasLifetimes,
  keepingCost,
  type Pace,
  type PlannedLifetimes,
  paceOf,
  sharedLifetime,
  threadLifetime,
  USUAL_PACE,
} from "./lifetimes.ts";
export {
  perturb,
  type Render,
  type RenderVariant,
  type SentSection,
  sentSections,
  TOGETHER,
  type Unstable,
  WORLDS,
} from "./lint/compare.ts";
export { type Cost, measured, paddingPays, type Rates } from "./lint/cost.ts";
export { type LintFinding, lintSubject } from "./lint/findings.ts";
export { RULE_NAMES, type RuleName, ruleTable, type Severity } from "./lint/rules.ts";
export type { Observed, PrefixText, Subject, ThreadLength } from "./lint/subject.ts";
export { lintText } from "./lint/texts.ts";
export { type EarlierRequest, type Foresight, predict } from "./predict.ts";
export { paidTwiceOf, tailPlanOf } from "./tail.ts";
