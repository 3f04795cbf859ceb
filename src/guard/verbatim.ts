/**
 * Finds word for word what nobody is to read, in a text that is still coming: whatever is settled belongs to no such run, however the
 * text was cut into pieces. Pure.
 */

/** So many words of a private text in a row are withheld; of a shorter text, all of it. */
const RUN = 16;
/** A text of fewer words is a phrase that anybody might say. */
const SHORTEST = 6;

export interface PrivateText {
  readonly name: string;
  readonly text: string;
}

/** A run of a private text's words: where it stands in what came. */
export interface VerbatimRun {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly words: number;
}

/** What is looked for: made once for an agent. */
export interface PrivateWords {
  readonly words: readonly string[];
  /** For each place: which text it is of, and how many of its words make a run. */
  readonly owners: readonly { readonly name: string; readonly run: number }[];
  readonly places: ReadonlyMap<string, readonly number[]>;
  /** How these words may begin. */
  readonly beginnings: ReadonlySet<string>;
}

/** Where no spaces stand between words, each sign counts as one. What shows nothing belongs to the word that it stands in. */
const SPACELESS =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const UNSEEN = "\\u00ad\\u200b-\\u200f\\u2060-\\u2064\\ufeff";
const WORD = new RegExp(`[${SPACELESS}]|(?:(?![${SPACELESS}])[\\p{L}\\p{N}\\p{M}${UNSEEN}])+`, "gu");
const UNSEEN_SIGNS = new RegExp(`[${UNSEEN}]`, "g");

const ONE_SIGN = new RegExp(`^[${SPACELESS}]$`, "u");

/** What folding leaves as it is, but for capitals: most words. */
const PLAIN = /^\w*$/;

/** In parts, so that the beginning of a word is folded to the beginning of what it is folded to. */
const folded = (word: string): string => (PLAIN.test(word) ? word.toLowerCase() : foldedWhole(word));

const foldedWhole = (word: string): string =>
  word.replace(UNSEEN_SIGNS, "").normalize("NFKD").toLowerCase().replaceAll("ς", "σ");

export function privateWords(texts: readonly PrivateText[]): PrivateWords {
  const words: string[] = [];
  const owners: { name: string; run: number }[] = [];
  const places = new Map<string, number[]>();
  for (const { name, text } of texts) {
    const own = (text.match(WORD) ?? []).map(folded).filter((word) => word !== "");
    if (own.length < SHORTEST) continue;
    const owner = { name, run: Math.min(RUN, own.length) };
    for (const word of own) {
      const known = places.get(word) ?? [];
      known.push(words.length);
      places.set(word, known);
      words.push(word);
      owners.push(owner);
    }
  }
  const beginnings = new Set(
    [...places.keys()].flatMap((word) => Array.from({ length: word.length }, (_, at) => word.slice(0, at + 1))),
  );
  return { words, owners, places, beginnings };
}

/** Words that came in the order of a private text, so far. */
interface Match {
  /** The place of the last of them. */
  readonly place: number;
  readonly words: number;
  /** Where the first of them begins in what came. */
  readonly from: number;
}

export interface Scan {
  /** Takes what came next. */
  push(delta: string): void;
  /** Nothing more comes. */
  end(): void;
  /** Up to here nothing changes any more: each run before it is among those found. */
  readonly settled: number;
  readonly found: readonly VerbatimRun[];
}

export function scanFor({ words, owners, places, beginnings }: PrivateWords): Scan {
  const found: VerbatimRun[] = [];
  let matches: readonly Match[] = [];
  /** The run that continues, where the last words belong to one. */
  let running: VerbatimRun | undefined;
  /** What came and is no whole word yet, and where it begins. */
  let rest = "";
  let at = 0;
  let settled = 0;

  const word = (text: string, from: number): void => {
    const to = from + text.length;
    const said = folded(text);
    if (said === "") return;
    const going = matches.filter(({ place }) => words[place + 1] === said && owners[place + 1] === owners[place]);
    const begun = (places.get(said) ?? []).map((place) => ({ place, words: 1, from }));
    matches = [...going.map((one) => ({ place: one.place + 1, words: one.words + 1, from: one.from })), ...begun];
    const whole = matches.filter((one) => one.words >= (owners[one.place]?.run ?? Number.POSITIVE_INFINITY));
    const longest = whole.toSorted((a, b) => b.words - a.words)[0];
    if (longest === undefined) {
      close();
      return;
    }
    const name = owners[longest.place]?.name ?? "";
    const begins = Math.min(longest.from, running?.from ?? longest.from);
    running = { name, from: Math.max(begins, found.at(-1)?.to ?? 0), to, words: longest.words };
  };
  const close = (): void => {
    if (running !== undefined) found.push(running);
    running = undefined;
  };
  const settle = (end: number): void => {
    settled = Math.max(settled, Math.min(end, running?.from ?? end, ...matches.map(({ from }) => from)));
  };
  const read = (isLast: boolean): void => {
    let done = 0;
    for (const { 0: text, index } of rest.matchAll(WORD)) {
      // The last word may continue in what comes next.
      if (!isLast && index + text.length === rest.length && !ONE_SIGN.test(text)) break;
      word(text, at + index);
      done = index + text.length;
    }
    at += done;
    rest = rest.slice(done);
    const growing = isLast ? -1 : rest.search(WORD);
    const isOther = growing >= 0 && !beginnings.has(folded(rest.slice(growing))) && folded(rest.slice(growing)) !== "";
    // A word that is none of them ends whatever came before it, and need not be waited for.
    if (isLast || isOther) {
      close();
      matches = [];
    }
    settle(growing < 0 || isOther ? at + rest.length : at + growing);
  };
  return {
    push: (delta) => {
      rest += delta;
      read(false);
    },
    end: () => read(true),
    get settled() {
      return settled;
    },
    get found() {
      return found;
    },
  };
}
