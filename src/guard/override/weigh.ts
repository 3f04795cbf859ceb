import { KIND_OF } from "./kinds.ts";
import { BIAS, WEIGHTS } from "./weights.ts";

/**
 * How much a sentence reads like one that takes the force of what stands above. What the patterns look for has to be said in
 * words that somebody thought of; this adds up small weights of words, of kinds of words and of their order, which
 * `checks/guard/learn.ts` learns from sentences of both sorts. It speaks where all patterns are silent, and only when it is sure.
 */
export function weigh(sentence: string): number {
  const features = featuresOf(sentence);
  const sum = features.reduce((total, feature) => total + (weights().get(feature) ?? 0), 0);
  return BIAS + sum / lengthOf(features);
}

/** From here on a sentence is held up. Chosen on honest texts, so that next to none of them comes so far. */
export const HEAVY = 2;

/** Long sentences have more of everything. */
export const lengthOf = (features: readonly string[]): number => Math.sqrt(Math.max(FEWEST, features.length));
const FEWEST = 8;

let parsed: ReadonlyMap<string, number> | undefined;

const weights = (): ReadonlyMap<string, number> => {
  parsed ??= new Map(
    WEIGHTS.split(/[\n;]/).map((entry) => {
      const at = entry.lastIndexOf("=");
      return [entry.slice(0, at), Number(entry.slice(at + 1)) / 10] as const;
    }),
  );
  return parsed;
};

/** Longer sentences are read no further. */
const MOST_WORDS = 70;
/** How far apart two kinds may stand to be seen together. */
const REACH = 5;

/** Each word and kind, each pair of neighbours, and which kind comes after which nearby. */
export function featuresOf(sentence: string): readonly string[] {
  const words = wordsOf(sentence);
  const stems = words.map(stemOf);
  const kinds = words.map((word, i) => KIND_OF.get(word) ?? KIND_OF.get(stems[i] ?? ""));
  const features = new Set<string>();
  for (const [i, stem] of stems.entries()) {
    const kind = kinds[i];
    const before = i === 0 ? "^" : (stems[i - 1] ?? "");
    features.add(stem);
    features.add(`${before} ${stem}`);
    if (kind !== undefined) features.add(kind);
    if (kind !== undefined || kinds[i - 1] !== undefined) features.add(`${kinds[i - 1] ?? before} ${kind ?? stem}`);
    for (const next of kind === undefined ? [] : kinds.slice(i + 1, i + REACH))
      if (next !== undefined) features.add(`${kind}>${next}`);
  }
  return [...features];
}

const wordsOf = (sentence: string): readonly string[] =>
  (sentence.match(/[a-z]+(?:['-][a-z]+)*|\d+|[:?]/g) ?? []).flatMap(wordOf).slice(0, MOST_WORDS);

/** `don't` is two words; a number is one of a layer above, of a layer below, or any. */
function wordOf(token: string): readonly string[] {
  if (/^\d/.test(token)) return [token.length > 1 ? "#" : token < "6" ? "#above" : "#below"];
  if (token.endsWith("n't")) return [token.slice(0, -"n't".length), "not"];
  return [token.replace(/'(?:s|re|ve|ll|d|m)$/, "")];
}

const SHORTEST_STEMMED = 5;

const stemOf = (word: string): string =>
  word.length < SHORTEST_STEMMED
    ? word
    : word
        .replace(/ies$/, "y")
        .replace(/(?:ing|edly|ed|es|s|ly)$/, "")
        .replace(/(.)\1$/, "$1")
        .replace(/e$/, "");
