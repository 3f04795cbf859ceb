import { takesForce } from "./above.ts";
import weights from "./weights.json" with { type: "json" };
import { isUnspaced, read, type Sentence, type Word } from "./words.ts";

/**
 * How much a sentence reads like one that overrides the text above. Logistic regression over its words, the kinds of its words and their
 * order; `checks/guard/learn.ts` learns the weights from this project's own sentences of both sorts.
 */
export function weigh(sentence: string): { readonly weight: number; readonly isEnglish: boolean } {
  const features = featuresOf(sentence);
  let sum = 0;
  for (const feature of features) sum += WEIGHTS[featurePlace(feature)] ?? 0;
  const isEnglish = features[0] !== FOREIGN;
  const plainly = isEnglish && takesForce(sentence) ? PLAINLY : 0;
  return { weight: weights.bias + sum / lengthOf(features) + plainly, isEnglish };
}

/** The added weight of a sentence that claims it in plain words. */
const PLAINLY = 3.5;

/** Long sentences have more of everything. */
export const lengthOf = (features: readonly string[]): number => Math.sqrt(Math.max(FEWEST, features.length));
const FEWEST = 8;

/** The first feature of a sentence that is not English. */
const FOREIGN = "f";

/** By what a sentence is known: its words and their kinds. English may be known by kinds alone, to learn from for other languages. */
export type By = "words and kinds" | "kinds" | "kinds as of any language";

export function featuresOf(text: string, by: By = "words and kinds"): readonly string[] {
  const sentence = read(text);
  if (sentence.language !== "en" || by === "kinds as of any language")
    return [...new Set([...byKinds(sentence), ...byBeginnings(sentence)])];
  const isCode = /[_/{}()<>=\\]|\w\.\w/.test(text);
  const found = new Set<string>([...kindsOf(sentence), ...(isCode ? ["code"] : [])]);
  for (const one of by === "kinds" ? neighbouringKinds(sentence) : neighbouringWords(sentence)) found.add(one);
  return [...found];
}

/** How far a no reaches. */
const REACH = 4;

const kindsIn = ({ words }: Sentence): readonly string[] =>
  words.flatMap(({ kind }) => (kind === undefined ? [] : [kind]));

/** The same with a mark at those in quotes, if there is enough text outside to quote them. */
function quotedKindsIn({ words }: Sentence): readonly string[] {
  let isQuoted = false;
  const marked = words.map(({ stem, kind }) => {
    if (stem === '"') isQuoted = !isQuoted;
    return { kind, isQuoted, isSign: stem === '"' };
  });
  const outside = marked.filter((one) => !one.isQuoted && !one.isSign).length;
  const quotes = outside >= QUOTING && !isQuoted;
  return marked.flatMap(({ kind, isQuoted }) => (kind === undefined ? [] : [quotes && isQuoted ? `"${kind}` : kind]));
}

/** Fewer words do not introduce what they quote. */
const QUOTING = 2;

function* pairsOf(kinds: readonly string[]): Iterable<readonly [string, string]> {
  const all = [...new Set(kinds)].sort();
  for (const [i, one] of all.entries()) for (const other of all.slice(i + 1)) yield [one, other];
}

/** The kinds of an English sentence, denied or not, quoted or not. */
function* kindsOf(sentence: Sentence): Iterable<string> {
  let no = -REACH - 1;
  let isQuoted = false;
  for (const [i, { stem, kind }] of sentence.words.entries()) {
    if (stem === '"') isQuoted = !isQuoted;
    if (stem === '"') yield "quoted";
    if (kind === undefined) continue;
    yield kind;
    const isDenied = kind !== "NOT" && i - no <= REACH;
    if (kind === "NOT") no = i;
    else yield `${isDenied ? "!" : "+"}${kind}`;
    if (isQuoted) yield `"${kind}`;
  }
  const first = kindsIn(sentence).find((kind) => kind !== "ALL");
  if (first !== undefined) yield `^^${first}`;
}

function* neighbouringWords({ words }: Sentence): Iterable<string> {
  for (const [i, { stem, kind }] of words.entries()) {
    const [before, beforeThat] = [words[i - 1], words[i - 2]];
    if (stem === '"') continue;
    yield stem;
    yield `${before?.stem ?? "^"} ${stem}`;
    if (beforeThat !== undefined) yield `${beforeThat.stem}_${stem}`;
    if (kind !== undefined || before?.kind !== undefined) yield `${wordName(before)} ${kind ?? stem}`;
  }
}

const wordName = (word: Word | undefined): string => word?.kind ?? word?.stem ?? "^";

function* neighbouringKinds({ words }: Sentence): Iterable<string> {
  for (const [i, { kind }] of words.entries()) {
    const before = words[i - 1]?.kind;
    if (kind !== undefined && before !== undefined) yield `${before} ${kind}`;
  }
}

/** Of another language: its kinds in their order, what it has together, how often it says no. */
function* byKinds(sentence: Sentence): Iterable<string> {
  const kinds = quotedKindsIn(sentence);
  const noes = Math.min(3, kinds.filter((kind) => kind === "NOT").length);
  yield FOREIGN;
  yield `f n${noes}`;
  yield noes === 0 ? "f yes" : "f no";
  if (kinds.length === 0) yield "f nothing";
  for (const [i, kind] of kinds.entries()) {
    yield `f ${kind}`;
    if (i > 0) yield `f ${kinds[i - 1]} ${kind}`;
    for (const next of kinds.slice(i + 1)) yield `f ${kind}>${next}`;
    if (kind !== "NOT") yield `f n${noes} ${kind}`;
  }
  yield `f ^${kinds[0]}`;
  yield `f $${kinds.at(-1)}`;
  for (const [one, other] of pairsOf(kinds)) {
    yield `f ${one}&${other}`;
    if (noes > 0 && one !== "NOT" && other !== "NOT") yield `f !${one}&${other}`;
  }
}

/** Of another language: how its words begin, and in pairs unless they are pairs already. */
function* byBeginnings({ beginnings, language }: Sentence): Iterable<string> {
  for (const [i, one] of beginnings.entries()) {
    yield `~${one}`;
    if (i > 0 && !isUnspaced(language)) yield `~${beginnings[i - 1]} ${one}`;
  }
}

/** How many places there are for weights; two features of one place share its weight. */
const PLACES = 2 ** 18;

/** The place of a feature: a number made of its letters. */
export function featurePlace(feature: string): number {
  let mixed = 0x811c9dc5;
  for (let i = 0; i < feature.length; i++) mixed = Math.imul(mixed ^ feature.charCodeAt(i), 0x01000193);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return ((mixed ^ (mixed >>> 13)) >>> 0) % PLACES;
}

/** A distance is written as its low bits after a unary count of the rest, a weight as one of sixteen steps. */
const LOW_BITS = 3;
const WEIGHT_BITS = 4;
const STEP = 0.6;
const HALF = 2 ** (WEIGHT_BITS - 1);

/** The step that a weight is kept as: 0 is left out. */
const stepOf = (weight: number): number => Math.max(-HALF, Math.min(HALF, Math.round(weight / STEP)));

/** Weights in the order of their places, as `weightsIn` reads them. Those next to nothing are left out. */
export function weightsText(all: ReadonlyMap<number, number>): string {
  let bits = "";
  let last = -1;
  for (const [place, weight] of [...all].sort(([a], [b]) => a - b)) {
    const step = stepOf(weight);
    if (step === 0) continue;
    const far = place - last - 1;
    const code = step > 0 ? step - 1 + HALF : step + HALF;
    bits += `${"1".repeat(far >> LOW_BITS)}0${(far % 2 ** LOW_BITS).toString(2).padStart(LOW_BITS, "0")}`;
    bits += code.toString(2).padStart(WEIGHT_BITS, "0");
    last = place;
  }
  const bytes = bits.match(/.{1,8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte.padEnd(8, "1"), 2))).toString("base64");
}

/** The weight of each place. */
function weightsIn(text: string): Float32Array {
  const bytes = Buffer.from(text, "base64");
  const end = bytes.length * 8;
  let at = 0;
  const bit = (): number => ((bytes[at >> 3] ?? 0) >> (7 - (at++ & 7))) & 1;
  const number = (width: number): number => {
    let sum = 0;
    for (let i = 0; i < width; i++) sum = sum * 2 + bit();
    return sum;
  };
  const found = new Float32Array(PLACES);
  let place = -1;
  for (;;) {
    let many = 0;
    while (at < end && bit() === 1) many++;
    if (at + LOW_BITS + WEIGHT_BITS > end) return found;
    place += (many << LOW_BITS) + number(LOW_BITS) + 1;
    const code = number(WEIGHT_BITS);
    found[place] = (code < HALF ? code - HALF : code - HALF + 1) * STEP;
  }
}

const WEIGHTS = weightsIn(weights.table);
