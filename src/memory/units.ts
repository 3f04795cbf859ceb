import { dayTerm } from "./dates.ts";
import { foldedWords, type Word } from "./fold.ts";
import type { Unit } from "./lexical-index.ts";
import { STANDING, standsIn } from "./standing.ts";
import { FIRST_PERSON, FIRST_PERSON_SPACELESS, TIME_SPACELESS, TIME_WORDS } from "./word-lists.ts";

/** Properties of a unit's text, one bit each. */
export const FLAGS = { question: 1, firstPerson: 2, time: 4, rule: 16, wish: 32 } as const;

/** Terms; a longer text is divided into units. */
const LONGEST_UNIT = 80;

/**
 * Limits of what can be found, in characters, units and different terms; the rest is stored, but not found. All of a text is indexed in the
 * transaction that commits its turn, while everybody else waits. New terms cost most: a book repeats its words, and a flood of new ones
 * ends early.
 */
const LONGEST_TEXT = 400_000;
const MOST_UNITS = 400;
const MOST_DIFFERENT = 6_000;

const SENTENCE = /[^.!?。！？\n]*[.!?。！？\n]*/gu;
const ENDS_WITH_QUESTION = /[?？؟](?:["'”’)\]\s]|\p{Extended_Pictographic}|\ufe0f)*$/u;

interface Part {
  readonly text: string;
  readonly words: readonly Word[];
}

/**
 * The parts by which a text is found, in order; at least one, because a text without words also has a place between its neighbours. Each
 * contains the tags. Terms consist of letters, marks and digits only, so that every tokenizer leaves them unchanged.
 */
export function unitsOf(text: string, tags: readonly string[], at?: number): readonly Unit[] {
  const day = at === undefined ? [] : [dayTerm(at)];
  const tagTerms = tags.flatMap((tag) => foldedWords(tag).flatMap(({ terms }) => terms));
  const standing = marksOf(text, tags);
  return unitParts(text)
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

/** The marks of a text that is a lasting statement; its first unit has them. */
function marksOf(text: string, tags: readonly string[]): Marks {
  const { rule, wish } = standsIn(text, tags);
  if (!rule && !wish) return NONE;
  return {
    terms: [...(rule ? [STANDING.rule] : []), ...(wish ? [STANDING.wish] : [])],
    flags: (rule ? FLAGS.rule : 0) | (wish ? FLAGS.wish : 0),
  };
}

function unitParts(whole: string): readonly Part[] {
  const parts: { text: string; words: Word[] }[] = [];
  const different = new Set<string>();
  for (const [sentence] of whole.slice(0, LONGEST_TEXT).toWellFormed().matchAll(SENTENCE)) {
    for (const piece of piecesOf(sentence)) {
      for (const { terms } of piece.words) for (const term of terms) different.add(term);
      const open = parts.at(-1);
      if (open === undefined || termCount(open.words) + termCount(piece.words) > LONGEST_UNIT) {
        parts.push({ text: piece.text, words: [...piece.words] });
      } else {
        open.text += piece.text;
        open.words.push(...piece.words);
      }
    }
    if (parts.length > MOST_UNITS || different.size > MOST_DIFFERENT) break;
  }
  return parts;
}

/** The most terms of a sentence. */
const MOST_TERMS = 50 * LONGEST_UNIT;

/** A sentence, divided if it is too long. */
function piecesOf(sentence: string): readonly Part[] {
  const words = foldedWords(sentence, MOST_TERMS);
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
  // A long run of a script without spaces is the word of each of its terms: it is examined once.
  const said = [...new Set(words.map(({ word }) => word))].reduce((flags, word) => flags | flagsOfWord(word), 0);
  return said | (ENDS_WITH_QUESTION.test(text) ? FLAGS.question : 0);
}

/** The last long word and its flags: the units of a text are made one after the other. */
let last = { word: "", flags: 0 };

function flagsOfWord(word: string): number {
  if (word.length < LONGEST_UNIT) return readFlags(word);
  if (word !== last.word) last = { word, flags: readFlags(word) };
  return last.flags;
}

function readFlags(word: string): number {
  const saysMe = FIRST_PERSON.has(word) || FIRST_PERSON_SPACELESS.test(word);
  const saysWhen = TIME_WORDS.has(word) || TIME_SPACELESS.test(word) || isYear(word);
  return (saysMe ? FLAGS.firstPerson : 0) | (saysWhen ? FLAGS.time : 0);
}

function isYear(word: string): boolean {
  return /^(?:19|20)\d\d$/.test(word);
}
