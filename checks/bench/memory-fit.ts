// Fits what each feature of the memory search counts, over all kinds of talk at once and leaving out some conversations of each at
// a time, and prints the weights for `src/memory/weights.ts`: node checks/bench/memory-fit.ts [--data DIR] [--noise 100000]
// [--without] (each feature taken out alone) [--kinds] (each kind left out of the fit) [--write] (the table of both in docs/bench.md);
// with --gate the same for the gate, with --without each of its features taken out
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measure } from "../../src/memory/measure.ts";
import { shortlistOf } from "../../src/memory/search.ts";
import { FEATURE_NAMES, SPREAD, WEIGHTS } from "../../src/memory/weights.ts";
import { DATA } from "./conversations.ts";
import { quality } from "./memory/metrics.ts";
import { fitWeights, type Sample, scoreOf } from "./memory-fit-weights.ts";
import { gateReport } from "./memory-gate.ts";
import { indexOf, inNoise, type Kind, kindsIn } from "./memory-kinds.ts";
import { table } from "./table.ts";

/** Of a question only so many memories are learned from, the best by the present weights, and what answers it. */
const MOST_MEMORIES = 60;
/** So often the best part of each memory is chosen again by the weights that were just fitted. */
const ROUNDS = 3;
/** Conversations are left out of the fit in so many groups. */
const FOLDS = 5;

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

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      data: { type: "string", default: DATA },
      noise: { type: "string", default: "100000" },
      without: { type: "boolean", default: false },
      kinds: { type: "boolean", default: false },
      categories: { type: "boolean", default: false },
      gate: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
    },
  });
  if (!existsSync(join(values.data, "locomo-dev"))) {
    process.stderr.write(`${values.data} is not there, so nothing was fitted; --data names the folder that has it\n`);
    return;
  }
  if (values.gate) {
    console.log(await gateReport(values.data, values.without));
    return;
  }
  const kinds = kindsIn(values.data, Number(values.noise));
  const cases: Case[] = [];
  for (const kind of kinds) cases.push(...(await casesOf(kind, values.data)));
  const names = kinds.map(({ name }) => name);
  const whole = leaveOut(cases, foldsOf);
  const rows: Row[] = [];
  const show = (name: string, weightsFor: WeightsFor): void => {
    const figures = figuresOf(cases, { names, weightsFor });
    rows.push({ name, figures });
    console.log([name.padEnd(34), ...figures.map((one) => one.toFixed(3))].join(" | "));
  };
  console.log(["R@10", ...names].join(" | "));
  show("as they stand", () => Object.values(WEIGHTS));
  show(BY_OTHERS, whole);
  if (values.kinds || values.write)
    show(
      "each kind by weights from the other kinds",
      leaveOut(cases, ({ kind }) => kind),
    );
  if (values.without || values.write)
    for (const [feature, name] of FEATURE_NAMES.entries())
      show(`without ${name}`, leaveOut(cases, foldsOf, { feature, from: whole }));
  if (values.write) writePage(fitTable(names, rows));
  if (values.categories) for (const name of names) console.log(byCategory(name, cases, whole));
  const fitted = fittedOn(cases);
  console.log(`\n${FEATURE_NAMES.map((name, feature) => `  ${name}: ${fitted[feature]?.toFixed(2)},`).join("\n")}`);
}

const foldsOf = ({ fold }: Case): string => String(fold);

interface Lines {
  readonly names: readonly string[];
  readonly weightsFor: WeightsFor;
}

interface Row {
  readonly name: string;
  readonly figures: readonly number[];
}

const BY_OTHERS = "each conversation by weights from the others";

/** Recall@10 by kind. */
function figuresOf(cases: readonly Case[], { names, weightsFor }: Lines): readonly number[] {
  return names.map((kind) => {
    const own = cases.filter((one) => one.kind === kind);
    return quality(own.map((one) => ({ found: ranked(one, weightsFor(one)), relevant: one.relevant }))).recall10;
  });
}

/** Where a feature was taken out, what that costs or brings. */
function fitTable(names: readonly string[], rows: readonly Row[]): string {
  const whole = rows.find(({ name }) => name === BY_OTHERS)?.figures ?? [];
  const lost = (figure: number, kind: number): string => {
    const by = figure - (whole[kind] ?? 0);
    return Math.abs(by) < 0.0005 ? "0" : `${by > 0 ? "+" : "−"}${Math.abs(by).toFixed(3)}`;
  };
  const cells = rows.map(({ name, figures }) => [
    name,
    ...figures.map((figure, kind) => (name.startsWith("without") ? lost(figure, kind) : figure.toFixed(3))),
  ]);
  return table(["R@10", ...names], cells);
}

const PAGE = join(import.meta.dirname, "../../docs/bench.md");
const PLACE = /(?<=<!-- fit: [^\n]*\n\n)[\s\S]*?(?=\n\n<!-- \/fit -->)/;

function writePage(text: string): void {
  writeFileSync(
    PAGE,
    readFileSync(PAGE, "utf8").replace(PLACE, () => text),
  );
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

await main();
