import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { legible } from "../../src/guard/override/fold.ts";
import { featuresOf, lengthOf, placeOf, written } from "../../src/guard/override/weigh.ts";

/**
 * Learns `src/guard/override/weights.json`: `node checks/guard/learn.ts`. From `overrides.txt` and `honest.txt` beside this file, a
 * sentence on each line, the texts of our blueprints and our own pages. Texts of others stay out, so that they can judge what was learned;
 * so do those of `unseen.json`. `--held-out` learns from four of five blocks of lines, says how the fifth fares, and writes nothing.
 */
const HERE = new URL("./", import.meta.url);
const ROOT = new URL("../../", HERE);
const WEIGHTS = new URL("src/guard/override/weights.json", ROOT);

/** How often all sentences are gone through, how far a step goes, and how strongly weights are pulled to nothing. */
const ROUNDS = 3;
const STEP = 0.5;
const PULL = 1e-3;
/** One run depends on the order of its sentences; the mean of several hardly does. */
const RUNS = 5;
/** A feature of fewer sentences says nothing; kinds say something earlier. A smaller weight is left out. */
const FEWEST_OF_WORDS = 4;
const FEWEST_OF_KINDS = 3;
const LEAST = 0.5;
/** Sentences of other languages are few; each counts so often. */
const TIMES_FOREIGN = 2;
/** Lines that were written together stay together when some are held out. */
const BLOCK = 40;

interface Sample {
  readonly features: readonly string[];
  readonly isOverride: boolean;
}

const linesOf = (name: string): readonly string[] => readFileSync(new URL(name, HERE), "utf8").trim().split("\n");
const isHeldOut = (_: string, line: number): boolean => Math.floor(line / BLOCK) % 5 === 4;

/** The texts of our own layers, and our pages: they speak of rules, limits, operators and layers all the time. */
function honestPages(): readonly string[] {
  const layers = ["sovereign", "companion"].flatMap((name) =>
    readdirSync(new URL(`blueprints/${name}/layers/`, ROOT)).map((file) => `blueprints/${name}/layers/${file}`),
  );
  const docs = readdirSync(new URL("docs/", ROOT)).map((name) => `docs/${name}`);
  return ["README.md", "CONTRIBUTING.md", "AGENTS.md", ...docs, ...layers]
    .filter((name) => name.endsWith(".md"))
    .flatMap((name) => sentencesOf(readFileSync(new URL(name, ROOT), "utf8")));
}

const sentencesOf = (text: string): readonly string[] =>
  text
    .split(/(?<=[.!?。！？;])\s+|\n+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence.length >= 8);

function samplesOf(texts: readonly string[], isOverride: boolean): readonly Sample[] {
  return texts.map(legible).flatMap((text) => {
    const all = featuresOf(text);
    const isForeign = all[0] === "f";
    const second = isForeign ? all : featuresOf(text, "kinds");
    return [all, ...Array.from({ length: isForeign ? 2 * TIMES_FOREIGN - 1 : 1 }, () => second)].map((features) => ({
      features,
      isOverride,
    }));
  });
}

/** In an order that is always the same and like none. */
function shuffled<T>(items: readonly T[], round: number): readonly T[] {
  let seed = 7 + 77 * round;
  const next = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648);
  return items
    .map((item) => ({ item, at: next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

const isOfKinds = (feature: string): boolean => /^f |^[\^"!+>&A-Z ]+$/.test(feature);

interface Learned {
  readonly bias: number;
  readonly weights: Map<number, number>;
}

function learn(samples: readonly Sample[]): Learned {
  const counts = new Map<string, number>();
  for (const { features } of samples) for (const one of features) counts.set(one, (counts.get(one) ?? 0) + 1);
  const isKnown = (one: string) => (counts.get(one) ?? 0) >= (isOfKinds(one) ? FEWEST_OF_KINDS : FEWEST_OF_WORDS);
  const known = samples.map(({ features, isOverride }) => ({
    places: features.filter(isKnown).map(placeOf),
    length: lengthOf(features),
    isOverride,
  }));
  const runs = Array.from({ length: RUNS }, (_, run) => descend(known, run));
  const places = new Set(runs.flatMap(({ weights }) => [...weights.keys()]));
  const mean = (of: (run: Learned) => number): number => runs.reduce((sum, run) => sum + of(run), 0) / RUNS;
  const weights = new Map([...places].map((place) => [place, mean((run) => run.weights.get(place) ?? 0)]));
  for (const [place, weight] of weights) if (Math.abs(weight) < LEAST) weights.delete(place);
  return { bias: mean((run) => run.bias), weights };
}

/** Logistic regression, each weight with a step of its own that shrinks with what it has been moved. */
function descend(
  known: readonly { readonly places: readonly number[]; readonly length: number; readonly isOverride: boolean }[],
  run: number,
): Learned {
  const weights = new Map<number, number>();
  const moved = new Map<number, number>();
  let [bias, biasMoved] = [0, 1e-6];
  for (let round = 0; round < ROUNDS; round++) {
    for (const { places, length, isOverride } of shuffled(known, run * ROUNDS + round)) {
      const sum = places.reduce((total, one) => total + (weights.get(one) ?? 0), 0) / length;
      const error = 1 / (1 + Math.exp(-(bias + sum))) - (isOverride ? 1 : 0);
      biasMoved += error * error;
      bias -= (STEP * error) / Math.sqrt(biasMoved);
      for (const one of places) {
        const now = weights.get(one) ?? 0;
        const slope = error / length + PULL * now;
        const far = (moved.get(one) ?? 1e-6) + slope * slope;
        moved.set(one, far);
        weights.set(one, now - (STEP * slope) / Math.sqrt(far));
      }
    }
  }
  return { bias, weights };
}

function samplesWithout(isOut: (line: string, at: number) => boolean): readonly Sample[] {
  const kept = (name: string) => linesOf(name).filter((line, at) => !isOut(line, at));
  return [...samplesOf(kept("overrides.txt"), true), ...samplesOf([...kept("honest.txt"), ...honestPages()], false)];
}

const isTrial = process.argv.includes("--held-out");
const { bias, weights } = learn(samplesWithout(isTrial ? isHeldOut : () => false));
const table = written(weights);
if (isTrial) process.stdout.write(`${JSON.stringify({ bias, table })}\n`);
else {
  writeFileSync(WEIGHTS, `${JSON.stringify({ bias: Math.round(bias * 1_000) / 1_000, table }, null, 2)}\n`);
  process.stdout.write(`${weights.size} weights, ${table.length} characters\n`);
}
