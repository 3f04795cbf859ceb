import { foldedLetters } from "./fold.ts";
import kinds from "./kinds.json" with { type: "json" };
import tables from "./languages.json" with { type: "json" };

/**
 * The kind of each word of a sentence: who has a say (OPERATOR), whose words are data (SENDER, MESSAGE), what binds (RULES, LIMIT,
 * APPROVAL), what is done to it (DROP, HIDE, OBEY), and the small words that reverse it (NOT, ONLY, MAY). A kind has the same weight in all
 * languages, so a sentence is understood by its kinds even if its language was never in the training data.
 */
export interface Word {
  /** Its stem; nothing for a language that is read by kinds alone. */
  readonly stem: string;
  readonly kind: string | undefined;
}

export interface Sentence {
  readonly language: string;
  readonly words: readonly Word[];
  /** How the words of another language begin; pairs of signs where words are not set apart. Nothing for English. */
  readonly beginnings: readonly string[];
}

type Table = ReadonlyMap<string, string>;

/** Small words, by which a language is known; they are of no kind. */
const SMALL = "SMALL";

const SHORTEST_STEMMED = 5;

/** An English word without its ending. */
const stemOf = (word: string): string =>
  word.length < SHORTEST_STEMMED || !MAY_END.test(word)
    ? word
    : word
        .replace(/ies$/, "y")
        .replace(/(?:ing|edly|ed|es|s|ly)$/, "")
        .replace(/(.)\1$/, "$1")
        .replace(/e$/, "");

const MAY_END = /[sdgye]$|(.)\1$/;

/** A word of two kinds counts as the first. */
function tableOf(listed: Readonly<Record<string, string>>, forms: (word: string) => readonly string[]): Table {
  const table = new Map<string, string>();
  for (const [kind, words] of Object.entries(listed))
    for (const form of foldedLetters(words).split(" ").flatMap(forms)) if (!table.has(form)) table.set(form, kind);
  return table;
}

const ENGLISH = tableOf(kinds, (word) => [word, stemOf(word)]);
const TABLES = tablesOf(tables);

/** The file has the names of the kinds and, for each language, the words of each kind in the same order, `regel gesetz;ebene`. */
function tablesOf({ kinds, ...languages }: Readonly<Record<string, string>>): Readonly<Record<string, Table>> {
  const names = kinds?.split("; ") ?? [];
  const listed = (words: string) => words.split(";").map((some, at) => [names[at] ?? "", some] as const);
  return Object.fromEntries(
    Object.entries(languages).map(([language, words]) => [
      language,
      tableOf(Object.fromEntries(listed(words).filter(([, some]) => some !== "")), (word) => [word]),
    ]),
  );
}

/** English words that orders about rules are made of, with the small ones between them. */
export const isEnglishWord = (word: string): boolean => ENGLISH.has(word) || ENGLISH.has(stemOf(word));

/** How many words of a text are English, so far as we know the language. */
export const englishWords = (text: string): number =>
  (text.toLowerCase().match(/[a-z']{2,}/g) ?? []).filter(isEnglishWord).length;

/** Stems of all languages in Latin letters: to learn from which letters follow each other in words. */
export const latinStems: Iterable<string> = [ENGLISH, ...Object.values(TABLES)]
  .flatMap((table) => [...table.keys()])
  .filter((stem) => /^[a-z]{3,}$/.test(stem));

const SCRIPTS: readonly (readonly [string, RegExp])[] = [
  ["ja", /[\p{Script=Hiragana}\p{Script=Katakana}]/u],
  ["ko", /\p{Script=Hangul}/u],
  ["zh", /\p{Script=Han}/u],
  ["th", /\p{Script=Thai}/u],
  ["hi", /\p{Script=Devanagari}/u],
  ["he", /\p{Script=Hebrew}/u],
  ["fa", /[پچژگکی]/u],
  ["ar", /\p{Script=Arabic}/u],
  ["el", /\p{Script=Greek}/u],
  ["uk", /[іїєґ]/u],
  ["ru", /\p{Script=Cyrillic}/u],
];
const IN_LATIN = Object.entries(TABLES).filter(([language]) => SCRIPTS.every(([other]) => other !== language));

/** A language is recognized by this many words; more of them only take time. */
const READ_FOR_LANGUAGE = 40;

function languageOf(text: string): string {
  const script = SCRIPTS.find(([, letters]) => letters.test(text));
  if (script !== undefined) return script[0];
  const words = (text.match(/\p{L}+/gu) ?? []).slice(0, READ_FOR_LANGUAGE);
  let [best, most] = ["en", pointsOf(words, (word) => ENGLISH.get(word) ?? ENGLISH.get(stemOf(word)))];
  // Half of the words, small ones counted twice: no other language comes near.
  if (most >= words.length) return best;
  for (const [language, table] of IN_LATIN) {
    const points = pointsOf(words, (word) => kindByStem(table, word, true));
    if (points > most) [best, most] = [language, points];
  }
  return best;
}

function pointsOf(words: readonly string[], kindOf: (word: string) => string | undefined): number {
  let points = 0;
  for (const word of words) {
    const kind = kindOf(word);
    if (kind !== undefined) points += kind === SMALL && word.length > 1 ? 2 : 1;
  }
  return points;
}

const LONGEST_STEM = 14;
/** Scripts whose letters say more than Latin ones: their stems may be shorter. */
const DENSE = /^[\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Greek}\p{Script=Devanagari}]/u;

/** The kind of the longest stem that a word begins with; a short one has to be the word, or nearly. */
function kindByStem(table: Table, word: string, withSmall = false): string | undefined {
  for (let length = Math.min(word.length, LONGEST_STEM); length >= 1; length--) {
    const kind = table.get(word.slice(0, length));
    if (kind === undefined) continue;
    if (kind === SMALL) {
      if (length === word.length) return withSmall ? SMALL : undefined;
      continue;
    }
    if (isEnough(word, length)) return kind;
  }
  return undefined;
}

const isEnough = (word: string, length: number): boolean =>
  length >= 4 ||
  length === word.length ||
  (length === 3 && (word.length <= 5 || DENSE.test(word))) ||
  /^\p{Script=Hangul}/u.test(word);

/** Longer sentences are read in pieces by whoever asks. */
const MOST_WORDS = 90;
const TOKENS = /\p{L}[\p{L}\p{M}]*(?:['-]\p{L}[\p{L}\p{M}]*)*|\d+|[:?;"“”„«»`「」『』]|(?<!\p{L})['‘]|['’](?!\p{L})/gu;

/** Quoted text continues without a blank. */
const KOREAN_QUOTES = /(?<=\p{Script=Hangul})['’]|['‘](?=\p{Script=Hangul})/gu;

/** The words of a sentence. Expects it legible. */
export function read(sentence: string): Sentence {
  const folded = foldedLetters(sentence.toLowerCase());
  const language = languageOf(folded);
  const words = (folded.replaceAll(KOREAN_QUOTES, '"').match(TOKENS) ?? []).flatMap(
    (token) => signOf(token) ?? tokenWords(token, language),
  );
  const beginnings = language === "en" ? [] : beginningsOf(folded, language).slice(0, MOST_WORDS);
  return { language, words: words.slice(0, MOST_WORDS), beginnings };
}

/** Languages that set no blanks between words. */
export const isUnspaced = (language: string): boolean => UNSPACED.has(language);
const UNSPACED: ReadonlySet<string> = new Set(["zh", "ja", "th"]);
const LETTERS_OF_BEGINNING = 5;

function beginningsOf(text: string, language: string): readonly string[] {
  const runs: readonly string[] = text.match(/[\p{L}\p{M}]+/gu) ?? [];
  if (!isUnspaced(language)) return runs.map((word) => word.slice(0, LETTERS_OF_BEGINNING));
  const signs = runs.join("");
  return Array.from({ length: Math.max(0, signs.length - 1) }, (_, at) => signs.slice(at, at + 2));
}

/** A number is one of a layer above, of a layer below, or any. */
function signOf(token: string): readonly Word[] | undefined {
  const stem = /^\d/.test(token)
    ? token.length > 1
      ? "#"
      : token < "6"
        ? "#above"
        : "#below"
    : /^["“”„«»`「」『』'‘’]/.test(token)
      ? '"'
      : /^[:?;]/.test(token)
        ? token
        : undefined;
  return stem === undefined ? undefined : [{ stem, kind: undefined }];
}

function tokenWords(token: string, language: string): readonly Word[] {
  if (language === "en") return englishWordsOf(token).map(englishWord);
  const table = TABLES[language] ?? new Map();
  switch (language) {
    case "ja":
    case "zh":
    case "th":
      return [{ stem: "", kind: undefined }, ...kindsInside(table, token).map((kind) => ({ stem: "", kind }))];
    case "ar":
    case "fa":
    case "he":
      return [{ stem: "", kind: kindByStem(table, token) ?? kindByStem(table, token.replace(PREFIXES, "")) }];
    case "ko":
      return KOREAN_NOT.test(token)
        ? [
            { stem: "", kind: kindByStem(table, token) },
            { stem: "", kind: "NOT" },
          ]
        : [{ stem: "", kind: kindByStem(table, token) }];
    default:
      return token.split(/['-]/).map((part) => ({ stem: "", kind: kindByStem(table, part) }));
  }
}

/** Articles and small words that are written as one with what follows. */
const PREFIXES = /^(?:[وفبلك]?ال|لل|[והבלמש]|[وفبلك])/u;
/** It is inside the verb that it negates. */
const KOREAN_NOT = /(?<=.)(?:않|없|말)/u;

const LONGEST_UNSPACED = 8;

/** The kinds of a run whose words are not set apart, from left to right. */
function kindsInside(table: Table, run: string): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < run.length; ) {
    let length = Math.min(LONGEST_UNSPACED, run.length - at);
    while (length > 0 && !table.has(run.slice(at, at + length))) length--;
    const kind = table.get(run.slice(at, at + length));
    if (kind !== undefined && kind !== SMALL) found.push(kind);
    at += Math.max(1, length);
  }
  return found;
}

/** `don't` is two words. */
function englishWordsOf(token: string): readonly string[] {
  if (token.endsWith("n't")) return [token.slice(0, -"n't".length), "not"];
  if (token === "cannot") return ["can", "not"];
  return [token.replace(/'(?:s|re|ve|ll|d|m)$/, "")];
}

function englishWord(written: string): Word {
  const stem = stemOf(written);
  const kind = ENGLISH.get(written) ?? ENGLISH.get(stem);
  if (kind !== undefined) return { stem, kind: kind === SMALL ? undefined : kind };
  const word = meant(written);
  return word === undefined ? { stem, kind } : { stem: stemOf(word), kind: ENGLISH.get(word) };
}

/** Shorter words have too many neighbours. */
const SHORTEST_MEANT = 6;

const lettersOf = (word: string): string => [...word].sort().join("");
const BY_LETTERS: ReadonlyMap<string, string> = new Map(
  [...ENGLISH.keys()].filter((word) => word.length >= SHORTEST_MEANT).map((word) => [lettersOf(word), word] as const),
);

/** A word with neighbouring letters in each other's place, as the one it was meant to be. */
function meant(word: string): string | undefined {
  if (word.length < SHORTEST_MEANT) return undefined;
  const other = BY_LETTERS.get(lettersOf(word));
  if (other === undefined) return undefined;
  const wrong = [...word].filter((letter, at) => letter !== other[at]).length;
  return wrong === 2 ? other : undefined;
}
