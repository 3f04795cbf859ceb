import { z } from "zod";
import { readYaml } from "../../../agents/index.ts";
import { contactId, misfitSays, StrataError, suggestion } from "../../../protocol/index.ts";
import { CRITERIA } from "./criteria.ts";

/** How many characters of a fixtures file are read. */
export const MOST_CHARACTERS = 500_000;

const TEXT = z.string().trim().min(1).max(4_000);

const FIXTURE = z.strictObject({
  name: z.string().trim().min(1).max(100),
  message: TEXT,
  contact: z.string().transform(contactId).default(contactId("fixture")),
  channel: z.string().trim().min(1).max(64).default("chat"),
  at: z.iso
    .datetime({ offset: true })
    .transform((text) => Date.parse(text))
    .optional(),
  facts: z.array(z.string().trim().min(1).max(1_000)).max(50).default([]),
  answers: z.record(z.string().max(64), TEXT).default({}),
  expects: CRITERIA,
});

/** One message and what an answer to it must be like, whatever an agent learns. */
export type Fixture = z.output<typeof FIXTURE>;

const FILE = z.strictObject({
  fixtures: z
    .array(FIXTURE)
    .min(1)
    .max(50)
    .superRefine((all, context) => {
      const names = new Set<string>();
      for (const [i, { name }] of all.entries()) {
        if (names.has(name))
          context.addIssue({
            code: "custom",
            path: [i, "name"],
            message: `${JSON.stringify(name)} is the name of another one`,
          });
        names.add(name);
      }
    }),
});

/** @throws StrataError `config_invalid` with the file, the place in it and what was expected */
export function readFixtures(file: string, text: string): readonly Fixture[] {
  const { value, locate } = readYaml(file, text);
  const parsed = FILE.safeParse(value);
  if (parsed.success) return parsed.data.fixtures;
  const [issue] = parsed.error.issues;
  const path = (issue?.path ?? []).map((step) => (typeof step === "number" ? step : String(step)));
  const wrong = issue?.code === "unrecognized_keys" ? issue.keys[0] : undefined;
  const { line, column } = locate(wrong === undefined ? path : [...path, wrong], wrong !== undefined);
  const where = path.length === 0 ? "the file" : path.join(".");
  const why = issue?.code === "custom" ? issue.message : issue && misfitSays(issue);
  const known = path.at(-1) === "expects" ? CRITERIA : path.at(-2) === "fixtures" ? FIXTURE : FILE;
  const near = wrong === undefined ? "" : suggestion(wrong, Object.keys(known.shape));
  const message = `${file}:${line}:${column} ${where}: ${why ?? "has another form"}${near}; docs/learning.md shows what a fixture is`;
  throw new StrataError("config_invalid", message, { file });
}
