import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { ROOT } from "../files.ts";

/** The development data beside the checkout; never in it. */
export const DATA = join(ROOT, "../shared/data");

/** How many memories: the data's own, so many of the same two people, so many in 2,000 scopes. */
export const SIZES = ["own", "100k", "1m-scopes", "1m"] as const;
export type Size = (typeof SIZES)[number];

/** What was said or saved, in order. */
export interface Remembered {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly speaker: string;
  readonly text: string;
  readonly session: number;
}

export interface Question {
  readonly id: string;
  readonly category: string;
  readonly text: string;
  /** Ids of the memories that answer it; those whose place it was in an adversarial one. */
  readonly relevant: readonly string[];
  /** Who asks, by the name they speak under; left out where that is not known. */
  readonly asker?: string;
  /** Milliseconds since 1970. */
  readonly at?: number;
}

/** One store's worth of memories with the questions about them. */
export interface Conversation {
  readonly name: string;
  readonly memories: readonly Remembered[];
  readonly questions: readonly Question[];
  /** Nothing answers these. */
  readonly adversarial: readonly Question[];
}

const MEMORY = z.object({
  id: z.string(),
  conv: z.string(),
  ts: z.iso.datetime(),
  speaker: z.string(),
  session: z.number(),
  content: z.string(),
});
const QUESTION = z.object({
  id: z.string(),
  conv: z.string(),
  category: z.string(),
  question: z.string(),
  relevant: z.array(z.string()),
  relevant_audited: z.array(z.string()).optional(),
  asker: z.string().optional(),
  asked_at: z.iso.datetime().nullish(),
});

/**
 * The conversations of a folder with `memories.jsonl` and `queries.jsonl` (and, where there is one, `queries_adversarial.jsonl`).
 * @throws Error that names the file, and its line where one is wrong
 */
export function conversationsIn(folder: string): readonly Conversation[] {
  const memories = lines(folder, "memories.jsonl", MEMORY);
  const questions = lines(folder, "queries.jsonl", QUESTION);
  const adversarial = existsSync(join(folder, "queries_adversarial.jsonl"))
    ? lines(folder, "queries_adversarial.jsonl", QUESTION)
    : [];
  return [...new Set(memories.map(({ conv }) => conv))].map((name) => ({
    name,
    memories: memories.filter(({ conv }) => conv === name).map(remembered),
    questions: questions
      .filter(({ conv }) => conv === name)
      .map(asked)
      .filter(isAnswered),
    adversarial: adversarial.filter(({ conv }) => conv === name).map(asked),
  }));
}

/** The same where nobody says who asks. */
export const withoutAsker = (conversation: Conversation): Conversation => ({
  ...conversation,
  questions: conversation.questions.map(({ asker: _, ...question }) => question),
});

/** The folder itself, or those up to two below it, that hold such data. */
export function dataFolders(folder: string, depth = 2): readonly string[] {
  if (existsSync(join(folder, "memories.jsonl"))) return [folder];
  if (depth < 0 || !existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name))
    .sort()
    .flatMap((one) => dataFolders(one, depth - 1));
}

function lines<T>(folder: string, name: string, shape: z.ZodType<T>): readonly T[] {
  const file = join(folder, name);
  if (!existsSync(file))
    throw new Error(`${file} is not there; --data takes a folder with memories.jsonl and queries.jsonl`);
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line, i) => {
      try {
        return shape.parse(JSON.parse(line));
      } catch (error) {
        throw new Error(`${file}:${i + 1} is not what the bench reads`, { cause: error });
      }
    });
}

const remembered = ({ id, ts, speaker, session, content }: z.infer<typeof MEMORY>): Remembered => ({
  id,
  at: Date.parse(ts),
  speaker,
  session,
  text: content,
});

const asked = ({
  id,
  category,
  question,
  relevant,
  relevant_audited,
  asker,
  asked_at,
}: z.infer<typeof QUESTION>): Question => ({
  id,
  category,
  text: question,
  relevant: relevant_audited ?? relevant,
  ...(asker !== undefined && { asker }),
  ...(typeof asked_at === "string" && { at: Date.parse(asked_at) }),
});

const isAnswered = ({ relevant }: Question): boolean => relevant.length > 0;
