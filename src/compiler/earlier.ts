import { frame, frameEarlier, truncateText } from "../guard/index.ts";
import {
  type AssistantPart,
  type CountTokens,
  type EarlierMessage,
  type Epoch,
  type Framed,
  type FramedAbove,
  type FrameHeader,
  framedAbove,
  lowestTrust,
  OUTSIDE_KINDS,
  type OutsideKind,
  readFrames,
  type TextPart,
  type TranscriptMessage,
  trusted,
  type UserPart,
  untrusted,
} from "../protocol/index.ts";
import { saidAbove } from "./events.ts";
import { countMessage } from "./tokens.ts";
import { ATTACHMENT_GONE, EARLIER, EARLIER_WITHOUT_OLDEST, isBeginning } from "./wording.ts";

/** Replies of at most this many tokens stay whole: people write such short ones, assistants hardly ever. */
const SHORT = 60;
/** A message of at most this many tokens may mean nothing without the reply that it answers: a line of that stays with it. */
const ANSWER = 20;
/** The tokens that a frame adds to a message of one text; and the characters that a line adds to its text. */
const FRAME = 20;
const LINE = 24;
/** Characters that stay of this line. */
const LINE_SHOWN = 200;
/** The tokens that a provider adds to a message of one part. */
const AROUND = 8;
/** Above its room, the oldest are released until so much of it is taken, so that the next release is far away. */
const RELEASED_TO = 2 / 3;

/** A message that a cut leaves in short form. */
interface Entry extends EarlierMessage, Pick<FrameHeader, "trust" | "proof"> {
  readonly kind: OutsideKind;
}

/**
 * The rest of the messages that a cut removes: what others wrote, and short replies. Each cut adds one separate message, so that those of
 * earlier cuts do not change, and can be read from the provider's cache. If all of them are more than `room` tokens, the oldest entries are
 * released.
 */
export function earlierMessages(
  epoch: Pick<Epoch, "transcript">,
  removed: readonly TranscriptMessage[],
  room: number,
  count: CountTokens,
): readonly TranscriptMessage[] {
  const before = epoch.transcript.filter(isEarlier);
  const [first] = removed;
  const start = first === undefined ? 0 : epoch.transcript.indexOf(first);
  const added = collectEntries(removed, saidAbove(epoch.transcript.slice(0, Math.max(start, 0))));
  const sum = (messages: readonly TranscriptMessage[]) => messages.reduce((all, { tokens }) => all + tokens, 0);
  const all =
    added.length === 0 ? before : [...before, writeEntries(added, count, before.length === 0 ? "first" : "next")];
  if (sum(all) <= room) return all;
  const entries = [...before.flatMap(entriesIn), ...added];
  // How long the texts are says about how many can stay; what they are together is counted then.
  const perCharacter = sum(all) / entries.reduce((characters, { text }) => characters + text.length + LINE, 1);
  let size = 0;
  const oldest = entries.findLastIndex(({ text }) => {
    size += (text.length + LINE) * perCharacter;
    return size > room * RELEASED_TO;
  });
  for (let from = oldest + 1; from < entries.length; from += Math.ceil((entries.length - from) / 8)) {
    const left = writeEntries(entries.slice(from), count, "released");
    if (left.tokens <= room * RELEASED_TO) return [left];
  }
  return [];
}

/** Whether it is one of these messages. The platform's other marks hold none of the frames that people's messages have. */
export const isEarlier = ({ message, turn }: TranscriptMessage): boolean =>
  turn === null && message.role === "user" && isFramed(message.parts.at(-1));

const isFramed = (part: TranscriptMessage["message"]["parts"][number] | undefined): boolean =>
  part?.type === "text" && /^\[(?!summary )/.test(part.text);

type Form = "first" | "next" | "released";

function writeEntries(entries: readonly Entry[], count: CountTokens, form: Form): TranscriptMessage {
  const groups: [Entry, ...Entry[]][] = [];
  for (const one of entries) {
    const group = groups.at(-1);
    if (group !== undefined && isTogether(group[0], one)) group.push(one);
    else groups.push([one]);
  }
  const frames = groups.map((group): Framed => {
    const { kind, trust, at, proof, name, text } = group[0];
    const header = { trust, at, ...(proof && { proof }) };
    if (kind === "message") return frameEarlier(header, group);
    return frame({ kind, ...header }, untrusted(text), name === undefined ? undefined : untrusted(name));
  });
  const text: TextPart = { type: "text", text: trusted(frames.join("\n")) };
  const opening: TextPart = { type: "text", text: trusted(form === "first" ? EARLIER : EARLIER_WITHOUT_OLDEST) };
  const message = { role: "user", parts: form === "next" ? [text] : [opening, text] } as const;
  const trust = lowestTrust(entries.map((one) => one.trust));
  return { message, trust, tokens: countMessage(message, count), turn: null };
}

/** Whether they share one frame: its header names the speaker for all of them. */
const isTogether = (one: Entry, other: Entry): boolean =>
  one.kind === "message" && other.kind === "message" && one.trust === other.trust && one.proof === other.proof;

/** The entries of one of these messages. */
function entriesIn({ message }: TranscriptMessage): readonly Entry[] {
  const texts = message.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts
    .flatMap((text) => readFrames(text))
    .flatMap((read): readonly Entry[] => {
      const { trust, proof, at, name, text } = read;
      const header = { trust, ...(proof && { proof }) };
      if (read.messages !== undefined)
        return read.messages.map((one) => ({ ...one, ...header, kind: "message" as const }));
      const kind = OUTSIDE_KINDS.find((one) => one === read.kind);
      return kind === undefined ? [] : [{ ...header, kind, by: "other" as const, name, at, text }];
    });
}

/** The rest of whole messages. A schedule's text is stored elsewhere, and comes again. */
function collectEntries(messages: readonly TranscriptMessage[], before: FramedAbove): readonly Entry[] {
  const entries: Entry[] = [];
  let above = before;
  let reply = "";
  let asked: Entry | undefined;
  // Each message has been counted: a text is not counted again for this.
  for (const { message, tokens } of messages) {
    if (message.role === "assistant") {
      const text = replyIn(message.parts);
      const isShort = isShortReply(tokens);
      if (text !== "" && isShort && asked !== undefined) entries.push({ ...repliedTo(asked), text });
      reply = isShort ? "" : text;
    }
    if (message.role !== "user") continue;
    const said = saidEntries(message.parts, above);
    for (const part of message.parts)
      if (part.type === "text" && part.told === undefined) above = framedAbove(part.text, above);
    asked = said.at(-1);
    for (const entry of said) {
      // Such as "Yes, that one": unclear without the reply before it.
      if (reply !== "" && tokens <= ANSWER + FRAME) entries.push({ ...repliedTo(entry), text: replyLine(reply) });
      reply = "";
      entries.push(entry);
    }
  }
  return entries;
}

/** Nobody wrote down when exactly a reply was given: it has the time of what it answers. */
const repliedTo = ({ trust, proof, at }: Entry): Omit<Entry, "text"> => ({
  ...{ kind: "message", by: "agent", name: undefined, trust, at },
  ...(proof && { proof }),
});

/** Whether a cut leaves nothing of a message, except perhaps a line: a long reply, a call, a result. */
export const isLeftOut = ({ message, tokens }: TranscriptMessage): boolean =>
  message.role === "tool" || (message.role === "assistant" && (!isShortReply(tokens) || replyIn(message.parts) === ""));

const isShortReply = (tokens: number): boolean => tokens <= SHORT + AROUND;

/** A reply that calls nothing more: what is said on the way to it is not what was answered. */
function replyIn(parts: readonly AssistantPart[]): string {
  if (parts.some(({ type }) => type === "call")) return "";
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.join("\n").trim();
}

function saidEntries(parts: readonly UserPart[], before: FramedAbove): readonly Entry[] {
  const entries: Entry[] = [];
  let above = before;
  for (const part of parts) {
    const last = entries.at(-1);
    if (part.type !== "text") {
      // The picture follows the frame that it came with.
      if (last !== undefined)
        entries[entries.length - 1] = { ...last, text: `${last.text}\n${ATTACHMENT_GONE}`.trim() };
      continue;
    }
    if (part.told !== undefined) continue;
    const read = readFrames(part.text, above);
    above = framedAbove(part.text, above);
    if (read.length === 0 && last !== undefined && isBeginning(part.text))
      entries[entries.length - 1] = { ...last, text: `${last.text} …` };
    for (const { kind: name, trust, proof, ...one } of read) {
      const kind = OUTSIDE_KINDS.find((outside) => outside === name);
      if (kind === undefined || kind === "scheduled") continue;
      entries.push({ by: "other", ...one, kind, trust, ...(proof && { proof }) });
    }
  }
  return entries;
}

/**
 * The line of a long reply that a short answer needs most: the last one if it asks something, or else the first, which says what the reply
 * is about. Of a longer line, its end or beginning, from word to word if it has spaces.
 */
function replyLine(reply: string): string {
  const lines = reply.split("\n").filter((one) => one.trim() !== "");
  const [first = ""] = lines;
  const last = lines.at(-1) ?? "";
  if (/[?？؟]/u.test(last)) {
    const from = Math.max(last.length - LINE_SHOWN, 0);
    const word = from === 0 ? 0 : last.indexOf(" ", from) + 1 || from;
    return `… ${last.slice(word).replace(/^[\udc00-\udfff]/, "")}`;
  }
  const beginning = truncateText(first, LINE_SHOWN, "");
  const space = beginning === first ? -1 : beginning.lastIndexOf(" ");
  return `${space < 0 ? beginning : beginning.slice(0, space)} …`;
}
