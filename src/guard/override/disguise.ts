import { englishWords } from "./language.ts";
import { asItStands, type Reading } from "./readings.ts";
import { unreadableOf } from "./unreadable.ts";
import type { GuardFinding } from "./verdict.ts";

const ENCODINGS: ReadonlySet<string> = new Set([
  "base64",
  "base32",
  "hex",
  "bits",
  "numbers",
  "Morse",
  "names of letters",
  "Braille",
]);
const DISGUISES: ReadonlySet<string> = new Set([
  "entities",
  "quoted printable",
  "percent signs",
  "escapes",
  "reversal",
  "reversal of words",
  "letters in pairs",
  "mirrored letters",
  "turned words",
  "filling syllables",
  "a filling letter",
  "shifted letters",
  "letters set apart",
  "doubled letters",
  "look-alike letters",
  "digits for letters",
  "pictures inside words",
  "pieces in quotes",
  "blanks in other places",
  "parted words",
  "no blanks",
  "missing vowels",
  "hidden vowels",
  "other vowels",
  "stretched letters",
  "letters in another order",
]);
/** Nobody writes so who wants to be read, however many words appear. */
const ALWAYS: ReadonlySet<string> = new Set(["filling words", "the first letters of lines"]);
/** Words that must appear before a way of writing counts as a disguise. */
const APPEARING = 2;

/** A text that shows more plain words once it is read otherwise than it stands: no honest layer has a use for that, whatever it says. */
export const disguiseOf = (text: string, readings: readonly Reading[]): GuardFinding | undefined =>
  wornBy(text, readings) ?? unreadableOf(text);

function wornBy(text: string, readings: readonly Reading[]): GuardFinding | undefined {
  const [base] = readings;
  if (base === undefined) return undefined;
  if (englishWords(base.text) - englishWords(asItStands(text).replaceAll(/[*`]/g, "")) >= APPEARING)
    return finding("hidden", "odd letters", base.text);
  for (const { by, text: read, won } of readings) {
    if (ENCODINGS.has(by) && englishWords(read) >= APPEARING) return finding("blob", by, read);
    if (ALWAYS.has(by)) return finding("hidden", by, read);
    if (DISGUISES.has(by) && won >= APPEARING) return finding("hidden", by, read);
  }
  return undefined;
}

const finding = (kind: "hidden" | "blob", by: string, read: string): GuardFinding => ({
  kind,
  says: `it is written so that a reader misses what it says (${by})`,
  words: read.slice(0, 120),
});
