import type { CountTokens } from "../protocol/index.ts";

/** Marks bytes that are not a token. */
const NONE = 0x7fff_ffff;

/** Bytes that are merged at a time, because the work grows with their square. Longer words are split, and each part may add a token. */
const WORD = 128;

/** Bytes of a word that is looked up, at most; the counter of a whole text hands in pieces of 256 characters. */
const LONGEST_WORD = 8_192;

/** Slots of the table: a power of two, so that two in three are free. */
const SLOTS = 1 << 19;

/**
 * Counts o200k's tokens. The package's own counter makes a string of each pair of bytes that it looks at, and takes 4 to 10 µs a character
 * in text without known words (base64, rare scripts); bytes and one flat table take a twentieth of that, so that no message holds up the
 * others. Loading takes a quarter of a second.
 */
export async function bytePairCounter(): Promise<CountTokens> {
  const [{ default: tokens }, { O200K_TOKEN_SPLIT_REGEX: words }] = await Promise.all([
    import("gpt-tokenizer/bpeRanks/o200k_base"),
    import("gpt-tokenizer/encodingParams/constants"),
  ]);
  const rankOf = ranksOf(tokens);
  return (text) => {
    let count = 0;
    for (const [word] of text.matchAll(words)) {
      const length = writeAscii(word, BYTES, 0) ? word.length : encoder.encodeInto(word, BYTES).written;
      count += countWord(BYTES, length, rankOf);
    }
    return count;
  };
}

/** How early the bytes of a range were merged into a token. */
type RankOf = (bytes: Uint8Array, from: number, to: number) => number;

/** All tokens in one table of open addresses: no string is made to look one up. */
function ranksOf(tokens: readonly (string | readonly number[])[]): RankOf {
  const pool = new Uint8Array(16 * tokens.length);
  const starts = new Int32Array(tokens.length + 1);
  const table = new Int32Array(SLOTS).fill(-1);
  let end = 0;
  let longest = 0;
  for (let rank = 0; rank < tokens.length; rank++) {
    const token = tokens[rank];
    starts[rank] = end;
    // The list has holes where a token is unused.
    if (token === undefined) continue;
    const start = end;
    end += writeBytes(token, pool, start);
    longest = Math.max(longest, end - start);
    let slot = slotOf(pool, start, end);
    while (table[slot] !== -1) slot = (slot + 1) & (SLOTS - 1);
    table[slot] = rank;
  }
  starts[tokens.length] = end;
  return (bytes, from, to) => {
    if (to - from > longest) return NONE;
    for (let slot = slotOf(bytes, from, to); ; slot = (slot + 1) & (SLOTS - 1)) {
      const rank = table[slot] ?? -1;
      if (rank < 0) return NONE;
      const start = starts[rank] ?? 0;
      if ((starts[rank + 1] ?? 0) - start !== to - from) continue;
      let at = from;
      while (at < to && bytes[at] === pool[start + at - from]) at++;
      if (at === to) return rank;
    }
  };
}

/** Writes a token's bytes and returns their number. Most are ASCII, for which calling the encoder would be slow. */
function writeBytes(token: string | readonly number[], to: Uint8Array, start: number): number {
  if (typeof token !== "string") to.set(token, start);
  else if (!writeAscii(token, to, start)) return encoder.encodeInto(token, to.subarray(start)).written;
  return token.length;
}

const encoder = new TextEncoder();

/** FNV-1a. */
function slotOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c_9dc5;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x0100_0193);
  return (hash ^ (hash >>> 15)) & (SLOTS - 1);
}

/** Used by one count at a time. */
const BYTES = new Uint8Array(LONGEST_WORD);
const starts = new Int32Array(WORD + 1);
const ranks = new Int32Array(WORD + 1);

/** False if it contains anything except plain letters. */
function writeAscii(word: string, to: Uint8Array, start: number): boolean {
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at);
    if (code > 127) return false;
    to[start + at] = code;
  }
  return true;
}

function countWord(bytes: Uint8Array, length: number, rankOf: RankOf): number {
  if (rankOf(bytes, 0, length) !== NONE) return 1;
  let count = 0;
  for (let from = 0; from < length; ) {
    let to = Math.min(from + WORD, length);
    // Never inside a character.
    while (to < length && ((bytes[to] ?? 0) & 0xc0) === 0x80) to--;
    count += merged(bytes, { from, to }, rankOf);
    from = to;
  }
  return count;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** How many tokens remain after repeatedly merging the pair with the lowest rank. */
function merged(bytes: Uint8Array, { from, to }: Range, rankOf: RankOf): number {
  let parts = to - from;
  for (let at = 0; at <= parts; at++) starts[at] = from + at;
  const rankAt = (at: number): number => (at + 2 > parts ? NONE : rankOf(bytes, starts[at] ?? 0, starts[at + 2] ?? 0));
  for (let at = 0; at < parts; at++) ranks[at] = rankAt(at);
  while (parts > 1) {
    const first = earliest(parts - 1);
    if (first < 0) break;
    starts.copyWithin(first + 1, first + 2, parts + 1);
    ranks.copyWithin(first, first + 1, parts);
    parts--;
    ranks[first] = rankAt(first);
    if (first > 0) ranks[first - 1] = rankAt(first - 1);
  }
  return parts;
}

function earliest(pairs: number): number {
  let found = -1;
  let lowest = NONE;
  for (let at = 0; at < pairs; at++) {
    const rank = ranks[at] ?? NONE;
    if (rank >= lowest) continue;
    lowest = rank;
    found = at;
  }
  return found;
}
