import { z } from "zod";
import {
  type NewMemory,
  type StoreWrite,
  type ToolContext,
  type ToolOutcome,
  TRUSTS,
  type TurnId,
  untrusted,
} from "../protocol/index.ts";
import { valueProblem } from "./argument-problem.ts";

/** What a tool may give: a text, or more. `failed` left out is false. */
export type ToolAnswer =
  | string
  | {
      readonly text: string;
      readonly failed?: boolean;
      readonly writes?: readonly { readonly kind: "memory"; readonly memory: MemoryToWrite }[];
    };

/** A memory as a tool writes it: `tags` left out are none. */
type MemoryToWrite = Omit<NewMemory, "content" | "tags"> & {
  readonly content: string;
  readonly tags?: readonly string[];
};

/** What came of a call that worked. */
export function answered(text: string, writes: readonly StoreWrite[] = []): ToolOutcome {
  return { text: untrusted(text), failed: false, ...(writes.length > 0 ? { writes } : {}) };
}

/** What came of a call that did not: a sentence with the reason and, where there is one, the next step. */
export function refused(sentence: string): ToolOutcome {
  return { text: untrusted(sentence), failed: true };
}

/**
 * Runs a tool and looks at what it gives before anybody uses it: types are not checked in modules. What is no answer becomes
 * a failed outcome that names the tool. What it throws is thrown on, in words.
 */
export async function outcomeOf(tool: string, context: ToolContext, run: () => unknown): Promise<ToolOutcome> {
  const given = await inWords(run);
  if (typeof given === "string") return answered(given);
  const { data, error } = ANSWER.safeParse(given);
  const [problem] = error?.issues ?? [];
  if (data === undefined || problem !== undefined) return noAnswer(tool, problem && valueProblem(problem, given, "it"));
  const foreign = data.writes?.findIndex(({ memory: { turn } }) => turn !== undefined && turn !== context.turn) ?? -1;
  if (foreign >= 0) return noAnswer(tool, `"writes.${foreign}.memory.turn" is not the \`turn\` of the call's context`);
  const writes = data.writes?.map(({ memory }) => asWrite(memory, context.turn));
  return { ...answered(data.text, writes), failed: data.failed ?? false };
}

/** The call may have acted, so it is not said that it did not run. */
const noAnswer = (tool: string, problem = "it does not fit"): ToolOutcome =>
  refused(`${tool} has run, but gave no answer: ${problem}. A tool gives a text, or { text, failed, writes }.`);

/** The last millisecond that a date can tell, either way. */
const LAST = 8_640_000_000_000_000;

const MEMORY = z.strictObject({
  content: z.string(),
  tags: z.array(z.string()).default([]),
  trust: z.enum(TRUSTS),
  turn: z.string().optional(),
  at: z.int().min(-LAST).max(LAST),
});
const ANSWER = z.strictObject({
  text: z.string(),
  failed: z.boolean().default(false),
  writes: z.array(z.strictObject({ kind: z.literal("memory"), memory: MEMORY })).optional(),
});

function asWrite({ content, turn, ...memory }: z.output<typeof MEMORY>, current: TurnId): StoreWrite {
  return {
    kind: "memory",
    memory: { ...memory, content: untrusted(content), ...(turn !== undefined && { turn: current }) },
  };
}

async function inWords(run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (thrown) {
    throw hasWords(thrown) ? thrown : new Error("it threw nothing that says why", { cause: thrown });
  }
}

function hasWords(thrown: unknown): boolean {
  if (thrown instanceof Error) return thrown.message.trim() !== "";
  return typeof thrown === "string" ? thrown.trim() !== "" : typeof thrown === "number";
}
