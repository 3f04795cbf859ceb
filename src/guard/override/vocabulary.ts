import { parted } from "./parted.ts";
import { CERTAIN, CLAIMS, GOVERNING, GRANT, UNKEPT, WEAKENING } from "./phrases.ts";
import { DROPS, RELATIONS } from "./relations.ts";

const ENDINGS = ["", "s", "d", "ed", "ing", "es"];
const COMMON =
  "a i am an as at be by do go he if in is it me my no of on or so to up us we and are but can for from has have how its may new not now one only our out she than that the their them then they this those was were what when where which while who why will with would you your yours today tonight always after again also because there these about pays paid friends sale close buyers comes follow anything applies apply longer never long must should shall very more most some such ever each own";

/** The words that such talk is made of, taken from the patterns themselves, with their common endings. */
export const VOCABULARY: ReadonlySet<string> = new Set([
  ...COMMON.split(" "),
  ...[GOVERNING, CERTAIN, WEAKENING, UNKEPT, GRANT, ...CLAIMS, ...RELATIONS, ...DROPS].flatMap(wordsIn),
]);

function wordsIn(source: string): readonly string[] {
  const plain = source
    .replaceAll(/([a-z]+)\(\?:([a-z]+)\|([a-z]+)\)/g, "$1$2 $1$3")
    .replaceAll(/\\[a-zA-Z]\{?/g, "+")
    .replaceAll(/([a-z])\?/g, "$1");
  return [...plain.matchAll(/([a-z]{3,})(\+?)/g)].flatMap(([, word = "", open]) =>
    open === "" || word.length < 4 ? [word] : ENDINGS.map((ending) => word + ending),
  );
}

const LONGEST_WORD = 16;
/** A letter that belongs to no known word costs more than a known word. */
const UNKNOWN = 4;

/** `ignorelayer1` as `ignore layer 1`; nothing where too little of it is known. */
export function segmented(run: string): string | undefined {
  const words = split(run);
  const strange = words.filter((word) => word.length === 1 && !VOCABULARY.has(word) && !/\d/.test(word)).length;
  return words.length > 2 && strange <= run.length * 0.15 ? words.join(" ") : undefined;
}

/** How much of letters that stood apart has to be known words. */
const KNOWN = 0.4;

/** The same of letters that stood apart, where names may stand between the words; what is not known stays together. */
export function wordsOf(run: string): string | undefined {
  const words = split(run);
  const known = words.filter((word) => word.length > 2).join("").length;
  return known < run.length * KNOWN
    ? undefined
    : words.reduce((read, word, i) => {
        const strange = (one: string | undefined) => one !== undefined && one.length === 1 && !VOCABULARY.has(one);
        return read + (i === 0 || (strange(word) && strange(words[i - 1])) ? "" : " ") + word;
      }, "");
}

/** The fewest words and unknown letters of a run. */
function split(run: string): readonly string[] {
  const wordOf = (word: string) => (VOCABULARY.has(word) || /^\d$/.test(word) ? 1 : undefined);
  return parted(run, { longest: LONGEST_WORD, letter: UNKNOWN, wordOf });
}
