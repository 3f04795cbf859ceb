import { type CountTokens, digestOf } from "../protocol/index.ts";

/** How a model's tokens follow from o200k's: times `factor`, plus a share `margin` (0.1: a tenth) for the safe side. */
export interface TokenRule {
  readonly factor: number;
  readonly margin?: number;
}

/** Counts kept per counter; a text up to this length is its own key, a longer one is kept by its digest. */
const KEPT = 20_000;
const SHORT = 256;

/** Merges the tokenizer remembers, at most; its own default could hold hundreds of megabytes of a hostile text. */
const MERGES = 10_000;

/**
 * A counter for one model, rounded up. The tokenizer is loaded on the first call: it takes a quarter of a second.
 * Counting is linear in the text, and names of special tokens count as the text they are.
 */
export async function tokenCounter({ factor, margin = 0 }: TokenRule): Promise<CountTokens> {
  const { countTokens, setMergeCacheSize } = await import("gpt-tokenizer/encoding/o200k_base");
  setMergeCacheSize(MERGES);
  const plain = { disallowedSpecial: new Set<string>() };
  return kept((text) => {
    const tokens = pieces(text).reduce((sum, piece) => sum + countTokens(piece, plain), 0);
    // Floating point must not add a token: 100 times 1.1 is 110.
    return Math.ceil(tokens * factor * (1 + margin) - 1e-9);
  });
}

const LONGEST = 256;

/**
 * The text, cut where 256 characters pass without the end of a word: the tokenizer takes such a run as one word and is
 * quadratic in its length (32,000 equal letters: half a second). A cut adds a token at most; other text stays whole.
 */
function pieces(text: string): readonly string[] {
  if (text.length <= LONGEST) return [text];
  const found: string[] = [];
  let from = 0;
  let wordEnd = 0;
  for (let at = 1; at < text.length; at++) {
    if (text.charCodeAt(at) === BLANK && !isBlank(text.charCodeAt(at - 1))) wordEnd = at;
    if (at - Math.max(wordEnd, from) < LONGEST || isLowSurrogate(text.charCodeAt(at))) continue;
    found.push(text.slice(from, at));
    from = at;
  }
  return from === 0 ? [text] : [...found, text.slice(from)];
}

const BLANK = 32;
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

const isBlank = (code: number): boolean =>
  code === BLANK || (code >= 9 && code <= 13) || (code >= 0x80 && /\s/.test(String.fromCharCode(code)));

/**
 * Remembers the counts of the texts last asked for, in two generations: when the young one is full it becomes the old one, and
 * the old one goes with all that was not asked for again.
 */
function kept(count: CountTokens): CountTokens {
  let young = new Map<string, number>();
  let old = young;
  return (text) => {
    if (text === "") return 0;
    // A copy: a short text that is part of a long one would keep all of it in memory.
    const key = text.length <= SHORT ? `t${text}` : `d${digestOf(text)}`;
    const known = young.get(key);
    if (known !== undefined) return known;
    const tokens = old.get(key) ?? count(text);
    if (young.size >= KEPT / 2) {
      old = young;
      young = new Map();
    }
    young.set(key, tokens);
    return tokens;
  };
}
