import { truncateText } from "../guard/index.ts";
import {
  type AssistantPart,
  type CountTokens,
  type FilePart,
  type ImagePart,
  lowestTrust,
  type Message,
  never,
  type Request,
  type ResultPart,
  shownTools,
  type ToolSchema,
  type TranscriptMessage,
  type Trust,
  type UserPart,
} from "../protocol/index.ts";

/** Tokens that a provider adds around one message or part: at least as many as documented. */
const AROUND = 4;
/** The most that a picture costs by the documented formulas of the large providers. */
const IMAGE = 1_600;

/** Tokens of one message with all its parts. */
export function countMessage(message: Message, count: CountTokens): number {
  // The provider has cleared it, so it costs nothing.
  if (message.role === "system") return 0;
  const parts: readonly (UserPart | AssistantPart | ResultPart)[] = message.parts;
  return parts.reduce((sum, part) => sum + countPart(part, count) + AROUND, AROUND);
}

function countPart(part: UserPart | AssistantPart | ResultPart, count: CountTokens): number {
  switch (part.type) {
    case "text":
    case "reasoning":
      return count(part.text);
    case "result":
      return (part.media ?? []).reduce((sum, one) => sum + mediaTokens(one), count(part.text));
    case "call":
      return count(part.tool) + count(JSON.stringify(part.input)) + AROUND;
    case "image":
      return IMAGE;
    case "file":
      return count(part.data);
    default:
      return never(part);
  }
}

/**
 * Bytes of a small page, so that a document counts with the most pages that it could have; and what a page costs as text and as a picture.
 */
const PAGE_BYTES = 25_000;
const PAGE = 3_000;

/** The cost of a picture or a document in a result by the documented formulas of the large providers: a rather high estimate. */
export const mediaTokens = ({ type, data }: ImagePart | FilePart): number =>
  type === "image" ? IMAGE : PAGE * Math.max(1, Math.ceil(mediaBytes({ data }) / PAGE_BYTES));

export const mediaBytes = ({ data }: Pick<FilePart, "data">): number => Math.floor((data.length * 3) / 4);

/** Tokens of the tools as they are declared to the provider; those that are not shown cost nothing. */
export function countTools(tools: readonly ToolSchema[], count: CountTokens): number {
  return shownTools(tools).reduce(
    (sum, tool) => sum + count(tool.name) + count(tool.description) + count(JSON.stringify(tool.input)) + 2 * AROUND,
    0,
  );
}

/** Tokens of a whole sent request, with each section counted again. */
export function countRequest({ prefix, messages, tail }: Omit<Request, "breakpoints">, count: CountTokens): number {
  const blocks = [...prefix.system, ...tail].reduce((sum, { text }) => sum + countBlock(text, count), 0);
  return messages.reduce(
    (sum, message) => sum + countMessage(message, count),
    countTools(prefix.tools, count) + blocks,
  );
}

/** Tokens of one block of text. */
export function countBlock(text: string, count: CountTokens): number {
  return text === "" ? 0 : count(text) + AROUND;
}

/**
 * The longest beginning of `text` that has at most `tokens`, cut between characters, never inside one. The search looks at no more than 16
 * characters per token, so that a huge text costs no more than a large one.
 */
export function beginningWithin(text: string, tokens: number, count: CountTokens): string {
  const beginning = (length: number) => truncateText(text, length, "");
  let fits = 0;
  let tooMany = Math.min(text.length, Math.max(tokens, 0) * 16) + 1;
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (count(beginning(middle)) <= tokens) fits = middle;
    else tooMany = middle;
  }
  return beginning(fits);
}

/** The totals of a transcript. */
interface TranscriptSum {
  readonly messages: readonly Message[];
  readonly tokens: number;
  readonly trust: Trust;
  /** How many of the messages belong to a turn: all except the platform's marks. */
  readonly ofTurns: number;
  /** The number of the thread's turns in it, and their tokens. */
  readonly turns: { readonly count: number; readonly tokens: number };
}

const known = new WeakMap<readonly TranscriptMessage[], TranscriptSum>();

/**
 * The totals of a transcript, computed in one pass and kept. The transcript is the largest part of a request and stays the same from round
 * to round, so a request costs only what is new in it.
 */
export function transcriptSum(transcript: readonly TranscriptMessage[]): TranscriptSum {
  const before = known.get(transcript);
  if (before?.messages.length === transcript.length) return before;
  const messages: Message[] = [];
  const trusts = new Set<Trust>();
  let tokens = 0;
  let ofTurns = 0;
  let last: TranscriptMessage["turn"] = null;
  const turns = { count: 0, tokens: 0 };
  for (const one of transcript) {
    messages.push(one.message);
    trusts.add(one.trust);
    tokens += one.tokens;
    if (one.turn === null) continue;
    ofTurns++;
    turns.tokens += one.tokens;
    if (one.turn !== last) turns.count++;
    last = one.turn;
  }
  const sum = { messages, tokens, trust: lowestTrust(trusts), ofTurns, turns };
  known.set(transcript, sum);
  return sum;
}
