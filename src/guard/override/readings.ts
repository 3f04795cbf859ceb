import { withoutHidden } from "../hidden.ts";
import { CONFUSABLE } from "./confusables.ts";

/** One way in which a text can be read: folded to plain lower-case words, its sentences kept apart by line breaks. */
export interface Reading {
  /** How it was hidden; empty for the text as it stands. */
  readonly by: string;
  readonly text: string;
}

/** Longer texts are no layers; what is judged is bounded so that judging takes bounded time. */
const LONGEST = 20_000;

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
  add("look-alike letters", lookalikes(base));
  add("letters set apart", spelled(base));
  add("digits for letters", leet(base));
  add("line breaks inside words", base.includes("\n") ? base.replaceAll(/(?<=\p{L})\n(?=\p{L})/gu, "") : undefined);
  add("line breaks", base.includes("\n") ? base.replaceAll(/\s*\n\s*/g, " ") : undefined);
  return readings;
}

/** What stands in tag characters, which no reader sees. */
export function taggedText(text: string): string {
  const hidden = text.match(/[\u{e0020}-\u{e007e}]/gu) ?? [];
  return hidden.map((sign) => String.fromCodePoint((sign.codePointAt(0) ?? 0) - 0xe0000)).join("");
}

/** Compatible forms, look-alikes, marks, emphasis and pictures away; one kind of blank; lower case. */
function folded(text: string): string {
  return withoutMarks(withoutHidden(text.normalize("NFKC")).replaceAll(/\u200c|\u200d|\ufe0f/g, ""))
    .toLowerCase()
    .replaceAll(/(?<=\p{L})(?:\*\*|__|~~|[*`])(?=\p{L})/gu, "")
    .replaceAll(/[*_`~"'“”‘’«»]+/g, (quote) => (/[_]/.test(quote) ? quote : quote.includes("'") ? "'" : ""))
    .replaceAll(/\p{Extended_Pictographic}+/gu, " ")
    .replaceAll(/[^\S\n]+/gu, " ");
}

/** Accents and strokes away, where a script can be read without them. */
export const withoutMarks = (text: string): string =>
  text
    .normalize("NFD")
    .replaceAll(/(?<=[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}\p{P}\s])\p{M}+/gu, "")
    .normalize("NFC");

/** Letters of another script inside Latin words, as the Latin ones they look like. */
function lookalikes(text: string): string | undefined {
  const mixed = text.replaceAll(/[\p{L}\p{M}]+/gu, (word) =>
    [...word].every((sign) => /\p{ASCII}/u.test(sign) || CONFUSABLE.has(sign))
      ? word.replaceAll(/\P{ASCII}/gu, (sign) => CONFUSABLE.get(sign) ?? sign)
      : word,
  );
  return mixed === text ? undefined : mixed.toLowerCase();
}

const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'", nbsp: " " };

function* decodings(text: string): Iterable<readonly [string, string]> {
  const entities = text
    .replaceAll(/&#x([0-9a-f]{1,6});?/gi, (_, hex: string) => codePoint(Number.parseInt(hex, 16)))
    .replaceAll(/&#(\d{1,7});?/g, (_, digits: string) => codePoint(Number(digits)))
    .replaceAll(/&([a-z]{2,4});/gi, (whole, name: string) => NAMED[name.toLowerCase()] ?? whole);
  if (entities !== text) yield ["entities", entities];
  const percent = text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll("%", ""), "hex").toString(),
  );
  if (percent !== text) yield ["percent signs", percent];
  const escaped = text
    .replaceAll(/\\u\{?([0-9a-f]{4,6})\}?|\\x([0-9a-f]{2})/gi, (_, long?: string, short?: string) =>
      codePoint(Number.parseInt(long ?? short ?? "", 16)),
    )
    .replaceAll(/\\[nrt]/g, "\n");
  if (escaped !== text) yield ["escapes", escaped];
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{16,}={0,2}/g)) yield* decoded("base64", run, "base64");
  for (const [run] of text.matchAll(/(?:[0-9a-f]{2}[\s:]?){8,}/gi))
    yield* decoded("hex", run.replaceAll(/[\s:]/g, ""), "hex");
  const turned = [...text].toReversed().join("");
  if (/\b(?:erongi|sreyal|reyal|snoitcurtsni|edirrevo|noitutitsnoc)\b/i.test(text)) yield ["reversal", turned];
  if (/\b(?:vtaber|vafgehpgvbaf|ynlref?|bireevqr)\b/i.test(text)) yield ["rot13", text.replaceAll(/[a-z]/gi, rot13)];
}

const codePoint = (code: number): string => (code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : "");

function rot13(letter: string): string {
  const base = letter < "a" ? 65 : 97;
  return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
}

/** Only what is text again. */
function* decoded(by: string, run: string, encoding: "base64" | "hex"): Iterable<readonly [string, string]> {
  const text = Buffer.from(run, encoding).toString("utf8");
  if (text.length >= 6 && /^[\p{L}\p{N}\p{P}\p{Zs}\n]+$/u.test(text) && / /.test(text)) yield [by, text];
}

/** `i.g.n.o.r.e`, `i g n o r e`: where most letters stand alone between the same signs, without these. */
function spelled(text: string): string | undefined {
  for (const sign of [".", "-", "|", "/", ",", "·", "+", "="]) {
    const parts = text.split(sign);
    if (parts.length > 6 && parts.filter((part) => part.length <= 1).length > parts.length * 0.7)
      return parts.join("").replaceAll(/ +/g, " ");
  }
  const joined = text.replaceAll(/(?<![\p{L}\p{N}])(?:[\p{L}\p{N}] ){3,}[\p{L}\p{N}](?![\p{L}\p{N}])/gu, (run) =>
    run.replaceAll(" ", ""),
  );
  return joined === text ? undefined : joined;
}

const LEET: Readonly<Record<string, string>> = {
  0: "o",
  1: "i",
  3: "e",
  4: "a",
  5: "s",
  7: "t",
  8: "b",
  9: "g",
  "@": "a",
  $: "s",
  "!": "i",
};

/** Digits inside words as the letters they look like; numbers stay. `1` may stand for i or l: what is sought allows for both. */
function leet(text: string): string | undefined {
  const read = text.replaceAll(/[\p{L}\p{N}@$!]{0,40}(?:\p{L}[\d@$]|[\d@$]\p{L})[\p{L}\p{N}@$!]{0,40}/gu, (word) =>
    word.length < 4 ? word : word.replaceAll(/[\d@$!]/g, (sign) => LEET[sign] ?? sign),
  );
  return read === text ? undefined : read;
}
