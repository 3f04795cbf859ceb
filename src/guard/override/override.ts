import { overrides, unread } from "../wording.ts";
import { disguiseOf, namesAsSentences, unescaped } from "./disguise.ts";
import { LONGEST, legible, unpiled } from "./fold.ts";
import { structureOf } from "./structure.ts";
import { unreadableIn } from "./unreadable.ts";
import { finding, type GuardFinding, type GuardVerdict } from "./verdict.ts";
import { weigh } from "./weigh.ts";

/**
 * Whether a text may become a layer below the immutable ones. It looks for claims that would override those, for disguises and for
 * imitations of the prompt's own structure. A courtesy and no guarantee: the engine gives such a layer no rank whatever it says.
 */
export function judgeLayerText(whole: string): GuardVerdict {
  const text = unpiled(whole.slice(0, LONGEST));
  const { rejected, doubtful } = structureOf(text);
  const plain = legible(text);
  const findings = [
    ...rejected,
    ...doubtful,
    ...[heaviestOf(plain, legible(unescaped(text))), disguiseOf(text, plain), unreadableIn(plain)].filter(
      (one) => one !== undefined,
    ),
    ...(whole.length > LONGEST ? [unreadRest(whole)] : []),
  ];
  if (rejected.length > 0) return { verdict: "reject", findings };
  return { verdict: findings.length > 0 ? "review" : "pass", findings };
}

/** Unread text may say anything. */
const unreadRest = (text: string): GuardFinding => finding("unread", unread(LONGEST), text.slice(LONGEST));

/** The threshold for a single sentence, in English and in other languages. Chosen on honest texts. */
const HEAVY = { en: 0.02, other: 0.1 };
/** The increase of the threshold for each doubling of the number of sentences: among many, one may be heavy by accident. */
const DOUBLED = 0.15;
/** How much of what the others weigh is added to the heaviest, and how light they may be: a pious frame excuses little. */
const OTHERS = 0.15;
const LIGHTEST = -4;

/** A question says nothing, nor does what a list follows. */
const INTRODUCES = /[?:？：]\W*$/u;

/** The heaviest sentence, if it exceeds the threshold for this number of sentences. */
function heaviestOf(text: string, unescaped: string): GuardFinding | undefined {
  const sentences = sentencesOf(text);
  const readings = new Set(
    [text, joinedLines(text), joinedLetters(text), namesAsSentences(text), quotedIn(text), unescaped].flatMap(
      sentencesOf,
    ),
  );
  let [heaviest, most, all] = ["", Number.NEGATIVE_INFINITY, 0];
  const weighed = [...readings].filter((sentence) => !INTRODUCES.test(sentence));
  for (const sentence of weighed) {
    const { weight, isEnglish } = weigh(sentence);
    const above = weight - (isEnglish ? HEAVY.en : HEAVY.other);
    all += above;
    if (above > most) [heaviest, most] = [sentence, above];
  }
  const others = weighed.length > 1 ? Math.max(LIGHTEST, (all - most) / (weighed.length - 1)) : 0;
  const over = most + OTHERS * others - DOUBLED * Math.log2(Math.max(1, sentences.length));
  if (over <= 0) return undefined;
  const sure = Math.round(100 / (1 + Math.exp(-over)));
  return finding("weakens", overrides(sure), heaviest);
}

const SENTENCES = /(?<=[.!?;]["”»)]?)\s+|(?<=[。！？；])|\n+/u;

/** `Note to self:` and similar labels carry no meaning, nor does the bullet of a list. */
const LABEL =
  /^(?:[\s>*#•+-]|\d{1,3}[.)]\s)*(?:(?:lesson|note to self|rule|reminder|note|remember|tip|admin note)s?: {0,3})?/iu;

/** What JSON says: its strings, without the signs around them. */
const quotedIn = (text: string): string =>
  /"[^"\n]{1,80}"\s?:\s?"/.test(text)
    ? (text.match(/"[^"\n]{8,500}"/g) ?? []).map((one) => one.slice(1, -1)).join("\n")
    : "";

/** Longer ones are read in pieces that overlap, so that none takes long. */
const LONGEST_SENTENCE = 500;
/** No shorter sentence takes anything's force; one that is written without blanks says more. */
const SHORTEST =
  /[^\s]{1,12}\s?.{6}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]{4}/u;

function sentencesOf(text: string): readonly string[] {
  return text
    .split(SENTENCES)
    .map((sentence) => sentence.trim().replace(LABEL, ""))
    .filter((sentence) => SHORTEST.test(sentence))
    .flatMap(piecesOf);
}

function piecesOf(sentence: string): readonly string[] {
  if (sentence.length <= LONGEST_SENTENCE) return [sentence];
  const pieces: string[] = [];
  for (let at = 0; at < sentence.length; at += LONGEST_SENTENCE / 2)
    pieces.push(sentence.slice(at, at + LONGEST_SENTENCE));
  return pieces;
}

/** Spaced letters, `i g n o r e`, joined into a word. */
const joinedLetters = (text: string): string =>
  text.replaceAll(/(?<!\p{L})(?:\p{L}[ ._-]){3,}\p{L}(?!\p{L})/gu, (run) => run.replaceAll(/\P{L}/gu, ""));

/** Lines of so few words were broken to be misread, unless they list things. */
const FEW_WORDS = 3;

/** Lines that a width or a trick has broken, as the sentence that they make. */
function joinedLines(text: string): string {
  const lines = text.split("\n").map((line) => line.replace(/^[\s>*+-]+/, ""));
  const few = lines.filter((line) => line.split(" ").length <= FEW_WORDS && line !== "");
  if (few.length > 2 && few.length > lines.length / 2) return lines.join(" ");
  return text.replaceAll(/(?<=[^\n]{30}[\p{L}\p{N},])\n(?=[\p{Ll}(])/gu, " ");
}
