import { z } from "zod";
import {
  type FilePart,
  type ImagePart,
  nearest,
  type SenderReply,
  type StoreWrite,
  type ToolContext,
  type ToolName,
  type ToolOutcome,
  type Trust,
  untrusted,
} from "../../protocol/index.ts";
import type { Writes } from "../../store/index.ts";
import { valueProblem } from "./argument-problem.ts";
import {
  mediaMismatch,
  mediaTooLarge,
  mediaType as mediaTypeProblem,
  NO_ERROR_MESSAGE,
  nothingUsable,
  notJson,
  UNFIT,
  WRITE_WANTED,
} from "./wording.ts";

/**
 * What a tool may return: a text, or more. `failed` defaults to false. Of the writes, any tool may plan those whose kind allows it, such as
 * `{ kind: "memory", memory: { content, trust, at } }`.
 */
export type ToolAnswer =
  | string
  | ToolOutcome
  | {
      readonly text: string;
      readonly failed?: boolean;
      readonly media?: readonly ToolMedia[];
      readonly writes?: readonly (StoreWrite | (StoreWrite & Readonly<Record<string, unknown>>))[];
    };

/** A picture or a file beside the text: bytes, or their base64. */
interface ToolMedia {
  readonly mediaType: string;
  readonly data: string | Uint8Array;
  readonly name?: string;
}

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

/** The same of a search for tools: the answer shows their schemas, so a provider may load them. */
export function answeredWithTools(text: string, loads: readonly ToolName[]): ToolOutcome {
  const outcome: ToolOutcome = { ...answered(text), trust: "operator", loads };
  ours.add(outcome);
  return outcome;
}

/** The same of a call that did not work, and whose sentence may quote what it shows. */
export function refusedAs(trust: Trust, sentence: string): ToolOutcome {
  const outcome: ToolOutcome = { ...refused(sentence), trust };
  ours.add(outcome);
  return outcome;
}

/** What came of a call that answers one of several senders, whom the tool has found. */
export function replying(text: string, reply: SenderReply, trust: Trust): ToolOutcome {
  const outcome: ToolOutcome = { ...answered(text), reply, trust };
  ours.add(outcome);
  return outcome;
}

/** Only these tools can reply to a sender or set the trust: any other result is read as the answer of an unknown tool. */
const ours = new WeakSet<object>();

const isOurs = (given: unknown): given is ToolOutcome => typeof given === "object" && given !== null && ours.has(given);

/** The outcome of a call that did not run: a sentence with the reason and, if there is one, the next step. */
export function refused(sentence: string): ToolOutcome {
  return { text: untrusted(sentence), failed: true };
}

/**
 * Runs a tool and checks its result before use: types are not checked in modules. An invalid result becomes a failed outcome that names the
 * tool. Errors are rethrown as sentences.
 */
export async function outcomeOf(tool: string, run: () => unknown): Promise<ToolOutcome> {
  const given = await inWords(run);
  if (typeof given === "string") return answered(given);
  if (isOurs(given)) return given;
  if (isData(given)) return asJson(tool, given);
  const { data, error } = ANSWER.safeParse(given);
  const [problem] = error?.issues ?? [];
  if (data === undefined || problem !== undefined) return noAnswer(tool, problem && valueProblem(problem, given, "it"));
  const media = data.media.map(asPart);
  const bad = media.find((one) => "because" in one);
  if (bad !== undefined && "because" in bad) return noAnswer(tool, bad.because);
  return {
    ...answered(data.text, data.writes),
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
  // A row may have a column of that name. A near match was meant as one of the answer's fields.
  const others = keys.filter((key) => !ANSWERS.includes(key));
  return !keys.includes("failed") && others.length > 0 && others.every((key) => nearest(key, ANSWERS) === undefined);
}

const ANSWERS: readonly string[] = ["text", "writes", "media", "failed"];

function asJson(tool: string, given: object): ToolOutcome {
  try {
    return answered(JSON.stringify(given, withoutLoss));
  } catch (thrown) {
    const why = thrown instanceof Error ? (thrown.message.split("\n")[0] ?? "") : String(thrown);
    return noAnswer(tool, notJson(why));
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

const noAnswer = (tool: string, problem = UNFIT): ToolOutcome => refused(nothingUsable(tool, problem));

/** The same object, so that what a token has planned stays known as such. */
const WRITE = z.custom<StoreWrite>(
  (value) => typeof value === "object" && value !== null && "kind" in value && typeof value.kind === "string",
  WRITE_WANTED,
);
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

/** A picture or a file as it is stored, or why it is invalid. */
function asPart({
  mediaType,
  data,
  name,
}: z.output<typeof MEDIUM>): ImagePart | FilePart | { readonly because: string } {
  const begins = BEGINNINGS.get(mediaType);
  if (begins === undefined)
    return { because: mediaTypeProblem(JSON.stringify(mediaType), [...BEGINNINGS.keys()].join(", ")) };
  const bytes = Buffer.from(data instanceof Uint8Array ? data : Buffer.from(data, "base64"));
  if (bytes.length > MEDIA_BYTES) return { because: mediaTooLarge(bytes.length, MEDIA_BYTES) };
  if (!begins.test(bytes.subarray(0, 16).toString("latin1"))) return { because: mediaMismatch(mediaType) };
  const kept = { mediaType, data: bytes.toString("base64") };
  return mediaType.startsWith("image/")
    ? { type: "image", ...kept }
    : { type: "file", ...kept, ...(name !== undefined && { name }) };
}

/**
 * The outcome, if its writes were planned by the feature that may, or are of a kind that any tool may ask for. Otherwise a failed one
 * that says why.
 */
export function checkedWrites(
  tool: string,
  outcome: ToolOutcome,
  { kinds, isPlanned }: Writes,
  context: Pick<ToolContext, "turn">,
): ToolOutcome {
  if (outcome.writes === undefined || outcome.writes.every(isPlanned)) return outcome;
  const open = kinds.flatMap(({ kind, forTools }) =>
    forTools === undefined ? [] : [{ kind, schema: forTools(context) }],
  );
  const writes: StoreWrite[] = [];
  for (const [i, write] of outcome.writes.entries()) {
    if (isPlanned(write)) {
      writes.push(write);
      continue;
    }
    const schema =
      open.find(({ kind }) => kind === write.kind)?.schema ?? z.object({ kind: z.enum(open.map(({ kind }) => kind)) });
    const { data, error } = schema.safeParse(write);
    const [problem] = error?.issues ?? [];
    if (problem !== undefined)
      return noAnswer(tool, valueProblem({ ...problem, path: ["writes", i, ...problem.path] }, outcome, "it"));
    if (data !== undefined) writes.push(data);
  }
  return { ...outcome, writes };
}

async function inWords(run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (thrown) {
    throw hasWords(thrown) ? thrown : new Error(NO_ERROR_MESSAGE, { cause: thrown });
  }
}

function hasWords(thrown: unknown): boolean {
  if (thrown instanceof Error) return thrown.message.trim() !== "";
  return typeof thrown === "string" ? thrown.trim() !== "" : typeof thrown === "number";
}
