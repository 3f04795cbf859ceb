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

/** Removes what shows nothing, and makes the Braille blank a plain one. Visible text stays as it is. */
export function withoutHidden(text: string): string {
  return text
    .replace(HIDDEN, "")
    .replace(JOINERS, (_, needed: string | undefined) => needed ?? "")
    .replaceAll("\u2800", " ");
}
