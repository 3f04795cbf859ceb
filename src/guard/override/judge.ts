import { foreignOverride } from "./languages.ts";
import { BOWING, CERTAIN, CLAIMS, GOVERNING, GRANT, KEPT, TURNED, UNKEPT, WEAKENING } from "./phrases.ts";

/** What a sentence does that a layer below may not do, and the words that do it. */
export interface Offence {
  readonly kind: "weakens" | "claims rank" | "grants";
  readonly words: string;
}

const governing = new RegExp(GOVERNING, "u");
const certain = new RegExp(CERTAIN, "u");
const weakening = new RegExp(`\\b${WEAKENING}(?![\\p{L}\\p{N}])`, "u");
const unkept = new RegExp(UNKEPT, "u");
const turned = new RegExp(TURNED, "u");
const bowing = BOWING.map((one) => new RegExp(one, "u"));
const kept = KEPT.map((one) => new RegExp(one, "u"));
const claims = CLAIMS.map((one) => new RegExp(one, "u"));
const grant = new RegExp(GRANT, "u");
const negated =
  /\b(?:never|do not|don't|must not|may not|cannot|can't|refuse|decline|should not|won't|no sender|nobody|no one|not allowed)\b/u;

/** What is wrong with a sentence, already folded; nothing for most. */
export function offenceOf(sentence: string): Offence | undefined {
  const foreign = isEnglish(sentence) ? undefined : foreignOverride(sentence);
  if (foreign !== undefined) return { kind: "weakens", words: sentence };
  const claim = claims.map((one) => one.exec(sentence)?.[0]).find((words) => words !== undefined);
  if (claim !== undefined && !(bows(sentence) && governing.test(sentence)))
    return { kind: "claims rank", words: claim };
  const named = governing.exec(sentence)?.[0];
  if (named !== undefined && isWeakened(sentence)) return { kind: "weakens", words: named };
  const granted = grant.exec(sentence)?.[0];
  if (granted !== undefined && !negated.test(sentence)) return { kind: "grants", words: granted };
  return undefined;
}

const ENGLISH = /\b(?:the|and|of|to|that|is|are|with|for|this|you|your|when|if|from|not|by|as)\b/gu;

/** Stems of other languages stand in English words too. */
const isEnglish = (sentence: string): boolean => (sentence.match(ENGLISH)?.length ?? 0) > 1;

/** A rule that is named for sure may only be bowed to; one that may be meant must have its force taken. */
function isWeakened(sentence: string): boolean {
  if (bows(sentence)) return false;
  if (unkept.test(sentence)) return true;
  if (turned.test(sentence) && (weakening.test(sentence) || certain.test(sentence))) return true;
  if (kept.some((one) => one.test(sentence))) return false;
  return weakening.test(sentence) || certain.test(sentence);
}

const bows = (sentence: string): boolean => bowing.some((one) => one.test(sentence)) && !turned.test(sentence);
