/** Whether a lesson fits a message, judging by what people sent for earlier ones: approved drafts count as much as edited ones. Pure. */

import { isGreeting, saysAlike, sentencesOf, termsOf } from "./changes.ts";
import { contentTerms, type Fit, isApart, meantBy } from "./evidence.ts";
import { ruleKey } from "./rules.ts";

/** An answered message: what the agent had written, and what people sent. */
export interface Case {
  readonly id: string;
  readonly contact: string;
  readonly message: string;
  readonly wrote: string;
  readonly sent: string;
  readonly at: number;
}

/** What a lesson changes in a draft. `instead` holds each form in which people wrote it; empty if the lesson only removes something. */
export interface Taught {
  readonly wrong: string;
  readonly instead: readonly string[];
}

/** What a lesson's edits change, in all forms. A replacement for a whole answer fits its message, whatever the answer was. */
export function formsOf(sources: readonly { readonly wrong: string; readonly instead: string }[]): Taught {
  const { wrong } = meantBy(sources);
  const instead = [...new Set(sources.map((one) => one.instead).filter((text) => text !== ""))];
  return { wrong: instead.length > 0 && sentencesOf(wrong).length > 1 ? "" : wrong, instead };
}

/** From here on, two messages are nearly the same. */
const NEARLY = 0.75;

interface Read extends Case {
  readonly terms: ReadonlySet<string>;
  readonly key: string;
}

/** A message, and from which case on it is compared. */
interface Looked extends Pick<Case, "message" | "contact"> {
  readonly from?: number;
  readonly terms?: ReadonlySet<string>;
}

interface Judged {
  readonly one: Read;
  readonly holds: boolean;
}

/** Of each case what its message says, as long as the case is kept. */
const READ = new WeakMap<Case, Read>();

function readCase(one: Case): Read {
  const read = READ.get(one) ?? { ...one, terms: contentTerms(one.message), key: ruleKey(one.message) };
  READ.set(one, read);
  return read;
}

type Judge = ReturnType<typeof newJudge>;

const JUDGES = new WeakMap<readonly Case[], Judge>();

/** Judges lessons by these cases, newest first; of the same cases, it is the same judge, who knows what it has compared. */
export function judgeOf(cases: readonly Case[]): Judge {
  const judge = JUDGES.get(cases) ?? newJudge(cases);
  JUDGES.set(cases, judge);
  return judge;
}

function newJudge(cases: readonly Case[]) {
  const read = cases.map(readCase);
  const said = sayings();
  /** For each relevant case, whether people wanted what the lesson says. Cases before they first wrote it do not count. */
  const judged = (lesson: Taught, from: number): readonly Judged[] => {
    const all = read.slice(from).flatMap((one) => {
      const holds = wanted(lesson, one, said);
      return holds === undefined || one.message === "" ? [] : [{ one, holds }];
    });
    return all.slice(0, all.findLastIndex(({ holds }) => holds) + 1);
  };
  /** How likely a lesson fits a message: it fits from 0 upwards. Undefined if nothing similar was answered. */
  const likely = (
    lesson: Taught,
    { message, contact, from = 0, terms = contentTerms(message) }: Looked,
  ): number | undefined => {
    if (terms.size === 0) return undefined;
    const all = judged(lesson, from);
    const near = all.filter(({ one }) => alike(one.terms, terms) >= NEARLY);
    const nearest = near.find(({ one }) => one.contact === contact) ?? near[0];
    if (nearest !== undefined) return nearest.holds ? SURE : -SURE;
    return byWords(all, terms);
  };
  return {
    fit: (lesson: Taught, asked: Pick<Case, "message" | "contact">): Fit => {
      const sure = likely(lesson, asked) ?? 0;
      return sure > 0 ? "fits" : sure < LEAST ? "not" : "unknown";
    },
    /** Since when people remove what a lesson says, even for messages that it certainly fits; undefined as long as they want it. */
    overSince: (lesson: Taught): Case | undefined => {
      if (lesson.instead.length === 0) return undefined;
      let first: Case | undefined;
      let isOver = false;
      for (const [i, one] of read.entries()) {
        if (said.any(one.sent, lesson.instead)) break;
        // A complete rewrite of the answer says nothing about its sentences.
        if (!said.any(one.wrote, lesson.instead) || !said.keepsSome(one)) continue;
        first = one;
        isOver ||= (likely(lesson, { ...one, from: i + 1 }) ?? 0) >= SURE;
      }
      return isOver ? first : undefined;
    },
    /** Whether it was sent to another contact. */
    isForOthers: ({ instead }: Taught, contact: string): boolean =>
      read.some((one) => one.contact !== contact && said.any(one.sent, instead)),
    /** Whether people want it whatever the message is about: in most cases since the first one, though those messages were not alike. */
    isGeneral: (lesson: Taught): boolean => {
      if (lesson.instead.some(isGreeting)) return true;
      const since = judged(lesson, 0);
      const held = since.filter(({ holds }) => holds);
      if (held.length < LEAST_GENERAL || held.length < GENERAL_SHARE * (since.length + 1)) return false;
      const messages = held.slice(0, MOST_LOOKED).map(({ one }) => one.terms);
      return messages.some((one, i) => messages.slice(i + 1).some((other) => isApart(one, other)));
    },
  };
}

/** A lesson is general from this many cases on, if people wanted it in this share of all cases since the first of them and one more. */
const LEAST_GENERAL = 3;
const GENERAL_SHARE = 2 / 3;
/** How many messages of a lesson are compared. */
const MOST_LOOKED = 20;

/** So sure it is of a message that was answered nearly the same before. */
const SURE = 3;
/** From here down, a lesson is not for a message. */
const LEAST = -1;

/** Undefined if a draft had nothing for the lesson to change. */
function wanted({ wrong, instead }: Taught, { wrote, sent }: Case, said: Sayings): boolean | undefined {
  if (instead.length === 0) return said.any(wrote, [wrong]) ? !said.any(sent, [wrong]) : undefined;
  if (said.any(sent, instead)) return true;
  return wrong !== "" && !said.any(wrote, [wrong, ...instead]) ? undefined : false;
}

type Sayings = ReturnType<typeof sayings>;

/** How many comparisons a judge keeps. */
const MOST_SAID = 100_000;

/** Whether a text says one of these sentences, perhaps with a slip. Cached, since the same questions repeat. */
function sayings() {
  const known = new Map<string, Map<string, boolean>>();
  let left = MOST_SAID;
  const parts = new Map<string, { readonly key: string; readonly sentences: readonly string[] }>();
  const words = new Map<string, { readonly key: string; readonly terms: ReadonlySet<string> }>();
  const kept = <Value>(all: Map<string, Value>, name: string, make: () => Value): Value => {
    const value = all.get(name) ?? make();
    all.set(name, value);
    return value;
  };
  const partsOf = (text: string) =>
    kept(parts, text, () => ({ key: ` ${ruleKey(text)} `, sentences: sentencesOf(text) }));
  const wordsOf = (sentence: string) =>
    kept(words, sentence, () => ({ key: ` ${ruleKey(sentence)} `, terms: termsOf(sentence) }));
  const says = (text: string, sentence: string): boolean =>
    kept(
      kept(known, sentence, () => new Map<string, boolean>()),
      text,
      () => {
        if (left-- <= 0) {
          for (const all of [known, parts, words]) all.clear();
          left = MOST_SAID;
        }
        const { key, sentences } = partsOf(text);
        const own = wordsOf(sentence);
        return key.includes(own.key) || sentences.some((one) => saysAlike(wordsOf(one).terms, own.terms));
      },
    );
  return {
    any: (text: string, all: readonly string[]): boolean =>
      all.some((sentence) => sentence !== "" && says(text, sentence)),
    keepsSome: ({ wrote, sent }: Case): boolean => partsOf(wrote).sentences.some((sentence) => says(sent, sentence)),
  };
}

const alike = (one: ReadonlySet<string>, other: ReadonlySet<string>): number =>
  (2 * [...one].filter((term) => other.has(term)).length) / Math.max(1, one.size + other.size);

/** So often a word is counted as if it had been seen with the usual share of messages. */
const DOUBT = 1;

/**
 * Each word of the message counts by how often the lesson was wanted when it appeared: a word of many messages without the lesson says
 * little, and an unknown word says nothing.
 */
function byWords(all: readonly Judged[], terms: ReadonlySet<string>): number | undefined {
  const distinct = [...new Map(all.toReversed().map((one) => [one.one.key, one])).values()];
  const holding = distinct.filter(({ holds }) => holds).length;
  const usual = holding / (distinct.length + 1);
  const seen = [...terms].map((term) => {
    const having = distinct.filter(({ one }) => one.terms.has(term));
    return { with: having.filter(({ holds }) => holds).length, of: having.length };
  });
  if (seen.every((one) => one.with === 0)) return undefined;
  return seen.reduce(
    (sum, one) => sum + logit((one.with + DOUBT * usual) / (one.of + DOUBT)) - logit(usual),
    logit(usual),
  );
}

const logit = (share: number): number => Math.log(share / (1 - share));
