import { setImmediate } from "node:timers/promises";
import { type CountTokens, digestOf, type ModelRef } from "../protocol/index.ts";
import { bytePairCounter } from "./byte-pairs.ts";

/** How to estimate a model's tokens from o200k's: times `factor`, plus a safety `margin` (0.1: a tenth). */
export interface TokenRule {
  readonly factor: number;
  readonly margin?: number;
}

/** Counts kept per counter; a text up to this length is its own key, a longer one is kept by its digest. */
const KEPT = 20_000;
const SHORT = 256;

/** Chunks of long texts whose counts are kept, and characters of one: a text that is counted again a little longer, or shorter, is mostly known. */
const CHUNKS = 4_000;
const CHUNK = 1_024;

/**
 * A counter for one model, rounded up. The tokenizer is loaded on the first call: it takes a quarter of a second.
 * Counting is linear in the text, and names of special tokens count as the text they are.
 */
export async function tokenCounter({ factor, margin = 0 }: TokenRule): Promise<CountTokens> {
  const chunk = await chunkCounter();
  return cachedCount((text) => {
    const tokens = chunks(text).reduce((sum, one) => sum + chunk(one), 0);
    // Floating point must not add a token: 100 times 1.1 is 110.
    return Math.ceil(tokens * factor * (1 + margin) - 1e-9);
  }, KEPT);
}

/** The longest block of the event loop, in milliseconds. */
const SLICE = 10;

/**
 * Counts a long text with pauses, so that the next count knows most of it and nothing is blocked in the meantime: for the worst text
 * 100,000 characters take a tenth of a second.
 */
export async function countAhead(text: string): Promise<void> {
  const chunk = await chunkCounter();
  let begun = performance.now();
  for (const one of chunks(text)) {
    chunk(one);
    if (performance.now() - begun < SLICE) continue;
    await setImmediate();
    begun = performance.now();
  }
}

/** Shared by all models, which differ only in the factor. */
let counter: Promise<CountTokens> | undefined;

function chunkCounter(): Promise<CountTokens> {
  counter ??= bytePairCounter().then((exact) =>
    cachedCount((text) => pieces(text).reduce((sum, piece) => sum + exact(piece), 0), CHUNKS),
  );
  return counter;
}

const LONGEST = 256;

/** The text in chunks, cut where a word ends: that adds no token. Only a run without one is cut inside, as `pieces` would. */
function chunks(text: string): readonly string[] {
  if (text.length <= CHUNK) return [text];
  const found: string[] = [];
  let from = 0;
  while (text.length - from > CHUNK) {
    const to = endOfChunk(text, from + CHUNK);
    found.push(text.slice(from, to));
    from = to;
  }
  return [...found, text.slice(from)];
}

function endOfChunk(text: string, most: number): number {
  for (let at = most; at > most - LONGEST; at--) if (isWordEnd(text, at)) return at;
  return isLowSurrogate(text.charCodeAt(most)) ? most - 1 : most;
}

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
    if (isWordEnd(text, at)) wordEnd = at;
    if (at - Math.max(wordEnd, from) < LONGEST || isLowSurrogate(text.charCodeAt(at))) continue;
    found.push(text.slice(from, at));
    from = at;
  }
  return from === 0 ? [text] : [...found, text.slice(from)];
}

const BLANK = 32;

const isWordEnd = (text: string, at: number): boolean =>
  text.charCodeAt(at) === BLANK && !isBlank(text.charCodeAt(at - 1));
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

const isBlank = (code: number): boolean =>
  code === BLANK || (code >= 9 && code <= 13) || (code >= 0x80 && /\s/.test(String.fromCharCode(code)));

/**
 * Remembers the counts of the texts last asked for, in two generations: when the young one is full it becomes the old one, and
 * the old one goes with all that was not asked for again.
 */
function cachedCount(count: CountTokens, most: number): CountTokens {
  let young = new Map<string, number>();
  let old = young;
  return (text) => {
    if (text === "") return 0;
    // A copy: a short text that is part of a long one would keep all of it in memory.
    const key = text.length <= SHORT ? `t${text}` : `d${digestOf(text)}`;
    const known = young.get(key);
    if (known !== undefined) return known;
    const tokens = old.get(key) ?? count(text);
    if (young.size >= most / 2) {
      old = young;
      young = new Map();
    }
    young.set(key, tokens);
    return tokens;
  };
}

/** Corrects Strata's counts by the usage that models report. Lives as long as the program and holds only numbers. */
export interface Calibration {
  /**
   * A request has `counted` tokens by o200k, all of it counted again and with no factor, and the provider reported `reported` for the whole of
   * its prompt, including cached tokens. Estimates are unsuitable here: they add up pieces that were counted at other times with other
   * factors, and a factor learned from them would feed itself. Zero and nonsense are skipped.
   */
  readonly observe: (wire: ModelRef, counted: number, reported: number) => void;
  /** The factor for o200k's counts: `start`, from the card, until there are three observations. */
  readonly factorOf: (wire: ModelRef, start: number) => number;
}

/** How many observations count, and how many are needed for a change. */
const LATEST = 50;
const ENOUGH = 3;

/** Most calls must fit: nine of ten needed no more than this. The highest of all is never taken, so one outlier moves nothing. */
const SHARE = 0.9;

const LOWEST = 0.6;
const HIGHEST = 2.5;

/** A factor per step, so that counters and what they have counted can be kept for a while. */
const STEPS_IN_ONE = 50;

/** No tokenizer differs that much: such figures count something else, for example only uncached tokens. */
const SENSIBLE = { from: 0.3, to: 5 };

/** A new calibration. Pure, apart from its memory. */
export function calibration(): Calibration {
  const wires = new Map<ModelRef, readonly number[]>();
  return {
    observe: (wire, counted, reported) => {
      const right = reported / counted;
      if (!(counted > 0 && right >= SENSIBLE.from && right <= SENSIBLE.to)) return;
      wires.set(wire, [...(wires.get(wire) ?? []), right].slice(-LATEST));
    },
    factorOf: (wire, start) => {
      const seen = wires.get(wire) ?? [];
      return seen.length < ENOUGH ? start : stepped(share(seen));
    },
  };
}

function share(seen: readonly number[]): number {
  const rising = seen.toSorted((a, b) => a - b);
  return rising[Math.floor(SHARE * (rising.length - 1))] ?? HIGHEST;
}

/** Rounded up to a step, but not for a floating point's sake: 1.2 stays 1.2. */
function stepped(factor: number): number {
  const step = Math.ceil(factor * STEPS_IN_ONE - 1e-6) / STEPS_IN_ONE;
  return Math.min(Math.max(step, LOWEST), HIGHEST);
}
