import { foldedWords, foldName, isSpaceless, stemOf } from "./fold.ts";
import { OF_KIND } from "./kinds.ts";
import { FUNCTION_SIGNS, NUMBER_WORDS, STOP_WORDS, TIME_WORDS } from "./word-lists.ts";

/** A text that may be about a subject. */
export interface TopicText {
  readonly content: string;
  readonly tags: readonly string[];
}

/** A subject that several texts share. */
export interface Topic {
  /** The word they share, in its most frequent form; if they share only a kind, the two most frequent words of that kind. */
  readonly name: string;
  /** Positions of the texts in the order given. */
  readonly of: readonly number[];
}

interface TopicOptions {
  /** The fewest texts that make a topic. */
  readonly least: number;
  /** The speakers: naming one of them says nothing about the subject. */
  readonly speakers: readonly string[];
}

/** A word in more than this share of the texts names no subject. */
const COMMON = 0.2;
/** Rarity is judged as if there were at least this many texts: among few, no word is rare. */
const FEWEST = 100;
/** Longer words are not names. */
const LONGEST = 40;
/** In at least this share of its texts, a word must be in the position of a thing's name. */
const SUBJECT = 0.3;

/**
 * Groups texts about the same things: those that share the name of something, or names of one kind. It uses their words alone. The most
 * significant topic comes first, and no text belongs to two. Pure: the same texts give the same topics.
 */
export function topicsOf(texts: readonly TopicText[], { least, speakers }: TopicOptions): readonly Topic[] {
  const words = subjectsOf(texts, new Set(speakers.flatMap((name) => foldName(name).split(" ").map(stemOf))));
  const units = Math.max(texts.length, FEWEST);
  const candidates = [...gathered(words)]
    .filter(([, of]) => of.size >= least && of.size <= units * COMMON)
    .map(([term, of]) => ({ term, of, tells: tellingOf(of.size, units) }))
    .sort((a, b) => b.tells - a.tells || b.of.size - a.of.size || (a.term < b.term ? -1 : 1));
  const taken = new Set<number>();
  const topics: Topic[] = [];
  for (const { term, of } of candidates) {
    const left = [...of].filter((place) => !taken.has(place)).sort((a, b) => a - b);
    if (left.length < least) continue;
    for (const place of left) taken.add(place);
    topics.push({ name: subjectName(term, words, new Set(left)), of: left });
  }
  return topics;
}

/** Rare words and larger groups are more significant. */
function tellingOf(size: number, units: number): number {
  return Math.log(1 + (units - size + 0.5) / (size + 0.5)) * Math.log(size);
}

/** A term, with the texts in which it appears and its forms there. */
type Subjects = ReadonlyMap<string, { readonly of: ReadonlySet<number>; readonly said: ReadonlyMap<string, number> }>;

/** The terms that name something, and the kinds to which they belong. */
function gathered(words: Subjects): ReadonlyMap<string, ReadonlySet<number>> {
  const all = new Map([...words].map(([term, { of }]) => [term, of]));
  for (const [kind, members] of OF_KIND) {
    const of = [kind, ...members].flatMap((term) => [...(words.get(term)?.of ?? [])]);
    if (of.length > 0) all.set(kind, new Set(of));
  }
  return all;
}

function subjectName(term: string, words: Subjects, of: ReadonlySet<number>): string {
  const own = words.get(term);
  if (own !== undefined && [...own.of].some((place) => of.has(place))) return mostSaid(own.said)[0] ?? term;
  const members = (OF_KIND.get(term) ?? []).flatMap((member) => words.get(member) ?? []);
  const said = new Map<string, number>();
  for (const member of members) {
    const count = [...member.of].filter((place) => of.has(place)).length;
    const [word] = mostSaid(member.said);
    if (word !== undefined && count > 0) said.set(word, count);
  }
  return mostSaid(said).slice(0, 2).join(" ");
}

const mostSaid = (said: ReadonlyMap<string, number>): readonly string[] =>
  [...said].sort(([a, ofA], [b, ofB]) => ofB - ofA || (a < b ? -1 : 1)).map(([word]) => word);

/** Words in the position of a thing's name, in enough texts to be names. */
function subjectsOf(texts: readonly TopicText[], speakers: ReadonlySet<string>): Subjects {
  const read = reader();
  const all = new Map<string, { of: Set<number>; named: Set<number>; said: Map<string, number> }>();
  for (const [place, text] of texts.entries()) {
    for (const { word, term, isNamed } of topicWordsIn(text, read)) {
      if (!isTelling(word, term) || speakers.has(term)) continue;
      const known = all.get(term) ?? { of: new Set(), named: new Set(), said: new Map<string, number>() };
      all.set(term, known);
      known.of.add(place);
      if (isNamed) known.named.add(place);
      known.said.set(word, (known.said.get(word) ?? 0) + 1);
    }
  }
  return new Map([...all].filter(([, { of, named }]) => named.size > 0 && named.size >= of.size * SUBJECT));
}

function isTelling(word: string, term: string): boolean {
  if (isSpaceless(term)) return term.length > 1 && !FUNCTION_SIGNS.test(term);
  const says = STOP_WORDS.has(word) || TIME_WORDS.has(word) || NUMBER_WORDS.has(word) || VAGUE.has(word);
  return !says && word.length > 2 && word.length <= LONGEST && !/^\p{N}+$/u.test(word);
}

interface TopicWord {
  readonly word: string;
  readonly term: string;
  /** Whether it is in the position of a thing's name. */
  readonly isNamed: boolean;
}

const OF_A_KIND: ReadonlySet<string> = new Set([...OF_KIND.keys(), ...[...OF_KIND.values()].flat()]);

const TOKEN = /[\p{L}\p{N}\p{M}]+(?:['’][\p{L}\p{M}]+)*|[^\s\p{L}\p{N}\p{M}]+|\n/gu;
const IS_WORD = /^[\p{L}\p{N}]/u;
const IS_CAPITAL = /^\p{Lu}/u;

/** People use few different words: each is processed once. */
function reader(): typeof foldedWords {
  const known = new Map<string, ReturnType<typeof foldedWords>>();
  return (token) => {
    const words = known.get(token) ?? (IS_WORD.test(token) ? foldedWords(token) : []);
    known.set(token, words);
    return words;
  };
}

function topicWordsIn({ content, tags }: TopicText, read: typeof foldedWords): readonly TopicWord[] {
  const tokens = content.match(TOKEN) ?? [];
  const words = tokens.map(read);
  // "that's" does not begin a name.
  const plain = words.map(([first], at) => (/['’]/.test(tokens[at] ?? "") ? "" : first?.word));
  const said = words.flatMap((own, at) =>
    own.flatMap(({ word, terms }) =>
      terms.map((term) => {
        if (isSpaceless(term)) return { word: term, term, isNamed: true };
        const isKnown = OF_A_KIND.has(term) && BEGINS.has(plain[at - 1] ?? "");
        return { word, term, isNamed: isKnown || isNamedAt(tokens, plain, at) };
      }),
    ),
  );
  const tagged = tags
    .flatMap(foldedWords)
    .flatMap(({ word, terms }) => terms.map((term) => ({ word, term, isNamed: true })));
  return [...said, ...tagged];
}

/** A capital letter inside a sentence, or the end of what an article or the like begins: "my boat is", "the green boat." */
function isNamedAt(tokens: readonly string[], words: readonly (string | undefined)[], at: number): boolean {
  const before = words[at - 1];
  if (before === undefined) return false;
  if (IS_CAPITAL.test(tokens[at] ?? "")) return true;
  const after = words[at + 1];
  const ends = after === undefined || STOP_WORDS.has(after);
  const begins = BEGINS.has(before) || (!STOP_WORDS.has(before) && BEGINS.has(words[at - 2] ?? ""));
  return ends && begins;
}

const list = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));

/** Words that precede the name of a thing, folded. */
const BEGINS = list(`a an the my your his her its our their these those some any every each
der die das den dem des ein eine einen einem einer mein meine meinen meinem meiner dein deine sein seine ihr ihre unser unsere
le la les un une mon ma mes ton ta tes son sa ses notre votre leur ce cette
el los las una mi mis tu tus su sus il lo gli o os as um uma meu minha`);

/** Words in the position of a thing's name that name nothing. */
const VAGUE =
  list(`time times thing things way ways lot lots bit kind kinds sort sorts one ones people person something anything
nothing everything someone anyone everyone idea ideas fun day days moment moments place places point part end rest others other same
best first last next good great new what
difference experience life stuff back change mind words word story stories event events impact memory memories journey self`);
