/** How far back a better place to cut is looked for. Past that, text is piled-up marks and any code point will do. */
const LOOKBACK = 32;

const JOINS_BEFORE = /^[\p{M}\p{Emoji_Modifier}\u200c\u200d]/u;
const FLAG_LETTER = /^[\u{1f1e6}-\u{1f1ff}]$/u;

/**
 * At most `maxChars` UTF-16 units, including `mark`; a text that fits is unchanged. Cuts between code points, and if possible between what
 * a reader sees as characters. A mark that does not fit is omitted.
 */
export function truncateText(text: string, maxChars: number, mark: string): string {
  if (text.length <= maxChars) return text;
  const end = mark.length <= maxChars ? mark : "";
  return text.slice(0, placeToCut(text, Math.max(0, maxChars - end.length))) + end;
}

function placeToCut(text: string, limit: number): number {
  const hard = isLow(text, limit) && isHigh(text, limit - 1) ? limit - 1 : limit;
  let place = hard;
  for (let step = 0; step < LOOKBACK && place > 0; step++) {
    if (!isInside(text, place)) return place;
    place = pointBefore(text, place);
  }
  return place === 0 ? 0 : hard;
}

/** Whether a reader would see one character torn apart here: marks, joined emoji, skin tones, flags. */
function isInside(text: string, place: number): boolean {
  const before = text.slice(pointBefore(text, place), place);
  const after = String.fromCodePoint(text.codePointAt(place) ?? 0);
  if (JOINS_BEFORE.test(after) || before === "\u200d") return true;
  return FLAG_LETTER.test(after) && flagLettersBefore(text, place) % 2 === 1;
}

function flagLettersBefore(text: string, place: number): number {
  let count = 0;
  for (let at = place; at > 0 && count < LOOKBACK; count++) {
    const start = pointBefore(text, at);
    if (!FLAG_LETTER.test(text.slice(start, at))) break;
    at = start;
  }
  return count;
}

function pointBefore(text: string, place: number): number {
  return isLow(text, place - 1) && isHigh(text, place - 2) ? place - 2 : place - 1;
}

function isHigh(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800;
}

function isLow(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}

/** A longer line counts as several. */
export const LONGEST_LINE = 200;

/** Where each line of a text begins. A line that is too long is divided, between words if possible. */
export function lineStarts(text: string): readonly number[] {
  const starts: number[] = [];
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf("\n", from);
    const to = end === -1 ? text.length : end + 1;
    while (to - from > LONGEST_LINE) {
      starts.push(from);
      const part = text.slice(from, placeToCut(text, from + LONGEST_LINE));
      // A word longer than half of the line is divided, too.
      const words = /^.*[\s,;]/su.exec(part)?.[0].length ?? 0;
      from += words * 2 >= part.length ? words : part.length;
    }
    starts.push(from);
    from = to;
  }
  return starts;
}

/** The rest after a text is cut before a word: the blanks and punctuation that joined it to the next one. */
const JOINING = /[\s,;:–—-]+$/u;

/** At most this many characters, cut between words if possible, with `…` at the end; a text that fits is unchanged. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const hard = truncateText(text, Math.max(0, most - 1), "");
  const endsWord = /\s/u.test(text.charAt(hard.length));
  const blank = endsWord ? hard.length : hard.search(/\s\S*$/u);
  // A script without blanks, and a word that is half of it all, are cut between characters.
  const beginning = blank * 2 >= hard.length ? hard.slice(0, blank).replace(JOINING, "") : hard;
  return `${beginning}…`;
}

/** The longest of lengths up to `longest` that fits; 1 if none does. If a length fits, every shorter one must fit, too. */
export function longestFitting(longest: number, fits: (most: number) => boolean): number {
  if (fits(longest)) return longest;
  let [fitting, tooLong] = [1, longest];
  while (tooLong - fitting > 1) {
    const middle = Math.floor((fitting + tooLong) / 2);
    if (fits(middle)) fitting = middle;
    else tooLong = middle;
  }
  return fitting;
}
