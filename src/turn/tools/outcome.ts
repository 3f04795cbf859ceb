import { z } from "zod";
import {
  type FilePart,
  type ImagePart,
  type MemoryId,
  memoryId,
  type NewMemory,
  type NewText,
  nearest,
  type SenderReply,
  type StoreWrite,
  type ToolContext,
  type ToolOutcome,
  TRUSTS,
  type Trust,
  type TurnId,
  untrusted,
} from "../../protocol/index.ts";
import { valueProblem } from "./argument-problem.ts";

/** What a tool may give: a text, or more. `failed` left out is false. Edits of the prompt are refused, but for those of this room's own tool. */
export type ToolAnswer =
  | string
  | ToolOutcome
  | {
      readonly text: string;
      readonly failed?: boolean;
      readonly media?: readonly ToolMedia[];
      readonly writes?: readonly (
        | { readonly kind: "memory"; readonly memory: MemoryToWrite }
        | { readonly kind: "forget"; readonly memory: MemoryId }
      )[];
    };

/** A picture or a file beside the text: bytes, or their base64. */
interface ToolMedia {
  readonly mediaType: string;
  readonly data: string | Uint8Array;
  readonly name?: string;
}

/**
 * A memory as a tool writes it: `tags` left out are none. Whoever wrote the tool, the agent saves, a fact or a block: `by` and
 * `session` are refused, and so are the kinds that the platform keeps.
 */
type MemoryToWrite = Omit<NewMemory, "content" | "tags"> & {
  readonly content: string;
  readonly tags?: readonly string[];
};

/** What came of a call that worked. */
export function answered(text: string, writes: readonly StoreWrite[] = []): ToolOutcome {
  return { text: untrusted(text), failed: false, ...(writes.length > 0 ? { writes } : {}) };
}

/** What came of a call whose answer is trusted otherwise than its tool: by what it shows. */
export function answeredAs(trust: Trust, text: string): ToolOutcome {
  const outcome: ToolOutcome = { ...answered(text), trust };
  ours.add(outcome);
  return outcome;
}

/** The same of a call that did not work, and whose sentence may quote what it shows. */
export function refusedAs(trust: Trust, sentence: string): ToolOutcome {
  const outcome: ToolOutcome = { ...refused(sentence), trust };
  ours.add(outcome);
  return outcome;
}

/** What came of a call that changes a text of the prompt, which has been checked. */
export function edited(text: string, edit: NewText): ToolOutcome {
  const outcome: ToolOutcome = { ...answered(text), writes: [{ kind: "edit", edit }] };
  ours.add(outcome);
  return outcome;
}

/** What came of a call that answers one of several senders, whom the tool has found. */
export function replying(text: string, reply: SenderReply): ToolOutcome {
  const outcome: ToolOutcome = { ...answered(text), reply };
  ours.add(outcome);
  return outcome;
}

/** No other tool can ask for an edit, speak to a sender or say how far it is trusted: what is not in here is read as the answer of a tool that nobody knows. */
const ours = new WeakSet<object>();

const isOurs = (given: unknown): given is ToolOutcome => typeof given === "object" && given !== null && ours.has(given);

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
  if (isOurs(given)) return given;
  if (isData(given)) return asJson(tool, given);
  const { data, error } = ANSWER.safeParse(given);
  const [problem] = error?.issues ?? [];
  if (data === undefined || problem !== undefined) return noAnswer(tool, problem && valueProblem(problem, given, "it"));
  const foreign = data.writes?.findIndex((write) => isForeign(write, context.turn)) ?? -1;
  if (foreign >= 0) return noAnswer(tool, `"writes.${foreign}.memory.turn" is not the \`turn\` of the call's context`);
  const writes = data.writes?.map((write) => asWrite(write, context.turn));
  const media = data.media.map(asPart);
  const bad = media.find((one) => "because" in one);
  if (bad !== undefined && "because" in bad) return noAnswer(tool, bad.because);
  return {
    ...answered(data.text, writes),
    failed: data.failed ?? false,
    ...(media.length > 0 && { media: media.filter((one) => "type" in one) }),
  };
}

/** Whether it is something to tell, and not an answer that says more of itself. */
function isData(given: unknown): given is object {
  if (typeof given !== "object" || given === null) return false;
  if (Array.isArray(given)) return true;
  const keys = Object.keys(given);
  if (keys.some((key) => key === "writes" || key === "media")) return false;
  if (!keys.includes("text")) return keys.join() !== "failed";
  // A row may have a column of that name. What is nearly a field of an answer was meant as one.
  const others = keys.filter((key) => !ANSWERS.includes(key));
  return !keys.includes("failed") && others.length > 0 && others.every((key) => nearest(key, ANSWERS) === undefined);
}

const ANSWERS: readonly string[] = ["text", "writes", "media", "failed"];

function asJson(tool: string, given: object): ToolOutcome {
  try {
    return answered(JSON.stringify(given, withoutLoss));
  } catch (thrown) {
    const why = thrown instanceof Error ? (thrown.message.split("\n")[0] ?? "") : String(thrown);
    return noAnswer(tool, `it cannot be told as JSON (${why})`);
  }
}

/** JSON would make `{}` of these without a word. */
function withoutLoss(key: string, value: unknown): unknown {
  if (value instanceof Map || value instanceof Set || value instanceof Promise || typeof value === "function")
    throw new TypeError(
      `${key === "" ? "it" : JSON.stringify(key)} is a ${typeof value === "function" ? "function" : value.constructor.name}`,
    );
  return value;
}

/** The call may have acted, so it is not said that it did not run. */
const noAnswer = (tool: string, problem = "it does not fit"): ToolOutcome =>
  refused(
    `${tool} has run, but gave no answer: ${problem}. A tool gives a text, an object, or { text, failed, media, writes }.`,
  );

/** The last millisecond that a date can tell, either way. */
const LAST = 8_640_000_000_000_000;

const TIME = z.int().min(-LAST).max(LAST);
const ID = z.string().regex(/^mem_[0-9a-hjkmnp-tv-z]{26}$/, "it must be the id of a memory");

const MEMORY = z.strictObject({
  kind: z.enum(["fact", "block"]).optional(),
  content: z.string(),
  tags: z.array(z.string()).default([]),
  trust: z.enum(TRUSTS),
  speaker: z.string().optional(),
  turn: z.string().optional(),
  sources: z.array(z.string()).optional(),
  at: TIME,
  validFrom: TIME.optional(),
  validUntil: TIME.optional(),
  supersedes: ID.optional(),
});
const WRITE = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("memory"), memory: MEMORY }),
  z.strictObject({ kind: z.literal("forget"), memory: ID }),
]);
/** At most this many pictures and files, and bytes of each: the limits of the strictest large provider. */
const MOST_MEDIA = 5;
const MEDIA_BYTES = 3_750_000;

const MEDIUM = z.strictObject({
  // Of an answer that was looked at already.
  type: z.enum(["image", "file"]).optional(),
  mediaType: z.string().max(100),
  data: z.union([z.string(), z.instanceof(Uint8Array)]),
  name: z.string().max(200).optional(),
});
const ANSWER = z.strictObject({
  text: z.string(),
  failed: z.boolean().default(false),
  media: z.array(MEDIUM).max(MOST_MEDIA).default([]),
  writes: z.array(WRITE).optional(),
});

/** How what providers take begins. One that is not what it claims would be refused, and the conversation with it, in each request from then on. */
const BEGINNINGS: ReadonlyMap<string, RegExp> = new Map([
  ["image/png", /^\x89PNG\r\n\x1a\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF.{4}WEBP/s],
  ["application/pdf", /^%PDF-/],
]);

/** A picture or a file as it is kept, or why it is none. */
function asPart({
  mediaType,
  data,
  name,
}: z.output<typeof MEDIUM>): ImagePart | FilePart | { readonly because: string } {
  const begins = BEGINNINGS.get(mediaType);
  if (begins === undefined)
    return { because: `"media" has ${JSON.stringify(mediaType)}, and takes ${[...BEGINNINGS.keys()].join(", ")}` };
  const bytes = Buffer.from(data instanceof Uint8Array ? data : Buffer.from(data, "base64"));
  if (bytes.length > MEDIA_BYTES)
    return { because: `"media" has one of ${bytes.length} bytes, and takes ${MEDIA_BYTES} at most` };
  if (!begins.test(bytes.subarray(0, 16).toString("latin1")))
    return { because: `"media" has one that is no ${mediaType}, as it says it is` };
  const kept = { mediaType, data: bytes.toString("base64") };
  return mediaType.startsWith("image/")
    ? { type: "image", ...kept }
    : { type: "file", ...kept, ...(name !== undefined && { name }) };
}

const isForeign = (write: z.output<typeof WRITE>, current: TurnId): boolean =>
  write.kind === "memory" && write.memory.turn !== undefined && write.memory.turn !== current;

function asWrite(write: z.output<typeof WRITE>, current: TurnId): StoreWrite {
  if (write.kind === "forget") return { kind: "forget", memory: memoryId(write.memory) };
  const { kind, content, tags, trust, speaker, turn, sources, at, validFrom, validUntil, supersedes } = write.memory;
  return {
    kind: "memory",
    memory: {
      ...(kind !== undefined && { kind }),
      content: untrusted(content),
      tags,
      trust,
      ...(speaker !== undefined && { speaker }),
      ...(turn !== undefined && { turn: current }),
      ...(sources !== undefined && { sources }),
      at,
      ...(validFrom !== undefined && { validFrom }),
      ...(validUntil !== undefined && { validUntil }),
      ...(supersedes !== undefined && { supersedes: memoryId(supersedes) }),
    },
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
