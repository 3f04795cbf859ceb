import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { legible } from "../../src/guard/override/fold.ts";
import { type By, featuresOf, lengthOf, placeOf, written } from "../../src/guard/override/weigh.ts";

/**
 * Learns `src/guard/override/weights.json`: `node checks/guard/learn.ts`. From `overrides.txt` and `honest.txt` beside this file, a
 * sentence on each line, `hard.json` with pairs of both that differ in little but their sense, the texts of our blueprints and our own
 * pages. Texts of others stay out, so that they can judge what was learned;
 * so do those of `unseen.json`. `--held-out` learns from four of five blocks of lines, says how the fifth fares, and writes nothing.
 */
const HERE = new URL("./", import.meta.url);
const ROOT = new URL("../../", HERE);
const WEIGHTS = new URL("src/guard/override/weights.json", ROOT);

/** How many steps are gone, and how strongly weights are pulled to nothing. */
const STEPS = 150;
const PULL = 0.15;
/** A feature of fewer sentences says nothing; kinds say something earlier. A smaller weight is left out. */
const FEWEST_OF_WORDS = 4;
const FEWEST_OF_KINDS = 3;
const LEAST = 0.5;
/** Sentences of other languages are few; each is gone through so often. */
const TIMES_FOREIGN = 4;
/** Nor are there many hard ones, and they teach the most. */
const TIMES_HARD = 3;
/** Lines that were written together stay together when some are held out. */
const BLOCK = 40;

interface Sample {
  readonly features: readonly string[];
  readonly isOverride: boolean;
}

const linesOf = (name: string): readonly string[] => readFileSync(new URL(name, HERE), "utf8").trim().split("\n");
const isHeldOut = (_: string, line: number): boolean => Math.floor(line / BLOCK) % 5 === 4;

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
function samplesOf(texts: readonly string[], isOverride: boolean): readonly Sample[] {
  return texts.map(legible).flatMap((text) => {
    const all = featuresOf(text);
    const views: readonly By[] = ["kinds", "kinds as of any language"];
    const seen =
      all[0] === "f"
        ? Array.from({ length: TIMES_FOREIGN }, () => all)
        : [all, ...views.map((view) => featuresOf(text, view))];
    return seen.map((features) => ({ features, isOverride }));
  });
}

const isOfKinds = (feature: string): boolean => /^f |^[\^"!+A-Z ]+$/.test(feature);

interface Learned {
  readonly bias: number;
  readonly weights: Map<number, number>;
}

function learn(samples: readonly Sample[]): Learned {
  const counts = new Map<string, number>();
  for (const { features } of samples) for (const one of features) counts.set(one, (counts.get(one) ?? 0) + 1);
  const isKnown = (one: string) => (counts.get(one) ?? 0) >= (isOfKinds(one) ? FEWEST_OF_KINDS : FEWEST_OF_WORDS);
  const columns = new Map<number, number>();
  const columnOf = (place: number): number => {
    const known = columns.get(place);
    if (known === undefined) columns.set(place, columns.size + 1);
    return known ?? columns.size;
  };
  const rows = samples.map(({ features, isOverride }) => ({
    // The first column is the bias: it is on in every row.
    columns: Int32Array.from([0, ...features.filter(isKnown).map((one) => columnOf(placeOf(one)))]),
    share: 1 / lengthOf(features),
    isOverride,
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
}

/** What a row has of a column: all of the bias, of a feature the less the more it has. */
const partOf = (row: Row, column: number): number => (column === 0 ? 1 : row.share);

/** Logistic regression: steps as long as the slope surely allows for each weight, with momentum (Nesterov). */
function descend(rows: readonly Row[], size: number): Float64Array {
  const steepest = new Float64Array(size).fill(PULL);
  for (const row of rows) {
    const all = 1 + row.share * (row.columns.length - 1);
    for (const one of row.columns) steepest[one] = (steepest[one] ?? 0) + (partOf(row, one) * all) / 4;
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
    const error = 1 / (1 + Math.exp(-sum)) - (row.isOverride ? 1 : 0);
    for (const one of row.columns) slope[one] = (slope[one] ?? 0) + error * partOf(row, one);
  }
  return slope;
}

interface Hard {
  readonly attacks: readonly string[];
  readonly honest: readonly string[];
}

function samplesWithout(isOut: (line: string, at: number) => boolean): readonly Sample[] {
  const { attacks, honest }: Hard = JSON.parse(readFileSync(new URL("hard.json", HERE), "utf8"));
  const kept = (lines: readonly string[]) => lines.filter((line, at) => !isOut(line, at));
  const hard = [...samplesOf(kept(attacks), true), ...samplesOf([...kept(honest), ...ownLayers()], false)];
  return [
    ...samplesOf(kept(linesOf("overrides.txt")), true),
    ...samplesOf([...kept(linesOf("honest.txt")), ...ownPages()], false),
    ...Array.from({ length: TIMES_HARD }, () => hard).flat(),
  ];
}

const isTrial = process.argv.includes("--held-out");
const { bias, weights } = learn(samplesWithout(isTrial ? isHeldOut : () => false));
const table = written(weights);
if (isTrial) process.stdout.write(`${JSON.stringify({ bias, table })}\n`);
else {
  writeFileSync(WEIGHTS, `${JSON.stringify({ bias: Math.round(bias * 1_000) / 1_000, table }, null, 2)}\n`);
  process.stdout.write(`${weights.size} weights, ${table.length} characters\n`);
}
