import { ENGLISH_WORDS, isEnglishWord } from "./language.ts";
import { once } from "./once.ts";
import { VOCABULARY } from "./vocabulary.ts";

/** Words of which some letters are hidden behind signs, whichever they are: `c?nst?t?t??n`, `sa***ty`, `repl.` for `replace`. */

const WORD = /(?<![\p{L}\p{N}])[\p{L}\p{N}]*(?:[^\p{L}\p{N}\s'’"“”,;:]{1,4}[\p{L}\p{N}]*)+/gu;
const WORDS = once(() => [...VOCABULARY, ...ENGLISH_WORDS].filter((word) => /^[a-z]{2,}$/.test(word)));
/** The words of a length that begin with a letter, where both are known. */
const formOf = (length?: number, first?: string): string => `${length ?? ""}${first ?? ""}`;
const byForm = once(() => {
  const forms = new Map<string, string[]>();
  for (const word of WORDS())
    for (const length of [word.length, undefined])
      for (const first of [word.slice(0, 1), undefined]) {
        const form = formOf(length, first);
        const words = forms.get(form);
        if (words === undefined) forms.set(form, [word]);
        else words.push(word);
      }
  return forms;
});
const FEWEST = 2;
const MOST = 40;
/** How many of a line's words are hidden so. */
const HIDDEN = 0.3;

/** Lines with the words that may be meant, where several words have signs inside. */
export function* unhidden(text: string): Iterable<readonly [string, string]> {
  for (const line of text.split("\n")) {
    if (line.length > 600) continue;
    const words = line.split(/\s+/).length;
    const hidden = (line.match(WORD) ?? []).filter(isHidden);
    if (hidden.length < FEWEST || hidden.length > MOST || hidden.length < words * HIDDEN) continue;
    const read = line.replaceAll(WORD, (word) => (isHidden(word) ? (meant(word) ?? word) : word));
    if (read !== line) yield [read, line];
  }
}

const isHidden = (word: string): boolean => {
  const bare = word.replace(/[.!?)\]]+$/, "");
  return /[^\p{L}\p{N}]/u.test(bare) && /\p{L}/u.test(bare) && bare.length < 24;
};

/** The first word whose letters fit; a sign stands for one letter, three or more in a row for some. */
function meant(word: string): string | undefined {
  const [, body = "", end = ""] = /^(.*?)([.!)\]]*)$/u.exec(word) ?? [];
  const source = body
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, (signs) => (signs.length > 2 ? "[a-z]{1,9}" : `[a-z]{${signs.length}}`));
  const letters = body.match(/[a-z]/gi)?.length ?? 0;
  if (letters < Math.min(2, body.length - 1) || isEnglishWord(body.toLowerCase())) return undefined;
  const fits = new RegExp(`^${source}$`);
  const isFixed = !/[^a-z]{3}/i.test(body);
  const found = byForm()
    .get(formOf(isFixed ? body.length : undefined, /^[a-z]/i.exec(body)?.[0].toLowerCase()))
    ?.find((one) => fits.test(one));
  return found === undefined ? undefined : found + end;
}
