/**
 * Checks texts: cleaning, normalising, and the only way to make untrusted text renderable. Pure: no clock, no randomness, no input or
 * output; it knows only text, and no store, model or agent.
 */
export { clean, shownText } from "./clean.ts";
export { cleanName, frame, frameEarlier } from "./frame.ts";
export type { GuardFinding, GuardVerdict } from "./override/verdict.ts";
export {
  type FoundSecret,
  findSecrets,
  KEY_FILTERS,
  type KeyFilter,
  REMOVED,
  SECRET_KINDS,
  type SecretKind,
  secretProblem,
  withoutSecrets,
} from "./secrets.ts";
export { checkSignature, messageToSign, type SignedMessage, senderAddress } from "./sender-address.ts";
export {
  type CheckedText,
  checkNewText,
  formProblem,
  type GivenText,
  layerJudge,
  type PrefixSize,
  prefixSize,
  readsAsOurs,
  sumProblem,
} from "./text-check.ts";
export { LONGEST_LINE, lineStarts, longestFitting, shorten, truncateText } from "./truncate-text.ts";
export { type PrivateWords, privateWords, type Scan, scanFor, type VerbatimRun } from "./verbatim.ts";
export { blocked, flagged, rejected } from "./wording.ts";
