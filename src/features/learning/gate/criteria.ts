import { z } from "zod";
import { toolName } from "../../../protocol/index.ts";
import type { GateReport } from "../gate.ts";

/** What an agent did with a message: all that criteria look at. */
export interface Answered {
  readonly text: string;
  /** The tools that it called, in their order. */
  readonly calls: readonly string[];
  /** Whether it left the matter to a person. */
  readonly escalated: boolean;
}

/** How well an answer meets each criterion, from 0 to 1. */
export type Scores = GateReport["turns"][number]["present"];

const TEXTS = z.array(z.string().trim().min(1).max(500)).min(1).max(20);

/** What an answer to a message must be like. A program decides each criterion. */
export const CRITERIA = z
  .strictObject({
    contains: TEXTS.optional(),
    omits: TEXTS.optional(),
    calls: z.array(z.string().transform(toolName)).min(1).max(20).optional(),
    escalates: z.boolean().optional(),
    words: z
      .strictObject({ least: z.int().min(0).max(10_000).default(0), most: z.int().min(1).max(10_000).default(10_000) })
      .optional(),
    near: z.strictObject({ to: z.string().trim().min(1).max(4_000), changed: z.number().min(0).max(1) }).optional(),
  })
  .refine((all) => Object.keys(all).length > 0, "at least one of contains, omits, calls, escalates, words, near");
type Criteria = z.output<typeof CRITERIA>;

/** The criteria that an answer does not meet, each in a few words; empty if it meets all. */
export function unmet(criteria: Criteria, { text, calls, escalated }: Answered): readonly string[] {
  const said = foldText(text);
  const { contains = [], omits = [], calls: tools = [], escalates, words, near } = criteria;
  const count = matchWords(text).length;
  const found: string[] = [];
  for (const one of contains) if (!said.includes(foldText(one))) found.push(`does not contain ${JSON.stringify(one)}`);
  for (const one of omits) if (said.includes(foldText(one))) found.push(`contains ${JSON.stringify(one)}`);
  for (const tool of tools) if (!calls.includes(tool)) found.push(`does not call ${tool}`);
  if (escalates !== undefined && escalates !== escalated)
    found.push(escalated ? "leaves it to a person" : "does not leave it to a person");
  if (words !== undefined && (count < words.least || count > words.most))
    found.push(`has ${count} words, not ${words.least} to ${words.most}`);
  if (near !== undefined) {
    const changed = distance(text, near.to);
    if (changed > near.changed)
      found.push(`differs in ${percent(changed)} of its words from ${JSON.stringify(near.to.slice(0, 80))}`);
  }
  return found;
}

/** What happened in a recorded turn: its calls, and what was really sent. */
export interface Recorded extends Answered {
  readonly text: string;
}

/** How close an answer is to what was done then. */
export function scored(answer: Answered, then: Recorded): Scores {
  const [now, sent] = [matchWords(answer.text).length, matchWords(then.text).length];
  const kept = then.calls.filter((tool) => answer.calls.includes(tool)).length;
  return {
    answered: answer.text.trim() === "" && answer.calls.length === 0 ? 0 : 1,
    near: 1 - distance(answer.text, then.text),
    length: Math.min(now, sent) / Math.max(now, sent, 1),
    calls: then.calls.length === 0 ? 1 : kept / then.calls.length,
    own: answer.escalated && !then.escalated ? 0 : 1,
  };
}

/** How far a text's average on a criterion may drop before it is refused, and the words for the sentence that says so. */
const LOSSES: Readonly<Record<string, { readonly most: number; readonly message: string }>> = {
  answered: { most: 0.05, message: "it leaves messages without an answer that were answered before" },
  own: { most: 0.1, message: "it leaves to people what the agent did by itself" },
  calls: { most: 0.2, message: "it no longer calls the tools that the work needs" },
  near: { most: 0.15, message: "its answers are further from what was really sent" },
};

/** Why a text is worse than another, over the turns that both answered; nothing if it is not. */
export function worse(pairs: readonly { readonly before: Scores; readonly after: Scores }[]): string | undefined {
  for (const [criterion, { most, message }] of Object.entries(LOSSES)) {
    const mean = (of: (pair: (typeof pairs)[number]) => Scores): number =>
      pairs.reduce((sum, pair) => sum + (of(pair)[criterion] ?? 0), 0) / Math.max(1, pairs.length);
    const [before, after] = [mean(({ before }) => before), mean((pair) => pair.after)];
    if (before - after > most) return `${message} (${criterion} ${percent(after)} instead of ${percent(before)})`;
  }
  return undefined;
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

const foldText = (text: string): string => text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ");

const matchWords = (text: string): readonly string[] =>
  foldText(text).match(/[\p{L}\p{N}]+(?:[.,:'’@-][\p{L}\p{N}]+)*/gu) ?? [];

/** How many words of each text are compared; a longer text is not a message. */
const MOST_WORDS = 2_000;

/** The share of words that must be changed, added or removed to make one text of the other, from 0 to 1. */
export function distance(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => matchWords(text).slice(0, MOST_WORDS));
  if (left === undefined || right === undefined || left.length + right.length === 0) return 0;
  let above = right.map((_, i) => i + 1);
  for (const [row, word] of left.entries()) {
    let corner = row;
    let before = row + 1;
    above = right.map((other, i) => {
      const over = above[i] ?? 0;
      const cost = Math.min(over + 1, before + 1, corner + (word === other ? 0 : 1));
      corner = over;
      before = cost;
      return cost;
    });
  }
  return (above.at(-1) ?? left.length) / Math.max(left.length, right.length);
}
