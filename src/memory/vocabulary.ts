import type { ParsedQuery } from "./asked.ts";
import { isSpaceless } from "./fold.ts";
import { OF_KIND } from "./kinds.ts";
import type { IndexSize, LexicalIndex } from "./lexical-index.ts";
import type { OfKind, Shortlist } from "./measure.ts";

const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];
const SHORTEST = 5;

/** Whether a term that appears nowhere may be misspelled. */
function isRepairable(term: string): boolean {
  return term.length >= SHORTEST && /^[a-z]+$/.test(term);
}

/** Everything that differs from the term by one slip: a missing, additional or different letter, or two in the wrong order. */
function oneEditFrom(term: string): readonly string[] {
  const edits = new Set<string>();
  for (let at = 0; at <= term.length; at += 1) {
    const [before, after] = [term.slice(0, at), term.slice(at)];
    if (after !== "") edits.add(before + after.slice(1));
    if (after.length > 1) edits.add(`${before}${after[1]}${after[0]}${after.slice(2)}`);
    for (const letter of LETTERS) {
      edits.add(before + letter + after);
      if (after !== "") edits.add(before + letter + after.slice(1));
    }
  }
  edits.delete(term);
  return [...edits];
}

/** At most this many terms are looked for, the rarest ones. */
const MOST_TERMS = 32;
const MOST_REPAIRS = 3;
/** The weight of a corrected word, which may be another word. */
const REPAIRED = 0.7;
/** Evidence is judged as if there were at least this many units: among few, no word is rare. */
const FEWEST_UNITS = 100;
/** The weight of a pair of characters that appears nowhere: in scripts without spaces, most pairs are not words. */
const UNKNOWN_PAIR = 0.3;
/** The least that a word is worth as evidence, as a share of the rarest: a question may contain only words that are everywhere. */
const COMMON = 0.05;

/** A term of the question that the index has. */
export interface QueryTerm {
  /** The number of units with it or, if it names a kind and appears nowhere itself, with members of the kind. */
  readonly frequency: number;
  /** Its weight in the question. */
  readonly weight: number;
  /** The number of units with the term itself. */
  readonly postings: number;
}

/** The scope's statistics of the question's terms. */
export interface Vocabulary {
  readonly known: ReadonlyMap<string, QueryTerm>;
  readonly tells: Shortlist["tells"];
  readonly kinds: ReadonlyMap<string, OfKind & { readonly postings: number }>;
  readonly worth: Shortlist["worth"];
  readonly all: number;
}

/** Looks up the terms, the members of kinds they name, and corrections of those that the scope does not have. */
export async function vocabularyOf(index: LexicalIndex, asked: ParsedQuery, size: IndexSize): Promise<Vocabulary> {
  const members = [...asked.terms.keys()].flatMap((term) => OF_KIND.get(term) ?? []);
  const frequencies = await index.frequencies([...new Set([...asked.terms.keys(), ...members])]);
  const known = new Map<string, QueryTerm>();
  const unknown: string[] = [];
  for (const [term, weight] of asked.terms) {
    const postings = frequencies.get(term) ?? 0;
    const ofKind = (OF_KIND.get(term) ?? []).reduce((sum, member) => sum + (frequencies.get(member) ?? 0), 0);
    const frequency = postings > 0 ? postings : Math.min(ofKind, size.units);
    if (frequency > 0) known.set(term, { frequency, weight, postings });
    else if (isRepairable(term)) unknown.push(term);
  }
  for (const [term, [repaired, frequency = 0] = []] of await repairs(index, unknown.slice(0, MOST_REPAIRS))) {
    if (repaired === undefined || known.has(repaired)) continue;
    known.set(repaired, { frequency, weight: REPAIRED * (asked.terms.get(term) ?? 1), postings: frequency });
  }
  const tells = tellingOf(known, size);
  return { known, tells, kinds: kindsOf(tells, frequencies, size), ...worthOf(asked, known, size) };
}

type Repair = readonly [term: string, best: readonly [repaired: string, frequency: number] | undefined];

/** For each term, the most common term of the index that is one slip away. The index is asked once. */
async function repairs(index: LexicalIndex, terms: readonly string[]): Promise<readonly Repair[]> {
  if (terms.length === 0) return [];
  const edits = terms.map((term) => [term, oneEditFrom(term)] as const);
  const frequencies = await index.frequencies([...new Set(edits.flatMap(([, near]) => near))]);
  return edits.map(([term, near]) => {
    const found = near.map((edit) => [edit, frequencies.get(edit) ?? 0] as const);
    return [term, found.filter(([, frequency]) => frequency > 0).sort(byFrequency)[0]];
  });
}

function byFrequency([a, ofA]: readonly [string, number], [b, ofB]: readonly [string, number]): number {
  return ofB - ofA || (a < b ? -1 : 1);
}

/** The rarest terms, the rarest first, each with its rarity times its weight. */
function tellingOf(known: ReadonlyMap<string, QueryTerm>, { units }: IndexSize): ReadonlyMap<string, number> {
  const rarest = [...known]
    .sort(([a, ofA], [b, ofB]) => ofA.frequency - ofB.frequency || (a < b ? -1 : 1))
    .slice(0, MOST_TERMS);
  return new Map(rarest.map(([term, { frequency, weight }]) => [term, weight * rarity(frequency, units)]));
}

function rarity(frequency: number, units: number): number {
  return Math.log(1 + (Math.max(units, frequency) - frequency + 0.5) / (frequency + 0.5));
}

/** The members of the kinds that are asked for, the rarest first. None weighs more than the word for its kind. */
function kindsOf(
  tells: ReadonlyMap<string, number>,
  frequencies: ReadonlyMap<string, number>,
  { units }: IndexSize,
): Vocabulary["kinds"] {
  const kinds = new Map<string, OfKind & { readonly postings: number }>();
  for (const [kind, most] of tells) {
    for (const member of OF_KIND.get(kind) ?? []) {
      const postings = frequencies.get(member) ?? 0;
      const own = Math.min(most, rarity(postings, units));
      if (postings === 0 || tells.has(member) || (kinds.get(member)?.tells ?? 0) >= own) continue;
      kinds.set(member, { kind, tells: own, postings });
    }
  }
  return new Map([...kinds].sort(([a, ofA], [b, ofB]) => ofA.postings - ofB.postings || (a < b ? -1 : 1)));
}

/** The worth of the index's terms as evidence, one by one, and of the whole question. */
function worthOf(
  { terms }: ParsedQuery,
  known: ReadonlyMap<string, QueryTerm>,
  size: IndexSize,
): Pick<Shortlist, "worth" | "all"> {
  const units = Math.max(size.units, FEWEST_UNITS);
  const rarest = rarity(0, units);
  const worthAt = (frequency: number): number => Math.max(rarity(frequency, units), COMMON * rarest);
  const worth = new Map([...known].map(([term, { frequency, weight }]) => [term, weight * worthAt(frequency)]));
  let all = [...worth.values()].reduce((sum, one) => sum + one, 0);
  for (const [term, weight] of terms) {
    if (!known.has(term)) all += weight * rarest * (isSpaceless(term) ? UNKNOWN_PAIR : 1);
  }
  return { worth, all };
}
