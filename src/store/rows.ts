import {
  type AgentName,
  type CallLimits,
  type ContactId,
  type EventPart,
  isMedia,
  type Json,
  type Ledger,
  type Memory,
  type Message,
  type NewEvent,
  partText,
  type Reply,
  type ReservedLimits,
  type StopReason,
  type StoredEvent,
  StrataError,
  saidInPart,
  spoken,
  type TailPart,
  type TextKey,
  type TextMove,
  type TextPlace,
  type TextVersion,
  type ThreadId,
  type ToolOutcome,
  type ToolSchema,
  type TranscriptMessage,
  type Trust,
  type Trusted,
  type TurnTotals,
  trusted,
  type Untrusted,
  type Usage,
  untrusted,
} from "../protocol/index.ts";
import { toDoneBy } from "./agent-tables.ts";
import type { NewOpenCall, OpenCall } from "./call-records.ts";
import type { PrefixManifest, TranscriptPlace } from "./digests.ts";
import type { RequestRecord, Thread, TurnEnd } from "./records.ts";
import type { NOBODY, Row } from "./tables.ts";

/**
 * Rows to records: the only place of the stores where a stored text gets a type of the protocol.
 *
 * Why that holds: nothing but this room writes the tables, and it writes only what the protocol's types let in; the
 * digests in the record show any change from elsewhere. So a text that is read has the trust it was written with.
 */

/** A row with the text of its piece; no text if it was erased. */
export type WithText<R> = R & { readonly text: string | null };

/** The content of an event's piece: all that its sender wrote. */
export interface EventText extends Pick<NewEvent, "name" | "number" | "line" | "inHistory" | "content"> {
  /** Of an answer to an open call. */
  readonly failed?: true;
  readonly used?: CallLimits;
}

/** A stored text as what it was when it was stored. This is where every trust of this file crosses. */
function stored<T>(text: string): T {
  return JSON.parse(text);
}

/** A message as it was sent: `Trusted` and `Framed` again, because only such text was let into a message. */
export const toMessage = (text: string): Message => stored(text);
/** A turn's live layers as they were sent; trust as for messages. */
export const toTail = (text: string): readonly TailPart[] => stored(text);
/** An answer as the model gave it: its text was `Spoken` when it was stored. */
export const toReply = (text: string): Reply => stored(text);
/** A tool's result with its writes, all of it untrusted text. */
export const toOutcome = (text: string): ToolOutcome => stored(text);
/** The tools as they were sent, key order included. */
export const toTools = (text: string): readonly ToolSchema[] => stored(text);
/** An epoch's prefix by digest. */
export const toManifest = (text: string): PrefixManifest => stored(text);
/** The cache breakpoints that the provider was sent. */
export const toBreakpoints = (text: string): RequestRecord["breakpoints"] => stored(text);
/** How the model was asked to answer. */
export const toParameters = (text: string): RequestRecord["parameters"] => stored(text);
/** The totals of a turn. Earlier rows say `rounds` for model calls and `calls` for tool calls. */
export function toTotals(text: string): TurnTotals {
  const { rounds, calls, ...totals }: TurnTotals & { readonly rounds?: number; readonly calls?: number } = stored(text);
  return { ...(rounds !== undefined && { modelCalls: rounds, toolCalls: calls }), ...totals };
}

/** Any value, for callers that look into it themselves. */
export const toJson = (text: string): Json => stored(text);
const toTags = (text: string): readonly string[] => stored(text);
export const toEventText = (text: string): EventText => stored(text);

/** A system block's text. The crossing holds: a prefix takes only `Trusted` text, and it is stored nowhere else. */
export const toSystemText = (text: string): Trusted => trusted(text);

/** A thread, without what only the store needs to know of it. */
export function toThread(row: Row<"thread">): Thread {
  const { id, org, agent, contact, channel, key, version } = row;
  const { caller_thread: callers, caller_agent: asks, caller_call: call } = row;
  return {
    id,
    scope: { org, agent, contact },
    channel,
    key,
    version,
    ...(row.forked_thread !== null && { forkedFrom: { thread: row.forked_thread, turn: row.forked_turn } }),
    createdAt: row.created_at,
    lastActivity: row.last_activity,
    turns: row.turns,
    ...(callers && asks && call && { caller: { thread: callers, agent: asks, call } }),
    ...partiesIn(row),
  };
}

export const partiesIn = ({ initiator, target }: Pick<Row<"thread">, "initiator" | "target">) =>
  initiator === null || target === null ? {} : { parties: { initiator, target } };

/** A call that a turn left open. */
export function toOpenCall(row: Row<"open_call">): OpenCall {
  const { id, turn, call, tool, waits_for: waitsFor, keeps, due, reserved, state } = row;
  return {
    id,
    turn,
    call,
    tool,
    waitsFor,
    keeps: keeps === 1,
    ...(due !== null && { due }),
    ...(reserved !== null && { reserved: toLimits(reserved) }),
    state,
  };
}

/** Limits of a call, or what it used of them. */
export const toLimits = (text: string): ReservedLimits => stored(text);

/** An event; without name and content where they were erased. */
export function toEvent(row: WithText<Row<"event">>): StoredEvent {
  const { id, thread, seq, kind, trust, channel, at, status, proof } = row;
  const said: EventText = row.text === null ? { content: [] } : toEventText(row.text);
  return {
    id,
    thread,
    seq,
    kind,
    trust,
    channel,
    ...(row.external_id !== null && { externalId: row.external_id }),
    ...(proof !== null && { proof }),
    ...said,
    at,
    status,
    ...(row.turn !== null && { turn: row.turn }),
    ...(row.answers !== null && { answers: row.answers }),
  };
}

/** A message of a transcript, with its mark. */
export function toTranscriptMessage(row: TranscriptPlace, text: string): TranscriptMessage {
  return { message: toMessage(text), trust: row.trust, tokens: row.tokens, turn: row.came_with };
}

/** Whether an event's text is already in the history. */
export const isInHistory = (text: string | null): boolean => text !== null && toEventText(text).inHistory === true;

/** An event's content, as it is stored. */
export const eventWords = (text: string): string => wordsOf(toEventText(text).content);

/** An event's content, part by part; pictures and files by their media type. */
export function wordsOf(parts: readonly EventPart[]): string {
  return parts.map((part) => (isMedia(part) ? `(${part.mediaType})` : partText(part))).join("\n");
}

/** The texts that a row of a text's history names; null if it names none, or if they were erased. */
interface MoveTexts {
  readonly reason: string | null;
  readonly text: string | null;
  readonly line: string | null;
  readonly findings: string | null;
}

/** Which text a row is of. */
export function toTextKey({ layer, part }: Pick<Row<"text_move">, "layer" | "part">): TextKey {
  return { layer, ...(part !== "" && { part }) };
}

/** A change to a text. */
export function toTextMove(row: Row<"text_move">, reason: string | null): TextMove {
  const { seq, kind, n, was: from, stands: to, turn, at } = row;
  const why = untrusted(reason ?? "");
  return {
    ...toTextKey(row),
    seq,
    kind,
    n,
    from,
    to,
    ...toDoneBy(row),
    ...(turn !== null && { turn }),
    reason: why,
    at,
  };
}

/**
 * A version, by the row that made it. `Trusted` again: only text that passed the guard was let in as a version, and what waits for
 * an operator is in no prompt.
 */
export function toTextVersion(
  row: Row<"text_move">,
  texts: MoveTexts,
  now: Pick<TextVersion, "status" | "active" | "digest">,
): TextVersion {
  const { n, turn, at, parent, verdict, trust, inputs } = row;
  return {
    ...toTextKey(row),
    n,
    text: trusted(texts.text ?? ""),
    ...(texts.line !== null && { line: trusted(texts.line) }),
    ...now,
    trust: trust ?? "contact",
    inputs: inputs ?? "contact",
    ...toDoneBy(row),
    ...(turn !== null && { turn }),
    reason: untrusted(texts.reason ?? ""),
    verdict: { verdict: verdict ?? "reject", findings: texts.findings === null ? [] : toTags(texts.findings) },
    parent: parent ?? 0,
    place: toPlace(row),
    at,
  };
}

/** @throws StrataError `record_broken`: text without a declared place is placed nowhere (law 2) */
function toPlace({ agent, layer, n, rank, source, declared }: Row<"text_move">): TextPlace {
  if (rank !== null && source !== null) return { rank, source, ...(declared !== null && { declared }) };
  const message = `version ${n} of ${layer} of ${agent} does not say for which layer it was written: run \`strata verify\` where the data is`;
  throw new StrataError("record_broken", message, { agent, layer, n });
}

/** The content of a slot: its possible author, and the text of its piece. */
interface SlotText {
  readonly agent: AgentName;
  readonly contact: ContactId | typeof NOBODY;
  readonly trust: Trust;
  readonly slot_kind: Row<"slot">["kind"] | null;
  readonly slot_thread: ThreadId | null;
  readonly text: string | null;
}

/** A memory's row with the slot that shows it, if it is a message of a turn. */
export type MemoryRow = Row<"memory"> & SlotText;

/** A memory. Of what is left out by its row nothing is known. */
export function toMemory(row: MemoryRow): Memory {
  const { id, kind, trust, at, support, session, valid_from: validFrom, valid_until: validUntil } = row;
  const { content, speaker } = row.content === null ? saidIn(row) : { content: row.content, speaker: row.speaker };
  const saidBy = row.slot_kind === "reply" ? "agent" : row.slot_kind === null ? null : trust;
  const by = row.by ?? saidBy;
  return {
    id,
    kind,
    content,
    tags: row.tags === null ? [] : toTags(row.tags),
    trust,
    at,
    support,
    ...(row.turn !== null && { turn: row.turn }),
    ...(speaker !== null && { speaker }),
    ...(session !== null && { session }),
    ...(by !== null && toDoneBy({ by, by_id: row.by_id })),
    ...(row.sources !== null && { sources: toTags(row.sources) }),
    ...(validFrom !== null && { validFrom }),
    ...(validUntil !== null && { validUntil }),
    ...(row.supersedes !== null && { supersedes: row.supersedes }),
    ...(row.superseded_by !== null && { supersededBy: { memory: row.superseded_by, at: row.superseded_at ?? 0 } }),
  };
}

/**
 * A message's words and author: by the name they gave, otherwise by that of their scope. Placeholders for pictures are not the author's
 * words.
 */
export function saidIn({ slot_kind, text, agent, contact, trust }: SlotText): SpokenText {
  if (text === null || slot_kind === null) return { content: untrusted(""), speaker: null };
  if (slot_kind === "reply") return { content: untrusted(String(toJson(text))), speaker: agent };
  const { name, content } = toEventText(text);
  const parts = content.flatMap(saidInPart);
  return { content: untrusted(parts.join("\n")), speaker: name ?? (trust === "contact" ? contact : trust) };
}

/** A message's words, and its author as a question would name them. */
export interface SpokenText {
  readonly content: Untrusted;
  readonly speaker: string | null;
}

/** Reasons to end a turn that have other words today. Earlier rows have these, and their links repeat them. */
const FIRST_STOPS: Readonly<Record<string, StopReason>> = {
  rounds: "modelCalls",
  calls: "toolCalls",
  dollars: "maxCost",
};

/** How a turn ended; nothing while it runs. `text` is what its reply or its failure said, null where erased. */
export function toEnd(row: Row<"turn">, text: string | null, calls: readonly NewOpenCall[] = []): TurnEnd | undefined {
  const words = text === null ? null : String(toJson(text));
  const reply = row.words === null ? null : spoken(words ?? "");
  if (row.status === "waiting") return { status: "waiting", reply, calls };
  if (row.stop !== null) {
    // The reply's words are the model's, as for the outbox. An erased reply is empty, none stays none.
    return { status: "done", stop: FIRST_STOPS[row.stop] ?? row.stop, reply };
  }
  if (row.code !== null) return { status: "failed", code: row.code, message: words ?? "(erased)" };
  return undefined;
}

/** A request without its bytes. Of an erased reply the usage stays: it was paid for. */
export function toRequest(row: Row<"request">, texts: RequestTexts): Omit<RequestRecord, "tail"> {
  const { n, epoch, base, own, taint, dollars, at, milliseconds } = row;
  return {
    n,
    epoch,
    base,
    own,
    breakpoints: toBreakpoints(texts.breakpoints),
    parameters: toParameters(texts.parameters),
    ledger: texts.ledger,
    taint,
    ...predictionOf(row),
    reply: replyOf(row, texts.reply),
    dollars,
    at,
    milliseconds,
  };
}

/** The texts that a request's row names. */
interface RequestTexts {
  readonly breakpoints: string;
  readonly parameters: string;
  readonly ledger: Ledger;
  readonly reply: string | null;
}

function replyOf(row: Row<"request">, text: string | null): Reply | null {
  if (text !== null) return toReply(text);
  return row.finish === null ? null : { parts: [], finish: row.finish, usage: usageOf(row) };
}

function usageOf(row: Row<"request">): Usage {
  const { input, cache_read: cacheRead, cache_write: cacheWrite, cache_write_long: cacheWriteLong, output } = row;
  return { input, cacheRead, cacheWrite, ...(cacheWriteLong !== null && { cacheWriteLong }), output };
}

function predictionOf(row: Row<"request">): Pick<RequestRecord, "prediction"> {
  const { predicted_read: read, predicted_write: write, predicted_write_long: writeLong, predicted_input: input } = row;
  if (read === null || write === null || writeLong === null || input === null) return {};
  return { prediction: { read, write, writeLong, input } };
}

/** The subject of a link: a turn, an erasure that closed threads, or a row that it repeats. */
export interface LinkSubject {
  readonly turn?: string;
  readonly threads?: readonly string[];
  readonly row?: string;
}

/** The subject of a link's body; undefined for an unknown body. `kinds`: the first words of links that repeat a row. */
export function toSubject(text: string, kinds: readonly string[]): LinkSubject | undefined {
  const said = stored<{ readonly turn?: unknown; readonly erased?: { readonly threads?: unknown } }>(text);
  const { turn, erased } = said;
  if (typeof turn === "string") return { turn };
  const row = kinds.find((kind) => kind in said);
  if (row) return { row };
  const threads = erased?.threads;
  return Array.isArray(threads) ? { threads: threads.map(String) } : undefined;
}
