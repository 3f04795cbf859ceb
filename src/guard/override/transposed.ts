import { englishWords } from "./language.ts";
import { isClear } from "./unwrapped.ts";
import { wordsApart } from "./words-apart.ts";

/** Lines whose signs stand in another order or are shifted among all signs of a keyboard. */

const SHORTEST = 12;
const LONGEST = 240;
const WIDEST = 8;
/** Lines of one text that are tried. */
const MOST = 12;

/** Lines that are not clear, as what they say in another order, if that makes sense. */
export function* transposed(text: string): Iterable<string> {
  let tried = 0;
  for (const line of text.split("\n")) {
    if (tried > MOST || line.length < SHORTEST || line.length > LONGEST || (isClear(line) && lettersIn(line) > FEW))
      continue;
    tried += 1;
    yield* plain(rot47(line));
    const letters = line.replaceAll(/[^\p{L}\p{N}]/gu, "");
    yield* plain([...letters].toReversed().join(""));
    for (let size = 2; size <= WIDEST; size++) {
      for (const run of [letters, line])
        for (const read of [unrailed(run, size), columns(run, size), columns(run, Math.ceil(run.length / size))])
          yield* plain(read);
    }
  }
}

const FEW = 8;
const lettersIn = (line: string): number => line.match(/[a-z]/gi)?.length ?? 0;

const rot47 = (line: string): string =>
  line.replaceAll(/[!-~]/g, (sign) => String.fromCharCode(33 + ((sign.charCodeAt(0) + 14) % 94)));

/** Written down and up over so many rails, and read rail by rail. */
function unrailed(run: string, rails: number): string {
  const turn = 2 * rails - 2;
  const places = [...run].map((_, at) => [Math.min(at % turn, turn - (at % turn)), at] as const);
  const order = places.toSorted(([a], [b]) => a - b).map(([, at]) => at);
  return backInto(run, order);
}

/** Written in rows of such a width, and read column by column. */
function columns(run: string, width: number): string {
  const order = [...run].map((_, at) => at).toSorted((a, b) => (a % width) - (b % width));
  return backInto(run, order);
}

function backInto(run: string, order: readonly number[]): string {
  const read: string[] = [];
  const signs = run.split("");
  for (const [i, at] of order.entries()) read[at] = signs[i] ?? "";
  return read.join("");
}

function* plain(read: string): Iterable<string> {
  if (/\s/.test(read.trim())) {
    const words = read.match(/[a-z']{2,}/gi)?.length ?? 0;
    if (words > 1 && englishWords(read) >= words * CLEAR) yield read;
    return;
  }
  const words = /^[a-z0-9]+$/i.test(read) ? wordsApart(read) : undefined;
  if (words !== undefined) yield words;
}

const CLEAR = 0.7;
