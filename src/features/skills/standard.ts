import { z } from "zod";
import { clean } from "../../guard/index.ts";
import { untrusted } from "../../protocol/index.ts";
import { type Split, splitHead } from "../files/index.ts";

/** A skill as the open standard has it: https://agentskills.io/specification. */
interface StandardSkill {
  readonly name: string;
  readonly description: string;
  readonly body: string;
  /** The rest of the head, if present. Nothing here acts on it: an agent's tools are declared with the agent. */
  readonly license?: string | undefined;
  readonly compatibility?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly allowedTools?: readonly string[] | undefined;
}

/** A problem with a skill, and its place in the file. */
export interface SkillProblem {
  readonly line: number;
  readonly message: string;
}

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const HEAD = z.object({
  name: z
    .string("must be a text")
    .max(64, "has more than 64 characters")
    .regex(NAME, "must be small letters and digits, with single hyphens between them"),
  description: z.string("must be a text").max(1_024, "has more than 1,024 characters").regex(/\S/u, "says nothing"),
  license: z.string("must be a text").optional(),
  compatibility: z.string("must be a text").min(1, "says nothing").max(500, "has more than 500 characters").optional(),
  metadata: z.record(z.string(), z.coerce.string(), "must be a map of texts").optional(),
  "allowed-tools": z.string("must be a text, the tools with blanks between them").optional(),
});

const KEYS: readonly string[] = Object.keys(HEAD.shape);

/** A body that is longer costs more than it helps: the standard says to put the rest into files. */
const LINES = 500;

/** Whether a text says that it is a skill of the standard: it begins with a head. */
export const isStandard = (text: string): boolean => /^---[ \t]*\n/.test(text);

/** A skill's file read, or all that is wrong with it. `folder` is what its name must be. */
export function readSkill(
  text: string,
  folder?: string,
): {
  readonly skill?: StandardSkill;
  readonly problems: readonly SkillProblem[];
  readonly hints: readonly SkillProblem[];
} {
  const split = splitHead(text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n"));
  const hints: SkillProblem[] = [];
  if (split.problem !== undefined) return { problems: [split.problem], hints };
  if (split.head === undefined)
    return { problems: [{ line: 1, message: "it has no head: `---`, `name:`, `description:`, `---`" }], hints };
  for (const key of Object.keys(split.head).filter((one) => !KEYS.includes(one)))
    hints.push({ line: split.lineOf(key), message: `the standard knows no key \`${key}\`, and nothing reads it` });
  const read = HEAD.safeParse(split.head);
  const problems = (read.error?.issues ?? []).map((issue) => toSkillProblem(issue, split));
  if (read.success && folder !== undefined && read.data.name !== folder)
    problems.push({
      line: split.lineOf("name"),
      message: `name ${JSON.stringify(read.data.name)} must be that of its folder, ${JSON.stringify(folder)}`,
    });
  const body = split.body.trim();
  if (body === "") problems.push({ line: split.line, message: "it has no instructions below its head" });
  if (body.split("\n").length > LINES)
    hints.push({
      line: split.line + LINES,
      message: `it has more than ${LINES} lines; put some into files of the skill`,
    });
  if (!read.success || problems.length > 0) return { problems, hints };
  const { name, description, license, compatibility, metadata, "allowed-tools": tools } = read.data;
  const skill = {
    name,
    body,
    license,
    compatibility,
    metadata,
    // It takes one line of the prompt.
    description: clean(untrusted(description)).replaceAll(/\s+/gu, " ").trim(),
    allowedTools: tools?.split(/\s+/).filter((tool) => tool !== ""),
  };
  return { skill, problems, hints };
}

function toSkillProblem(issue: z.core.$ZodIssue, { lineOf, head }: Split): SkillProblem {
  const key = String(issue.path[0] ?? "");
  const message = head?.[key] === undefined ? "is missing" : issue.message;
  return { line: lineOf(key), message: `\`${key}\` ${message}` };
}
