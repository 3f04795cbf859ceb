import { join } from "node:path";
import { gateValues } from "../../src/memory/gate.ts";
import { measure } from "../../src/memory/measure.ts";
import { rerank } from "../../src/memory/rerank.ts";
import { shortlistOf } from "../../src/memory/search.ts";
import { GATE, GATE_NAMES } from "../../src/memory/weights.ts";
import { type Conversation, conversationsIn, type Remembered } from "./conversations.ts";
import { dice, type Noise, noiseIn } from "./memory/noise.ts";
import { solve } from "./memory-fit-weights.ts";
import { indexOf } from "./memory-kinds.ts";
import { table } from "./table.ts";

/** What a message is, by what should come along with it. */
const SORTS = ["answered", "unanswered", "strangers", "in passing"] as const;
type Sort = (typeof SORTS)[number];

/** What one of a sort counts: there are few that nothing answers, and what is said to an assistant in passing may well recall something. */
const COUNTS: Readonly<Record<Sort, number>> = { answered: 1, unanswered: 2.5, strangers: 0.6, "in passing": 0.4 };
const KINDS = [
  { kind: "people", folder: "locomo-dev", weight: 1, passing: 1.5, strangers: 120 },
  { kind: "assistant", folder: "beam-dev", weight: 2.5, passing: 0.6, strangers: 60 },
] as const;
/** So many messages of each talk as it went, with what was said before all but so many. */
const IN_PASSING = 40;
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

/** How often something would be sent, each conversation by a gate learned from the others, and the gate of all. */
export async function gateReport(folder: string): Promise<string> {
  const cases: Case[] = [];
  for (const { kind, folder: name, weight, passing, strangers } of KINDS) {
    const noise = noiseIn(folder);
    for (const conversation of conversationsIn(join(folder, name)))
      cases.push(...(await casesOf(conversation, { kind, weight, passing, strangers, noise })));
  }
  const gates = new Map<string, readonly number[]>();
  for (const { conversation } of cases)
    if (!gates.has(conversation))
      gates.set(conversation, fitted(cases.filter((one) => one.conversation !== conversation)));
  const all = fitted(cases);
  const now = GATE_NAMES.map((name) => GATE[name]);
  return [
    ratesText("as it stands", cases, () => now),
    ratesText("learned from the other conversations", cases, ({ conversation }) => gates.get(conversation) ?? []),
    GATE_NAMES.map((name, at) => `  ${name}: ${all[at]?.toFixed(2)},`).join("\n"),
  ].join("\n\n");
}

interface Asking {
  readonly kind: string;
  readonly weight: number;
  readonly passing: number;
  readonly strangers: number;
  readonly noise: Noise;
}

async function casesOf(
  conversation: Conversation,
  { kind, weight, passing, strangers, noise }: Asking,
): Promise<readonly Case[]> {
  const { name, memories, questions, adversarial } = conversation;
  const whole = indexOf(memories);
  const cases: Case[] = [];
  const add = async (sort: Sort, message: Message, index = whole): Promise<void> => {
    const found = await judged(index, message);
    if (found === undefined) return;
    cases.push({
      kind,
      conversation: name,
      sort,
      counts: weight * COUNTS[sort] * (sort === "in passing" ? passing : 1),
      ...found,
    });
  };
  for (const question of questions) await add("answered", question);
  for (const { relevant: _, ...question } of adversarial) await add("unanswered", question);
  for (const text of noise.take(strangers)) await add("strangers", { text });
  for (const { message, before } of inPassing(memories)) await add("in passing", message, indexOf(before));
  return cases;
}

/** Messages of the first speaker, chosen by chance, with what was said before and stands in no transcript. */
function inPassing(
  memories: readonly Remembered[],
): readonly { readonly message: Message; readonly before: readonly Remembered[] }[] {
  const chance = dice(memories.length);
  const own = memories.flatMap(({ speaker }, at) => (at > 60 && speaker === memories[0]?.speaker ? [at] : []));
  return Array.from({ length: IN_PASSING }, () => own[Math.floor(chance() * own.length)] ?? 0).flatMap((at) => {
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
): Promise<Pick<Case, "values" | "isAnswered"> | undefined> {
  const who = { ...(asker !== undefined && { asker }), ...(at !== undefined && { at }) };
  const shortlist = await shortlistOf(index, { texts: [{ text, weight: 1 }], limit: SHOWN, ...who });
  const ranked = shortlist === undefined ? [] : rerank(shortlist, SHOWN);
  const all = shortlist === undefined ? [] : measure(shortlist);
  const measured = all.find(({ unit }) => unit.place === ranked[0]?.place);
  if (shortlist === undefined || measured === undefined) return undefined;
  const values = gateValues(shortlist, all, { measured, score: ranked[0]?.score ?? 0 });
  return {
    values: GATE_NAMES.map((name) => values[name]),
    isAnswered: ranked.some(({ memory }) => relevant.includes(ids.get(memory) ?? "")),
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
const SAID = 0.3;

function ratesText(name: string, cases: readonly Case[], gateFor: (one: Case) => readonly number[]): string {
  const rows = KINDS.flatMap(({ kind }) =>
    SORTS.map((sort) => {
      const own = cases.filter((one) => one.kind === kind && one.sort === sort);
      const sent = own.filter((one) => likelihood(one.values, gateFor(one)) >= SAID);
      const right = sent.filter(({ isAnswered }) => isAnswered);
      const share = (some: readonly Case[]): string => (some.length / Math.max(1, own.length)).toFixed(3);
      return [kind, sort, String(own.length), share(sent), sort === "answered" ? share(right) : "–"];
    }),
  );
  return table([name, "messages", "asked", "sent", "an answer"], rows);
}
