import { fold, foldedWords, MARK } from "./fold.ts";
import { STOP_WORDS } from "./word-lists.ts";

/** Lasting statements: said once and meant from then on. A rule demands an action, a wish states a preference. */

/** Terms by which such statements are found, whatever they are about, and the tags that mark saved ones. */
export const STANDING = { rule: `${MARK}rule`, wish: `${MARK}wish` } as const;
export const STANDING_TAGS = { rule: "instruction", wish: "preference" } as const;

/** Verbs of instructions to an assistant, and the words that follow "always" and "never" when no one is instructed. */
const DO =
  "use|include|format|provide|give|answer|reply|respond|write|mention|add|show|highlight|explain|call|address|speak|keep|ask|tell|confirm|report|specify|suggest|verify|cite|convert|avoid|list|round|quote|translate|send|remind|describe|state|name";
const DOING = "using|including|adding|giving|asking|calling|writing|mentioning|showing|explaining|suggesting";
const TELLS_NOBODY =
  "\\p{L}+(?:ing|ed)|(?:happy|glad|here|there|a|an|the|on|in|up|been|had|have|heard|would|really|quite|again|something|fun|good|nice|great|mind|thought|knew|seen|too|so|try|love|want|wanted|be there|give up)(?!\\p{L})";
/** How people say what is to be done from now on, and what they prefer: in English, and the most common forms of some other languages. */
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
/** Only the first characters are searched: deeper in a longer text, such words are mostly quoted. */
const RULE_WITHIN = 300;
const WISH_WITHIN = 500;
const LONGEST_RULE = 1_200;

export interface Stands {
  readonly rule: boolean;
  readonly wish: boolean;
}

/** Whether a text is a lasting statement, by its form or because it was saved as one. */
export function standsIn(text: string, tags: readonly string[]): Stands {
  return {
    rule: tags.includes(STANDING_TAGS.rule) || (text.length <= LONGEST_RULE && RULE.test(text.slice(0, RULE_WITHIN))),
    wish: tags.includes(STANDING_TAGS.wish) || WISH.test(text.slice(0, WISH_WITHIN)),
  };
}

/** How any answer can be, whatever it is about: one matter per line, with bars between ways that exclude each other. */
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

/** Words that say that something is wanted, or since when, but not what. */
const SAYS_SO = new Set(
  `always never please use using used from now on going forward future remember make sure prefer preference rather favor favour like hate dislike
  want stop longer anymore any more instead actually again also ever unit units answer answers answering reply reply respond write me i my`
    .split(/\s+/)
    .map(fold),
);
const NEGATED = /\b(?:never|no longer|not|stop|avoid|hate|dislike|without|can['’]t stand)\b|n['’]t\b/iu;
const CHANGES =
  /\b(?:from now on|going forward|no longer|any ?more|instead|actually|now (?:prefer|use)|changed my mind|switch(?:ed)? to)\b/iu;
/** What follows these words is a condition, or what is preferred less. */
const CONDITION = /\b(?:when|whenever|while|if|for|about|every time)\b/iu;
const LESS_WANTED = /\b(?:rather than|instead of)\b/iu;

/** One thing that is wanted. */
interface Claim {
  readonly about: ReadonlySet<string>;
  /** The words of its conditions. */
  readonly when: ReadonlySet<string>;
  /** The way that it chooses, by the number of the matter. */
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
  for (const { word } of foldedWords(what))
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
  const words = foldedWords(text).filter(({ word }) => !STOP_WORDS.has(word) && !SAYS_SO.has(word));
  return new Set(
    words.flatMap(({ word, terms }) => (MATTERS.some((ways) => ways.some((way) => way.has(word))) ? [] : terms)),
  );
}

/** A repetition must be about nearly the same words; a replacement must share at least half of them. */
const SAME = 0.75;
const INSTEAD = 0.5;

/** Whether a later claim repeats an earlier one, or replaces it. */
function answers(later: Claim, earlier: Claim): boolean {
  // A claim for one case only does not replace one that holds in others.
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

/** Whether it is about the form of any answer: units, language, length and the like. */
export function isOfAnyAnswer(text: string): boolean {
  const claims = claimsOf(text);
  return claims.length > 0 && claims.every(({ ways, about, when }) => ways.size > 0 && about.size + when.size === 0);
}

/** Whether a text's conditions, if it has any, fit a message. */
export function mayHoldFor(text: string, message: string): boolean {
  const asked = tellingOf(message);
  return claimsOf(text).some(({ when }) => when.size === 0 || [...when].some((term) => asked.has(term)));
}

/** A lasting statement with its speaker and time. */
export interface LastingWish {
  readonly content: string;
  /** Undefined if it was saved. */
  readonly speaker?: string;
  readonly at: number;
}

/** A statement that still holds, with the older ones that it repeats or replaces. */
export interface Holding<T> {
  readonly newest: T;
  readonly before: readonly T[];
}

/**
 * Which statements still hold: of what the same person said on the same matter, in whatever way, the latest counts. A text with several
 * claims is replaced only when all of them are. Nothing stored changes: this is derived from the texts each time.
 */
export function holding<T extends LastingWish>(all: readonly T[]): readonly Holding<T>[] {
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

const isOfSame = (a: LastingWish, b: LastingWish): boolean =>
  a.speaker === undefined || b.speaker === undefined || a.speaker === b.speaker;
