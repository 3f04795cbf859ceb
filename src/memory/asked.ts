import { type AskedDate, datesIn } from "./dates.ts";
import { foldName, wordsOf } from "./fold.ts";
import { FIRST_PERSON, FIRST_PERSON_SPACELESS, FUNCTION_SIGNS, STOP_WORDS } from "./word-lists.ts";

/** More of a text is not read: nobody asks for so much. */
const LONGEST_TEXT = 60_000;
/** More different terms are not looked up; what comes first and weighs most stays. */
const MOST_TERMS = 512;

/** What a search asks for, read from its texts alone. */
export interface Asked {
  /** What to look for, folded, with the weight of the text it stands in. */
  readonly terms: ReadonlyMap<string, number>;
  /** Folded; whose words are asked for. Empty where nobody is named. */
  readonly speaker: string;
  readonly dates: readonly AskedDate[];
  readonly asksWhen: boolean;
  readonly asksHowMany: boolean;
}

/** As a question: in talk "when" mostly begins a story. */
const ASKS_WHEN =
  /\bwhen(?:['’]s|\s+(?:did|does|do|is|was|were|are|will|would|has|have|had|can|could|should))\b|\b(?:what|which)\s+(?:date|day|month|year|time)\b|\bhow long ago\b|什么时候|何时|いつ|เมื่อไหร่|\b(?:wann|quand|cuándo)\b/i;
const ASKS_HOW_MANY =
  /\bhow (?:many|much|long|often|old|far|big|tall)\b|多少|几[个次]|いくつ|何[人回個]|\bcombien\b|\bcuánt[oa]s?\b|\bwie ?viele?\b/i;

export interface AskedText {
  readonly text: string;
  readonly weight: number;
}

/** Reads the texts of a search; `speakers` as the index has them. */
export function readAsked(texts: readonly AskedText[], asker: string | undefined, speakers: readonly string[]): Asked {
  const cut = texts.map(({ text, weight }) => ({ text: text.slice(0, LONGEST_TEXT), weight }));
  const newest = cut[0]?.text ?? "";
  const words = cut.map(({ text, weight }) => ({ words: wordsOf(text), weight }));
  const named = namesIn(words[0]?.words.map(({ word }) => word) ?? [], speakers);
  const saysMe =
    words[0]?.words.some(({ word }) => FIRST_PERSON.has(word) || FIRST_PERSON_SPACELESS.test(word)) === true;
  return {
    terms: termsOf(words, new Set(speakers.flatMap((name) => name.split(" ")))),
    speaker: named.length === 1 ? (named[0] ?? "") : named.length === 0 && saysMe ? foldName(asker ?? "") : "",
    dates: datesIn(newest),
    asksWhen: ASKS_WHEN.test(newest),
    asksHowMany: ASKS_HOW_MANY.test(newest),
  };
}

type Weighted = readonly { readonly words: ReturnType<typeof wordsOf>; readonly weight: number }[];

/** All words but stop words and speakers; all words at all where nothing else is left. */
function termsOf(texts: Weighted, names: ReadonlySet<string>): ReadonlyMap<string, number> {
  const isMeant = (word: string) => !STOP_WORDS.has(word) && !names.has(word);
  const telling = collect(texts, isMeant, (term) => !FUNCTION_SIGNS.test(term));
  return telling.size > 0 ? telling : collect(texts, everything, everything);
}

const everything = () => true;

type Test = (text: string) => boolean;

function collect(texts: Weighted, isMeant: Test, tells: Test): ReadonlyMap<string, number> {
  const terms = new Map<string, number>();
  for (const { words, weight } of texts) {
    for (const term of words.flatMap(({ word, terms: own }) => (isMeant(word) ? own.filter(tells) : []))) {
      const known = terms.get(term);
      if (known === undefined && terms.size >= MOST_TERMS) continue;
      terms.set(term, Math.max(known ?? 0, weight));
    }
  }
  return terms;
}

/** The speakers that are named, by the whole name or its first word. */
function namesIn(words: readonly string[], speakers: readonly string[]): readonly string[] {
  const said = new Set(words);
  return speakers.filter((name) => name !== "" && said.has(name.split(" ")[0] ?? ""));
}
