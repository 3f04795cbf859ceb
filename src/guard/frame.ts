import {
  type EarlierMessage,
  type Framed,
  type FramedAbove,
  type FrameHeader,
  type Untrusted,
  untrusted,
  writeEarlier,
  writeFrame,
} from "../protocol/index.ts";
import { clean } from "./clean.ts";
import { truncateText } from "./truncate-text.ts";

/** How many characters of a claimed name are shown. */
const LONGEST = 64;
/** Normalisation can make a text 18 times as long and is slow on piled-up marks: what is read of a name has an end. */
const READ = 1024;

/**
 * A claimed name as one short line in NFKC, without brackets and without a start that reads like a mark of ours.
 * Empty when nothing of a name is left.
 */
export function cleanName(name: Untrusted): string {
  const plain = clean(untrusted(name.slice(0, READ).toWellFormed().normalize("NFKC")));
  const line = plain.replace(/[\p{Ps}\p{Pe}<>‹›|¦]/gu, (bracket) => ("()".includes(bracket) ? bracket : " "));
  const named = line.replace(/\s+/gu, " ").replace(/^(?:[\s\p{M}#*=~_`^·•:;,./\\"'-]|\u200c|\u200d)+/u, "");
  return shortened(named.normalize("NFKC")).trimEnd();
}

function shortened(line: string): string {
  const points = [...line];
  return points.length <= LONGEST ? line : truncateText(line, points.slice(0, LONGEST).join("").length, "");
}

/**
 * Cleans text and puts it into a frame: the only way for untrusted text into a request. `name` is the name that the sender claims; it
 * is left out if nothing of it remains. `above`: what the frame of the event before it said, and this one need not say again.
 */
export function frame(header: FrameHeader, text: Untrusted, name?: Untrusted, above?: FramedAbove): Framed {
  const claimed = name === undefined ? "" : cleanName(name);
  // The only place where `Framed` is made: each line of clean text gets the prefix, so none can be a header.
  return writeFrame(header, claimed === "" ? undefined : claimed, clean(text), above) as Framed;
}

/** The same for messages of a conversation that was cut: the oldest first, all of them in one frame. */
export function frameEarlier(header: Omit<FrameHeader, "kind">, messages: readonly EarlierMessage[]): Framed {
  const cleaned = messages.map(({ name, text, ...one }) => ({
    ...one,
    name: name === undefined ? undefined : cleanName(untrusted(name)) || undefined,
    text: clean(untrusted(text)),
  }));
  return writeEarlier({ ...header, kind: "earlier" }, cleaned) as Framed;
}
