import { frame } from "../guard/index.ts";
import {
  type CountTokens,
  type Epoch,
  type Framed,
  type FramedAbove,
  framedAbove,
  type Ledger,
  type LedgerEntry,
  layerId,
  lowestTrust,
  type Memory,
  type Message,
  type TranscriptMessage,
  type Trusted,
  type TurnId,
  trusted,
  untrusted,
} from "../protocol/index.ts";
import type { Compilation } from "./compile.ts";
import { beginningWithin, countBlock, countMessage } from "./tokens.ts";
import { sessionTask, topicTask } from "./wording.ts";

const SUMMARY = layerId("summary");

/** A memory takes at most this share of the room (1/n), so that others fit in, too. */
const SHARE = 4;

/** The subject of a summary: one stretch of talk, or one topic whenever it came up. */
export type SummaryGroup = "session" | "topic";

/** A request for a summary of memories, and which of them are in the request. */
export interface StretchRequest {
  /** How many of the memories, from the first on, have room; 0 if none has. */
  readonly said: number;
  /**
   * The request of a turn, in a separate epoch: nothing that was summarized before is sent with it.
   * @param running the epoch in which the previous summary was made
   */
  readonly compile: (turn: TurnId, running: Epoch | undefined) => Compilation;
}

interface StretchRoom {
  /** Words that the summary may have. */
  readonly words: number;
  readonly limit: number;
  readonly count: CountTokens;
}

type StretchMemory = Pick<Memory, "kind" | "at" | "trust" | "speaker" | "content">;

/**
 * The request for a summary of memories, the oldest first: each in a separate frame and cut if it is long, then the task. It contains no
 * layer, tool or other memory of the agent, and never has more than `limit` tokens. Pure.
 */
export function stretchRequest(
  memories: readonly StretchMemory[],
  by: SummaryGroup,
  { words, limit, count }: StretchRoom,
): StretchRequest {
  const text = trusted(by === "session" ? sessionTask(words) : topicTask(words));
  const free = limit - countBlock(text, count);
  const most = Math.floor((free - countMessage(messageOf([]), count)) / SHARE);
  const texts: Framed[] = [];
  let left = 0;
  let above: FramedAbove = {};
  for (const memory of memories) {
    const { sent, whole } = frameStretch(memory, { most, count, above });
    if (countMessage(messageOf([...texts, sent]), count) > free) break;
    texts.push(sent);
    above = framedAbove(sent, above);
    left += count(whole) - count(sent);
  }
  const message = messageOf(texts);
  const sent: SentMessage = {
    message,
    trust: lowestTrust(["agent", ...memories.slice(0, texts.length).map(({ trust }) => trust)]),
    tokens: countMessage(message, count),
    left,
    items: { shown: texts.length, of: memories.length },
  };
  const asked = { text, tokens: countBlock(text, count) };
  return { said: texts.length, compile: (turn, running) => compiled(sent, asked, { turn, running, limit }) };
}

interface SentMessage extends Pick<TranscriptMessage, "message" | "trust" | "tokens"> {
  /** Tokens that were cut off. */
  readonly left: number;
  readonly items: NonNullable<LedgerEntry["items"]>;
}

interface Placed {
  readonly turn: TurnId;
  readonly running: Epoch | undefined;
  readonly limit: number;
}

function compiled(
  { message, trust, tokens, left, items }: SentMessage,
  asked: { readonly text: Trusted; readonly tokens: number },
  { turn, running, limit }: Placed,
): Compilation {
  const epoch = epochAfter(running);
  const { n, reason, cut, mode } = epoch;
  const shown = { section: "message", place: "message", trust, tokens, wanted: tokens + left, items } as const;
  const because = "what is long was cut to its share of the room";
  const entries: readonly LedgerEntry[] = [
    left === 0 ? { ...shown, fate: "kept" } : { ...shown, fate: "truncated", because },
    { section: SUMMARY, place: "tail", trust: "platform", tokens: asked.tokens, wanted: asked.tokens, fate: "kept" },
  ];
  const opened = { n, reason, opened: true, cut };
  const ledger: Ledger = { mode, epoch: opened, entries, tokens: tokens + asked.tokens, limit };
  return {
    epoch,
    opened: [epoch],
    own: [{ message, trust, tokens, turn }],
    tail: [{ layer: SUMMARY, text: asked.text }],
    kept: { whole: [], tokens: 0 },
    ledger,
    taint: trust,
    least: 0,
  };
}

/** An epoch in which everything that the thread contains so far is cut. */
function epochAfter(running: Epoch | undefined): Epoch {
  const empty = { prefix: { tools: [], system: [] }, prefixEntries: [], mode: "full", transcript: [] } as const;
  if (running === undefined) return { n: 1, reason: "first", cut: 0, ...empty };
  return { n: running.n + 1, reason: "cut", cut: running.cut + running.transcript.length, ...empty };
}

const messageOf = (texts: readonly Framed[]): Message => ({
  role: "user",
  parts: texts.map((text) => ({ type: "text", text })),
});

/** Messages are framed as messages, saved memories as memories. */
function frameStretch(
  { kind, at, trust, speaker, content }: StretchMemory,
  { most, count, above }: { readonly most: number; readonly count: CountTokens; readonly above: FramedAbove },
) {
  const name = speaker === undefined ? undefined : untrusted(speaker);
  const header = { kind: kind === "message" ? "message" : "memory", trust, at } as const;
  const write = (text: string): Framed => frame(header, untrusted(text), name, above);
  const whole = write(content);
  if (count(whole) <= most) return { sent: whole, whole };
  return { sent: write(beginningWithin(content, most, (text) => count(write(text)))), whole };
}
