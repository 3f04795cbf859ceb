import {
  type CountTokens,
  type Epoch,
  type Framed,
  framedAbove,
  isoSecond,
  type Layer,
  type Ledger,
  type LedgerEntry,
  layerHeading,
  layerId,
  lowestTrust,
  readFrames,
  type TranscriptMessage,
  type Trust,
  trusted,
} from "../protocol/index.ts";
import type { Compilation } from "./compile.ts";
import { total } from "./cut.ts";
import { saidAbove } from "./events.ts";
import { countBlock } from "./tokens.ts";
import { insertedByPlatform, lastMessagesStay, summaryTask } from "./wording.ts";

/** The entry of the ledger, and the part of the tail, with the request for a summary. */
const SUMMARY = layerId("summary");

/**
 * How many messages a turn's first request has just removed from the running epoch's transcript; 0 if it was not cut, or if the epoch began
 * with this turn.
 */
export function messagesCut(running: Epoch | undefined, { epoch }: Compilation): number {
  return running === undefined ? 0 : epoch.cut - running.cut;
}

interface SummaryRequest {
  readonly words: number;
  readonly limit: number;
  readonly count: CountTokens;
  /** The agent's. */
  readonly layers: readonly Layer[];
  /** How many messages of the transcript the last request had. */
  readonly sent: number;
}

/**
 * The request that asks the model to summarize what a cut removes. It repeats the whole previous request byte for byte, because that is in
 * the provider's cache, and adds the task as its tail, with what the model must leave out because it was not said in the conversation (law
 * 12). If there is not enough room, it contains only what was sent of the transcript, or else only what is removed. Pure.
 * @param gone how many of the thread's own messages, from the first on, are removed
 * @param words the number of words that the summary may have
 */
export function summaryRequest(running: Epoch, gone: number, asking: SummaryRequest): Compilation {
  const marks = running.transcript.filter((one) => one.turn === null).length;
  const least = marks + gone;
  const lengths = [running.transcript.length, Math.max(asking.sent, least), least];
  const requests = lengths.map((length) => () => askingOver(running, { length, least }, asking));
  return (
    requests.map((made) => made()).find(({ ledger }) => ledger.tokens <= asking.limit) ??
    askingOver(running, { length: least, least }, asking)
  );
}

/** What was said, for somebody who may not see the rest of the conversation: with nothing of its tool calls. */
export interface SaidText {
  readonly text: Framed;
  readonly trust: Trust;
}

/** The request that asks the model to summarize that alone: after the epoch's prefix, nothing of the transcript is sent. Pure. */
export function saidSummaryRequest(
  running: Epoch,
  { text, trust }: SaidText,
  { words, limit, count }: Pick<SummaryRequest, "words" | "limit" | "count">,
): Compilation {
  const tail = [text, trusted(summaryTask(words, { stays: "", beside: "" }))].map((part) => ({
    layer: SUMMARY,
    text: part,
  }));
  const tokens = tail.reduce((sum, part) => sum + countBlock(part.text, count), 0);
  const shown: LedgerEntry = { section: SUMMARY, place: "tail", trust, tokens, wanted: tokens, fate: "kept" };
  const taint = lowestTrust([...running.prefixEntries.map((one) => one.trust), trust]);
  return requestWith({ ...running, transcript: [] }, { entries: [shown], limit, tail, taint });
}

/** How many messages of the transcript are sent, and how many of them are to be summarized. */
interface SummaryReach {
  readonly length: number;
  readonly least: number;
}

function askingOver(
  running: Epoch,
  { length, least }: SummaryReach,
  { words, limit, count, layers }: SummaryRequest,
): Compilation {
  const transcript = running.transcript.slice(0, length);
  const beside = laidBeside({ ...running, transcript }, layers);
  const text = trusted(
    summaryTask(words, {
      stays: staying(transcript, least),
      beside: beside.length === 0 ? "" : insertedByPlatform(beside),
    }),
  );
  const live: LedgerEntry = {
    section: SUMMARY,
    place: "tail",
    trust: "platform",
    tokens: countBlock(text, count),
    wanted: countBlock(text, count),
    fate: "kept",
  };
  const taint = lowestTrust([...running.prefixEntries, ...transcript].map((one) => one.trust));
  const tokens = total(transcript);
  const shown: LedgerEntry = {
    section: "transcript",
    place: "transcript",
    trust: lowestTrust(transcript.map((one) => one.trust)),
    tokens,
    wanted: tokens,
    fate: "kept",
  };
  const tail = [{ layer: SUMMARY, text }];
  return requestWith({ ...running, transcript }, { entries: [shown, live], limit, tail, taint });
}

function requestWith(
  epoch: Epoch,
  { entries: sent, limit, tail, taint }: Pick<Compilation, "tail" | "taint"> & Pick<Ledger, "entries" | "limit">,
): Compilation {
  const entries = [...epoch.prefixEntries, ...sent];
  const { n, reason, cut, mode } = epoch;
  const ledger: Ledger = {
    mode,
    epoch: { n, reason, opened: false, cut },
    entries,
    tokens: entries.reduce((sum, entry) => sum + entry.tokens, 0),
    limit,
  };
  return { epoch, opened: [], own: [], tail, kept: { whole: [], tokens: 0 }, ledger, taint, least: 0 };
}

/** The headings of the platform's own texts in the messages: live layers and frozen memory. */
function laidBeside(
  { transcript, prefixEntries }: Pick<Epoch, "transcript" | "prefixEntries">,
  layers: readonly Layer[],
): readonly string[] {
  const frozen = prefixEntries.filter(({ place, tokens }) => place === "transcript" && tokens > 0);
  const ids = new Set<string>([...frozen.map(({ section }) => section), ...transcript.flatMap(shownLayerIds)]);
  return layers.filter(({ id }) => ids.has(id)).map((layer) => `"${layerHeading(layer)}"`);
}

const shownLayerIds = ({ message }: TranscriptMessage): readonly string[] =>
  message.role === "user"
    ? message.parts.flatMap((part) => (part.type === "text" && part.told ? [part.told.layer] : []))
    : [];

/** What stays in view is identified by the platform's own frame header and its day, never by a sender's words. */
function staying(transcript: readonly TranscriptMessage[], from: number): string {
  const stays = transcript.slice(from);
  if (stays.length === 0) return "";
  let above = saidAbove(transcript.slice(0, from));
  for (const { message } of stays) {
    for (const part of message.role === "user" ? message.parts : []) {
      if (part.type !== "text") continue;
      const [first] = readFrames(part.text, above);
      const [line = ""] = part.text.split("\n", 1);
      if (first !== undefined && /^\[[^[\]`]+\]$/u.test(line))
        return lastMessagesStay(stays.length, { line, day: isoSecond(first.at).slice(0, 10) });
      above = framedAbove(part.text, above);
    }
  }
  return lastMessagesStay(stays.length);
}
