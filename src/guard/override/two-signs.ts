import { LETTERS, MORSE, signOf } from "./alphabet.ts";
import { englishWords } from "./language.ts";
import { wordsApart } from "./words-apart.ts";

/** Codes of two signs, whichever they are: bits, Morse and Bacon's, in figures, letters, pictures or words. */

type Decoded = Iterable<readonly [string, string]>;

const FEWEST = 20;
/** Dots as 0 and strokes as 1. */
const MORSE_BITS = new Map([...MORSE].map(([code, sign]) => [code.replaceAll(".", "0").replaceAll("-", "1"), sign]));

/** Words for the two signs. */
const SPOKEN: readonly (readonly [RegExp, string])[] = [
  [/(?<![a-z])(?:dit|di|dot|zero|short)(?![a-z])[ -]?/gi, "0"],
  [/(?<![a-z])(?:dah|dash|one|long)(?![a-z])[ -]?/gi, "1"],
];

const isParting = (sign: string): boolean => /[\s/|,]/.test(sign);

/** What series of two signs in a text stand for. */
export function* twoSigns(text: string): Decoded {
  const spoken = SPOKEN.reduce((read, [word, sign]) => read.replaceAll(word, sign), text);
  for (const one of spoken === text ? [text] : [text, spoken])
    for (const run of runsOf(one)) for (const read of readingsOf(run)) yield ["two signs", read];
}

/** The longest stretches of a text in which but two signs stand, beside what parts them: as 0 and 1, the first one 0. */
function* runsOf(text: string): Iterable<string> {
  let run = "";
  let [first, second] = ["", ""];
  let count = 0;
  for (const sign of [...text.slice(0, MOST).replaceAll(/\ufe0f/g, ""), "\0"]) {
    const isNew = sign !== first && sign !== second;
    if (isParting(sign) && (isNew || first === "")) run += sign;
    else if (isNew && first !== "" && second !== "") {
      if (count >= FEWEST) yield run;
      run = "0";
      [first, second, count] = [sign, "", 1];
    } else {
      if (first === "") first = sign;
      else if (isNew) second = sign;
      run += sign === first ? "0" : "1";
      count += 1;
    }
  }
}

const MOST = 6000;

function* readingsOf(run: string): Iterable<string> {
  for (const read of [run, run.replaceAll(/[01]/g, (bit) => (bit === "0" ? "1" : "0"))]) {
    const bits = read.replaceAll(/[^01]/g, "");
    for (const [width, letterOf] of [
      [8, signOf],
      [7, signOf],
      [5, place],
      [5, placeFromOne],
    ] as const)
      yield* readable(
        (bits.match(new RegExp(`.{${width}}`, "g")) ?? []).map((one) => letterOf(Number.parseInt(one, 2))).join(""),
      );
    yield* readable(morse(read));
  }
}

const place = (code: number): string => LETTERS[code] ?? "\0";
const placeFromOne = (code: number): string => LETTERS[code - 1] ?? "\0";

/** Single gaps part letters, others words. */
function morse(run: string): string {
  const gaps = run.match(/[^01]+/g) ?? [];
  const counts = new Map<string, number>();
  for (const gap of gaps) counts.set(gap, (counts.get(gap) ?? 0) + 1);
  const [joint = " "] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [];
  return (run.match(/[01]+|[^01]+/g) ?? [])
    .map((part) => (/[01]/.test(part) ? (MORSE_BITS.get(part) ?? "\0") : part === joint ? "" : " "))
    .join("")
    .trim();
}

function* readable(text: string): Iterable<string> {
  if (text.length < 4 || text.includes("\0")) return;
  const words = / /.test(text) ? text : wordsApart(text);
  if (words !== undefined && englishWords(words) > 1) yield words;
}
