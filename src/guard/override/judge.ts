import { TRIED } from "./acts.ts";
import { CONTROLS } from "./controls.ts";
import { EVASIONS } from "./evasions.ts";
import { foreignClaim, foreignOverride } from "./languages.ts";
import { ofLast } from "./last.ts";
import { pattern } from "./pattern.ts";
import { BOWING, CERTAIN, CLAIMS, GOVERNING, GRANT, KEPT, TURNED, UNKEPT, WEAKENING } from "./phrases.ts";
import {
  deniesRequests,
  isDenied,
  isReported,
  isRhetorical,
  isSelfCheck,
  OWN_LAYERS,
  shuns,
  withoutHarmlessTalk,
} from "./polarity.ts";
import { isHeldOff, withoutProjectConstitution, withoutShields } from "./protection.ts";
import { DROPS, RELATIONS } from "./relations.ts";
import { unbowed } from "./unbowed.ts";
import { unbowedInAnother } from "./unbowed-tongues.ts";
import { isHeavy } from "./weigh.ts";

/** What a sentence does that a layer below may not do, and the words that do it. */
export interface Offence {
  readonly kind: "weakens" | "claims rank" | "grants" | "resembles";
  readonly words: string;
}

/** A sentence, already folded, and what follows it: a question is judged with its answer. */
export interface Spoken {
  readonly sentence: string;
  readonly next: string;
  /** All of the text: what its talk is about. */
  readonly text: string;
}

const governing = pattern(GOVERNING);
const everyGoverning = pattern(GOVERNING, "gu");
const certain = pattern(CERTAIN);
const weakening = pattern(`\\b${WEAKENING}(?![\\p{L}\\p{N}])`);
const unkept = pattern(UNKEPT);
const turned = pattern(TURNED);
const bowing = BOWING.map((source) => pattern(source));
const kept = KEPT.map((source) => pattern(source));
const claims = CLAIMS.map((source) => pattern(source));
const relations = RELATIONS.map((source) => pattern(source));
const drops = [...DROPS, ...CONTROLS, ...EVASIONS].map((source) => pattern(source));
const grant = pattern(GRANT);

/** What is wrong with a sentence; nothing for most. */
export function offenceOf({ sentence, next, text }: Spoken): Offence | undefined {
  const read = withoutShields(withoutProjectConstitution(withoutHarmlessTalk(sentence, text), text));
  const foreign = isEnglish(sentence) ? undefined : foreignOverride(read);
  if (foreign !== undefined) return { kind: "weakens", words: sentence };
  const claimed = isEnglish(sentence) ? undefined : foreignClaim(read);
  if (claimed !== undefined) return { kind: "claims rank", words: claimed };
  if (isRhetorical(read, next)) return { kind: "weakens", words: read };
  if (isReported(read, next) || isHeldOff(read, next) || isSelfCheck(read, next)) return undefined;
  const drop = drops.map((one) => one.exec(read)).find((found) => found !== null && !shuns(read, found.index));
  if (drop) return { kind: "weakens", words: drop[0] };
  const claim = claims.map((one) => one.exec(read)).find((found) => found !== null && !isDenied(read, found.index));
  if (claim && !(bows(read) && governing.test(read))) return { kind: "claims rank", words: claim[0] };
  const relation = relations
    .map((one) => one.exec(read))
    .find((found) => found !== null && (turned.test(read) || !isDenied(read, found.index)));
  if (relation) return { kind: "claims rank", words: relation[0] };
  const act = actIn(read);
  if (act !== undefined) return { kind: "weakens", words: act };
  const named = governing.exec(read)?.[0];
  if (named !== undefined && isWeakened(read)) return { kind: "weakens", words: named };
  const granted = grant.exec(read);
  if (granted !== null && !shuns(read, granted.index + granted[0].length) && !isBounded(granted[0], read))
    return { kind: "grants", words: granted[0] };
  if (bows(read) || deniesRequests(read)) return undefined;
  const above = isEnglish(read) ? unbowed(read) : unbowedAnywhere(read);
  if (above !== undefined) return { kind: "weakens", words: above };
  return isEnglish(read) && isHeavy(read, sentencesIn(text)) ? { kind: "resembles", words: read } : undefined;
}

/** How many sentences a text has, about. */
const sentencesIn = ofLast((text) => text.match(/[.!?;](?=\s|$)|\n+/gu)?.length ?? 1);

/** The words of the first act that no `no` denies; nothing where what governs is bowed to. */
function actIn(sentence: string): string | undefined {
  for (const { only, patterns, isNegative } of TRIED) {
    if (!only.test(sentence)) continue;
    const isAct = (at: number) => (isNegative ? !shuns(sentence, at) : !isDenied(sentence, at));
    const found = patterns()
      .map((one) => one.exec(sentence))
      .find((one) => one !== null && isAct(one.index));
    if (found && !bows(sentence)) return found[0];
  }
  return undefined;
}

const ASKED = /\b(?:confirm\w*|identity|security questions?|validation|verification|permission)\b/u;
const BOUNDS =
  /\b(?:only if|only when|only against|explicit\w*|dry[- ]run|local|non-destructive|read-only|(?:already|itself|if these are) (?:explicit|the confirmation|already|approved|verified|signed|confirmed|checked|authenticated|logged))\b/u;

/** A question that need not be asked twice: bounded by what was asked before or cannot do harm. */
const isBounded = (granted: string, sentence: string): boolean => ASKED.test(granted) && BOUNDS.test(sentence);

const ENGLISH =
  /\b(?:the|and|of|to|that|is|are|with|for|this|you|your|when|if|from|not|by|as|all|every|our|it|who|which|what|then|never|only|their|must|should|may|can|such|any|before|previous|other|these)\b/gu;

/** Stems of other languages stand in English words too. */
const isEnglish = (sentence: string): boolean => (sentence.match(ENGLISH)?.length ?? 0) > 1;

/** Of a sentence that has not shown itself as English; it may be it all the same, without many small words. */
const unbowedAnywhere = (read: string): string | undefined => unbowed(read) ?? unbowedInAnother(read);

/** A rule that is named for sure may only be bowed to; one that may be meant must have its force taken. */
function isWeakened(sentence: string): boolean {
  if (bows(sentence)) return false;
  if (unkept.test(sentence)) return true;
  const rest = sentence.replaceAll(OWN_LAYERS, " ");
  if (turned.test(rest) && (isBeside(rest) || certain.test(rest) || HOLDING.test(rest))) return true;
  if (weakening.test(rest) && certain.test(rest) && !kept.some((one) => one.test(rest))) return true;
  if (kept.some((one) => one.test(sentence))) return false;
  return certain.test(rest) || isBeside(rest);
}

/** How far the words that take force may stand from what they take it from. */
const REACH = 45;

/** Words that take force stand near words for rules that may be other rules. */
const isBeside = (sentence: string): boolean =>
  [...sentence.matchAll(everyGoverning)].some(({ 0: named, index }) =>
    weakening.test(sentence.slice(Math.max(0, index - REACH), index + named.length + REACH)),
  );

const HOLDING = /\b(?:hold|holds|apply|applies|counts?|binds?|bound|remain|remains|in force|valid)\b/u;

const bows = (sentence: string): boolean => bowing.some((one) => one.test(sentence)) && !turned.test(sentence);
