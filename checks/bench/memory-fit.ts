// Fits what each feature of the memory search counts, over all kinds of talk at once and leaving out some conversations of each at
// a time, and prints the weights for `src/memory/weights.ts`: node checks/bench/memory-fit.ts [--data DIR] [--noise 100000]
// [--without] (each feature taken out alone) [--kinds] (each kind left out of the fit)
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { foldName, type LexicalIndex, listIndex, type PlacedUnit, unitsOf } from "../../src/memory/index.ts";
import { measure } from "../../src/memory/measure.ts";
import { shortlistOf } from "../../src/memory/search.ts";
import { FEATURE_NAMES, SPREAD, WEIGHTS } from "../../src/memory/weights.ts";
import { MONTHS } from "../../src/memory/word-lists.ts";
import { type MemoryId, memoryId } from "../../src/protocol/index.ts";
import { type Conversation, conversationsIn, DATA, type Remembered, withoutAsker } from "./conversations.ts";
import { quality } from "./memory/metrics.ts";
import { noiseIn } from "./memory/noise.ts";
import { amongNoise } from "./memory/settings.ts";
import { fitWeights, type Sample, scoreOf } from "./memory-fit-weights.ts";

/** Of a question only so many memories are learned from, the best by the present weights, and what answers it. */
const MOST_MEMORIES = 60;
/** So often the best part of each memory is chosen anew by the weights that were just fitted. */
const ROUNDS = 3;
/** Conversations are left out of the fit in so many groups. */
const FOLDS = 5;

interface Kind {
  readonly name: string;
  /** What all its questions together count in the fit. */
  readonly weight: number;
  readonly conversations: readonly Conversation[];
  /** Among how much other talk; none without. */
  readonly noise?: number;
  /** Under which name the agent speaks, where that is known. */
  readonly agent?: string;
}

interface Case {
  readonly kind: string;
  readonly fold: number;
  readonly weight: number;
  /** A row for each unit that was read. */
  readonly rows: readonly Float64Array[];
  readonly ids: readonly string[];
  readonly sessions: readonly number[];
  readonly relevant: readonly string[];
  readonly asksCourse: boolean;
  readonly category: string;
}

const AGENT = "companion";

function kindsIn(folder: string, noise: number): readonly Kind[] {
  const people = conversationsIn(join(folder, "locomo-dev"));
  const chats = conversationsIn(join(folder, "beam-dev"));
  const facts = ["en-last", "en-context", "zh-last", "zh-context"].map((name) => ({
    name,
    weight: 0.3,
    conversations: conversationsIn(join(folder, "madial", name)),
  }));
  return [
    { name: "people", weight: 1.5, conversations: people },
    { name: "people, live", weight: 0.4, conversations: people.map((one) => live(one, false)), agent: AGENT },
    { name: "I and you", weight: 0.4, conversations: people.map((one) => live(one, true)), agent: AGENT },
    { name: "long ago", weight: 0.2, conversations: people.map(byDistance) },
    { name: "assistant", weight: 1, conversations: chats },
    { name: "asker unknown", weight: 0.7, conversations: chats.map(withoutAsker) },
    ...facts,
    ...(noise === 0 ? [] : [{ name: `people of ${noise}`, weight: 0.5, conversations: people, noise }]),
  ];
}

/** The same talk as an agent has it that goes under its own name; asked by its contact, by names or by "I" and "you". */
function live(conversation: Conversation, byPronoun: boolean): Conversation {
  const [asker = "", other = ""] = [...new Set(conversation.memories.map(({ speaker }) => speaker))];
  const meant = (text: string): string =>
    [
      [asker, "my", "I"],
      [other, "your", "you"],
    ].reduce(
      (now, [name, whose = "", who = ""]) => now.replaceAll(`${name}'s`, whose).replaceAll(`${name}`, who),
      text,
    );
  return {
    ...conversation,
    memories: conversation.memories.map((one) => ({ ...one, speaker: one.speaker === other ? AGENT : one.speaker })),
    questions: conversation.questions.map((one) => ({ ...one, asker, text: byPronoun ? meant(one.text) : one.text })),
  };
}

const NAMED_TIME = new RegExp(
  String.raw`\b(?:(?:in|during) (${MONTHS.join("|")}),? (\d{4})|on (?:(\d{1,2}) (${MONTHS.join("|")})|(${MONTHS.join("|")}) (\d{1,2})),? (\d{4}))`,
  "i",
);

/** Of the questions that name a month or a day those, asked soon after it, that say how long ago it was. */
function byDistance(conversation: Conversation): Conversation {
  const questions = conversation.questions.flatMap((question, i) => {
    const [whole, month, ofYear, day, dayMonth, monthDay, otherDay, year] = NAMED_TIME.exec(question.text) ?? [];
    if (whole === undefined) return [];
    const nth = MONTHS.indexOf((month ?? dayMonth ?? monthDay ?? "").toLowerCase());
    const then = Date.UTC(Number(ofYear ?? year), nth, Number(day ?? otherDay ?? 15), 12);
    const [days, words] = (month === undefined ? BY_DAYS : BY_MONTHS)[i % 3] ?? [0, ""];
    return [{ ...question, text: question.text.replace(whole, words), at: then + days * 86_400_000 }];
  });
  return { ...conversation, questions };
}

const BY_DAYS = [
  [1, "yesterday"],
  [7, "last week"],
  [12, "twelve days ago"],
] as const;
const BY_MONTHS = [
  [30, "last month"],
  [61, "two months ago"],
  [0, "this month"],
] as const;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      data: { type: "string", default: DATA },
      noise: { type: "string", default: "100000" },
      without: { type: "boolean", default: false },
      kinds: { type: "boolean", default: false },
      categories: { type: "boolean", default: false },
    },
  });
  if (!existsSync(join(values.data, "locomo-dev"))) {
    process.stderr.write(`${values.data} is not there, so nothing was fitted; --data names the folder that has it\n`);
    return;
  }
  const kinds = kindsIn(values.data, Number(values.noise));
  const cases: Case[] = [];
  for (const kind of kinds) cases.push(...(await casesOf(kind, values.data)));
  const names = kinds.map(({ name }) => name);
  const whole = leaveOut(cases, foldsOf);
  const show = (name: string, weightsFor: WeightsFor) => console.log(line(name, cases, { names, weightsFor }));
  console.log(["R@10", ...names].join(" | "));
  show("as they stand", () => Object.values(WEIGHTS));
  show("fitted on the other conversations", whole);
  if (values.kinds)
    show(
      "fitted on the other kinds",
      leaveOut(cases, ({ kind }) => kind),
    );
  if (values.without)
    for (const [feature, name] of FEATURE_NAMES.entries())
      show(`without ${name}`, leaveOut(cases, foldsOf, { feature, from: whole }));
  if (values.categories) for (const name of names) console.log(byCategory(name, cases, whole));
  const fitted = fittedOn(cases);
  console.log(`\n${FEATURE_NAMES.map((name, feature) => `  ${name}: ${fitted[feature]?.toFixed(2)},`).join("\n")}`);
}

const foldsOf = ({ fold }: Case): string => String(fold);

interface Lines {
  readonly names: readonly string[];
  readonly weightsFor: WeightsFor;
}

function line(name: string, cases: readonly Case[], { names, weightsFor }: Lines): string {
  const figures = names.map((kind) => {
    const own = cases.filter((one) => one.kind === kind);
    return quality(own.map((one) => ({ found: ranked(one, weightsFor(one)), relevant: one.relevant }))).recall10;
  });
  return [name.padEnd(34), ...figures.map((figure) => figure.toFixed(3))].join(" | ");
}

function byCategory(kind: string, cases: readonly Case[], weightsFor: WeightsFor): string {
  const own = cases.filter((one) => one.kind === kind);
  const each = [...Map.groupBy(own, ({ category }) => category)].sort(([a], [b]) => (a < b ? -1 : 1));
  return `${kind}: ${each
    .map(([category, some]) => {
      const answers = some.map((one) => ({ found: ranked(one, weightsFor(one)), relevant: one.relevant }));
      return `${category} ${quality(answers).recall10.toFixed(3)} (${some.length})`;
    })
    .join(", ")}`;
}

function ranked({ rows, ids, sessions, asksCourse }: Case, weights: readonly number[]): readonly string[] {
  const best = bestRows({ rows, ids }, weights);
  const order = best
    .map(({ at, score }) => ({ id: ids[at] ?? "", at, session: sessions[at] ?? 0, score }))
    .sort((a, b) => b.score - a.score || b.at - a.at);
  if (!asksCourse) return order.map(({ id }) => id);
  const taken = new Map<number, number>();
  const spread = order.map((one) => {
    const before = taken.get(one.session) ?? 0;
    taken.set(one.session, before + 1);
    return { ...one, score: one.score - SPREAD * Math.log(1 + before) };
  });
  return spread.sort((a, b) => b.score - a.score || b.at - a.at).map(({ id }) => id);
}

interface Best {
  readonly at: number;
  readonly score: number;
}

/** The best row of each memory. */
function bestRows({ rows, ids }: Pick<Case, "rows" | "ids">, weights: readonly number[]): readonly Best[] {
  const best = new Map<string, Best>();
  for (const [at, row] of rows.entries()) {
    const score = scoreOf(row, weights);
    const known = best.get(ids[at] ?? "");
    if (known === undefined || score >= known.score) best.set(ids[at] ?? "", { at, score });
  }
  return [...best.values()];
}

type WeightsFor = (one: Case) => readonly number[];

interface Less {
  readonly feature: number;
  readonly from: WeightsFor;
}

/** Weights for each case, fitted on those of other groups; without one feature, from those with it. */
function leaveOut(cases: readonly Case[], groupOf: (one: Case) => string, less?: Less): WeightsFor {
  const fitted = new Map<string, readonly number[]>();
  for (const one of cases) {
    const group = groupOf(one);
    if (fitted.has(group)) continue;
    const others = cases.filter((other) => groupOf(other) !== group);
    fitted.set(group, fittedOn(others, less && { feature: less.feature, from: less.from(one) }));
  }
  return (one) => fitted.get(groupOf(one)) ?? [];
}

function fittedOn(
  cases: readonly Case[],
  less?: { readonly feature: number; readonly from: readonly number[] },
): readonly number[] {
  let weights: readonly number[] = less?.from.with(less.feature, 0) ?? Object.values(WEIGHTS);
  for (let round = 0; round < (less === undefined ? ROUNDS : 1); round += 1) {
    const samples = cases.map((one) => sampleOf(one, weights, less?.feature));
    weights = fitWeights(samples, weights);
  }
  return weights;
}

function sampleOf({ rows, ids, relevant, weight }: Case, weights: readonly number[], less?: number): Sample {
  const best = bestRows({ rows, ids }, weights);
  return {
    rows: best.map(({ at }) => {
      const row = rows[at] ?? new Float64Array();
      return less === undefined ? row : row.with(less, 0);
    }),
    isAnswer: best.map(({ at }) => relevant.includes(ids[at] ?? "")),
    weight,
  };
}

async function casesOf({ name, weight, conversations, noise, agent }: Kind, folder: string): Promise<readonly Case[]> {
  const cases: Case[] = [];
  const questions = conversations.reduce((sum, one) => sum + one.questions.length, 0);
  for (const [at, conversation] of conversations.entries()) {
    const { index, ids } = indexOf(noise === undefined ? conversation.memories : inNoise(conversation, folder, noise));
    for (const { text, asker, relevant, at: asked, category } of conversation.questions) {
      const who = {
        ...(asker !== undefined && { asker }),
        ...(agent !== undefined && { agent }),
        ...(asked !== undefined && { at: asked }),
      };
      const shortlist = await shortlistOf(index, { texts: [{ text, weight: 1 }], ...who, limit: 1 });
      const measured = (shortlist === undefined ? [] : measure(shortlist)).map(({ unit, values }) => ({
        id: ids.get(unit.memory) ?? "",
        session: unit.session,
        row: Float64Array.from(FEATURE_NAMES, (feature) => values[feature]),
      }));
      const kept = best(measured, relevant);
      cases.push({
        kind: name,
        fold: (conversations.length === 1 && name.startsWith("zh") ? 1 : at) % FOLDS,
        weight: (1_000 * weight) / questions,
        rows: kept.map(({ row }) => row),
        ids: kept.map(({ id }) => id),
        sessions: kept.map(({ session }) => session),
        relevant,
        asksCourse: shortlist?.asked.asksCourse ?? false,
        category: shortlist?.asked.dates.length ? `${category}, dated` : category,
      });
    }
  }
  process.stderr.write(`${name}: ${questions} questions\n`);
  return cases;
}

interface Measured {
  readonly id: string;
  readonly row: Float64Array;
  readonly session: number;
}

function best(all: readonly Measured[], relevant: readonly string[]): readonly Measured[] {
  const weights = Object.values(WEIGHTS);
  const ids = [
    ...new Set(all.toSorted((a, b) => scoreOf(b.row, weights) - scoreOf(a.row, weights)).map(({ id }) => id)),
  ];
  const kept = new Set([...ids.slice(0, MOST_MEMORIES), ...relevant]);
  return all.filter(({ id }) => kept.has(id));
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
    for (const unit of unitsOf(text, [], at)) {
      units.push({ ...unit, memory, session, at, speaker: foldName(speaker), place: units.length + 1 });
    }
  }
  return { index: listIndex(units), ids };
}

await main();
