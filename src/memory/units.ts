import { dayTerm } from "./dates.ts";
import { MARK, type Word, wordsOf } from "./fold.ts";
import type { Unit } from "./lexical-index.ts";
import { FIRST_PERSON, FIRST_PERSON_SPACELESS, NUMBER_WORDS, TIME_SPACELESS, TIME_WORDS } from "./word-lists.ts";

/** What a unit's text is like, one bit each. Stored with the unit: a bit keeps its meaning. */
export const FLAGS = { question: 1, firstPerson: 2, time: 4, number: 8, rule: 16, wish: 32 } as const;

/** Terms by which units are found that hold for good, whatever they are about. */
export const STANDING = { rule: `${MARK}rule`, wish: `${MARK}wish` } as const;

/** What an assistant is told to do, and what follows "always" and "never" where nobody is told anything. */
const DO =
  "use|include|format|provide|give|answer|reply|respond|write|mention|add|show|highlight|explain|call|address|speak|keep|ask|tell|confirm|report|specify|suggest|verify|cite|convert|avoid|list|round|quote|translate|send|remind|describe|state|name";
const TELLS_NOBODY =
  "\\p{L}+(?:ing|ed)|(?:happy|glad|here|there|a|an|the|on|in|up|been|had|have|heard|would|really|quite|again|something|fun|good|nice|great|mind|thought|knew|seen|too|so|try|love|want|wanted|be there|give up)(?!\\p{L})";
/** How somebody says what is to be done from now on, and what they prefer. English, and the commonest of some other languages. */
const RULE = new RegExp(
  [
    String.raw`(?:^|[.!?\n])\W*(?:(?:please|and|also|so|ok|okay|bitte|you (?:must|should))\W+)*(?:${[
      String.raw`(?:always|never)\s+(?!${TELLS_NOBODY})\p{L}`,
      String.raw`(?:from now on|going forward|in (?:the )?future)(?![\p{L}\p{N}])(?!\s+(?:they|he|she|it|i|we|there|the|this)(?!\p{L}))`,
      String.raw`(?:remember|make sure|be sure|do(?:n['’]t| not) forget) to (?:always )?(?:${DO})(?!\p{L})`,
      String.raw`do(?:n['’]t| not) ever (?:${DO})(?!\p{L})|only (?:use|give|answer|write|reply)(?!\p{L})`,
      String.raw`(?:immer|nie|niemals|ab jetzt|in zukunft|toujours|jamais|désormais|siempre|nunca|a partir de ahora)(?![\p{L}\p{N}])`,
    ].join("|")})`,
    String.raw`[,;:]\s*(?:please )?(?:always|never) (?:${DO})(?!\p{L})`,
    String.raw`\b(?:when|whenever|every time) (?:i|we) (?:ask|say|write|send|mention|request)(?!\p{L})`,
    "以后(?:都|请)|总是|今后|今後は",
  ].join("|"),
  "iu",
);
const WISH =
  /\b(?:i|we)(?:['’]d| would| really| always| usually| generally| tend to| strongly| also)* (?:prefer|rather|favou?r|like (?:it when|my)|hate|dislike|can['’]t stand|chose|decided)\b|\bmy preference|\bi['’](?:m|ve) (?:chosen|more of a)\b|\brather than\b|\binstead of\b|\b(?:ich|wir) (?:bevorzuge|mag|möchte lieber|hasse)|\bje préfère\b|\bprefiero\b|我(?:更|比较)?(?:喜欢|偏好|讨厌)|の方が好き/iu;
/** Said at the beginning; what stands deep in a longer text is mostly quoted. */
const RULE_WITHIN = 300;
const WISH_WITHIN = 500;
const LONGEST_RULE = 1_200;

/** In terms; a longer text is found by its parts. */
const LONGEST_UNIT = 80;

/**
 * In characters, and in units of 80 terms: what comes after them is kept and not found. All of a text goes into the index in the
 * transaction that commits its turn, and everybody else waits for that.
 */
const LONGEST_TEXT = 20_000;
const MOST_UNITS = 50;

const SENTENCE = /[^.!?。！？\n]*[.!?。！？\n]*/gu;
const ENDS_WITH_QUESTION = /[?？؟](?:["'”’)\]\s]|\p{Extended_Pictographic}|\ufe0f)*$/u;

interface Part {
  readonly text: string;
  readonly words: readonly Word[];
}

/**
 * The parts by which a text is found, in order; never none, for a text without words still stands between its neighbours.
 * The tags stand in each. Terms are letters, marks and digits only, so that a tokenizer keeps each as it is.
 */
export function unitsOf(text: string, tags: readonly string[], at?: number): readonly Unit[] {
  const day = at === undefined ? [] : [dayTerm(at)];
  const tagTerms = tags.flatMap((tag) => wordsOf(tag).flatMap(({ terms }) => terms));
  const standing = standingOf(text);
  return partsOf(text)
    .slice(0, MOST_UNITS)
    .map((part, nth) => {
      const marks = nth === 0 ? standing : NONE;
      return {
        terms: [...part.words.flatMap(({ terms }) => terms), ...tagTerms, ...marks.terms, ...(nth === 0 ? day : [])],
        flags: flagsOf(part) | marks.flags,
      };
    });
}

interface Marks {
  readonly terms: readonly string[];
  readonly flags: number;
}
const NONE: Marks = { terms: [], flags: 0 };

/** What a text says that holds for good; its first unit has it. */
function standingOf(text: string): Marks {
  const isRule = text.length <= LONGEST_RULE && RULE.test(text.slice(0, RULE_WITHIN));
  const isWish = WISH.test(text.slice(0, WISH_WITHIN));
  if (!isRule && !isWish) return NONE;
  return {
    terms: [...(isRule ? [STANDING.rule] : []), ...(isWish ? [STANDING.wish] : [])],
    flags: (isRule ? FLAGS.rule : 0) | (isWish ? FLAGS.wish : 0),
  };
}

function partsOf(whole: string): readonly Part[] {
  const parts: { text: string; words: Word[] }[] = [];
  for (const [sentence] of whole.slice(0, LONGEST_TEXT).toWellFormed().matchAll(SENTENCE)) {
    for (const piece of piecesOf(sentence)) {
      const open = parts.at(-1);
      if (open === undefined || termCount(open.words) + termCount(piece.words) > LONGEST_UNIT) {
        parts.push({ text: piece.text, words: [...piece.words] });
      } else {
        open.text += piece.text;
        open.words.push(...piece.words);
      }
    }
    if (parts.length > MOST_UNITS) break;
  }
  return parts;
}

/** Terms of the units that are kept, and one unit more. */
const MOST_TERMS = (MOST_UNITS + 1) * LONGEST_UNIT;

/** A sentence, or parts of one that is too long itself. */
function piecesOf(sentence: string): readonly Part[] {
  const words = wordsOf(sentence, MOST_TERMS);
  if (termCount(words) <= LONGEST_UNIT) return [{ text: sentence, words }];
  const single = words.flatMap(({ word, terms }) => terms.map((term) => ({ word, terms: [term] })));
  return Array.from({ length: Math.ceil(single.length / LONGEST_UNIT) }, (_, part) => {
    const own = single.slice(part * LONGEST_UNIT, (part + 1) * LONGEST_UNIT);
    const isLast = (part + 1) * LONGEST_UNIT >= single.length;
    return { text: isLast ? sentence.slice(-8) : "", words: own };
  });
}

function termCount(words: readonly Word[]): number {
  return words.reduce((sum, { terms }) => sum + terms.length, 0);
}

function flagsOf({ text, words }: Part): number {
  // A long run of a script without spaces is the word of each of its terms: it is looked at once.
  const said = [...new Set(words.map(({ word }) => word))].reduce((flags, word) => flags | flagsOfWord(word), 0);
  return said | (ENDS_WITH_QUESTION.test(text) ? FLAGS.question : 0);
}

/** The last long word, and what it is like: the units of one text come one after the other. */
let last = { word: "", flags: 0 };

function flagsOfWord(word: string): number {
  if (word.length < LONGEST_UNIT) return readFlags(word);
  if (word !== last.word) last = { word, flags: readFlags(word) };
  return last.flags;
}

function readFlags(word: string): number {
  const saysMe = FIRST_PERSON.has(word) || FIRST_PERSON_SPACELESS.test(word);
  const saysWhen = TIME_WORDS.has(word) || TIME_SPACELESS.test(word) || isYear(word);
  const counts = NUMBER_WORDS.has(word) || /\p{N}/u.test(word);
  return (saysMe ? FLAGS.firstPerson : 0) | (saysWhen ? FLAGS.time : 0) | (counts ? FLAGS.number : 0);
}

function isYear(word: string): boolean {
  return /^(?:19|20)\d\d$/.test(word);
}
