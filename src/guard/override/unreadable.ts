import { blobIn } from "./blobs.ts";
import { flowOf, isCommonWord } from "./language.ts";
import { withoutMarks } from "./marks.ts";
import { proseOf } from "./prose.ts";
import { rareLettersIn, signsIn } from "./strange-signs.ts";
import type { GuardFinding } from "./verdict.ts";

/**
 * What no reading has made sense of, and no reader would either. A layer is prose that people review: what they cannot read is
 * not let through unseen, whatever it says. Nothing for a text of words, names, code and figures.
 */
export function unreadableOf(written: string): GuardFinding | undefined {
  const text = proseOf(written);
  const found =
    described("letters that make no words", gibberishIn(text)) ??
    described(
      "letters of a script that nobody writes today, or odd ones in place of plain letters",
      rareLettersIn(text),
    ) ??
    described("a series of signs or figures", signsIn(text)) ??
    described("a block in a code of its own", blobIn(text));
  return found;
}

const described = (what: string, words: string | undefined): GuardFinding | undefined =>
  words === undefined
    ? undefined
    : { kind: "unread", says: `it holds something that cannot be read: ${what}`, words: words.slice(0, 120) };

/** From here on the letters of words in a row speak for themselves: real texts of all kinds stay under 20. */
const STRANGE = 21;
/** A pair of letters is as likely as this, in bits, where letters are drawn at random. */
const RANDOM = 4.6;
/** What a word speaks for being none, in bits, by not being known; and what a known one speaks against it. */
const UNKNOWN = 4;
const KNOWN = 6;
/** A word with a capital may be a name from anywhere: it speaks for half as much. */
const NAME = 0.5;
/** Fewer words may be names. */
const FEWEST = 3;

/**
 * The words in a row whose letters follow each other as in no language we know: ciphers, keyboards shifted by a key, words without
 * vowels. Each word speaks for that or against it; the row where most speaks for it counts, so that known words around it do not help.
 */
export function gibberishIn(text: string): string | undefined {
  const plain = withoutMarks(text.normalize("NFKC").replaceAll("ß", "ss"));
  for (const line of plain.split("\n")) {
    const row = strangestRow(wordsOfLine(line));
    if (row !== undefined) return row;
  }
  return undefined;
}

/** Words in Latin letters, names such as `gitHubToken` in their parts. */
const wordsOfLine = (line: string): readonly string[] =>
  line.replaceAll(/(?<=\p{Ll})(?=\p{Lu}\p{Ll})/gu, " ").match(/(?<!\p{L})[a-z][a-z']*[a-z](?!\p{L})/giu) ?? [];

function strangestRow(words: readonly string[]): string | undefined {
  let row = new Set<string>();
  let strange = 0;
  for (const written of words) {
    const word = written.toLowerCase();
    if (row.has(word)) continue;
    strange += strangeness(word) * (/^[A-Z][a-z]/.test(written) ? NAME : 1);
    row.add(word);
    if (strange <= 0) {
      strange = 0;
      row = new Set();
    } else if (strange > STRANGE && row.size >= FEWEST) return [...row].join(" ");
  }
  return undefined;
}

const strangeness = (word: string): number =>
  isKnown(word) ? -KNOWN : (UNKNOWN - (RANDOM + flowOf(word)) * (word.length + 1)) * (SHORT.test(word) ? NAME : 1);

/** `hmac` and `ecdh` are names, too. */
const SHORT = /^[a-z]{1,5}$/;

const CONTRACTED = /^[a-z]+(?:n't|'(?:s|re|ve|ll|d|m))$/;

const isKnown = (word: string): boolean => CONTRACTED.test(word) || isCommonWord(word);
