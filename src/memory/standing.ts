import { fold, MARK, wordsOf } from "./fold.ts";
import { STOP_WORDS } from "./word-lists.ts";

/** What somebody says once and means for good: what is to be done (a rule), and what they prefer (a wish). */

/** Terms by which it is found, whatever it is about, and the tags of what was saved as such. */
export const STANDING = { rule: `${MARK}rule`, wish: `${MARK}wish` } as const;
export const STANDING_TAGS = { rule: "instruction", wish: "preference" } as const;

/** What an assistant is told to do, and what follows "always" and "never" where nobody is told anything. */
const DO =
  "use|include|format|provide|give|answer|reply|respond|write|mention|add|show|highlight|explain|call|address|speak|keep|ask|tell|confirm|report|specify|suggest|verify|cite|convert|avoid|list|round|quote|translate|send|remind|describe|state|name";
const DOING = "using|including|adding|giving|asking|calling|writing|mentioning|showing|explaining|suggesting";
const TELLS_NOBODY =
  "\\p{L}+(?:ing|ed)|(?:happy|glad|here|there|a|an|the|on|in|up|been|had|have|heard|would|really|quite|again|something|fun|good|nice|great|mind|thought|knew|seen|too|so|try|love|want|wanted|be there|give up)(?!\\p{L})";
/** How somebody says what is to be done from now on, and what they prefer. English, and the commonest of some other languages. */
const RULE = new RegExp(
  [
    String.raw`(?:^|[.!?\n])\W*(?:(?:please|and|also|so|no|ok|okay|actually|bitte|you (?:must|should))\W+)*(?:${[
      String.raw`(?:always|never)\s+(?!${TELLS_NOBODY})\p{L}`,
      String.raw`(?:from now on|going forward|in (?:the )?future)(?![\p{L}\p{N}])(?!\s+(?:they|he|she|it|i|we|there|the|this)(?!\p{L}))`,
      String.raw`(?:remember|make sure|be sure|do(?:n['’]t| not) forget) to (?:always )?(?!(?:call|keep|ask|tell|send|show|give|speak)(?!\p{L}))(?:${DO})(?!\p{L})`,
      String.raw`do(?:n['’]t| not) ever (?:${DO})(?!\p{L})|only (?:use|give|answer|write|reply)(?!\p{L})`,
      String.raw`(?:${DO})(?!\p{L})[^.!?\n]{1,120}\b(?:from now on|going forward|in future)(?!\p{L})`,
      String.raw`(?:stop|no longer) (?:${DOING})(?!\p{L})|do(?:n['’]t| not) (?:${DO})(?!\p{L})[^.!?\n]{1,80}\bany ?more(?!\p{L})`,
      String.raw`(?:immer|nie|niemals|ab jetzt|in zukunft|toujours|jamais|désormais|siempre|nunca|a partir de ahora)(?![\p{L}\p{N}])`,
    ].join("|")})`,
    String.raw`[,;:]\s*(?:please )?(?:always|never) (?:${DO})(?!\p{L})`,
    String.raw`\b(?:when|whenever|every time) (?:i|we) (?:ask|say|write|send|mention|request)(?!\p{L})`,
    "以后(?:都|请)|总是|今后|今後は",
  ].join("|"),
  "iu",
);
const WISH =
  /\b(?:i|we)(?:['’]d| would| really| always| usually| generally| tend to| strongly| also| now| no longer)* (?:prefer|rather|favou?r|like (?:it when|my)|hate|dislike|can['’]t stand|chose|decided)\b|\bmy preference|\bi['’](?:m|ve) (?:chosen|more of a)\b|\brather than\b|\binstead of\b|\b(?:ich|wir) (?:bevorzuge|mag|möchte lieber|hasse)|\bje préfère\b|\bprefiero\b|我(?:更|比较)?(?:喜欢|偏好|讨厌)|の方が好き/iu;
/** Said at the beginning; what stands deep in a longer text is mostly quoted. */
const RULE_WITHIN = 300;
const WISH_WITHIN = 500;
const LONGEST_RULE = 1_200;

export interface Stands {
  readonly rule: boolean;
  readonly wish: boolean;
}

/** Whether a text says what holds for good, by its form or because it was saved as that. */
export function standsIn(text: string, tags: readonly string[]): Stands {
  return {
    rule: tags.includes(STANDING_TAGS.rule) || (text.length <= LONGEST_RULE && RULE.test(text.slice(0, RULE_WITHIN))),
    wish: tags.includes(STANDING_TAGS.wish) || WISH.test(text.slice(0, WISH_WITHIN)),
  };
}

/** What an answer can be like in one way or another, whatever it is about: a line a matter, a bar between ways that exclude each other. */
const MATTERS = `
metric|imperial
celsius|fahrenheit
short brief concise succinct terse|long detailed thorough elaborate exhaustive
formal formally polite|informal informally casual casually
english|german deutsch|french français|spanish español|italian|portuguese|dutch|chinese 中文|japanese|korean|russian|polish|turkish|arabic|hindi
bullet bullets|prose paragraphs|table tables
euro euros|dollar dollars|pound pounds|franc francs`
  .trim()
  .split("\n")
  .map((line) => line.split("|").map((way) => new Set(way.split(" ").map(fold))));

/** They say that something is wanted, or since when, and not what. */
const SAYS_SO = new Set(
  `always never please use using used from now on going forward future remember make sure prefer preference rather favor favour like hate dislike
  want stop longer anymore any more instead actually again also ever unit units answer answers answering reply reply respond write me i my`
    .split(/\s+/)
    .map(fold),
);
const NEGATED = /\b(?:never|no longer|not|stop|avoid|hate|dislike|without|can['’]t stand)\b|n['’]t\b/iu;
const CHANGES =
  /\b(?:from now on|going forward|no longer|any ?more|instead|actually|now (?:prefer|use)|changed my mind|switch(?:ed)? to)\b/iu;
/** What follows says when, or what is preferred less. */
const CONDITION = /\b(?:when|whenever|while|if|for|about|every time)\b/iu;
const LESS_WANTED = /\b(?:rather than|instead of)\b/iu;

/** One thing that is wanted. */
interface Claim {
  readonly about: ReadonlySet<string>;
  /** Under which condition. */
  readonly when: ReadonlySet<string>;
  /** By the number of the matter. */
  readonly ways: ReadonlyMap<number, number>;
  readonly isNegated: boolean;
  readonly changes: boolean;
}

function claimsOf(text: string): readonly Claim[] {
  const sentences = text.slice(0, WISH_WITHIN).match(/[^.!?。！？\n]+/gu) ?? [];
  const wanting = sentences.filter((sentence) => RULE.test(sentence) || WISH.test(sentence));
  return (wanting.length === 0 ? sentences.slice(0, 1) : wanting).map(claimOf);
}

function claimOf(sentence: string): Claim {
  const [wanted = ""] = sentence.split(LESS_WANTED);
  const [what = "", ...conditions] = wanted.split(CONDITION);
  const ways = new Map<number, number>();
  for (const { word } of wordsOf(what))
    for (const [matter, all] of MATTERS.entries()) {
      const way = all.findIndex((words) => words.has(word));
      if (way >= 0) ways.set(matter, way);
    }
  return {
    about: tellingOf(what),
    when: tellingOf(conditions.join(" ")),
    ways,
    isNegated: NEGATED.test(what),
    changes: CHANGES.test(wanted),
  };
}

function tellingOf(text: string): ReadonlySet<string> {
  const words = wordsOf(text).filter(({ word }) => !STOP_WORDS.has(word) && !SAYS_SO.has(word));
  return new Set(
    words.flatMap(({ word, terms }) => (MATTERS.some((ways) => ways.some((way) => way.has(word))) ? [] : terms)),
  );
}

/** Said again it is about the very same; something else instead must be about little else. */
const SAME = 0.75;
const INSTEAD = 0.5;

/** Whether a later claim says an earlier one again, or something else instead of it. */
function answers(later: Claim, earlier: Claim): boolean {
  // What is wanted in one case only leaves what holds in others.
  if ([...later.when].some((term) => !earlier.when.has(term) && !earlier.about.has(term))) return false;
  const shared = [...later.about].filter((term) => earlier.about.has(term)).length;
  const [least, most] = [Math.min, Math.max].map((pick) => pick(later.about.size, earlier.about.size));
  const ofLeast = shared / (least || Number.POSITIVE_INFINITY);
  const matters = [...later.ways.keys()].filter((matter) => earlier.ways.has(matter));
  if (matters.length > 0) return earlier.ways.size === matters.length && (least === 0 || ofLeast >= INSTEAD);
  if (earlier.ways.size > 0 || shared === 0) return false;
  if (later.isNegated !== earlier.isNegated) return ofLeast >= SAME;
  return shared / (most || 1) >= SAME || (later.changes && ofLeast > INSTEAD);
}

/** Whether it is about the form of any answer: the units, the language, how long. */
export function isOfAnyAnswer(text: string): boolean {
  const claims = claimsOf(text);
  return claims.length > 0 && claims.every(({ ways, about, when }) => ways.size > 0 && about.size + when.size === 0);
}

/** Whether a text may bear on a message by what it says of when it holds; where it says nothing of that, it may. */
export function mayHoldFor(text: string, message: string): boolean {
  const asked = tellingOf(message);
  return claimsOf(text).some(({ when }) => when.size === 0 || [...when].some((term) => asked.has(term)));
}

/** Something that was said to hold for good. */
export interface Standing {
  readonly content: string;
  /** Nobody where it was saved. */
  readonly speaker?: string;
  readonly at: number;
}

/** One that still holds, with the older ones that it says again or replaces. */
export interface Holding<T> {
  readonly newest: T;
  readonly before: readonly T[];
}

/**
 * Which of them hold yet: what the same person said later on the same matter counts, in whatever way. One that says several things is
 * replaced only when all of them are. Nothing is taken from what was said: this is read off the texts each time.
 */
export function holding<T extends Standing>(all: readonly T[]): readonly Holding<T>[] {
  const held: { newest: T; before: T[]; claims: readonly Claim[] }[] = [];
  for (const one of all.toSorted((a, b) => a.at - b.at)) {
    const claims = claimsOf(one.content);
    const isOver = (earlier: (typeof held)[number]): boolean =>
      isOfSame(earlier.newest, one) && earlier.claims.every((claim) => claims.some((later) => answers(later, claim)));
    const over = held.filter(isOver);
    for (const earlier of over) held.splice(held.indexOf(earlier), 1);
    held.push({ newest: one, before: over.flatMap(({ newest, before }) => [newest, ...before]), claims });
  }
  return held;
}

const isOfSame = (a: Standing, b: Standing): boolean =>
  a.speaker === undefined || b.speaker === undefined || a.speaker === b.speaker;
