import { smallTalk } from "../../src/features/memories/recall/small-talk.ts";
import { gateValues, saidInOrder } from "../../src/memory/gate.ts";
import { measure } from "../../src/memory/measure.ts";
import { shortlistOf } from "../../src/memory/search.ts";
import { GATE, GATE_NAMES } from "../../src/memory/weights.ts";
import type { Conversation, Question, Remembered } from "./conversations.ts";
import { dice, type Noise, noiseIn } from "./memory/noise.ts";
import { solve } from "./memory-fit-weights.ts";
import { indexOf, type Kind, kindsIn } from "./memory-kinds.ts";
import { table } from "./table.ts";

/**
 * What a message is, by what should come along with it. Of few it is known that nothing answers them, so more are made: what answers a question is
 * taken away, with what stands beside it, and halves of two questions are put together.
 */
const SORTS = [
  "answered",
  "unanswered",
  "answer taken away",
  "halves",
  "others' questions",
  "strangers",
  "in passing",
] as const;
type Sort = (typeof SORTS)[number];

/** What one of a sort counts: there are few that nothing answers; what was taken away may stand elsewhere as well. */
const COUNTS: Readonly<Record<Sort, number>> = {
  answered: 1,
  unanswered: 4,
  "answer taken away": 0.1,
  halves: 0.1,
  "others' questions": 0.3,
  strangers: 0.6,
  "in passing": 0.8,
};
interface Counts {
  /** What one of its messages counts, and beside that one of these sorts. */
  readonly each: number;
  readonly sorts: Partial<Record<Sort, number>>;
  /** So many messages of each talk as it went. */
  readonly passing: number;
}

const SHORT: Partial<Record<Sort, number>> = { strangers: 2, "in passing": 1.8 };
const LONG: Partial<Record<Sort, number>> = { answered: 1.3, unanswered: 2, "in passing": 0.8 };
const KINDS: ReadonlyMap<string, Counts> = new Map([
  ["people", { each: 1, sorts: SHORT, passing: 200 }],
  // Their unanswerable questions are asked by name.
  ["I and you", { each: 0.5, sorts: { ...SHORT, unanswered: 0 }, passing: 200 }],
  ["assistant", { each: 2, sorts: LONG, passing: 40 }],
  ["asker unknown", { each: 0.7, sorts: { ...LONG, unanswered: 0 }, passing: 0 }],
]);
const STRANGERS = 60;
const OTHERS = 40;
/** What stands so near to an answer often says it again. */
const NEAR = { before: 1, after: 2 };
/** What was said before a message of a talk as it went is remembered, all but so many. */
const STANDING = 20;
/** What answers is to be among so many. */
const SHOWN = 5;
const RESTRAINT = 1e-3;
const STEPS = 15;

interface Case {
  readonly kind: string;
  readonly conversation: string;
  readonly sort: Sort;
  readonly values: readonly number[];
  /** Whether what answers is among the best. */
  readonly isAnswered: boolean;
  readonly counts: number;
}

interface Message {
  readonly text: string;
  readonly asker?: string;
  readonly at?: number;
  readonly relevant?: readonly string[];
}

/** How often something would be sent, each conversation by a gate learned from the others, and the gate of all; or with each feature taken out. */
export async function gateReport(folder: string, without: boolean): Promise<string> {
  const cases: Case[] = [];
  for (const kind of kindsIn(folder, 0)) {
    const noise = noiseIn(folder);
    for (const conversation of KINDS.has(kind.name) ? kind.conversations : [])
      cases.push(...(await casesOf(conversation, kind, noise)));
    process.stderr.write(`${kind.name}\n`);
  }
  if (without) return withoutText(cases);
  const gateFor = learned(cases);
  const all = fitted(cases);
  const now = GATE_NAMES.map((name) => GATE[name]);
  return [
    ratesText("as it stands", cases, () => now),
    ratesText("learned from the other conversations", cases, gateFor),
    GATE_NAMES.map((name, at) => `  ${name}: ${all[at]?.toFixed(2)},`).join("\n"),
  ].join("\n\n");
}

type GateFor = (one: Case) => readonly number[];

/** For each conversation a gate that was learned from the others. */
function learned(cases: readonly Case[]): GateFor {
  const gates = new Map<string, readonly number[]>();
  for (const { conversation } of cases)
    if (!gates.has(conversation))
      gates.set(conversation, fitted(cases.filter((one) => one.conversation !== conversation)));
  return ({ conversation }) => gates.get(conversation) ?? [];
}

async function casesOf(conversation: Conversation, kind: Kind, noise: Noise): Promise<readonly Case[]> {
  const { name, memories, questions, adversarial } = conversation;
  const { each, sorts, passing } = KINDS.get(kind.name) ?? { each: 0, sorts: {}, passing: 0 };
  const whole = indexOf(memories);
  const cases: Case[] = [];
  const add = async (sort: Sort, message: Message, index = whole): Promise<void> => {
    const counts = each * COUNTS[sort] * (sorts[sort] ?? 1);
    const isJudged = counts > 0 && smallTalk(message.text) === undefined;
    const found = isJudged ? await judged(index, message, kind.agent) : undefined;
    if (found !== undefined) cases.push({ kind: kind.name, conversation: name, sort, counts, ...found });
  };
  const chance = dice(memories.length);
  const some = <T>(of: readonly T[]): readonly T[] => of.slice(Math.floor(chance() * of.length)).slice(0, 1);
  for (const question of questions) await add("answered", question);
  for (const question of adversarial) await add("unanswered", asked(question));
  for (const question of questions) {
    await add("answer taken away", asked(question), indexOf(without(memories, question.relevant)));
    for (const other of some(questions)) if (other !== question) await add("halves", halves(question, other));
  }
  const others = kind.conversations.filter((other) => other !== conversation).flatMap((other) => other.questions);
  for (let i = 0; i < OTHERS; i += 1)
    for (const question of some(others)) await add("others' questions", asked(question));
  const asker = memories[0]?.speaker ?? "";
  for (const text of noise.take(STRANGERS)) await add("strangers", { text, asker });
  for (const { message, before } of inPassing(memories, passing)) await add("in passing", message, indexOf(before));
  return cases;
}

const asked = ({ relevant: _, ...question }: Question): Message => question;

/** What one question begins with, and what another ends with. */
function halves(first: Question, second: Question): Message {
  const [begins, ends] = [first, second].map(({ text }) => text.split(" "));
  const text = [
    ...(begins ?? []).slice(0, Math.ceil((begins ?? []).length / 2)),
    ...(ends ?? []).slice(Math.ceil((ends ?? []).length / 2)),
  ].join(" ");
  return { ...asked(first), text };
}

/** All but those that answer and what stands beside them. */
function without(memories: readonly Remembered[], relevant: readonly string[]): readonly Remembered[] {
  const gone = new Set<Remembered>();
  for (const [at, one] of memories.entries()) {
    if (!relevant.includes(one.id)) continue;
    for (const near of memories.slice(Math.max(0, at - NEAR.before), at + NEAR.after + 1))
      if (near.session === one.session) gone.add(near);
  }
  return memories.filter((one) => !gone.has(one));
}

/** Messages of the first speaker, chosen at random, with what was said before and stands in no transcript. */
function inPassing(
  memories: readonly Remembered[],
  wanted: number,
): readonly { readonly message: Message; readonly before: readonly Remembered[] }[] {
  const chance = dice(memories.length);
  const own = memories.flatMap(({ speaker }, at) => (at > 60 && speaker === memories[0]?.speaker ? [at] : []));
  return Array.from({ length: wanted }, () => own[Math.floor(chance() * own.length)] ?? 0).flatMap((at) => {
    const one = memories[at];
    if (one === undefined) return [];
    const standing = new Set(
      memories.slice(Math.max(0, at - STANDING), at).filter(({ session }) => session === one.session),
    );
    const before = memories.slice(0, at).filter((earlier) => !standing.has(earlier));
    return [{ message: { text: one.text, asker: one.speaker, at: one.at }, before }];
  });
}

async function judged(
  { index, ids }: ReturnType<typeof indexOf>,
  { text, asker, at, relevant = [] }: Message,
  agent: string | undefined,
): Promise<Pick<Case, "values" | "isAnswered"> | undefined> {
  const who = {
    ...(asker !== undefined && { asker }),
    ...(at !== undefined && { at }),
    ...(agent !== undefined && { agent }),
  };
  const shortlist = await shortlistOf(index, { texts: [{ text, weight: 1 }], limit: SHOWN, ...who });
  if (shortlist === undefined) return undefined;
  const all = measure(shortlist);
  const values = gateValues(shortlist, all);
  if (values === undefined) return undefined;
  const shown = saidInOrder(all).slice(0, SHOWN);
  return {
    values: GATE_NAMES.map((name) => values[name]),
    isAnswered: shown.some(({ measured }) => relevant.includes(ids.get(measured.unit.memory) ?? "")),
  };
}

/** By Newton's method, as `fitWeights` does it: what is sure is that something answers. Questions whose answer is not found teach nothing. */
function fitted(cases: readonly Case[]): readonly number[] {
  const usable = cases.filter(({ sort, isAnswered }) => sort !== "answered" || isAnswered);
  const total = usable.reduce((sum, { counts }) => sum + counts, 0);
  let weights: readonly number[] = GATE_NAMES.map(() => 0);
  for (let step = 0; step < STEPS; step += 1) {
    const slope = new Float64Array(weights.length);
    const curve = weights.map(() => new Float64Array(weights.length));
    for (const { values, isAnswered, counts } of usable) {
      const sure = likelihood(values, weights);
      values.forEach((value, row) => {
        slope[row] = (slope[row] ?? 0) + (counts / total) * (sure - Number(isAnswered)) * value;
        const own = curve[row] ?? new Float64Array();
        values.forEach((other, column) => {
          own[column] = (own[column] ?? 0) + (counts / total) * sure * (1 - sure) * value * other;
        });
      });
    }
    weights.forEach((weight, row) => {
      slope[row] = (slope[row] ?? 0) + RESTRAINT * weight;
      const own = curve[row] ?? new Float64Array();
      own[row] = (own[row] ?? 0) + RESTRAINT;
    });
    const change = solve(curve, slope);
    weights = weights.map((weight, row) => weight - (change[row] ?? 0));
  }
  return weights;
}

const likelihood = (values: readonly number[], weights: readonly number[]): number =>
  1 / (1 + Math.exp(-values.reduce((sum, value, at) => sum + value * (weights[at] ?? 0), 0)));

/** So likely an answer is sent, as recall has it. */
const SAID = 0.24;

function ratesText(name: string, cases: readonly Case[], gateFor: GateFor): string {
  const rows = [...KINDS.keys()].flatMap((kind) =>
    SORTS.flatMap((sort) => {
      const own = cases.filter((one) => one.kind === kind && one.sort === sort);
      if (own.length === 0) return [];
      const sent = own.filter((one) => likelihood(one.values, gateFor(one)) >= SAID);
      const right = sent.filter(({ isAnswered }) => isAnswered);
      const share = (some: readonly Case[]): string => (some.length / Math.max(1, own.length)).toFixed(3);
      return [[kind, sort, String(own.length), share(sent), sort === "answered" ? share(right) : "–"]];
    }),
  );
  return table([name, "messages", "asked", "sent", "an answer"], rows);
}

/** Of the questions that something answers those are counted with which an answer is sent, of all others those with which anything is. */
const COLUMNS = ["people", "assistant"].flatMap((kind) =>
  (["answered", "unanswered", "others' questions", "strangers", "in passing"] as const).map((sort) => ({ kind, sort })),
);

/** The loss, and what is sent of each sort; with each feature taken out, by how much more. */
function withoutText(cases: readonly Case[]): string {
  const whole = learned(cases);
  const figures = (some: readonly Case[], gateFor: GateFor): readonly number[] => [
    lossOf(some, gateFor),
    ...COLUMNS.map(({ kind, sort }) => {
      const own = some.filter((one) => one.kind === kind && one.sort === sort);
      const sent = own.filter((one) => likelihood(one.values, gateFor(one)) >= SAID);
      const right = sort === "answered" ? sent.filter(({ isAnswered }) => isAnswered) : sent;
      return right.length / Math.max(1, own.length);
    }),
  ];
  const base = figures(cases, whole);
  const rows = GATE_NAMES.slice(1).map((name) => {
    const at = GATE_NAMES.indexOf(name);
    const some = cases.map((one) => ({ ...one, values: one.values.with(at, 0) }));
    const now = figures(some, learned(some));
    return [`without ${name}`, ...now.map((figure, i) => changed(figure - (base[i] ?? 0)))];
  });
  const head = ["gate", "loss", ...COLUMNS.map(({ kind, sort }) => `${kind}: ${sort}`)];
  return table(head, [["whole", ...base.map((figure) => figure.toFixed(3))], ...rows]);
}

const changed = (by: number): string =>
  Math.abs(by) < 0.0005 ? "0" : `${by > 0 ? "+" : "−"}${Math.abs(by).toFixed(3)}`;

/** How surprised a gate is by what is so, by what each case counts. */
function lossOf(cases: readonly Case[], gateFor: GateFor): number {
  const usable = cases.filter(({ sort, isAnswered }) => sort !== "answered" || isAnswered);
  const lost = usable.reduce((sum, one) => {
    const sure = likelihood(one.values, gateFor(one));
    return sum - one.counts * Math.log(one.isAnswered ? sure : 1 - sure);
  }, 0);
  return lost / usable.reduce((sum, { counts }) => sum + counts, 0);
}
