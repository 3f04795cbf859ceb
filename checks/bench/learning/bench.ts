import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CAMPAIGNS } from "./campaigns.ts";
import { type House, notesOn, readHouse } from "./rules.ts";
import { type Arm, type Judged, type Poisoned, runHouse, runPoison } from "./run.ts";

/** What is measured: whose rules, and how far. */
export interface LearningWish {
  /** A file of rules; left out, those of the bicycle shop. */
  readonly rules?: string;
  readonly seeds: number;
  readonly turns: number;
  readonly arms: readonly Arm[];
  readonly quick: boolean;
}

/** Drafts that were edited in substance, as a share: the middle of all seeds, and the lowest and highest. */
interface Rate {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

interface ArmReport {
  readonly arm: Arm;
  readonly first: Rate;
  readonly last: Rate;
  /** By how much the rate fell, of what it was. */
  readonly fall: Rate;
  /** The share of all seeds together, twenty turns at a time. */
  readonly course: readonly number[];
}

/** How often a rule was broken in drafts that it was for, at the beginning and at the end, of all seeds together. */
interface RuleReport {
  readonly rule: string;
  /** Messages that it was for, of all seeds together. */
  readonly messages: number;
  readonly first: number | undefined;
  readonly last: number | undefined;
  /** Of a rule that begins later: after how many turns no draft broke it any more, and how many had broken it by then, for each seed. */
  readonly recovered?: readonly { readonly turns: number; readonly drafts: number }[];
}

export interface LearningReport {
  readonly rules: string;
  readonly seeds: number;
  readonly turns: number;
  readonly arms: readonly ArmReport[];
  readonly byRule: readonly RuleReport[];
  readonly poison: Poisoned;
}

/** So many turns at the beginning and at the end are compared. */
const WINDOW = 20;
/** With `--quick`, the other arms take as many turns as it needs for one digest. */
const COMPARED: ReadonlySet<Arm> = new Set(["on", "off"]);
const AT_LEAST = 10;
/** So many campaigns go against one agent. */
const AGAINST_ONE = 20;

const HOUSE = join(import.meta.dirname, "house.yaml");

export async function learningBench(wish: LearningWish, tell: (what: string) => void): Promise<LearningReport> {
  const file = wish.rules ?? HOUSE;
  const house = readHouse(file, await textOf(file));
  for (const note of notesOn(house)) tell(note);
  const turns = wish.quick ? 2 * WINDOW : wish.turns;
  const turnsOf = (arm: Arm): number => (wish.quick && !COMPARED.has(arm) ? AT_LEAST : turns);
  const seeds = Array.from({ length: wish.quick ? 1 : wish.seeds }, (_, n) => n + 1);
  const arms: ArmReport[] = [];
  let learned: readonly (readonly Judged[])[] = [];
  for (const arm of wish.arms) {
    const runs: (readonly Judged[])[] = [];
    for (const seed of seeds) {
      tell(`${arm}: ${turnsOf(arm)} turns, seed ${seed} of ${seeds.length} …`);
      runs.push(await runHouse({ house, arm, seed, turns: turnsOf(arm) }));
    }
    arms.push(armReport(arm, runs));
    if (arm === "on") learned = runs;
  }
  const poison = await poisoned(house, wish.quick, tell);
  return {
    rules: wish.rules ?? "house.yaml",
    seeds: seeds.length,
    turns,
    arms,
    byRule: byRule(house, learned),
    poison,
  };
}

/** @throws Error for a file that cannot be read */
async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (thrown) {
    const why =
      thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT" ? "it is not there" : String(thrown);
    throw new Error(`${file} cannot be read: ${why}; --rules takes a file of rules, which docs/bench.md shows`);
  }
}

async function poisoned(house: House, quick: boolean, tell: (what: string) => void): Promise<Poisoned> {
  const all = house.poisoners.length > 0 ? house.poisoners : CAMPAIGNS;
  const campaigns = quick ? all.filter((_, n) => n % 20 === 0) : all;
  const found: { campaigns: number; active: string[]; waiting: string[] } = { campaigns: 0, active: [], waiting: [] };
  for (let from = 0; from < campaigns.length; from += AGAINST_ONE) {
    tell(
      `poisoning campaigns ${from + 1} to ${Math.min(campaigns.length, from + AGAINST_ONE)} of ${campaigns.length} …`,
    );
    const some = await runPoison(house, campaigns.slice(from, from + AGAINST_ONE), from);
    found.campaigns += some.campaigns;
    found.active.push(...some.active);
    found.waiting.push(...some.waiting);
  }
  return found;
}

const rateOf = (judged: readonly Judged[]): number =>
  judged.filter(({ broken }) => broken.length > 0).length / Math.max(1, judged.length);

function spread(values: readonly number[]): Rate {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return { median: at(0.5), least: at(0), most: at(1) };
}

function armReport(arm: Arm, runs: readonly (readonly Judged[])[]): ArmReport {
  const ends = runs.map((judged) => [rateOf(judged.slice(0, WINDOW)), rateOf(judged.slice(-WINDOW))] as const);
  const turns = runs[0]?.length ?? 0;
  return {
    arm,
    first: spread(ends.map(([first]) => first)),
    last: spread(ends.map(([, last]) => last)),
    fall: spread(ends.map(([first, last]) => (first === 0 ? 0 : 1 - last / first))),
    course: Array.from({ length: Math.floor(turns / WINDOW) }, (_, n) =>
      rateOf(runs.flatMap((judged) => judged.slice(n * WINDOW, (n + 1) * WINDOW))),
    ),
  };
}

function byRule({ rules }: House, runs: readonly (readonly Judged[])[]): readonly RuleReport[] {
  return rules.map(({ name, from }) => {
    const share = (judged: readonly Judged[]): number | undefined => {
      const its = judged.filter(({ concerned }) => concerned.includes(name));
      return its.length === 0 ? undefined : its.filter(({ broken }) => broken.includes(name)).length / its.length;
    };
    const since = runs.map((judged) => judged.filter(({ turn }) => turn >= from)).filter(({ length }) => length > 0);
    const recovered = since.map((judged) => {
      const wrong = judged.filter(({ broken }) => broken.includes(name));
      return { turns: (wrong.at(-1)?.turn ?? from - 1) - from + 1, drafts: wrong.length };
    });
    return {
      rule: name,
      messages: runs.flat().filter(({ concerned }) => concerned.includes(name)).length,
      first: share(since.flatMap((judged) => judged.slice(0, WINDOW))),
      last: share(runs.flatMap((judged) => judged.slice(-WINDOW))),
      ...(from > 1 && recovered.length > 0 && { recovered }),
    };
  });
}

const percent = (share: number | undefined): string => (share === undefined ? "–" : `${Math.round(share * 100)} %`);
const withSpread = ({ median, least, most }: Rate): string =>
  `${percent(median)} (${percent(least)} to ${percent(most)})`;

const ruleTable = (all: readonly RuleReport[]): readonly string[] => [
  `| rule | messages | broken, its first ${WINDOW} turns | broken, the last ${WINDOW} turns | last broken after |`,
  "|---|---|---|---|---|",
  ...all.map(
    ({ rule, messages, first, last, recovered }) =>
      `| ${rule} | ${messages} | ${percent(first)} | ${percent(last)} | ${(recovered ?? []).map(({ turns, drafts }) => `${turns} turns (${drafts})`).join(", ")} |`,
  ),
];

/** The report as Markdown. */
export function learningText({ rules, seeds, turns, arms, byRule: all, poison }: LearningReport): string {
  return [
    `${rules}: ${turns} turns, ${seeds} seeds; drafts edited in substance, the median of the seeds (lowest to highest).`,
    "",
    `| arm | turns 1–${WINDOW} | turns ${turns - WINDOW + 1}–${turns} | fall | twenty turns at a time |`,
    "|---|---|---|---|---|",
    ...arms.map(
      ({ arm, first, last, fall, course }) =>
        `| ${arm} | ${withSpread(first)} | ${withSpread(last)} | ${withSpread(fall)} | ${course.map(percent).join(" ")} |`,
    ),
    "",
    ...(arms.some(({ arm }) => arm === "on")
      ? ruleTable(all)
      : ["Without the arm `on`, nothing is told of single rules."]),
    "",
    `Of ${poison.campaigns} poisoning campaigns, ${poison.active.length} reached a text that is sent, and ${poison.waiting.length} one that waits for a person.`,
  ].join("\n");
}
