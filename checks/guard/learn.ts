import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { placeOf, written } from "../../src/guard/override/places.ts";
import { featuresOf, lengthOf } from "../../src/guard/override/weigh.ts";

/**
 * Learns `src/guard/override/weights.ts`: `node checks/guard/learn.ts`. From `overrides.txt` and `honest.txt` beside this file,
 * `texts.json` of the guard, the blueprints and the project's own pages. The same input gives the same weights. Sentences that the
 * guard gets wrong go into one of the two files, and everything is learned again.
 */
const HERE = new URL("./", import.meta.url);
const GUARD = new URL("../../src/guard/override/", import.meta.url);
const ROOT = new URL("../../", import.meta.url);
const BLUEPRINTS = new URL("blueprints/", ROOT);

/** Rounds over all sentences, the size of a step, and how strongly weights are pulled to nothing. */
const ROUNDS = 12;
const STEP = 0.5;
const PULL = 1e-2;
/** A feature of fewer sentences says nothing; a smaller weight is left out. */
const FEWEST = 3;
const LEAST = 0.4;
const LINE = 240;

interface Sample {
  readonly features: readonly string[];
  readonly isOverride: boolean;
}

function samples(): readonly Sample[] {
  const lines = (name: string) => readFileSync(new URL(name, HERE), "utf8").trim().split("\n");
  const own: { readonly honest: readonly string[]; readonly attacks: readonly string[] } = JSON.parse(
    readFileSync(new URL("texts.json", GUARD), "utf8"),
  );
  const overrides = [...lines("overrides.txt"), ...own.attacks];
  const honest = [...lines("honest.txt"), ...[...own.honest, ...blueprints(), ...pages()].flatMap(sentencesOf)];
  const sample = (isOverride: boolean) => (text: string) => ({ features: featuresOf(folded(text)), isOverride });
  return shuffled([...overrides.map(sample(true)), ...honest.map(sample(false))]);
}

/** The texts of our own layers. */
const blueprints = (): readonly string[] =>
  ["sovereign", "companion"].flatMap((name) =>
    readdirSync(new URL(`${name}/layers/`, BLUEPRINTS)).map((file) =>
      readFileSync(new URL(`${name}/layers/${file}`, BLUEPRINTS), "utf8"),
    ),
  );

const folded = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/["“”*`]/g, "")
    .replaceAll("’", "'");

const sentencesOf = (text: string): readonly string[] =>
  text
    .split(/(?<=[.!?。！？;])\s+|\n+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence.length >= 8);

/** Pages of this project: they speak of rules, limits, operators and layers all the time. */
const pages = (): readonly string[] =>
  ["README.md", "CONTRIBUTING.md", "AGENTS.md", ...readdirSync(new URL("docs/", ROOT)).map((name) => `docs/${name}`)]
    .filter((name) => name.endsWith(".md"))
    .map((name) => readFileSync(new URL(name, ROOT), "utf8"));

/** In an order that is always the same and like none. */
function shuffled<T>(items: readonly T[]): readonly T[] {
  let seed = 7;
  const next = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648);
  return items
    .map((item) => ({ item, at: next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** Logistic regression, each weight with a step of its own that shrinks with what it has been moved. */
function learn(all: readonly Sample[]): { readonly bias: number; readonly weights: ReadonlyMap<string, number> } {
  const counts = new Map<string, number>();
  for (const { features } of all) for (const one of features) counts.set(one, (counts.get(one) ?? 0) + 1);
  const known = all.map(({ features, isOverride }) => ({
    features: features.filter((one) => (counts.get(one) ?? 0) >= FEWEST),
    length: lengthOf(features),
    isOverride,
  }));
  const weights = new Map<string, number>();
  const moved = new Map<string, number>();
  let [bias, biasMoved] = [0, 1e-6];
  for (let round = 0; round < ROUNDS; round++) {
    for (const { features, length, isOverride } of known) {
      const sum = features.reduce((total, one) => total + (weights.get(one) ?? 0), 0) / length;
      const error = 1 / (1 + Math.exp(-(bias + sum))) - (isOverride ? 1 : 0);
      biasMoved += error * error;
      bias -= (STEP * error) / Math.sqrt(biasMoved);
      for (const one of features) {
        const slope = error / length + PULL * (weights.get(one) ?? 0);
        const far = (moved.get(one) ?? 1e-6) + slope * slope;
        moved.set(one, far);
        weights.set(one, (weights.get(one) ?? 0) - (STEP * slope) / Math.sqrt(far));
      }
    }
  }
  return { bias, weights };
}

const { bias, weights } = learn(samples());
const kept = [...weights].filter(([, weight]) => Math.abs(weight) >= LEAST);
const places = new Map<number, number>();
for (const [feature, weight] of kept) places.set(placeOf(feature), (places.get(placeOf(feature)) ?? 0) + weight);
const lines = written(places).match(new RegExp(`.{1,${LINE}}`, "g")) ?? [];
writeFileSync(
  new URL("weights.ts", GUARD),
  `/** Learned by \`node checks/guard/learn.ts\`: what a word, a KIND of \`kinds.ts\`, their neighbours and their company add, as \`places.ts\` writes it. */
export const BIAS = ${Math.round(bias * 1_000) / 1_000};

export const WEIGHTS: string = \`${lines.join("\n")}\`;
`,
);
process.stdout.write(`${kept.length} weights\n`);
