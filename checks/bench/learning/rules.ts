import { z } from "zod";
import { readYaml } from "../../../src/agents/index.ts";

const TEXT = z.string().trim().min(1).max(500);
const WORDS = z.array(z.string().trim().toLowerCase().min(1).max(60)).min(1).max(20);

const EDIT = z.union([
  z.strictObject({ add: TEXT }),
  z.strictObject({ first: TEXT }),
  z.strictObject({ remove: TEXT }),
  z.strictObject({ replace: TEXT, by: TEXT }),
  z.strictObject({ instead: TEXT }),
]);
export type Edit = z.output<typeof EDIT>;

const RULE = z.strictObject({
  name: z.string().trim().min(1).max(100),
  /** Words of the message, any of which calls for the rule. Left out: every message does. */
  when: WORDS.optional(),
  contact: z.string().min(1).max(60).optional(),
  edit: z.union([EDIT, z.array(EDIT).min(1).max(10)]).transform((one) => (Array.isArray(one) ? one : [one])),
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

/** @throws StrataError for what is no YAML, Error with the place for what has another form */
export function readHouse(file: string, text: string): House {
  const parsed = FILE.safeParse(readYaml(file, text).value);
  if (parsed.success) return parsed.data;
  const { path = [], message = "it has another form" } = parsed.error.issues[0] ?? {};
  throw new Error(`${file}: ${path.join(".") || "the file"}: ${message}; docs/bench.md shows the format`);
}

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
