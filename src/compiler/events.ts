import { clean, cleanName, frame, lineStarts, longestFitting, truncateText } from "../guard/index.ts";
import {
  type CallPart,
  type CountTokens,
  type FilePart,
  type FramedAbove,
  type FrameHeader,
  framedAbove,
  type ImagePart,
  isMedia,
  type KeptResult,
  type LedgerEntry,
  lowestTrust,
  type Message,
  partText,
  type ResultPart,
  type StoredEvent,
  saysDay,
  type TextPart,
  type ToolName,
  type ToolOutcome,
  type TranscriptMessage,
  type Trust,
  type Trusted,
  trusted,
  type Untrusted,
  type UserPart,
  untrusted,
} from "../protocol/index.ts";
import { beginningWithin, countMessage, mediaBytes, mediaTokens } from "./tokens.ts";
import { attached, beginningShown, middleLeftOut, omitted } from "./wording.ts";

/** A beginning with fewer tokens is of no use. */
const LEAST = 64;

/** What must be known to show the events of a turn. */
interface Showing {
  /** The frame data that the transcript before them already shows. */
  readonly above: FramedAbove;
  readonly count: CountTokens;
}

/**
 * The waiting events as this turn's user message: one frame per text or payload, in the order received. Cut to the first of `rooms` (tokens) that
 * holds at least the beginning of each. If none does, the message is returned whole, and the caller must refuse it.
 */
export function eventsMessage(
  events: readonly StoredEvent[],
  rooms: readonly number[],
  showing: Showing,
  whole = wholeMessage(events, showing),
): { message: TranscriptMessage; entry: LedgerEntry } {
  const base = { section: "message", place: "message", trust: whole.trust, wanted: whole.tokens } as const;
  for (const room of rooms) {
    if (whole.tokens <= room) break;
    const cut = cutEvents(framable(events, showing.above), room, showing.count);
    if (cut === undefined) continue;
    const message = stamp(events, cut, showing.count);
    const because = `the message may take ${room} tokens`;
    return { message, entry: { ...base, tokens: message.tokens, fate: "truncated", because } };
  }
  return { message: whole, entry: { ...base, tokens: whole.tokens, fate: "kept" } };
}

/** All that the events say, uncut. */
export function wholeMessage(events: readonly StoredEvent[], { above, count }: Showing): TranscriptMessage {
  const parts = framable(events, above).flatMap((event) => frameEvent(event));
  return stamp(events, parts, count);
}

/** An event, and what the frames above it say. */
interface Framable extends StoredEvent {
  readonly above: FramedAbove;
}

function framable(events: readonly StoredEvent[], before: FramedAbove): readonly Framable[] {
  let above = before;
  return events.map((event) => {
    const one = { ...event, above };
    above = framedAbove(frame(headerOf(event), untrusted(""), senderLine(event), above), above);
    return one;
  });
}

/** The last frame data of the events in messages: later ones need not repeat it. */
export function saidAbove(messages: readonly { readonly message: Message }[]): FramedAbove {
  const texts: string[] = [];
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i]?.message;
    if (message?.role !== "user") continue;
    const said = message.parts.flatMap((part) => (part.type === "text" && part.told === undefined ? [part.text] : []));
    texts.unshift(...said);
    // A frame that says its day leaves nothing to those above it.
    if (said.some(saysDay)) break;
  }
  return texts.reduce<FramedAbove>((above, text) => framedAbove(text, above), {});
}

function stamp(events: readonly StoredEvent[], parts: readonly UserPart[], count: CountTokens): TranscriptMessage {
  const message = { role: "user", parts } as const;
  // A turn that only has the results of open calls says nothing else.
  if (events.length === 0) return { message, trust: "platform", tokens: 0, turn: null };
  return {
    message,
    trust: lowestTrust(events.map((event) => event.trust)),
    tokens: countMessage(message, count),
    turn: events[0]?.turn ?? null,
  };
}

function frameEvent(event: Framable, cut?: (text: string) => string): UserPart[] {
  let { above } = event;
  const framed = (text: Untrusted): TextPart[] => {
    const parts = frameText({ ...event, above }, text, cut);
    above = framedAbove(parts[0]?.text ?? "", above);
    return parts;
  };
  // An ended call or a message with only a picture still has a frame: who, what and when.
  const silent = event.content.every(isMedia) ? framed(untrusted("")) : [];
  return [...silent, ...event.content.flatMap((part) => (isMedia(part) ? showPart(part) : framed(partText(part))))];
}

function frameText(event: Framable, whole: Untrusted, cut?: (text: string) => string): TextPart[] {
  const text = cut === undefined ? whole : untrusted(cut(whole));
  const framed: TextPart = {
    type: "text",
    text: frame(headerOf(event), text, senderLine(event), event.above),
  };
  if (text.length === whole.length) return [framed];
  const mark = trusted(beginningShown(event.kind, text.length, whole.length));
  return [framed, { type: "text", text: mark }];
}

/** Who wrote, from where, and to which line: data, as all that a channel passes on. */
function senderLine({ name, number, line }: StoredEvent): Untrusted | undefined {
  const said = [name, number, line && `to ${line}`].filter((one) => one !== undefined);
  return said.length === 0 ? undefined : untrusted(said.join(" · "));
}

const headerOf = ({ kind, trust, at, proof }: StoredEvent): FrameHeader => ({
  kind,
  trust,
  at,
  ...(proof && { proof }),
});

/** Pictures and files are sent unchanged. A file's name is the sender's claim, and becomes one short line. */
function showPart(part: ImagePart | FilePart): UserPart[] {
  return [part.type === "image" ? part : withCleanName(part)];
}

function withCleanName({ name, ...file }: FilePart): FilePart {
  const claimed = name === undefined ? "" : cleanName(untrusted(name));
  return claimed === "" ? file : { ...file, name: claimed };
}

/**
 * Every event gets an equal share of the room; what one does not need goes to the ones after it, the shortest first. Undefined if a share
 * is too small for a beginning.
 */
function cutEvents(events: readonly Framable[], room: number, count: CountTokens): UserPart[] | undefined {
  const size = (parts: readonly UserPart[]) => countMessage({ role: "user", parts }, count);
  const smallestFirst = events
    .map((event) => ({ event, whole: frameEvent(event) }))
    .map((one) => ({ ...one, tokens: size(one.whole) }))
    .sort((a, b) => a.tokens - b.tokens);
  const parts = new Map<string, UserPart[]>();
  let left = room;
  for (const [i, { event, whole, tokens }] of smallestFirst.entries()) {
    const share = Math.floor(left / (smallestFirst.length - i));
    const cut = tokens <= share ? whole : cutEvent(event, share, count);
    if (cut === undefined) return undefined;
    parts.set(event.id, cut);
    left -= cut === whole ? tokens : size(cut);
  }
  return events.flatMap((event) => parts.get(event.id) ?? []);
}

function cutEvent(event: Framable, share: number, count: CountTokens): UserPart[] | undefined {
  const texts = event.content.filter((part) => !isMedia(part)).length;
  // Frames, names and the mark cost tokens too, and cleaning may lengthen a text: shrink until everything fits.
  for (let each = Math.floor(share / Math.max(texts, 1)) - LEAST; each >= LEAST; each = Math.floor(each * 0.8)) {
    const parts = frameEvent(event, (text) => beginningWithin(text, each, count));
    if (stamp([event], parts, count).tokens <= share) return parts;
  }
  return undefined;
}

/** How a result is kept that is too long: under which number, and the tool that reads it. */
export interface Keeping {
  readonly n: number;
  readonly reader: ToolName;
  /** Characters at most. */
  readonly most: number;
}

/**
 * A tool's result as it enters the transcript: framed, and cut once and for all to `room` tokens. Every call gets a result: if there is no
 * room at all, it is only the frame and the mark. With `keep`, one that is too long shows its beginning and its end, and is kept.
 */
export function frameResult(
  call: Pick<CallPart, "id" | "tool">,
  answer: AnsweredTool & { readonly trust: Trust; readonly at: number },
  whole: number,
  count: CountTokens,
): ResultPart {
  const { text, failed, loads } = answer;
  const { media, notes, room } = mediaWithin(answer, whole, count);
  const header = { kind: "result", trust: answer.trust, at: answer.at } as const;
  const cutTo = (beginning: string) => {
    const mark = beginningShown("result", beginning.length, text.length);
    // The frame holds the tool's whole text; the mark is the platform's and comes after it.
    return trusted(`${frame(header, untrusted(beginning))}\n${mark}`);
  };
  const framed = frame(header, text);
  const fits = count(framed) <= room;
  const parts = fits || answer.keep === undefined ? undefined : bothEnds(answer, answer.keep, header, { room, count });
  const said = fits
    ? framed
    : (parts?.shown ?? cutTo(beginningWithin(text, room, (beginning) => count(cutTo(beginning)))));
  // The frame holds the tool's whole text; the notes come after it.
  const sent = notes.length === 0 ? said : trusted([said, ...notes].join("\n"));
  return {
    ...{ type: "result", id: call.id, tool: call.tool, text: sent, failed },
    // What was cut does not show them whole.
    ...(loads && fits && { loads }),
    ...(media.length > 0 && { media }),
    ...(parts && { kept: parts.kept }),
  };
}

/** Lines that are shown of a kept result at least: one of its beginning, one of its end. */
const LEAST_LINES = 2;

/** The beginning and the end of a result, as many lines as fit, and all of it for the record. Undefined: there is no room for that. */
function bothEnds(
  { text, trust }: AnsweredTool & { readonly trust: Trust },
  { n, reader, most }: Keeping,
  header: FrameHeader,
  { room, count }: { readonly room: number; readonly count: CountTokens },
): { readonly shown: Trusted; readonly kept: KeptResult } | undefined {
  const whole = clean(text);
  const kept = untrusted(truncateText(whole, most, ""));
  const starts = lineStarts(kept);
  const showing = (lines: number): Trusted => {
    const first = Math.ceil((lines * 2) / 3);
    const last = lines - first;
    const mark = middleLeftOut(
      { n, from: first + 1, to: starts.length - last, lines: starts.length },
      { reader, characters: whole.length, ...(kept.length < whole.length && { most: kept.length }) },
    );
    const beginning = kept.slice(0, starts[first]).replace(/\n$/, "");
    const end = kept.slice(starts[starts.length - last]);
    return trusted([frame(header, untrusted(beginning)), mark, frame(header, untrusted(end))].join("\n"));
  };
  if (starts.length <= LEAST_LINES) return undefined;
  const fits = (some: number): boolean => count(showing(some)) <= room;
  // No more is looked at than could fit, however long it is.
  const longest = Math.min(starts.length - 1, starts.filter((at) => at < room * 16).length);
  const lines = longestFitting(longest, fits);
  const shown = showing(lines);
  return lines >= LEAST_LINES && count(shown) <= room ? { shown, kept: { n, trust, text: kept } } : undefined;
}

/** A tool's answer. */
interface AnsweredTool extends Pick<ToolOutcome, "text" | "failed" | "media" | "loads"> {
  /** Media types that the model's API takes in a result. Default: all. */
  readonly takes?: readonly string[];
  /** Left out: what does not fit is dropped. */
  readonly keep?: Keeping;
}

/**
 * Pictures and files that fit while the text gets what it needs, up to half of the room; a note for each; and the room left for the text.
 */
function mediaWithin(
  { text, failed, media = [], takes }: AnsweredTool,
  whole: number,
  count: CountTokens,
): { readonly media: readonly (ImagePart | FilePart)[]; readonly notes: readonly string[]; readonly room: number } {
  const kept: (ImagePart | FilePart)[] = [];
  const notes: string[] = [];
  const least = media.length === 0 ? 0 : Math.min(count(text) + LEAST, Math.floor(whole / 2));
  let room = whole;
  for (const one of media) {
    const tokens = mediaTokens(one);
    const what = `${one.mediaType}, ${Math.ceil(mediaBytes(one) / 1_000)} kB`;
    const because = leftOut({
      failed,
      isTaken: takes?.includes(one.mediaType) ?? true,
      hasRoom: room - tokens - LEAST >= least,
    });
    const note = because === undefined ? attached(what, tokens) : omitted(what, because);
    notes.push(note);
    room -= count(`\n${note}`) + (because === undefined ? tokens : 0);
    if (because === undefined) kept.push(...(one.type === "file" ? [withCleanName(one)] : [one]));
  }
  return { media: kept, notes, room };
}

interface Sendable {
  readonly failed: boolean;
  readonly isTaken: boolean;
  readonly hasRoom: boolean;
}

/**
 * Why a picture or file is not sent; undefined if it is. A failed result is sent as text alone, because providers mark only text as failed.
 */
function leftOut({ failed, isTaken, hasRoom }: Sendable): Parameters<typeof omitted>[1] | undefined {
  if (failed) return "failed";
  if (!isTaken) return "notTaken";
  return hasRoom ? undefined : "noRoom";
}
