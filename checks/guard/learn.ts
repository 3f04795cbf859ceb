import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { legible } from "../../src/guard/override/fold.ts";
import { type By, featurePlace, featuresOf, lengthOf, weightsText } from "../../src/guard/override/weigh.ts";
import { around, type Contrast, contrasts, overriding } from "./contrast.ts";

/**
 * Learns `src/guard/override/weights.json`: `node checks/guard/learn.ts`. From `overrides.txt` and `honest.txt` beside this file, a
 * sentence on each line, from `contrast.txt` and `ideas.txt`, whose texts share their words and differ in their sense, from the texts of our
 * blueprints and, for little, from our own pages. Texts of others stay out, so that they can judge what was learned; so do those of
 * `unseen.json` and `blind.json`, and one in ten of the contrasts and of the ideas.
 */
const HERE = new URL("./", import.meta.url);
const ROOT = new URL("../../", HERE);
const WEIGHTS = new URL("src/guard/override/weights.json", ROOT);

/** How many steps are gone, and how strongly weights are pulled to nothing. */
const STEPS = 150;
const PULL = 0.3;
/** A feature of fewer sentences says nothing; how a foreign word begins says something earlier. A smaller weight is left out. */
const FEWEST = 3;
const FEWEST_OF_BEGINNINGS = 2;
const LEAST = 0.6;
/** What a sentence counts. Those of other languages are few, pairs teach the most, and pages are many and seldom speak of rules. */
const FOREIGN = 4;
const CONTRAST = 0.8;
const PAIRED = 3;
const PAGE = 1;
/** What an English sentence counts when it is taken for one of any language. */
const AS_ANY = 0.3;

interface Sample {
  readonly features: readonly string[];
  readonly isOverride: boolean;
  readonly counts: number;
}

const linesOf = (name: string): readonly string[] => readFileSync(new URL(name, HERE), "utf8").trim().split("\n");

const pagesOf = (names: readonly string[]): readonly string[] =>
  names
    .filter((name) => name.endsWith(".md"))
    .flatMap((name) => sentencesOf(readFileSync(new URL(name, ROOT), "utf8")));

/** The texts of our own layers speak of rules, limits, operators and layers all the time, and so do our pages. */
const ownLayers = (): readonly string[] =>
  pagesOf(
    ["sovereign", "companion"].flatMap((name) =>
      readdirSync(new URL(`blueprints/${name}/layers/`, ROOT)).map((file) => `blueprints/${name}/layers/${file}`),
    ),
  );
const ownPages = (): readonly string[] =>
  pagesOf([
    "README.md",
    "CONTRIBUTING.md",
    "AGENTS.md",
    ...readdirSync(new URL("docs/", ROOT)).map((name) => `docs/${name}`),
  ]);

const sentencesOf = (text: string): readonly string[] =>
  text
    .split(/(?<=[.!?。！？;])\s+|\n+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence.length >= 8);

/** An English sentence is learned from by its words, by its kinds, and by its kinds as those of another language. */
function samplesOf(texts: readonly string[], isOverride: boolean, counts = 1): readonly Sample[] {
  return texts.map(legible).flatMap((text) => {
    const sample = (by: By, share: number): Sample => ({
      features: featuresOf(text, by),
      isOverride,
      counts: counts * share,
    });
    const first = sample("words and kinds", 1);
    if (first.features[0] === "f") return [{ ...first, counts: counts * FOREIGN }];
    return [first, sample("kinds", 1), sample("kinds as of any language", AS_ANY)];
  });
}

interface Learned {
  readonly bias: number;
  readonly weights: Map<number, number>;
}

function learn(samples: readonly Sample[]): Learned {
  const times = new Map<string, number>();
  for (const { features } of samples) for (const one of features) times.set(one, (times.get(one) ?? 0) + 1);
  const isKnown = (one: string) => (times.get(one) ?? 0) >= (one.startsWith("~") ? FEWEST_OF_BEGINNINGS : FEWEST);
  const columns = new Map<number, number>();
  const columnOf = (place: number): number => {
    const known = columns.get(place);
    if (known === undefined) columns.set(place, columns.size + 1);
    return known ?? columns.size;
  };
  const rows = samples.map(({ features, isOverride, counts }) => ({
    // The first column is the bias: it is on in every row.
    columns: Int32Array.from([0, ...features.filter(isKnown).map((one) => columnOf(featurePlace(one)))]),
    share: 1 / lengthOf(features),
    isOverride,
    counts,
  }));
  const found = descend(rows, columns.size + 1);
  const weights = new Map([...columns].map(([place, column]) => [place, found[column] ?? 0]));
  for (const [place, weight] of weights) if (Math.abs(weight) < LEAST) weights.delete(place);
  return { bias: found[0] ?? 0, weights };
}

interface Row {
  readonly columns: Int32Array;
  readonly share: number;
  readonly isOverride: boolean;
  readonly counts: number;
}

/** What a row has of a column: all of the bias, of a feature the less the more it has. */
const partOf = (row: Row, column: number): number => (column === 0 ? 1 : row.share);

/** Logistic regression: steps as long as the slope surely allows for each weight, with momentum (Nesterov). */
function descend(rows: readonly Row[], size: number): Float64Array {
  const steepest = new Float64Array(size).fill(PULL);
  for (const row of rows) {
    const all = 1 + row.share * (row.columns.length - 1);
    for (const one of row.columns) steepest[one] = (steepest[one] ?? 0) + (row.counts * partOf(row, one) * all) / 4;
  }
  let weights = new Float64Array(size);
  let ahead = weights;
  for (let step = 1; step <= STEPS; step++) {
    const slope = slopeAt(ahead, rows);
    const next = ahead.map((weight, one) => weight - (slope[one] ?? 0) / (steepest[one] ?? 1));
    const last = weights;
    const momentum = (step - 1) / (step + 2);
    ahead = next.map((weight, one) => weight + momentum * (weight - (last[one] ?? 0)));
    weights = next;
  }
  return weights;
}

function slopeAt(weights: Float64Array, rows: readonly Row[]): Float64Array {
  const slope = weights.map((weight, one) => (one === 0 ? 0 : PULL * weight));
  for (const row of rows) {
    let sum = 0;
    for (const one of row.columns) sum += (weights[one] ?? 0) * partOf(row, one);
    const error = row.counts * (1 / (1 + Math.exp(-sum)) - (row.isOverride ? 1 : 0));
    for (const one of row.columns) slope[one] = (slope[one] ?? 0) + error * partOf(row, one);
  }
  return slope;
}

function samplesOfContrast(one: Contrast): readonly Sample[] {
  const counts = one.isPaired ? PAIRED : CONTRAST;
  const honest = sentencesOf(one.isOverride ? around(one) : one.text);
  return [...samplesOf(one.isOverride ? overriding(one) : [], true, counts), ...samplesOf(honest, false, counts)];
}

const { bias, weights } = learn([
  ...samplesOf(linesOf("overrides.txt"), true),
  ...samplesOf(linesOf("honest.txt"), false),
  ...[...contrasts("contrast.txt"), ...contrasts("ideas.txt")]
    .filter(({ isHeldOut }) => !isHeldOut)
    .flatMap(samplesOfContrast),
  ...samplesOf(ownLayers(), false, PAIRED),
  ...samplesOf(ownPages(), false, PAGE),
]);
const table = weightsText(weights);
writeFileSync(WEIGHTS, `${JSON.stringify({ bias: Math.round(bias * 1_000) / 1_000, table }, null, 2)}\n`);
process.stdout.write(`${weights.size} weights, ${table.length} characters\n`);
