import { CONTEXT_KINDS, type EventKind, KIND_FORM } from "./event.ts";
import { PROOFS, type Proof } from "./life.ts";
import { TRUSTS, type Trust } from "./trust.ts";

/**
 * The grammar of frames. A frame is one header line of the platform, data lines, and the content with a prefix on every line:
 *
 *     [message contact 09:30Z]
 *     |# Sat 2026-11-21
 *     |@ Caroline
 *     | Hey! Good to see you!
 *     | How have you been?
 *
 * Where senders are addresses, the header also says whether the message is `proven` or only `claimed` to be theirs:
 * `[message contact proven 09:30Z]`.
 *
 * The frame of an event gives its day (`|# `) and its sender's name (`|@ `) only if they differ from those of the event's frame above
 * (`FramedAbove`). With a day it also gives the name, if there is one; an empty name line means that there no longer is one. Other frames
 * can be moved and left out, so their header contains everything: `[memory contact 2026-11-21]`, `[data operator 2026-11-21 09:30Z]`. A
 * result follows its call and has no time: `[result platform]`.
 *
 * Every line of content starts with `| `, so content can never be a header or give a day or a name. A header is recognised by its form,
 * whatever its kind. Until November 2026 headers had the form `[message · contact · 2026-11-21T09:30:00Z]`: conversations that hold such
 * frames are replayed as they were sent, so that form is still read, and cannot be forged either.
 *
 * Several messages of a conversation that was cut share one frame of the kind `earlier`. Each begins with a sign for its author (`|>` the
 * other side, `|<` the agent) and with its time; the day is given when it changes:
 *
 *     [earlier contact 2026-11-21]
 *     |> 09:30 Is the blue one still there?
 *     |< 09:31 Yes, two of them.
 *     |> 2026-11-22 08:02 Then I take
 *     | both.
 */
export type FrameKind = EventKind | (typeof CONTEXT_KINDS)[number];

export interface FrameHeader {
  readonly kind: FrameKind;
  readonly trust: Trust;
  /** Whether its sender signed it, if signatures are used. */
  readonly proof?: Proof;
  /** Milliseconds since 1970. Events and data show the minute, other frames the day, and results nothing. */
  readonly at: number;
}

/** The content of the frame above another one, which this one need not repeat. */
export interface FramedAbove {
  /** Such as `2026-11-21`. */
  readonly day?: string;
  /** Its header without the time. */
  readonly sender?: string;
  readonly name?: string;
}

export const NOTHING_ABOVE: FramedAbove = {};

/** A frame found in a text, as `readFrames` returns it. */
export interface ReadFrame extends Omit<FrameHeader, "kind"> {
  readonly kind: string;
  readonly name: string | undefined;
  /** Of several messages in one frame, those of all of them. */
  readonly text: string;
  /** If it is a frame of several messages. */
  readonly messages?: readonly EarlierMessage[];
}

/** A message of a conversation, as a frame of the kind `earlier` shows it. */
export interface EarlierMessage {
  readonly by: "other" | "agent";
  readonly name: string | undefined;
  /** Milliseconds since 1970; a frame shows the minute. */
  readonly at: number;
  readonly text: string;
}

const LINE = "| ";
const NAME = "|@ ";
const DAY = "|# ";
const SIGNS = { other: "|> ", agent: "|< " } as const;
const SAID = /^\|([<>]) (?:(\d{4}-\d\d-\d\d) )?(\d\d:\d\d) (.*)$/s;
const SAID_DAY = /^\|# [A-Z][a-z]{2} (\d{4}-\d\d-\d\d)$/;
const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

const WHO = `(${KIND_FORM}) (${TRUSTS.join("|")})(?: (${PROOFS.join("|")}))?`;
const DATE = "\\d{4}-\\d\\d-\\d\\d";
const MINUTE = "\\d\\d:\\d\\d";
/** The forms of a header: the first is written, the second was. */
const HEADER = new RegExp(`^\\[(?=result |.* (?:${DATE}|${MINUTE}Z)\\]$)${WHO}(?: (${DATE}))?(?: (${MINUTE})Z)?\\]$`);
const OLD_HEADER = new RegExp(`^\\[${WHO.replaceAll(" ", " · ")} · (${DATE})T(${MINUTE}:\\d\\d)Z\\]$`);

/** An instant as the platform writes it: UTC, to the second. */
export function isoSecond(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

const isContext = (kind: string): boolean => CONTEXT_KINDS.some((one) => one === kind);

const senderOf = ({ kind, trust, proof }: Omit<FrameHeader, "at" | "kind"> & { readonly kind: string }): string =>
  `${kind} ${trust}${proof === undefined ? "" : ` ${proof}`}`;

/** A header's time: what its kind says of it, with the blank before it. */
function timeIn({ kind, at }: FrameHeader): string {
  const time = isoSecond(at);
  const [day, minute] = [` ${time.slice(0, 10)}`, ` ${time.slice(11, 16)}Z`];
  if (kind === "result") return "";
  if (kind === "data") return day + minute;
  return isContext(kind) ? day : minute;
}

/** The line that says the day of an instant. */
export const dayLine = (at: number): string =>
  `${DAY}${WEEKDAYS[new Date(at).getUTCDay()]} ${isoSecond(at).slice(0, 10)}`;

/**
 * Puts clean text, with `\n` as its only line break, into a frame. Called only by the guard's `frame`.
 * @param above the frame data of the event before this one; if omitted, the frame says all
 */
export function writeFrame(
  header: FrameHeader,
  name: string | undefined,
  text: string,
  above: FramedAbove = NOTHING_ABOVE,
): string {
  const sender = senderOf(header);
  const lines = [`[${sender}${timeIn(header)}]`];
  const isNewDay = !isContext(header.kind) && above.day !== isoSecond(header.at).slice(0, 10);
  const isSameSender = !isContext(header.kind) && !isNewDay && above.sender === sender;
  if (isNewDay) lines.push(dayLine(header.at));
  if (isSameSender ? name !== above.name : name !== undefined) lines.push(`${NAME}${name ?? ""}`);
  return `${lines.join("\n")}\n${LINE}${text.replaceAll("\n", `\n${LINE}`)}`;
}

/** Puts clean texts of one conversation, the oldest first, into one frame. Called only by the guard's `frameEarlier`. */
export function writeEarlier(header: FrameHeader, messages: readonly EarlierMessage[]): string {
  let before = header.at;
  let name: string | undefined;
  const lines = messages.flatMap((one) => {
    const time = isoSecond(one.at);
    const day = time.slice(0, 10) === isoSecond(before).slice(0, 10) ? "" : `${time.slice(0, 10)} `;
    const claim = one.by === "agent" || one.name === name ? [] : [`${NAME}${one.name ?? ""}`];
    if (one.by === "other") name = one.name;
    before = one.at;
    const text = one.text.replaceAll("\n", `\n${LINE}`);
    return [...claim, `${SIGNS[one.by]}${day}${time.slice(11, 16)} ${text}`];
  });
  return [`[${senderOf(header)}${timeIn(header)}]`, ...lines].join("\n");
}

/** Whether a text holds a frame of this kind: no line of content can begin like its header. */
export const hasEarlier = (text: string): boolean => /^\[earlier [·a-z]/m.test(text);

/** Whether a frame of an event in a text says its day, as the first one of several messages in one frame does. */
export const saysDay = (text: string): boolean => /^\[[^\n]*(?:\]\n\|# | · \d{4}-)|^\[earlier /m.test(text);

/** Whether a line looks like one of the platform's own: a frame's header or a layer's heading. */
export function looksLikeOurs(line: string): boolean {
  return HEADER.test(line) || OLD_HEADER.test(line) || /^# Layer \d+ · /.test(line);
}

/** The heading of a layer's text in the prompt. */
export function layerHeading(layer: { readonly rank: number; readonly id: string }): string {
  return `# Layer ${layer.rank} · ${layer.id}`;
}

/**
 * All frames of a text, in order. Lines outside of frames are skipped; a `| ` line without a header belongs to no frame.
 * @param above what the last event's frame before the text said
 */
export const readFrames = (text: string, above?: FramedAbove): ReadFrame[] => [...readOn(text, above).frames];

/** The frames of a part of a message by itself, which never changes: each is read once. */
export function framesOf(part: { readonly text: string }): readonly ReadFrame[] {
  const frames = known.get(part) ?? readFrames(part.text);
  known.set(part, frames);
  return frames;
}

const known = new WeakMap<object, readonly ReadFrame[]>();

/** The frame data of the last event in a text, with what it left to the frames above it. */
export const framedAbove = (text: string, above?: FramedAbove): FramedAbove => readOn(text, above).above;

function readOn(
  text: string,
  before: FramedAbove = NOTHING_ABOVE,
): { readonly frames: readonly ReadFrame[]; readonly above: FramedAbove } {
  const frames: ReadFrame[] = [];
  let above = before;
  const lines = text.split("\n");
  for (let i = 0; i < lines.length; i++) {
    const day = SAID_DAY.exec(lines[i] ?? "")?.[1];
    // Behind the mark of a cut.
    if (day !== undefined) above = { ...above, day };
    const header = readHeader(lines[i] ?? "");
    if (header === undefined) continue;
    let end = i + 1;
    while (/^\|[@#<>]? /.test(lines[end] ?? "")) end++;
    const [frame, next] = readFrame(header, lines.slice(i + 1, end), above);
    frames.push(frame);
    above = next;
    i = end - 1;
  }
  return { frames, above };
}

function readFrame(
  { day, minute = "00:00", ...header }: ReadHeader,
  lines: readonly string[],
  above: FramedAbove,
): readonly [ReadFrame, FramedAbove] {
  const sender = senderOf(header);
  const said = SAID_DAY.exec(lines[0] ?? "")?.[1];
  const content = said === undefined ? lines : lines.slice(1);
  const named = content[0]?.startsWith(NAME) ? content[0].slice(NAME.length) : undefined;
  if (content.some((line) => SAID.test(line))) {
    const messages = readMessages(day ?? "", content);
    const other = messages.findLast(({ by }) => by === "other");
    const last = messages.at(-1)?.at ?? 0;
    const text = messages.map((one) => one.text).join("\n");
    return [
      { ...header, at: Date.parse(`${day}T${minute}Z`), name: undefined, text, messages },
      {
        day: isoSecond(last).slice(0, 10),
        sender: senderOf({ ...header, kind: "message" }),
        ...(other?.name !== undefined && { name: other.name }),
      },
    ];
  }
  const isEvent = !isContext(header.kind);
  const isSame = isEvent && day === undefined && said === undefined && named === undefined && above.sender === sender;
  const name = isSame ? above.name : named || undefined;
  const today = day ?? said ?? (isEvent ? above.day : undefined) ?? "1970-01-01";
  const body = named === undefined ? content : content.slice(1);
  const own = body.findIndex((line) => !line.startsWith(LINE));
  const text = body.slice(0, own < 0 ? body.length : own).map((line) => line.slice(LINE.length));
  const frame = { ...header, name, at: Date.parse(`${today}T${minute}Z`), text: text.join("\n") };
  return [frame, isEvent ? { day: today, sender, ...(name !== undefined && { name }) } : above];
}

function readMessages(first: string, lines: readonly string[]): readonly EarlierMessage[] {
  const messages: { -readonly [Key in keyof EarlierMessage]: EarlierMessage[Key] }[] = [];
  let day = first;
  let name: string | undefined;
  for (const line of lines) {
    const said = SAID.exec(line);
    const last = messages.at(-1);
    if (said) {
      day = said[2] ?? day;
      const by = said[1] === "<" ? "agent" : "other";
      const time = Date.parse(`${day}T${said[3]}:00Z`);
      messages.push({ by, name: by === "other" ? name : undefined, at: time, text: said[4] ?? "" });
    } else if (line.startsWith(NAME)) name = line.slice(NAME.length) || undefined;
    else if (last !== undefined) last.text += `\n${line.slice(LINE.length)}`;
  }
  return messages;
}

interface ReadHeader extends Pick<ReadFrame, "kind" | "trust" | "proof"> {
  readonly day?: string;
  /** With seconds where the header has them. */
  readonly minute?: string;
}

function readHeader(line: string): ReadHeader | undefined {
  if (!line.startsWith("[")) return undefined;
  const match = HEADER.exec(line) ?? OLD_HEADER.exec(line);
  if (match === null) return undefined;
  const [, kind = "", word, signed, day, minute] = match;
  const trust = TRUSTS.find((one) => one === word) ?? "contact";
  const proof = PROOFS.find((one) => one === signed);
  return { kind, trust, ...(proof && { proof }), ...(day && { day }), ...(minute && { minute }) };
}
