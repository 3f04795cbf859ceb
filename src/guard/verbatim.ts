/**
 * Finds private text word for word in a text that is still arriving: a settled part never belongs to such a run, however the text was cut
 * into pieces. Pure.
 */

/** This many consecutive words of a private text are withheld; of a shorter text, all of it. */
const RUN = 16;
/** A text of fewer words is a phrase that anybody might say. */
const SHORTEST = 6;

export interface PrivateText {
  readonly name: string;
  readonly text: string;
}

/** A run of a private text's words: its position in the incoming text. */
export interface VerbatimRun {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly words: number;
}

/** The text to look for: made once for an agent. */
export interface PrivateWords {
  readonly states: readonly State[];
  /** For each place in the texts, one behind the other: whose it is. */
  readonly owners: readonly string[];
  /** How these words may begin. */
  readonly beginnings: ReadonlySet<string>;
}

/**
 * A state of the suffix automaton over the private words: all sequences of words that end at the same places. With it, the longest sequence
 * that is in a private text and ends with the word just read is known in constant time a word, however many times the texts repeat a word.
 */
interface State {
  readonly next: Map<string, number>;
  /** The state of the longest shorter sequence that ends at more places. */
  link: number;
  /** Words in the longest sequence of this state. */
  words: number;
  /** A place where it ends. */
  place: number;
  /** The texts of fewer than `RUN` words that its sequences end with, the longest first. */
  wholes: readonly WholeText[];
}

interface WholeText {
  readonly name: string;
  readonly words: number;
}

/** In scripts without spaces between words, each character counts as one. Invisible characters belong to the word that contains them. */
const SPACELESS =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const UNSEEN = "\\u00ad\\u200b-\\u200f\\u2060-\\u2064\\ufeff";
const WORD = new RegExp(`[${SPACELESS}]|(?:(?![${SPACELESS}])[\\p{L}\\p{N}\\p{M}${UNSEEN}])+`, "gu");
const UNSEEN_SIGNS = new RegExp(`[${UNSEEN}]`, "g");

const CONTINUED = new RegExp(`^(?:(?![${SPACELESS}])[\\p{L}\\p{N}\\p{M}${UNSEEN}])*`, "u");
const ONE_SIGN = new RegExp(`^[${SPACELESS}]$`, "u");

/** Words that folding changes only in their capitals: most of them. */
const PLAIN = /^\w*$/;

/** In parts, so that the beginning of a word is folded to the beginning of what it is folded to. */
const foldedWord = (word: string): string => (PLAIN.test(word) ? word.toLowerCase() : foldedWhole(word));

const foldedWhole = (word: string): string =>
  word.replace(UNSEEN_SIGNS, "").normalize("NFKD").toLowerCase().replaceAll("ς", "σ");

/** Follows each text and is not a word, so that no sequence goes from one text into the next. */
const BORDER = "\n";
const START = 0;

export function privateWords(texts: readonly PrivateText[]): PrivateWords {
  const states: State[] = [{ next: new Map(), link: -1, words: 0, place: -1, wholes: [] }];
  const owners: string[] = [];
  const beginnings = new Set<string>();
  const short: { name: string; words: readonly string[] }[] = [];
  let last = START;
  for (const { name, text } of texts) {
    const words = (text.match(WORD) ?? []).map(foldedWord).filter((word) => word !== "");
    if (words.length < SHORTEST) continue;
    for (const word of [...words, BORDER]) {
      last = extend(states, last, word, owners.length);
      owners.push(name);
    }
    for (const word of new Set(words)) for (let to = 1; to <= word.length; to++) beginnings.add(word.slice(0, to));
    if (words.length < RUN) short.push({ name, words });
  }
  markWhole(states, short);
  return { states, owners, beginnings };
}

/** Adds a word to the automaton and returns the state of all words so far (Blumer et al., 1985). */
function extend(states: State[], last: number, word: string, place: number): number {
  const added =
    states.push({ next: new Map(), link: START, words: stateAt(states, last).words + 1, place, wholes: [] }) - 1;
  let from = last;
  while (from >= 0 && !stateAt(states, from).next.has(word)) {
    stateAt(states, from).next.set(word, added);
    from = stateAt(states, from).link;
  }
  if (from < 0) return added;
  const { words } = stateAt(states, from);
  const known = stateAt(states, from).next.get(word) ?? START;
  if (stateAt(states, known).words === words + 1) {
    stateAt(states, added).link = known;
    return added;
  }
  const { next, link, place: first } = stateAt(states, known);
  const copy = states.push({ next: new Map(next), link, words: words + 1, place: first, wholes: [] }) - 1;
  for (; from >= 0 && stateAt(states, from).next.get(word) === known; from = stateAt(states, from).link)
    stateAt(states, from).next.set(word, copy);
  stateAt(states, known).link = copy;
  stateAt(states, added).link = copy;
  return added;
}

function stateAt(states: readonly State[], at: number): State {
  const state = states[at];
  if (state === undefined) throw new RangeError(`the automaton has no state ${at}`);
  return state;
}

function markWhole(states: readonly State[], short: readonly { name: string; words: readonly string[] }[]): void {
  for (const { name, words } of short) {
    const at = words.reduce((from, word) => stateAt(states, from).next.get(word) ?? START, START);
    const state = stateAt(states, at);
    state.wholes = [...state.wholes, { name, words: words.length }].sort((a, b) => b.words - a.words);
  }
  // A link leads to a state of fewer words, so those come first.
  for (const state of states.toSorted((a, b) => a.words - b.words))
    if (state.link >= 0) state.wholes = [...state.wholes, ...stateAt(states, state.link).wholes.slice(0, 1)];
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

export function scanFor({ states, owners, beginnings }: PrivateWords): Scan {
  const found: VerbatimRun[] = [];
  /** The longest end of the words so far that is in a private text: its state and its words. */
  let state = START;
  let matched = 0;
  /** Where the words so far begin. */
  let starts: number[] = [];
  /** The run that continues, where the last words belong to one. */
  let running: VerbatimRun | undefined;
  /** The incomplete last word, and where it begins. */
  let rest = "";
  let at = 0;
  /** Whether the text is inside a foreign word: the rest of that word need not be kept. */
  let isInOther = false;
  let settled = 0;

  const word = (text: string, from: number): void => {
    const said = foldedWord(text);
    if (said === "") return;
    while (state !== START && !stateAt(states, state).next.has(said)) {
      state = stateAt(states, state).link;
      matched = stateAt(states, state).words;
    }
    const next = stateAt(states, state).next.get(said);
    state = next ?? START;
    matched = next === undefined ? 0 : matched + 1;
    starts.push(from);
    // Of the words before, only those that a run may still begin with are needed.
    if (starts.length > 2 * matched + RUN) starts = starts.slice(starts.length - matched);
    const run = runHere();
    if (run === undefined) {
      close();
      return;
    }
    const begins = Math.min(begun(run.words), running?.from ?? from);
    running = { ...run, from: Math.max(begins, found.at(-1)?.to ?? 0), to: from + text.length };
  };
  /** The run of private words that ends here, if there is one. */
  const runHere = (): WholeText | undefined => {
    const { place, wholes } = stateAt(states, state);
    if (matched >= RUN) return { name: owners[place] ?? "", words: matched };
    return wholes.find(({ words }) => words <= matched);
  };
  /** The start of the last `words` words. */
  const begun = (words: number): number => starts[starts.length - words] ?? at;
  const close = (): void => {
    if (running !== undefined) found.push(running);
    running = undefined;
  };
  const settle = (end: number): void => {
    settled = Math.max(settled, Math.min(end, running?.from ?? end, matched > 0 ? begun(matched) : end));
  };
  const read = (isLast: boolean): void => {
    if (isInOther && rest !== "") {
      const more = CONTINUED.exec(rest)?.[0].length ?? 0;
      isInOther = more === rest.length;
      at += more;
      rest = rest.slice(more);
    }
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
    const begins = growing < 0 ? "" : foldedWord(rest.slice(growing));
    // A foreign word ends whatever came before it, and need not be waited for.
    const isOther = begins !== "" && !beginnings.has(begins);
    if (isLast || isOther) {
      close();
      state = START;
      matched = 0;
    }
    settle(growing < 0 || isOther ? at + rest.length : at + growing);
    if (!isOther) return;
    isInOther = true;
    at += rest.length;
    rest = "";
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
