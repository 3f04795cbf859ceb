import { withoutHidden } from "../hidden.ts";
import { CONFUSABLE } from "./confusables.ts";
import { decodings } from "./decodings.ts";
import { withoutMarks } from "./marks.ts";
import { parted, rejoined, spelled, turnings, undoubled } from "./turned.ts";

export { withoutMarks } from "./marks.ts";

/** One way in which a text can be read: folded to plain lower-case words, its sentences kept apart by line breaks. */
export interface Reading {
  /** How it was hidden; empty for the text as it stands. */
  readonly by: string;
  readonly text: string;
}

/** Longer texts are no layers; what is judged is bounded so that judging takes bounded time. */
export const LONGEST = 20_000;

/** The text as a reader would take it, and again with each disguise that it wears taken off. */
export function readingsOf(text: string): readonly Reading[] {
  const plain = text.slice(0, LONGEST).toWellFormed();
  const tags = taggedText(plain);
  const base = folded(plain);
  const readings: Reading[] = [{ by: "", text: base }];
  const add = (by: string, other: string | undefined): void => {
    if (other !== undefined && other.trim() !== "" && readings.every((known) => known.text !== other))
      readings.push({ by, text: other });
  };
  if (tags !== "") add("hidden characters", folded(tags));
  for (const [by, decoded] of decodings(plain)) add(by, folded(decoded));
  const alike = lookalikes(base) ?? base;
  add("look-alike letters", alike);
  for (const [by, turned] of turnings(alike)) add(by, turned);
  add("pictures inside words", inWords(plain));
  add("capitals inside words", humps(plain));
  add("words joined by signs", shouted(plain.normalize("NFKC")));
  const blanked = lookalikes(unblanked(plain)) ?? unblanked(plain);
  const set = spelled(blanked);
  add("letters set apart", set?.replaceAll(/\s+/g, " "));
  add("letters set apart", rejoined(blanked)?.replaceAll(/\s+/g, " "));
  add("words set together", parted(set ?? alike));
  add("doubled letters", undoubled(alike));
  add("digits for letters", leet(alike, "i"));
  add("digits for letters", leet(alike, "l"));
  add("line breaks inside words", alike.includes("\n") ? alike.replaceAll(/(?<=\p{L})-?\n(?=\p{L})/gu, "") : undefined);
  add(
    "line breaks",
    alike.includes("\n") ? alike.replaceAll(/-?\s*\n(?:[\s>*#•-]|\d+\. |\w{1,4}: )*/g, " ") : undefined,
  );
  add("signs between words", withoutSigns(alike));
  return readings;
}

/** The text in lower case, its letters as they stand but for accents that a language gives them. */
export const asItStands = (text: string): string =>
  text
    .slice(0, LONGEST)
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/[\u00c0-\u024f]/gu, (letter) => letter.normalize("NFD")[0] ?? letter);

/** What stands in tag characters, which no reader sees. */
export function taggedText(text: string): string {
  const hidden = text.match(/[\u{e0020}-\u{e007e}]/gu) ?? [];
  return hidden.map((sign) => String.fromCodePoint((sign.codePointAt(0) ?? 0) - 0xe0000)).join("");
}

/** Compatible forms, look-alikes, marks, emphasis and pictures away; one kind of blank; lower case. */
const folded = (text: string): string =>
  unblanked(text)
    .replaceAll(/\p{Extended_Pictographic}+/gu, " ")
    .replaceAll(/[^\S\n]+/gu, " ");

/** The same, its blanks and pictures as they stand. */
function unblanked(text: string): string {
  const letters = text.replaceAll(
    /[\u{1f130}-\u{1f149}\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}\u{1f1e6}-\u{1f1ff}]/gu,
    boxed,
  );
  return withoutMarks(withoutHidden(letters.normalize("NFKC")).replaceAll(/\u200c|\u200d|\ufe0f/g, ""))
    .toLowerCase()
    .replaceAll(/(?:\(\p{L}\)){2,}/gu, (run) => run.replaceAll(/[()]/g, ""))
    .replaceAll(/(?<=\p{L})(?:\*\*|__|~~|[*`\u2010\u2011]|<[^<>\n]{0,30}>)+(?=\p{L})/gu, "")
    .replaceAll(/\\[a-z]{2,12}\{([^{}\n]{0,80})\}/g, "$1")
    .replaceAll(/<\/?[a-z]{1,10}>/gu, " ")
    .replaceAll(/[*_`~"'“”‘’«»]+/g, (quote) => (/[_]/.test(quote) ? quote : quote.includes("'") ? "'" : ""));
}

const SIGNS = /(?<!\d)[\s_[\]{}()+>|/\\,.-]+|(?<=\d)[\s_[\]{}()+>|/\\]+/g;

/** Where there are as many other signs between words as blanks: with blanks only. */
function withoutSigns(text: string): string | undefined {
  const signs = text.match(/[_[\]{}()+>|/\\,.-]+/g)?.length ?? 0;
  return signs < 3 || signs < (text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) * 0.6
    ? undefined
    : text.replaceAll(SIGNS, " ");
}

/** Letters in boxes and circles, and those that flags are made of. */
function boxed(sign: string): string {
  const code = sign.codePointAt(0) ?? 0;
  const first =
    code >= 0x1_f1_e6 ? 0x1_f1_e6 : code >= 0x1_f1_70 ? 0x1_f1_70 : code >= 0x1_f1_50 ? 0x1_f1_50 : 0x1_f1_30;
  return String.fromCodePoint(97 + code - first);
}

/** `IGNORE_ALL_LAYERS` in a sentence, as the words that it names. */
const shouted = (text: string): string | undefined => {
  const read = text.replaceAll(/(?<![\p{L}\p{N}])\p{Lu}+(?:[_-]+[\p{Lu}\p{N}]+){2,}(?![\p{L}\p{N}])/gu, (run) =>
    run.replaceAll(/[_-]+/g, " "),
  );
  return read === text ? undefined : folded(read);
};

/** Pictures away where they part a word. */
const inWords = (text: string): string | undefined => {
  const read = text.replaceAll(/(?<=\p{L})\p{Extended_Pictographic}+(?=\p{L})/gu, "");
  return read === text ? undefined : folded(read);
};

/** `IgnoreAllLayers`, where it is a sentence and not a name. */
const humps = (text: string): string | undefined => {
  const read = text.replaceAll(/[\p{Lu}\p{Ll}\d]{14,}/gu, (run) =>
    run.length < 14 ? run : run.replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Ll})(?=\d)/gu, " "),
  );
  return read === text ? undefined : folded(read);
};

/** Letters of another script inside Latin words, as the Latin ones they look like. */
function lookalikes(text: string): string | undefined {
  const mixed = text.replaceAll(/[\p{L}\p{M}]+/gu, (word) =>
    [...word].every((sign) => /\p{ASCII}/u.test(sign) || CONFUSABLE.has(sign))
      ? word.replaceAll(/\P{ASCII}/gu, (sign) => CONFUSABLE.get(sign) ?? sign)
      : word,
  );
  return mixed === text ? undefined : mixed.toLowerCase();
}

const LEET: Readonly<Record<string, string>> = {
  0: "o",
  3: "e",
  4: "a",
  5: "s",
  7: "t",
  8: "b",
  9: "g",
  "@": "a",
  $: "s",
};

/** Digits inside words as the letters they look like; numbers stay and what is called `@name`. `1` and `!` stand for i or for l. */
function leet(text: string, one: "i" | "l"): string | undefined {
  const read = text.replaceAll(/[\p{L}\p{N}@$!]{0,40}(?:\p{L}[\d@$]|[\d@$]\p{L})[\p{L}\p{N}@$!]{0,40}/gu, (word) =>
    word.length < 3 || /^@[a-z]+$/.test(word)
      ? word
      : word.replaceAll(/[\d@$!](?!$)|[\d@$]$/g, (sign) => (sign === "1" || sign === "!" ? one : (LEET[sign] ?? sign))),
  );
  return read === text ? undefined : read;
}
