import { stemmer } from "stemmer";
import { BASE_FORMS } from "./base-forms.ts";
import { FUNCTION_SIGNS } from "./word-lists.ts";

/** Longer words are compared by their first characters only. */
const LONGEST_WORD = 40;
/** Characters of a text that are read: much longer runs without a break are too much for the patterns here. */
const LONGEST_READ = 1_000_000;
/** More marks on one letter than any script uses: an abuse of combining marks. */
const LONGEST_CLUSTER = 5;

/** Scripts that put no space between words. */
const SPACELESS = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;

const WORD = /[\p{L}\p{N}\p{M}\p{Co}]+(?:['’][\p{L}\p{M}]+)*/gu;
const RUN = new RegExp(String.raw`[${SPACELESS}][${SPACELESS}\p{M}ー]*|(?:(?![${SPACELESS}]).)+`, "gsu");
const STARTS_SPACELESS = new RegExp(`^[${SPACELESS}]`, "u");
const IS_HAN = /^\p{Script=Han}/u;
const CLUSTER = /.\p{M}*/gsu;
const LATIN_ACCENT = /(\p{Script=Latin})\p{Mn}+/gu;
/** Arabic vowel signs and elongation, and Hebrew points: most writers leave them out. */
const LEFT_OUT = /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]/g;
const ALEFS = /[\u0622\u0623\u0625\u0671]/g;
const CONTRACTED = new Set(["s", "t", "m", "re", "ve", "ll", "d"]);
const ENGLISH = /^[a-z]+$/;
const PLAIN = /^[a-z0-9]+$/;
const BEYOND_ASCII = /[\u0080-\uffff]/;

/** Begins the terms that describe a text instead of standing in it: no folded text contains this character. */
export const MARK = "\ue000";

/** A word in its original form, folded, and its search terms. */
export interface Word {
  readonly word: string;
  readonly terms: readonly string[];
}

/** Unifies compatible forms, converts to lower case, and removes accents and signs that some writers set and others do not. */
export function fold(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text.toLowerCase();
  const lower = text.normalize("NFKC").toLowerCase();
  const plain = lower.normalize("NFD").replace(LATIN_ACCENT, "$1").normalize("NFC");
  return plain.replace(LEFT_OUT, "").replace(ALEFS, "\u0627").replaceAll("\u0649", "\u064a").replaceAll(MARK, " ");
}

/** A name in the form in which speakers are compared. */
export function foldName(name: string): string {
  return (fold(name.slice(0, LONGEST_READ)).match(WORD) ?? []).join(" ");
}

/** The words of a text in order, until they have `most` terms; the rest is not read. */
export function foldedWords(text: string, most: number = Number.POSITIVE_INFINITY): readonly Word[] {
  const words: Word[] = [];
  let left = most;
  for (const [match] of fold(text.slice(0, LONGEST_READ)).matchAll(WORD)) {
    for (const part of withoutApostrophes(match)) {
      for (const word of readWord(part, left)) {
        words.push(word);
        left -= word.terms.length;
      }
    }
    if (left <= 0) break;
  }
  return words;
}

/** The terms of plain words: people use few different ones, and stemming is most of the work. */
const READ = new Map<string, readonly Word[]>();
const MOST_READ = 20_000;

function readWord(word: string, most: number): readonly Word[] {
  const known = READ.get(word);
  if (known !== undefined) return known;
  if (word.length > LONGEST_WORD || !PLAIN.test(word)) return runsOf(word, most);
  const read = [{ word, terms: [stemOf(word)] }];
  if (READ.size >= MOST_READ) READ.clear();
  READ.set(word, read);
  return read;
}

/** Whether it begins with a character of a script that puts no spaces between words. */
export function isSpaceless(term: string): boolean {
  return STARTS_SPACELESS.test(term);
}

/** The term by which a word of a text with spaces is searched. */
export function stemOf(word: string): string {
  const cut = word.length > LONGEST_WORD ? [...word].slice(0, LONGEST_WORD).join("") : word;
  if (!ENGLISH.test(cut)) return cut;
  return stemmer(BASE_FORMS.get(cut) ?? cut);
}

/** "melanie's" becomes "melanie" and "don't" becomes "don": what follows the apostrophe says nothing. */
function withoutApostrophes(word: string): readonly string[] {
  if (!/['’]/.test(word)) return [word];
  return word.split(/['’]/).filter((part, at) => at === 0 || !CONTRACTED.has(part));
}

function runsOf(word: string, most: number): readonly Word[] {
  const words: Word[] = [];
  let left = most;
  for (const [run] of word.matchAll(RUN)) {
    const found = isSpaceless(run) ? { word: run, terms: pairsOf(run, left) } : lettersOf(run);
    if (found.word !== "") words.push(found);
    left -= found.terms.length;
    if (left <= 0) break;
  }
  return words;
}

function lettersOf(run: string): Word {
  const word = run.replace(/^\p{M}+/u, "");
  return { word, terms: word === "" ? [] : [stemOf(word)] };
}

/**
 * Overlapping pairs of characters, which find a word without knowing where it begins. A Chinese character is often a word, so each is also
 * a term by itself.
 */
function pairsOf(run: string, most: number): readonly string[] {
  const clusters: string[] = [];
  for (const [cluster] of run.matchAll(CLUSTER)) {
    if (clusters.push([...cluster].slice(0, LONGEST_CLUSTER).join("")) > most) break;
  }
  if (clusters.length < 2) return clusters;
  const pairs = clusters.slice(1).map((cluster, at) => `${clusters[at]}${cluster}`);
  return [...pairs, ...clusters.filter((cluster) => IS_HAN.test(cluster) && !FUNCTION_SIGNS.test(cluster))];
}
