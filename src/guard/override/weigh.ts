import { KIND_OF } from "./kinds.ts";
import { placeOf, type Weights, weightsIn } from "./places.ts";
import { isEveryday } from "./plainly.ts";
import { stemOf } from "./stem.ts";
import { BIAS, WEIGHTS } from "./weights.ts";

/**
 * How much a sentence reads like one that takes the force of what stands above. What the patterns look for has to be said in
 * words that somebody thought of; this adds up small weights of words, of kinds of words and of their order, which
 * `checks/guard/learn.ts` learns from sentences of both sorts. It speaks where all patterns are silent, and only when it is sure.
 */
export function weigh(sentence: string): number {
  const features = featuresOf(sentence);
  const sum = features.reduce((total, feature) => total + (weights().get(placeOf(feature)) ?? 0), 0);
  return BIAS + sum / lengthOf(features);
}

/** From here on a sentence that stands alone is held up. Chosen on honest texts, so that few of them come so far. */
const HEAVY = -0.1;
/** What a sentence must weigh more for each doubling of their number: of many, one is heavy by chance. */
const DOUBLED = 0.17;

/** A question says nothing, nor does what a list follows. */
const INTRODUCES = /[?:]\W*$/;

/** Whether a sentence weighs too much for one of so many. */
export const isHeavy = (sentence: string, sentences: number): boolean =>
  !INTRODUCES.test(sentence) &&
  !isEveryday(sentence) &&
  weigh(sentence) > HEAVY + DOUBLED * Math.log2(Math.max(1, sentences));

/** Long sentences have more of everything. */
export const lengthOf = (features: readonly string[]): number => Math.sqrt(Math.max(FEWEST, features.length));
const FEWEST = 8;

let read: Weights | undefined;

const weights = (): Weights => {
  read ??= weightsIn(WEIGHTS);
  return read;
};

/** Longer sentences are read no further. */
const MOST_WORDS = 70;
/** How far apart two kinds may stand to be seen together. */
const REACH = 5;
/** How far a no reaches. */
const DENIED = 4;

/** Each word and kind, denied or not, each pair of neighbours, which kinds a sentence has together, and which comes after which nearby. */
export function featuresOf(sentence: string): readonly string[] {
  const words = wordsOf(sentence);
  const stems = words.map(stemOf);
  const kinds = words.map((word, i) => KIND_OF.get(word) ?? KIND_OF.get(stems[i] ?? ""));
  const features = new Set<string>(shapeOf(sentence, stems, kinds));
  let no = -DENIED - 1;
  for (const [i, stem] of stems.entries()) {
    const kind = kinds[i];
    const before = i === 0 ? "^" : (stems[i - 1] ?? "");
    features.add(stem).add(`${before} ${stem}`);
    if (kind !== undefined || kinds[i - 1] !== undefined) features.add(`${kinds[i - 1] ?? before} ${kind ?? stem}`);
    if (kind === undefined) continue;
    features.add(kind);
    for (const next of kinds.slice(i + 1, i + REACH)) if (next !== undefined) features.add(`${kind}>${next}`);
    if (kind === "NOT") no = i;
    else features.add(`${i - no <= DENIED ? "!" : "+"}${kind}`);
  }
  return [...features];
}

/** What a sentence is as a whole: how long, how much of it is of no kind, what it begins with, which kinds it has together. */
function* shapeOf(
  sentence: string,
  stems: readonly string[],
  kinds: readonly (string | undefined)[],
): Iterable<string> {
  const strange = stems.filter((stem, i) => kinds[i] === undefined && stem.length > 3).length;
  yield `strange ${Math.min(8, Math.round((10 * strange) / Math.max(1, stems.length)))}`;
  yield `long ${Math.min(6, Math.floor(stems.length / 5))}`;
  if (/[_/{}()<>=\\]|\w\.\w/.test(sentence)) yield "code";
  const first = kinds.find((kind) => kind !== undefined && kind !== "ALL");
  if (first !== undefined) yield `^^${first}`;
  const all = [...new Set(kinds)].filter((kind) => kind !== undefined).sort();
  for (const [i, one] of all.entries()) for (const other of all.slice(i + 1)) yield `${one}&${other}`;
}

const wordsOf = (sentence: string): readonly string[] =>
  (sentence.match(/[a-z]+(?:['-][a-z]+)*|\d+|[:?;]/g) ?? []).flatMap(wordOf).slice(0, MOST_WORDS);

/** `don't` is two words; a number is one of a layer above, of a layer below, or any. */
function wordOf(token: string): readonly string[] {
  if (/^\d/.test(token)) return [token.length > 1 ? "#" : token < "6" ? "#above" : "#below"];
  if (token.endsWith("n't")) return [token.slice(0, -"n't".length), "not"];
  if (token === "cannot") return ["can", "not"];
  return [token.replace(/'(?:s|re|ve|ll|d|m)$/, "")];
}
