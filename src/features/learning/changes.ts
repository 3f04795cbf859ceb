/** What a person changed in a draft, without what says nothing about the agent: greetings, signatures, forwards, typos, the contact's own words. Pure. */

import { fold, foldedWords } from "../../memory/index.ts";
import { contentTerms } from "./evidence.ts";

/** One place at which the sent text differs from the draft. Either side may be empty, never both. */
export interface Change {
  readonly removed: string;
  readonly added: string;
  /** The addition repeats the contact's words: it is trusted no more than they are. */
  readonly isQuoted: boolean;
}

/** The surroundings of a draft. */
export interface Around {
  /** What the contact said before it. */
  readonly said: readonly string[];
  /** The signatures that may follow a sent text. */
  readonly signatures: readonly string[];
}

/** A text counts as read up to here, and a draft has no more changes than that. */
const LONGEST = 20_000;
const MOST_SENTENCES = 200;
export const MOST_CHANGES = 8;

/** A text that repeats this many of the contact's words in a row counts as the contact's. */
export const QUOTED_RUN = 4;
/** A shorter run is not a quotation: people share phrases. */
const SHARED_RUN = 3;
/** An addition counts as the contact's own if this share of it appears in what the contact said. */
const OWN_SHARE = 0.8;

/** What a person changed in substance, in the order of the text. */
export function changesIn(draft: string, sent: string, { said, signatures }: Around): readonly Change[] {
  const [before, after] = [draft, sent].map((text) => sentencesOf(messageBody(text.slice(0, LONGEST), signatures)));
  const heard = said.map((text) => splitWords(text.slice(0, LONGEST)));
  return pairs(before ?? [], after ?? [])
    .flatMap((pair) => substanceOf(pair, heard) ?? [])
    .slice(0, MOST_CHANGES);
}

type Pair = Pick<Change, "removed" | "added">;

function substanceOf({ removed, added }: Pair, heard: readonly (readonly string[])[]): Change | undefined {
  const [was, is] = [splitWords(removed), splitWords(added)];
  if (was.join(" ") === is.join(" ") || isRespelled(was, is, [removed, added])) return undefined;
  const had = new Map<string, number>();
  for (const word of was) had.set(word, (had.get(word) ?? 0) + 1);
  const isNew = is.map((word) => {
    const left = had.get(word) ?? 0;
    had.set(word, left - 1);
    return left <= 0;
  });
  const runs = runsIn(is, heard);
  const fresh = isNew.filter(Boolean).length;
  const theirs = (least: number): number => isNew.filter((one, i) => one && (runs[i] ?? 0) >= least).length;
  if (fresh > 0 && theirs(Math.min(SHARED_RUN, is.length)) >= OWN_SHARE * fresh) return undefined;
  return { removed, added, isQuoted: theirs(QUOTED_RUN) > 0 };
}

/** For each word, the length of the longest run with it that appears in one of these texts. */
function runsIn(words: readonly string[], texts: readonly (readonly string[])[]): readonly number[] {
  const runs = words.map(() => 0);
  for (const text of texts) {
    const places = new Map<string, number[]>();
    for (const [i, word] of text.entries()) places.set(word, [...(places.get(word) ?? []), i].slice(-LONGEST_LIST));
    for (let from = 0; from < words.length; from++) {
      let longest = 0;
      for (const at of places.get(words[from] ?? "") ?? []) {
        let length = 1;
        while (from + length < words.length && words[from + length] === text[at + length]) length++;
        longest = Math.max(longest, length);
      }
      for (let i = from; i < from + longest; i++) runs[i] = Math.max(runs[i] ?? 0, longest);
    }
  }
  return runs;
}

/** Of a word that is repeated over and over, the last places are enough. */
const LONGEST_LIST = 50;

/** The longest run of words that a text shares with one of the others. */
export const longestRun = (text: string, others: readonly string[]): number =>
  Math.max(0, ...runsIn(splitWords(text), others.map(splitWords)));

const WORD = /\p{Script=Han}|[\p{L}\p{N}\p{M}$€£¥%]+(?:['’.,:-][\p{L}\p{N}\p{M}]+)*/gu;

const splitWords = (text: string): readonly string[] => fold(text).match(WORD) ?? [];

/** Whether only spelling differs: as many words, and each that differs is the other with a slip. */
function isRespelled(was: readonly string[], is: readonly string[], [removed, added]: readonly string[]): boolean {
  if (was.length !== is.length || was.length === 0) return false;
  const capitals = new Set(`${removed} ${added}`.match(/(?<=[^.!?\s]\s+)\p{Lu}[\p{L}\p{M}]*/gu)?.map(fold) ?? []);
  return was.every((word, i) => {
    const other = is[i] ?? "";
    return word === other || (!capitals.has(word) && !capitals.has(other) && isSlip(word, other));
  });
}

/** A typing slip: two letters exchanged, one missing or extra, or, in a long word, one replaced. Never a number or a negation. */
function isSlip(one: string, other: string): boolean {
  const shorter = Math.min(one.length, other.length);
  if (!/^\p{L}+$/u.test(one + other) || one[0] !== other[0] || shorter < 4) return false;
  let from = 0;
  while (one[from] === other[from] && from < shorter) from++;
  const [a, b] = [one.slice(from), other.slice(from)];
  if (a.length === b.length)
    return (a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2)) || (shorter > 6 && a.slice(1) === b.slice(1));
  return a.slice(1) === b || b.slice(1) === a;
}

const GREETING =
  /^(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|hallo|guten (?:tag|morgen|abend)|moin|liebe[rs]?|sehr geehrte[rs]?|bonjour|salut|hola|ciao)\b[^.!?\n]{0,40}[,.!]?$/iu;
const OPENING =
  /^(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|hallo|guten (?:tag|morgen|abend)|moin|bonjour|hola)(?: [\p{L}'’.-]+){0,3}[,!] +(?=\S)/iu;
const CLOSING =
  /^(?:(?:with )?(?:best|kind|warm|many)(?: (?:regards|wishes|thanks))?|regards|cheers|sincerely|yours(?: \w+)?|thanks(?: again)?|thank you|mit freundlichen grüßen|(?:viele|liebe|beste|schöne) grüße|mfg|lg|cordialement|saludos)[,.!]*$/iu;
/** A name on a separate line: `— Mia`, `Mia Berg, Hafen Bikes`. */
const NAME_LINE = /^(?:[-–—~]+ ?)?\p{Lu}[\p{L}\p{M}'’.-]*(?:,? (?:\p{Lu}[\p{L}\p{M}'’.-]*|of|and|und|the|&))*\.?$/u;
const DASHED = /^[-–—~]{1,3} ?\S.{0,79}$/u;
const FORWARD =
  /^(?:-{2,} ?)?(?:(?:begin )?forwarded(?: message)?|original message|weitergeleitete nachricht|ursprüngliche nachricht|fwd?|fw|wg|tr)\b ?[:-]?|^(?:on|am) .{4,120}(?:wrote|schrieb)\b.{0,80}:$/iu;

/** A text without what surrounds its message: greeting, signature and forwarded text. */
function messageBody(text: string, signatures: readonly string[]): string {
  let body = text.replace(/\r\n?/g, "\n").trim();
  for (const signature of signatures)
    if (signature.trim() !== "" && body.endsWith(signature.trim()))
      body = body.slice(0, -signature.trim().length).trim();
  let lines = body.split("\n").map((line) => line.trim());
  lines = lines.filter((line) => !line.startsWith(">"));
  // A person who forwards the draft itself writes above it; forwarded text below is not part of it.
  lines[0] = (lines[0] ?? "").replace(FORWARD, "").trim();
  const passedOn = lines.findIndex((line) => FORWARD.test(line));
  if (passedOn >= 0) lines = lines.slice(0, passedOn);
  while (lines.length > 1 && (lines[0] === "" || GREETING.test(lines[0] ?? ""))) lines = lines.slice(1);
  lines = withoutSignature(lines);
  const [first = "", ...rest] = lines;
  return [first.replace(OPENING, ""), ...rest].join("\n").trim();
}

/** The greeting at the start of a text, which is removed before comparing; often empty. */
export function greetingOf(text: string): string {
  const [first = "", ...rest] = text.trim().split("\n");
  const inLine = OPENING.exec(first)?.[0];
  return (inLine ?? (rest.length > 0 && GREETING.test(first.trim()) ? first : "")).trim();
}

/** Whether a text is a greeting and nothing else. */
export const isGreeting = (text: string): boolean => text !== "" && greetingOf(`${text}\n.`) === text.trim();

/** A signature has at most this many lines below a closing. */
const SIGNATURE_LINES = 5;

function withoutSignature(lines: readonly string[]): string[] {
  const closing = lines.findLastIndex((line, i) => i > 0 && i >= lines.length - SIGNATURE_LINES && CLOSING.test(line));
  let left = closing > 0 ? lines.slice(0, closing) : [...lines];
  while (left.length > 1) {
    const last = left.at(-1) ?? "";
    if (last !== "" && !CLOSING.test(last) && !NAME_LINE.test(last) && !(DASHED.test(last) && left.at(-2) !== ""))
      break;
    // A list ends with an item, not with a name.
    if (DASHED.test(last) && left.slice(0, -1).some((line) => DASHED.test(line) || line.endsWith(":"))) break;
    left = left.slice(0, -1);
  }
  return left;
}

/** Line by line, each cut after the end of a sentence. Prices and times are not cut. */
export const sentencesOf = (text: string): readonly string[] =>
  text
    .split("\n")
    .flatMap((line) => line.split(/(?<=[.!?…]["”’)]?)\s+(?=\S)|(?<=[。！？])/u))
    .map((sentence) => sentence.trim())
    .filter((sentence) => splitWords(sentence).length > 0)
    .slice(0, MOST_SENTENCES);

const sentenceKey = (sentence: string): string => splitWords(sentence).join(" ");

/** The sentences that are not on both sides, each with its replacement. */
function pairs(before: readonly string[], after: readonly string[]): readonly Pair[] {
  const found: Pair[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  const kept = commonOf(before.map(sentenceKey), after.map(sentenceKey));
  const close = (): void => {
    found.push(...matched(removed, added, kept.length === 0));
    [removed, added] = [[], []];
  };
  let [i, j] = [0, 0];
  for (const [one, other] of [...kept, [before.length, after.length] as const]) {
    removed.push(...before.slice(i, one));
    added.push(...after.slice(j, other));
    close();
    [i, j] = [one + 1, other + 1];
  }
  return found;
}

/** The places of the longest common subsequence. */
function commonOf(one: readonly string[], other: readonly string[]): readonly (readonly [number, number])[] {
  const lengths = Array.from({ length: one.length + 1 }, () => new Array<number>(other.length + 1).fill(0));
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = one.length - 1; i >= 0; i--) {
    const row = lengths[i] ?? [];
    for (let j = other.length - 1; j >= 0; j--)
      row[j] = one[i] === other[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const common: (readonly [number, number])[] = [];
  for (let i = 0, j = 0; i < one.length && j < other.length; ) {
    if (one[i] === other[j]) common.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return common;
}

/**
 * A reworded sentence is paired with its new form; of the others, one replaces one, and the last replaces all that is left. Several in
 * place of several, none of them reworded, are one text: they belong together, in their order.
 */
function matched(removed: readonly string[], added: readonly string[], isWhole: boolean): readonly Pair[] {
  const isOne = removed.length > (isWhole ? 0 : 1) && added.length > 1;
  if (isOne && !removed.some((one) => added.some((other) => likeness(termsOf(one), termsOf(other)) >= REWORDED)))
    return [{ removed: removed.join(" "), added: added.join(" ") }];
  const left = [...removed];
  const made: (Pair & { readonly place: number })[] = [];
  const alone: number[] = [];
  for (const [place, sentence] of added.entries()) {
    const near = left
      .map((one) => ({ one, same: likeness(termsOf(one), termsOf(sentence)) }))
      .reduce((best, next) => (next.same > best.same ? next : best), { one: "", same: 0 });
    if (near.same < REWORDED) alone.push(place);
    else made.push({ removed: left.splice(left.indexOf(near.one), 1)[0] ?? "", added: sentence, place });
  }
  // New text replaces everything that was removed there.
  for (const [i, place] of alone.entries()) {
    const gone = left.splice(0, i === alone.length - 1 ? left.length : 1);
    made.push({ removed: gone.join(" "), added: added[place] ?? "", place });
  }
  const changed = made.sort((a, b) => a.place - b.place).map(({ place: _, ...pair }) => pair);
  return [...changed, ...left.map((one) => ({ removed: one, added: "" }))];
}

/** From here on, a sentence is another one in other words. */
const REWORDED = 0.4;

export const termsOf = (text: string): ReadonlySet<string> =>
  new Set(foldedWords(text.replace(/n['’]t\b/gu, " not"), MOST_TERMS).flatMap(({ terms }) => terms));

const MOST_TERMS = 400;

/** Twice the overlap of two sets, divided by their total size. */
function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  if (one.size + other.size === 0) return 1;
  return (2 * (one.size - without(one, other).size)) / (one.size + other.size);
}

const without = (one: ReadonlySet<string>, other: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...one].filter((term) => !other.has(term)));

/** How two changes relate: they teach the same, the newer one reverts the older, or replaces it. */
export type Relation = "same" | "takes back" | "replaces" | "other";

/** A change in the form in which it is compared. */
export interface Compared {
  readonly was: ReadonlySet<string>;
  readonly is: ReadonlySet<string>;
  readonly lost: ReadonlySet<string>;
  readonly gained: ReadonlySet<string>;
}

export function comparedForm({ removed, added }: Pair): Compared {
  const [was, is] = [termsOf(removed), termsOf(added)];
  return { was, is, lost: without(was, is), gained: without(is, was) };
}

/** Numbers and negations change a sentence's meaning, however similar the rest is. */
const DECIDES = /^\p{N}|^(?:not|no|never|none|without|cannot|nicht|kein\p{L}*|nie|ohne|pas|jamais|sin)$/u;

const deciding = (terms: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...terms].filter((term) => DECIDES.test(term)));
const others = (terms: ReadonlySet<string>): ReadonlySet<string> => without(terms, deciding(terms));

const isAlike = (one: ReadonlySet<string>, other: ReadonlySet<string>, least: number): boolean =>
  likeness(one, other) >= least && likeness(deciding(one), deciding(other)) === 1;

/** How the newer change relates to the older one. */
export function relationOf(newer: Compared, older: Compared): Relation {
  if (isSameChange(newer, older)) return "same";
  const turnsBack = isAlike(newer.gained, older.lost, 0.8) && isAlike(newer.lost, older.gained, 0.8);
  if (turnsBack && likeness(newer.was, older.is) >= 0.6) return "takes back";
  // The older lesson's result was changed again, or the same was said with other numbers, or the same mistake was corrected differently.
  const isOver =
    saysSame(newer.was, older.is) ||
    saysSame(others(newer.is), others(older.is)) ||
    (older.lost.size > 0 && saysSame(newer.was, older.was) && isAlike(newer.lost, older.lost, 0.75));
  return isOver ? "replaces" : "other";
}

/** Whether two questions ask the same: with the same words about their subject, whatever stands around these. */
export function isAskedAlike(one: string, other: string): boolean {
  const [here, there] = [contentTerms(one), contentTerms(other)];
  if (Math.min(here.size, there.size) === 0) return isAlike(termsOf(one), termsOf(other), ASKED_ALIKE);
  return likeness(here, there) >= ASKED_ALIKE && likeness(deciding(termsOf(one)), deciding(termsOf(other))) === 1;
}

/** Of short questions, all words about the subject are the same: one more may ask for something else. */
const ASKED_ALIKE = 0.9;

/** Whether sentences of these words say the same, even if one of them has a slip. */
export const saysAlike = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  Math.min(one.size, other.size) >= NEARLY_SAME * NEARLY_SAME * Math.max(one.size, other.size) &&
  isAlike(one, other, NEARLY_SAME);

const NEARLY_SAME = 0.85;

/** One word for another, such as `front` for `rear`, changes the subject. */
const saysSame = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size > 0 &&
  isAlike(one, other, 0.8) &&
  !(substantial(without(one, other)) === 1 && substantial(without(other, one)) === 1);

const substantial = (terms: ReadonlySet<string>): number => [...terms].filter((term) => !LITTLE.has(term)).length;

const LITTLE = new Set("a an the this that your our my his her it we you i ein eine der die das".split(" "));

function isSameChange(newer: Compared, older: Compared): boolean {
  if ((newer.is.size === 0) !== (older.is.size === 0)) return false;
  if (newer.is.size === 0) return isAlike(newer.was, older.was, 0.7);
  if (saysSame(newer.is, older.is)) return true;
  if (!isAlike(newer.gained, older.gained, 0.7)) return false;
  // A word or two are the same lesson only about the same thing.
  return Math.min(newer.gained.size, older.gained.size) > 2;
}
