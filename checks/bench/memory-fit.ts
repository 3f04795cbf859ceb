// Fits what each feature of the memory search counts, leaving out one conversation at a time, and prints the weights for
// `src/memory/weights.ts`: node checks/bench/memory-fit.ts [--data DIR] [--noise 100000]
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { foldName, type LexicalIndex, listIndex, type PlacedUnit, unitsOf } from "../../src/memory/index.ts";
import { measure } from "../../src/memory/measure.ts";
import { shortlistOf } from "../../src/memory/search.ts";
import { FEATURE_NAMES, WEIGHTS } from "../../src/memory/weights.ts";
import { type MemoryId, memoryId } from "../../src/protocol/index.ts";
import { type Conversation, conversationsIn, DATA, type Remembered } from "./conversations.ts";
import { type Answered, quality } from "./memory/metrics.ts";
import { noiseIn } from "./memory/noise.ts";
import { amongNoise } from "./memory/settings.ts";
import { fitWeights, type Sample, scoreOf, withoutFeature } from "./memory-fit-weights.ts";
import { table } from "./table.ts";

/** Of a question in a large scope only the best by the present weights are learned from, and what answers it. */
const MOST_ROWS = 120;

interface Case {
  readonly conversation: string;
  readonly category: string;
  readonly sample: Sample;
  readonly ids: readonly string[];
  readonly relevant: readonly string[];
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { data: { type: "string", default: DATA }, noise: { type: "string", default: "100000" } },
  });
  const folder = join(values.data, "locomo-dev");
  if (!existsSync(folder)) {
    process.stderr.write(`${folder} is not there, so nothing was fitted; --data names the folder that has it\n`);
    return;
  }
  const conversations = conversationsIn(folder);
  const alone = await casesOf(conversations, ({ memories }) => memories);
  const size = Number(values.noise);
  const noisy = size === 0 ? [] : await casesOf(conversations, (one) => inNoise(one, values.data, size));
  const names = conversations.map(({ name }) => name);
  const all = [...alone, ...noisy];
  const kinds = [...new Set(alone.map(({ category }) => category))].sort();
  const whole = leaveOneOut(names, all);
  const rows = [
    row("as they stand", () => Object.values(WEIGHTS)),
    row("fitted, each conversation on the others", whole),
    ...FEATURE_NAMES.map((name, feature) => row(`without ${name}`, leaveOneOut(names, all, { feature, from: whole }))),
  ];
  console.log(table(["weights", "R@5", "R@10", "R@20", "MRR", ...kinds, `R@10 of ${size}`], rows));
  const fitted = fitWeights(all.map(({ sample }) => sample));
  console.log(`\n${FEATURE_NAMES.map((name, feature) => `  ${name}: ${fitted[feature]?.toFixed(2)},`).join("\n")}`);

  function row(name: string, weights: WeightsFor): readonly string[] {
    const [own, large] = [figures(alone, weights), figures(noisy, weights)];
    const of = quality(own);
    const share = (value: number) => value.toFixed(3);
    const byKind = kinds.map((kind) => share(quality(own.filter(({ category }) => category === kind)).recall10));
    const atSize = large.length === 0 ? "–" : share(quality(large).recall10);
    return [name, share(of.recall5), share(of.recall10), share(of.recall20), share(of.mrr), ...byKind, atSize];
  }
}

type Figured = Answered & { readonly category: string };

function figures(cases: readonly Case[], weightsFor: WeightsFor): readonly Figured[] {
  return cases.map(({ conversation, category, sample, ids, relevant }) => {
    const weights = weightsFor(conversation);
    const ranked = sample.rows
      .map((row, at) => ({ id: ids[at] ?? "", at, score: scoreOf(row, weights) }))
      .sort((a, b) => b.score - a.score || b.at - a.at);
    return { found: [...new Set(ranked.map(({ id }) => id))], relevant, category };
  });
}

type WeightsFor = (conversation: string) => readonly number[];

/** Weights for each conversation, fitted on the others; without one feature, from those with it. */
function leaveOneOut(names: readonly string[], cases: readonly Case[], less?: Less): WeightsFor {
  const fitted = new Map(
    names.map((name) => {
      const others = cases.filter(({ conversation }) => conversation !== name).map(({ sample }) => sample);
      const samples = less === undefined ? others : others.map((sample) => withoutFeature(sample, less.feature));
      return [name, fitWeights(samples, less?.from(name).with(less.feature, 0))];
    }),
  );
  return (conversation) => fitted.get(conversation) ?? [];
}

interface Less {
  readonly feature: number;
  readonly from: WeightsFor;
}

async function casesOf(
  conversations: readonly Conversation[],
  memoriesOf: (conversation: Conversation) => readonly Remembered[],
): Promise<readonly Case[]> {
  const cases: Case[] = [];
  for (const conversation of conversations) {
    const { index, ids } = indexOf(memoriesOf(conversation));
    for (const question of conversation.questions) {
      const shortlist = await shortlistOf(index, { texts: [{ text: question.text, weight: 1 }], limit: 1 });
      const measured = (shortlist === undefined ? [] : measure(shortlist)).map(({ unit, values }) => ({
        id: ids.get(unit.memory) ?? "",
        row: Float64Array.from(FEATURE_NAMES, (name) => values[name]),
      }));
      const kept = best(measured, question.relevant);
      const isAnswer = kept.map(({ id }) => question.relevant.includes(id));
      cases.push({
        conversation: conversation.name,
        category: question.category,
        sample: { rows: kept.map(({ row }) => row), isAnswer },
        ids: kept.map(({ id }) => id),
        relevant: question.relevant,
      });
    }
    process.stderr.write(`${conversation.name}: ${conversation.questions.length} questions\n`);
  }
  return cases;
}

function best<T extends { readonly id: string; readonly row: Float64Array }>(
  all: readonly T[],
  relevant: readonly string[],
): readonly T[] {
  const weights = Object.values(WEIGHTS);
  const sorted = all.toSorted((a, b) => scoreOf(b.row, weights) - scoreOf(a.row, weights));
  const kept = new Set(sorted.filter(({ id }, at) => at < MOST_ROWS || relevant.includes(id)));
  return all.filter((one) => kept.has(one));
}

function inNoise(conversation: Conversation, folder: string, size: number): readonly Remembered[] {
  const { scopes } = amongNoise(conversation, size, noiseIn(folder));
  return scopes.get(conversation.name) ?? [];
}

function indexOf(memories: readonly Remembered[]): {
  readonly index: LexicalIndex;
  readonly ids: ReadonlyMap<MemoryId, string>;
} {
  const ids = new Map<MemoryId, string>();
  const units: PlacedUnit[] = [];
  for (const { id, text, session, speaker, at } of memories) {
    const memory = memoryId(`mem_${String(ids.size).padStart(26, "0")}`);
    ids.set(memory, id);
    for (const unit of unitsOf(text, [])) {
      units.push({ ...unit, memory, session, at, speaker: foldName(speaker), place: units.length + 1 });
    }
  }
  return { index: listIndex(units), ids };
}

await main();
