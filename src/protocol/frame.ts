import { type CONTEXT_KINDS, type EventKind, KIND_FORM } from "./event.ts";
import { PROOFS, type Proof } from "./life.ts";
import { TRUSTS, type Trust } from "./trust.ts";

/**
 * The grammar of frames. A frame is one header line of the platform and then the content, with a prefix on every line:
 *
 *     [message · contact · 2026-11-21T09:30:00Z]
 *     |@ Caroline
 *     | Hey! Good to see you!
 *     | How have you been?
 *
 * Where senders are addresses, the header also says whether the message is `proven` or only `claimed` to be theirs:
 * `[message · contact · proven · 2026-11-21T09:30:00Z]`.
 *
 * No line of content can start otherwise than with `| ` (or `|@ ` for the claimed name), so no content can be a header. A header is
 * recognised by its form, whatever its kind.
 *
 * Several messages of a conversation that was cut stand in one frame of the kind `earlier`. Each begins with a sign that says who wrote it
 * (`|>` the other side, `|<` the agent) and with its time; the day is written where it is another than before:
 *
 *     [earlier · contact · 2026-11-21T09:30:00Z]
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
  /** Milliseconds since 1970, shown to the second. */
  readonly at: number;
}

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
const SIGNS = { other: "|> ", agent: "|< " } as const;
const SAID = /^\|([<>]) (?:(\d{4}-\d\d-\d\d) )?(\d\d:\d\d) (.*)$/s;
const HEADER = new RegExp(
  `^\\[(${KIND_FORM}) · (${TRUSTS.join("|")}) · (?:(${PROOFS.join("|")}) · )?(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ)\\]$`,
);

/** An instant as the platform writes it: UTC, to the second. */
export function isoSecond(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** Puts clean text, with `\n` as its only line break, into a frame. Called only by the guard's `frame`. */
export function writeFrame(header: FrameHeader, name: string | undefined, text: string): string {
  const proof = header.proof === undefined ? "" : ` · ${header.proof}`;
  const head = `[${header.kind} · ${header.trust}${proof} · ${isoSecond(header.at)}]`;
  const claim = name === undefined ? "" : `\n${NAME}${name}`;
  return `${head}${claim}\n${LINE}${text.replaceAll("\n", `\n${LINE}`)}`;
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
  const proof = header.proof === undefined ? "" : ` · ${header.proof}`;
  return [`[${header.kind} · ${header.trust}${proof} · ${isoSecond(header.at)}]`, ...lines].join("\n");
}

/** Whether a text holds a frame of this kind: no line of content can begin like its header. */
export const hasEarlier = (text: string): boolean => /^\[earlier · /m.test(text);

/** Whether a line looks like one of the platform's own: a frame's header or a layer's heading. */
export function looksLikeOurs(line: string): boolean {
  return HEADER.test(line) || /^# Layer \d+ · /.test(line);
}

/** The heading of a layer's text in the prompt. */
export function layerHeading(layer: { readonly rank: number; readonly id: string }): string {
  return `# Layer ${layer.rank} · ${layer.id}`;
}

/** All frames of a text, in order. Lines outside of frames are skipped; a `| ` line without a header belongs to no frame. */
export function readFrames(text: string): ReadFrame[] {
  const frames: ReadFrame[] = [];
  const lines = text.split("\n");
  for (let i = 0; i < lines.length; i++) {
    const header = HEADER.exec(lines[i] ?? "");
    if (!header) continue;
    const read = readHeader(header);
    const name = lines[i + 1]?.startsWith(NAME) ? lines[++i]?.slice(NAME.length) : undefined;
    let end = i + 1;
    while (/^\|[@<>]? /.test(lines[end] ?? "")) end++;
    const content = lines.slice(i + 1, end);
    if (content.some((line) => SAID.test(line))) {
      const messages = readMessages(read.at, name, content);
      frames.push({ ...read, name: undefined, text: messages.map(({ text }) => text).join("\n"), messages });
    } else {
      const own = content.findIndex((line) => !line.startsWith(LINE));
      const text = content.slice(0, own < 0 ? content.length : own).map((line) => line.slice(LINE.length));
      frames.push({ ...read, name, text: text.join("\n") });
    }
    i += content.length;
  }
  return frames;
}

function readMessages(at: number, claimed: string | undefined, lines: readonly string[]): readonly EarlierMessage[] {
  const messages: { -readonly [Key in keyof EarlierMessage]: EarlierMessage[Key] }[] = [];
  let day = isoSecond(at).slice(0, 10);
  let name = claimed;
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

function readHeader(match: RegExpExecArray): Pick<ReadFrame, keyof FrameHeader> {
  const kind = match[1] ?? "";
  const trust = TRUSTS.find((word) => word === match[2]) ?? "contact";
  const proof = PROOFS.find((word) => word === match[3]);
  return { kind, trust, at: Date.parse(match[4] ?? ""), ...(proof && { proof }) };
}
