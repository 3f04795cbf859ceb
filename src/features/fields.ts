import { z } from "zod";
import {
  agentName,
  approvalId,
  contactId,
  layerId,
  MODES,
  memoryId,
  outboxId,
  threadId,
  turnId,
  untrusted,
} from "../protocol/index.ts";
import type { Position } from "../store/index.ts";

const LINE = /^(?!\s)[^\p{C}\p{Zl}\p{Zp}]{1,200}(?<!\s)$/u;

/** One visible line. */
export const line = (): z.ZodString =>
  z.string().regex(LINE, "1 to 200 visible characters without a line break or outer blanks");

const says = (most: number): z.ZodString => z.string().max(most).regex(/\S/, "a text that says something");

/** A path that only leads down. `message` is the name in a refusal. */
export const pathBelow = (says: string): z.ZodString =>
  z
    .string()
    .max(300)
    .regex(/^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$))[^\0\\\r\n]+$/u, says);

/** How long the content of a project's folder is used before it is read again. */
export const CACHED_SECONDS = z
  .number()
  .min(0)
  .max(86_400)
  .default(30)
  .describe("Seconds for which they are not read again. After that, a turn uses the cached text.");

/** The time of an answer. */
export const TIME = z.number().describe("milliseconds since 1970");

/** Who did something. */
export const DONE_BY = {
  by: z.string().describe("the role"),
  byId: z
    .string()
    .optional()
    .describe("who it was, such as `local:operator`; absent for contacts, and if it was not kept"),
};

/** A list in an answer. */
export const list = <T extends z.ZodType>(item: T) => z.array(item).readonly();

/** A member only if it was given: an absent one is never `undefined`. */
export function given<K extends string, V>(name: K, value: V | undefined): { readonly [P in K]?: V } {
  const made: { [P in K]?: V } = {};
  if (value !== undefined) made[name] = value;
  return made;
}

/** A whole number of a range, which the sentence of a refusal names. */
export function whole(from: number, to: number) {
  const range = `a whole number from ${from} to ${to}`;
  return z
    .number(range)
    .refine((value) => Number.isSafeInteger(value) && value >= from && value <= to, range)
    .meta({ type: "integer", minimum: from, maximum: to });
}

/** The fields that operations share. A value with its own format becomes a protocol type here and nowhere else. */
export const FIELDS = {
  agent: z.string().describe("an agent's name").transform(agentName),
  contact: z.string().describe("the person who writes to the agent, as the channel names them").transform(contactId),
  thread: z.string().describe("a thread, thr_…").transform(threadId),
  turn: z.string().describe("a turn, trn_…").transform(turnId),
  memory: z.string().describe("a memory, mem_…").transform(memoryId),
  approval: z.string().describe("a call that waits for a person, apr_…").transform(approvalId),
  message: z.string().describe("a message, out_…").transform(outboxId),
  layer: z.string().describe("a layer, by its id, or by its rank if no other layer shares it").transform(layerId),
  skill: z.string().min(1).max(64).describe("which skill, if the layer holds skills"),
  text: z.string().max(100_000).describe("the new text"),
  mode: z
    .enum(MODES)
    .describe(
      "how much of the prompt is sent in this turn; default: the agent's own mode. A running conversation begins a new epoch if it had another",
    ),
  channel: line().describe("where the conversation takes place"),
  key: line().describe("which conversation of the contact on that channel"),
  limit: whole(1, 1_000).default(20).describe("how many at most"),
  after: z
    .string()
    .max(300)
    .regex(/^\d+(?:\.[\s\S]+)?$/, "a place in a list, as `next` of an earlier answer gives it")
    .describe("continue behind this place: the `next` of the answer before")
    .transform(positionFrom)
    .optional(),
  query: says(1_000).describe("words to search for"),
  note: z.string().max(1_000).describe("a note for the record").transform(untrusted),
  reason: z.string().max(1_000).describe("why, for the record").transform(untrusted),
} as const;

/** What the record says if the command line gives no reason. */
export const NO_REASON = { reason: "no reason given" } as const;

/** Of whom something is asked. */
export const OF_AGENT = z.strictObject({ agent: FIELDS.agent });

/** The paging fields of a growing list. */
export const PAGE = { limit: FIELDS.limit, after: FIELDS.after } as const;

/** What its answer gives beside the list. */
export const NEXT = {
  next: z.string().optional().describe("Where the list continues: pass it as `after`. Left out at the end."),
} as const;

/** Where a list continues if it may have more than this page. */
export function nextAfter<T>(
  page: readonly T[],
  limit: number,
  positionOf: (one: T) => { readonly at: number; readonly id?: string },
): { readonly next?: string } {
  const last = page.at(-1);
  if (last === undefined || page.length < limit) return {};
  const { at, id } = positionOf(last);
  return { next: id === undefined ? `${at}` : `${at}.${id}` };
}

function positionFrom(text: string): Position {
  const [at = ""] = text.split(".", 1);
  return { at: Number(at), id: text.slice(at.length + 1) };
}

/** The same of lists that grow. */
export const LIST_OF_AGENT = OF_AGENT.extend(PAGE);
