import { englishWords } from "./language.ts";
import { wordsApart } from "./words-apart.ts";

/** Codes of two signs, whichever they are: bits, Morse and Bacon's, in figures, letters, pictures or words. */

type Decoded = Iterable<readonly [string, string]>;

const FEWEST = 20;
const LETTERS = "abcdefghijklmnopqrstuvwxyz";
/** The signs of Morse, a to z and 0 to 9, dots as 0 and strokes as 1. */
const MORSE: ReadonlyMap<string, string> = new Map(
  "01 1000 1010 100 0 0010 110 0000 00 0111 101 0100 11 10 111 0110 1101 010 000 1 001 0001 011 1001 1011 1100 11111 01111 00111 00011 00001 00000 10000 11000 11100 11110"
    .split(" ")
    .map((code, i) => [code, `${LETTERS}0123456789`[i] ?? ""]),
);

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
      [8, byte],
      [7, byte],
      [5, place],
      [5, placeFromOne],
    ] as const)
      yield* readable(
        (bits.match(new RegExp(`.{${width}}`, "g")) ?? []).map((one) => letterOf(Number.parseInt(one, 2))).join(""),
      );
    yield* readable(morse(read));
  }
}

const byte = (code: number): string => (code > 31 && code < 127 ? String.fromCharCode(code) : "\0");
const place = (code: number): string => LETTERS[code] ?? "\0";
const placeFromOne = (code: number): string => LETTERS[code - 1] ?? "\0";

/** Single gaps part letters, others words. */
function morse(run: string): string {
  const gaps = run.match(/[^01]+/g) ?? [];
  const counts = new Map<string, number>();
  for (const gap of gaps) counts.set(gap, (counts.get(gap) ?? 0) + 1);
  const [joint = " "] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [];
  return (run.match(/[01]+|[^01]+/g) ?? [])
    .map((part) => (/[01]/.test(part) ? (MORSE.get(part) ?? "\0") : part === joint ? "" : " "))
    .join("")
    .trim();
}

function* readable(text: string): Iterable<string> {
  if (text.length < 4 || text.includes("\0")) return;
  const words = / /.test(text) ? text : wordsApart(text);
  if (words !== undefined && englishWords(words) > 1) yield words;
}
