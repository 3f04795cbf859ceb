import type { Untrusted } from "../protocol/index.ts";
import { disarmProviderTokens } from "./provider-tokens.ts";

/**
 * Reduces a text to what a reader sees: `\n` is the only line break, and there are no hidden or control characters, no provider tokens and
 * no large gaps that push text out of sight. Linear time; cleaning twice changes nothing.
 */
export function clean(text: Untrusted): string {
  if (isPlain(text)) return text;
  // The order matters: a step must not make again what an earlier one took away.
  const lines = withoutControls(oneLineBreak(text.toWellFormed()));
  return disarmProviderTokens(withoutLongGaps(withoutHidden(lines)));
}

/** Printable ASCII without what opens a provider's token; and what pushes text out of sight. */
const PLAIN = /^[\n !-;=-Z\\-~]*$/;
const GAP = / {81}|(?: *\n){4}|^(?: *\n){3}/;

/** Most texts are plain: nothing of them is hidden, and no step would change them. */
const isPlain = (text: string): boolean => PLAIN.test(text) && !GAP.test(text);

/**
 * Invisible characters, with which a model sees another text than a reader. Listed as ranges and not as Unicode properties, so that a
 * newer Node does not clean differently.
 */
const HIDDEN = new RegExp(
  `[${[
    "\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f", // soft hyphen, joiners, marks, fillers
    "\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u206f", // zero width, directions and isolates, invisible operators
    "\\u3164\\ufe00-\\ufe0e\\ufeff\\uffa0\\ufff0-\\ufffb", // fillers, variation selectors, interlinear anchors
    "\\u{13430}-\\u{1343f}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}", // format controls of rare scripts and music
    "\\u{e0000}-\\u{e0fff}", // tags and more variation selectors
  ].join("")}]`,
  "gu",
);

const INDIC = "[\\u0900-\\u0dff\\u1000-\\u109f\\u1780-\\u17ff]";
const ARABIC =
  "[\\u0620-\\u065f\\u066e-\\u06d3\\u06d5-\\u06ef\\u06fa-\\u06ff\\u0750-\\u077f\\u08a0-\\u08e1\\ufb50-\\ufdcf\\ufe70-\\ufefc]";
const WRITTEN = "[\\p{L}\\p{M}]";
const EMOJI = "\\p{Extended_Pictographic}";

/**
 * Three hidden characters that some writing needs, and where: the joiner inside emoji and Indic words, the non-joiner
 * there and inside Arabic and Persian words, the emoji selector after an emoji or inside a keycap.
 */
const NEEDED = [
  `(?<=${EMOJI}(?:\\ufe0f|\\p{Emoji_Modifier})?)\\u200d(?=${EMOJI})`,
  `(?<=${WRITTEN})(?<=${INDIC})[\\u200c\\u200d]`,
  `(?<=${WRITTEN})(?<=${ARABIC})\\u200c(?=${WRITTEN})(?=${ARABIC})`,
  `(?<=${EMOJI})\\ufe0f`,
  `(?<=[0-9#*])\\ufe0f(?=\\u20e3)`,
].join("|");
const JOINERS = new RegExp(`(${NEEDED})|[\\u200c\\u200d\\ufe0f]`, "gu");

/** Removes invisible characters, and replaces the Braille blank with a plain one. Visible text does not change. */
export function withoutHidden(text: string): string {
  return text
    .replace(HIDDEN, "")
    .replace(JOINERS, (_, needed: string | undefined) => needed ?? "")
    .replaceAll("\u2800", " ");
}

/** The longest run of blank lines, and of blanks inside a line, that stays: more only pushes text out of sight. */
const BLANK_LINES = 3;
const BLANKS = 80;

const ANSI = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]/g;
const LINE_MAKERS = /\r\n?|[\v\f\u001c-\u001e\u0085\u2028\u2029]/g;
const CONTROLS = /[\0-\u0008\u000e-\u001b\u001f\u007f-\u009f\ufdd0-\ufdef\ufffe\uffff]+/g;
const LONG_BLANKS = new RegExp(`[ \\t\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000]{${BLANKS + 1},}`, "g");

const NOT_SHOWN = new RegExp(`(${NEEDED})|${ANSI.source}|\\r(?=\\n)|${HIDDEN.source}|[\\u200c\\u200d\\ufe0f]`, "gu");

/** A text without invisible characters. `places` gives each character's position in the original text; undefined if nothing was removed. */
export function shownText(text: string): { readonly shown: string; readonly places?: readonly number[] } {
  if (PLAIN.test(text)) return { shown: text };
  let shown = "";
  let at = 0;
  const places: number[] = [];
  const keep = (to: number): void => {
    shown += text.slice(at, to);
    for (; at < to; at++) places.push(at);
  };
  for (const { 0: found, 1: needed, index } of text.matchAll(NOT_SHOWN)) {
    if (needed !== undefined) continue;
    keep(index);
    at = index + found.length;
  }
  if (at === 0) return { shown: text };
  keep(text.length);
  return { shown, places };
}

/** Every character and pair that some reader takes for a line break, as `\n`. */
export function oneLineBreak(text: string): string {
  return text.replace(LINE_MAKERS, "\n");
}

/** Terminal sequences are removed; any other control or non-character stays visible as U+FFFD, so that it is not overlooked. */
export function withoutControls(text: string): string {
  return text.replace(ANSI, "").replace(CONTROLS, "\ufffd");
}

/** Shortens runs of blanks and of blank lines. Linear: each line is looked at once. */
export function withoutLongGaps(text: string): string {
  const kept: string[] = [];
  let blank = 0;
  for (const line of text.replace(LONG_BLANKS, " ".repeat(BLANKS)).split("\n")) {
    blank = line.trim() === "" ? blank + 1 : 0;
    if (blank <= BLANK_LINES) kept.push(line);
  }
  return kept.join("\n");
}
