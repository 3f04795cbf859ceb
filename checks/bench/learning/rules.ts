import { z } from "zod";
import { readYaml } from "../../../src/agents/index.ts";

const TEXT = z.string().trim().min(1).max(500);
const WORDS = z.array(z.string().trim().toLowerCase().min(1).max(60)).min(1).max(20);

const VERBS = "add, first, remove, replace with by, or instead";

const EDIT = z.union([
  z.strictObject({ add: TEXT }),
  z.strictObject({ first: TEXT }),
  z.strictObject({ remove: TEXT }),
  z.strictObject({ replace: TEXT, by: TEXT }),
  z.strictObject({ instead: TEXT }),
]);

const noEdit = (input: unknown): string =>
  `${JSON.stringify(input)} is no edit: it is one of ${VERBS}, each with a text, or a list of them`;
export type Edit = z.output<typeof EDIT>;

const RULE = z.strictObject({
  name: z.string().trim().min(1).max(100),
  /** Words of the message, any of which calls for the rule. Left out: every message does. */
  when: WORDS.optional(),
  contact: z.string().min(1).max(60).optional(),
  edit: z
    .union([EDIT, z.array(EDIT).min(1).max(10)], { error: ({ input }) => noEdit(input) })
    .transform((one) => (Array.isArray(one) ? one : [one])),
  from: z.int().min(1).default(1),
  until: z.int().min(1).default(Number.MAX_SAFE_INTEGER),
});
export type Rule = z.output<typeof RULE>;

const POISONER = z.strictObject({
  /** What the contact writes, one message after the other. `as` tells how it comes. */
  says: z.array(TEXT).min(1).max(20),
  as: z.enum(["message", "call-ended"]).default("message"),
  /** What must reach no policy. */
  never: TEXT,
});
export type Poisoner = z.output<typeof POISONER>;

const FILE = z.strictObject({
  contacts: z.array(z.string().min(1).max(60)).min(1).max(50),
  rules: z.array(RULE).min(1).max(50),
  talks: z
    .array(z.strictObject({ says: z.array(TEXT).min(1).max(50), contact: z.string().min(1).max(60).optional() }))
    .min(1)
    .max(200),
  poisoners: z.array(POISONER).max(200).default([]),
});

/** What an operator has in mind, what contacts write, and who wants to teach the agent something else. */
export type House = z.output<typeof FILE>;

/** @throws StrataError for what is no YAML, Error with the rule or the place for what has another form or can never happen */
export function readHouse(file: string, text: string): House {
  const { value } = readYaml(file, text);
  const parsed = FILE.safeParse(value);
  const problem = parsed.success ? problemOf(parsed.data) : formProblem(parsed.error, value);
  if (parsed.success && problem === undefined) return parsed.data;
  throw new Error(`${file}: ${problem}; docs/bench.md shows the format`);
}

/** What has another form than it should, with the name of the rule where it has one. */
function formProblem({ issues: [issue] }: z.ZodError, value: unknown): string {
  const path = issue?.path ?? [];
  const name = z.object({ name: z.string() }).safeParse(path.slice(0, 2).reduce<unknown>(within, value)).data?.name;
  const place = name === undefined ? path.join(".") : [JSON.stringify(name), ...path.slice(2)].join(", ");
  return `${place || "the file"}: ${issue?.message ?? "it has another form"}`;
}

const within = (value: unknown, key: PropertyKey): unknown =>
  typeof value === "object" && value !== null
    ? Object.entries(value).find(([one]) => one === String(key))?.[1]
    : undefined;

/** What can never happen, as the rest of a sentence. */
function problemOf({ contacts, rules, talks }: House): string | undefined {
  const twice = duplicate(rules.map(({ name }) => name));
  if (twice !== undefined) return `two rules are called ${JSON.stringify(twice)}`;
  const double = duplicate(contacts);
  if (double !== undefined) return `the contact ${JSON.stringify(double)} stands twice in contacts`;
  for (const { name, contact } of [...rules, ...talks.map((talk, n) => ({ name: `talks.${n}`, ...talk }))])
    if (contact !== undefined && !contacts.includes(contact))
      return `${JSON.stringify(name)}: ${JSON.stringify(contact)} is not among the contacts ${contacts.join(", ")}`;
  for (const { name, from, until } of rules)
    if (from > until)
      return `${JSON.stringify(name)}: it begins with turn ${from} and ends with turn ${until}, before that`;
  const never = rules.find((rule) => rule.when !== undefined && deadWords(rule, talks).length === rule.when.length);
  if (never !== undefined)
    return `${JSON.stringify(never.name)}: no talk that it is for contains a word of its when, ${quotes(never.when)}`;
  return undefined;
}

const quotes = (words: readonly string[] = []): string => words.map((word) => JSON.stringify(word)).join(", ");

/** Words of a rule that stand in no talk that it is for. */
function deadWords({ when = [], contact }: Rule, talks: House["talks"]): readonly string[] {
  const theirs = talks.filter(
    (talk) => contact === undefined || talk.contact === undefined || talk.contact === contact,
  );
  const said = theirs.flatMap(({ says }) => says.map(spelled));
  return when.filter((words) => !said.some((message) => message.includes(spelled(words))));
}

/** What is allowed and does nothing. */
export const notesOn = ({ rules, talks }: House): readonly string[] =>
  rules.flatMap((rule) => {
    const dead = deadWords(rule, talks);
    return dead.length === 0 ? [] : [`no talk that ${JSON.stringify(rule.name)} is for contains ${quotes(dead)}`];
  });

const duplicate = (all: readonly string[]): string | undefined => all.find((one, n) => all.indexOf(one) !== n);

/** What a rule is asked about. */
export interface Situation {
  readonly turn: number;
  readonly contact: string;
  readonly message: string;
}

/** Which rules hold for a message: `from` and `until` are inclusive, and one of the words or phrases of `when` stands in it. */
export function isFor({ turn, contact, message }: Situation) {
  const said = spelled(message);
  return ({ when, contact: only, from, until }: Rule): boolean =>
    turn >= from &&
    turn <= until &&
    (only === undefined || only === contact) &&
    (when?.some((words) => said.includes(spelled(words))) ?? true);
}

/** Words between single spaces, without case, marks between them and the ending of a plural: `check-ups` is `check up`. */
const spelled = (text: string): string =>
  ` ${(
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  )
    .map(singular)
    .join(" ")} `;

const singular = (word: string): string =>
  word.length < 4
    ? word
    : word
        .replace(/ies$/, "y")
        .replace(/(ch|sh|ss|x|z)es$/, "$1")
        .replace(/([^su])s$/, "$1");

/** Numbers from 0 up to 1, the same for each seed. */
export function chanceOf(seed: number): () => number {
  let state = Math.imul(seed + 1, 2_654_435_761) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) / 2 ** 24;
  };
}

/** One of a list. @throws RangeError for an empty one */
export function oneOf<T>(all: readonly T[], chance: () => number): T {
  const found = all[Math.floor(chance() * all.length)];
  if (found === undefined) throw new RangeError("there is nothing to choose from");
  return found;
}
