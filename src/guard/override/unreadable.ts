import { UNREADABLE, unreadable } from "../wording.ts";
import { finding, type GuardFinding } from "./verdict.ts";
import { isEnglishWord, latinStems } from "./words.ts";

/**
 * What cannot be read: a layer is prose that people review, and what they cannot read is not let through unseen, whatever it says.
 * Nothing for a text of words, names, code and figures. Expects it legible.
 */
export function unreadableIn(text: string): GuardFinding | undefined {
  const prose = ASIDE.reduce((kept, aside) => kept.replaceAll(aside, " "), text);
  const found =
    unreadFinding(UNREADABLE.letters, gibberishIn(prose)) ??
    unreadFinding(UNREADABLE.script, strangeLettersIn(prose)) ??
    unreadFinding(UNREADABLE.series, signsIn(prose)) ??
    unreadFinding(UNREADABLE.code, blobIn(prose));
  return found;
}

const unreadFinding = (what: string, words: string | undefined): GuardFinding | undefined =>
  words === undefined ? undefined : finding("unread", unreadable(what), words);

/** Non-prose in honest texts: tags, link targets, addresses, short names in code. */
const ASIDE: readonly RegExp[] = [
  /<\/?[a-z][^<>]{0,200}>/gi,
  /^[^\S\n]{0,8}\[[^\]\n]{1,80}\]:.*$/gm,
  /(?<=\])(?:\([^()\s]{0,300}(?:\s"[^"\n]{0,80}")?\)|\[[^\]\n]{0,80}\])/g,
  /\b(?:https?|git|ssh|wss?|ftp|mailto|jsr|npm):\S+|\bsha\d{1,3}-\S+|(?<![\w.+-])[\w.+-]{1,64}@[\w.-]{1,80}|&[a-z]{2,6};/gi,
  // A longer piece of code may hide a message.
  /`[^`\n]{1,60}`/g,
];

/** How frequently a letter follows another in words, begins or ends one, in all languages in Latin letters: its share in bits. */
let pairs: ReadonlyMap<string, number> | undefined;

function countedPairs(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const add = (key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const word of new Set(latinStems)) {
    const closed = `^${word}$`;
    for (let i = 1; i < closed.length; i++) {
      add(closed.slice(i - 1, i));
      add(closed.slice(i - 1, i + 1));
    }
  }
  const shares = [...counts].filter(([key]) => key.length === 2);
  return new Map(shares.map(([key, count]) => [key, Math.log2(count / (counts.get(key.slice(0, 1)) ?? count))]));
}

/** The cost of a pair that no word has. */
const NEVER = -9;

/** How well the letters of a word follow each other, compared with usual words: about -3.5 for most, under -5 for non-words. */
export function flowOf(word: string): number {
  pairs ??= countedPairs();
  const closed = `^${word}$`;
  let sum = 0;
  for (let i = 1; i < closed.length; i++) sum += pairs.get(closed.slice(i - 1, i + 1)) ?? NEVER;
  return sum / (closed.length - 1);
}

/** From here on the letters of words in a row speak for themselves. */
const STRANGE = 24;
/** A pair of letters is as likely as this, in bits, where letters are drawn at random. */
const RANDOM = 4.6;
/** The evidence of a known word against it; and the reduced weight of a name, or of a short word. */
const KNOWN = 6;
const NAME = 0.5;
/** Fewer words may be names. */
const FEWEST = 3;

/** The words in a row whose letters follow each other as in no language: each word speaks for that or against it. */
function gibberishIn(text: string): string | undefined {
  for (const line of text.split("\n")) {
    const row = strangeRow(
      line.replaceAll(/(?<=\p{Ll})(?=\p{Lu}\p{Ll})/gu, " ").match(/(?<!\p{L})[a-z][a-z']*[a-z](?!\p{L})/giu) ?? [],
    );
    if (row !== undefined) return row;
  }
  return undefined;
}

function strangeRow(words: readonly string[]): string | undefined {
  let row = new Set<string>();
  let strange = 0;
  for (const written of words) {
    const word = written.toLowerCase();
    if (row.has(word)) continue;
    const isName = /^[A-Z][a-z]/.test(written) || word.length < 6;
    strange += isEnglishWord(word) ? -KNOWN : -(RANDOM + flowOf(word)) * (word.length + 1) * (isName ? NAME : 1);
    row.add(word);
    if (strange <= 0) [strange, row] = [0, new Set()];
    else if (strange > STRANGE && row.size >= FEWEST) return [...row].join(" ");
  }
  return undefined;
}

/** Letters of none of the scripts that are read, phonetic ones and Braille. */
const STRANGE_LETTERS =
  /(?![\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Devanagari}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Common}])\p{L}|[\u0250-\u02af\u2801-\u28ff]/gu;
const FEWEST_LETTERS = 6;

/** A word of two alphabets whose letters look alike. */
const MIXED =
  /(?<!\p{L})(?=\p{L}{0,40}\p{Script=Latin})(?=\p{L}{0,40}[\p{Script=Cyrillic}\p{Script=Greek}])\p{L}{3,40}(?!\p{L})/gu;
const FEWEST_MIXED = 3;

function strangeLettersIn(text: string): string | undefined {
  const strange = text.match(STRANGE_LETTERS) ?? [];
  if (strange.length >= FEWEST_LETTERS) return strange.join("");
  const mixed = text.match(MIXED) ?? [];
  return mixed.length >= FEWEST_MIXED ? mixed.join(" ") : undefined;
}

/** `-.- --- ...`: dots and strokes in groups, of both kinds. */
const MORSE = /(?:(?<![^\s/|([{"'`:,])[.\-–—−·•_*]{1,6}(?:\s{0,3}[/|]\s{0,3}|[ \t\n]{1,3}|$)){8,}/g;
/** Two letters that make up everything, as in `ABBAB AABBA`. */
const TWO_LETTERS = /(?:\b(?:[ab]{5}|[AB]{5}|[01]{5,9})\b[\s,]{0,3}){4,}/g;
/** Figures in a row, parted alike. */
const FIGURES = /(?<![\w.])\d{1,3}(?:(?:[ \t]?[,;:/|.-][ \t]?|\s{1,3})\d{1,3}){13,}/g;
/** Pictures in a row, more than anybody shows for fun. */
const PICTURES = /(?:(?![\u2500-\u259f])[\p{Extended_Pictographic}\p{So}]\ufe0f?[\s.,]{0,3}){12,}/gu;

function signsIn(text: string): string | undefined {
  const strokes = text.match(MORSE)?.find((run) => /[.·•*]/.test(run) && /[-–—−_]/.test(run));
  const two = text.match(TWO_LETTERS)?.find((run) => new Set(run.match(/\w+/g)).size > 2);
  const figures = text.match(FIGURES)?.find((run) => isCode((run.match(/\d+/g) ?? []).map(Number)));
  const pictures = text
    .match(PICTURES)
    ?.find((run) => new Set(run.match(/[\p{Extended_Pictographic}\p{So}]/gu)).size > 7);
  return strokes ?? two ?? figures ?? pictures;
}

/** Figures up and down, with some coming back: neither a count nor a list of different things. */
function isCode(figures: readonly number[]): boolean {
  const falls = figures.filter((figure, i) => i > 0 && figure < (figures[i - 1] ?? 0)).length;
  const share = falls / figures.length;
  const different = new Set(figures).size;
  return share > 0.25 && share < 0.75 && different > 5 && different < figures.length * 0.95;
}

/** A run this long without blanks is not a word: it has to be a name, an address or a digest. */
const LONG = /\S{24,}/g;
const NAMELY = /^[^\w]*(?:https?|file|ssh|git|wss?|ftp|mailto|data:image|sha\d+-)\b|^@?[\w.-]{1,30}\/[\w.-]{1,30}$|\|/i;
const DIGEST =
  /^(?:0x)?(?:[0-9a-f]{24}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128}|\d+)$/i;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** How much of a run has to be words for it to be a name. */
const NAMED = 0.4;

/** A block of letters, figures and signs that is neither made of words nor a digest, an address or a path. */
function blobIn(text: string): string | undefined {
  return text
    .match(LONG)
    ?.map((run) =>
      run.replace(/^[\w-]{1,20}[:=](?=[^/\s]\S{15})/, "").replaceAll(/^[^\w<]+|(?<![^\w=>~])[^\w=>~]+$/g, ""),
    )
    .find(isBlob);
}

function isBlob(run: string): boolean {
  if (run.length < 20 || NAMELY.test(run) || UUID.test(run) || DIGEST.test(run)) return false;
  if (!/^[\x21-\x7e]+$/.test(run) || new Set(run).size < 10) return false;
  const letters = run.match(/[a-z]/gi)?.length ?? 0;
  return letters > run.length * 0.4 && lettersInWords(run) < letters * NAMED;
}

const lettersInWords = (run: string): number =>
  run
    .replaceAll(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, " ")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((part) => part.length > 2 && (isEnglishWord(part) || (part.length > 3 && flowOf(part) > -4.2)))
    .reduce((sum, part) => sum + part.length, 0);
