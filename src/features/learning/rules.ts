/** The text of a learning version, rule by rule. Pure. */

import { fold, foldedWords, STOP_WORDS } from "../../memory/index.ts";
import type { Agent } from "../../protocol/index.ts";
import type { Anchors } from "./candidate-store.ts";
import type { Fit } from "./evidence.ts";

/** How many rules a version may have, and how many are sent with one request (004.23). */
export const MOST_RULES = 30;
export const MOST_SENT = 10;
/** Characters of one rule. */
export const LONGEST_RULE = 300;

const MARK = /^\s*(?:[-*+•–]|\d{1,3}[.)])\s+/u;

/** The rules of a text: its lines, without marks of a list and without headings. */
export const rulesOf = (text: string): readonly string[] =>
  text
    .split(/\r?\n/)
    .filter((line) => !/^\s*(?:#|```)/.test(line))
    .map((line) => line.replace(MARK, "").trim())
    .filter((line) => line !== "");

export const asText = (rules: readonly string[]): string => rules.map((rule) => `- ${rule}`).join("\n");

/** By this, two rules are one. */
export const ruleKey = (rule: string): string =>
  fold(rule)
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

const terms = (text: string): ReadonlySet<string> =>
  new Set(foldedWords(text, 400).flatMap(({ word, terms: all }) => (STOP_WORDS.has(word) ? [] : all)));

/** What a lesson says, the messages that taught it, and whether it fits the message being answered. */
export interface Matter {
  readonly message: string;
  readonly situations: readonly string[];
  /** Taught whatever the message was about. */
  readonly general: boolean;
  readonly fit: Fit;
  /** People do not want it any more. */
  readonly isOver: boolean;
}

/** Whether a rule says what people no longer want, and nothing that they still want. */
export function isOver(rule: string, matters: readonly Matter[]): boolean {
  const said = matters.filter(({ message }) => saysWithin(message, rule));
  return said.some((one) => one.isOver) && said.every((one) => one.isOver);
}

/** The rules to send: those that are for all messages or of which it is not known, and those that people kept with messages like this one. */
export function rulesSent(message: string, rules: readonly string[], matters: readonly Matter[]) {
  const known = rules.map((rule) => {
    const said = toldBy(rule, matters);
    const isGeneral = said?.general ?? false;
    return { rule, isGeneral, fits: !isGeneral && said?.fit === "fits", isOut: !isGeneral && said?.fit === "not" };
  });
  const fitting = known.filter(({ fits }) => fits).slice(0, MOST_SENT);
  const general = known.filter(({ isGeneral }) => isGeneral).slice(0, MOST_SENT - fitting.length);
  const open = known.filter(({ isGeneral, fits, isOut }) => !isGeneral && !fits && !isOut);
  const most = MOST_SENT - fitting.length - general.length;
  const likely = new Set([
    ...general.map(({ rule }) => rule),
    ...rulesFor(
      message,
      open.map(({ rule }) => rule),
      matters,
      most,
    ),
  ]);
  return { others: rules.filter((rule) => likely.has(rule)), fitting: fitting.map(({ rule }) => rule) };
}

/** A general rule comes before a rule for messages less similar than this. */
const GENERAL = 0.3;

/** The lesson that a rule covers best; of equals, the newest. */
function toldBy(rule: string, matters: readonly Matter[]): Matter | undefined {
  const said = matters
    .filter((one) => !one.isOver && saysWithin(one.message, rule))
    .map((one) => ({ one, size: terms(one.message).size }));
  return said.reduce((best, next) => (next.size > best.size ? next : best), { one: undefined, size: 0 } as {
    one: Matter | undefined;
    size: number;
  }).one;
}

/**
 * Those that are sent: all, or of more than may be sent those that fit the message, in their order. A rule fits that was taught with messages like
 * it or with all kinds of them, or that speaks of it. Rare words say more than those of many rules.
 */
function rulesFor(
  message: string,
  rules: readonly string[],
  matters: readonly Matter[],
  most: number,
): readonly string[] {
  if (rules.length <= most) return rules;
  const asked = terms(message);
  const taught = matters.map(({ message: sentence, situations, general }) => ({
    message: terms(sentence),
    situations: situations.map(terms),
    general,
  }));
  const known = rules.map((rule, place) => ({ rule, place, message: terms(rule) }));
  const count = new Map<string, number>();
  const all = [...known.map(({ message: sentence }) => sentence), ...taught.map((one) => union(one.situations))];
  for (const term of all.flatMap((one) => [...one])) count.set(term, (count.get(term) ?? 0) + 1);
  const weight = (of: Iterable<string>): number => [...of].reduce((sum, term) => sum + 1 / (count.get(term) ?? 1), 0);
  const shared = (one: ReadonlySet<string>): number => weight([...one].filter((term) => asked.has(term)));
  const likeness = (one: ReadonlySet<string>): number => {
    const common = shared(one);
    return common === 0 ? 0 : common / Math.min(weight(one), weight(asked));
  };
  const scoreOf = (sentence: ReadonlySet<string>): number => {
    const own = taught.filter((one) => isWithin(one.message, sentence));
    const general = own.some((one) => one.general) ? GENERAL : 0;
    const spoken = asked.size === 0 ? 0 : shared(sentence) / weight(asked);
    return Math.max(general, spoken, ...own.flatMap(({ situations }) => situations.map(likeness)));
  };
  return known
    .map((one) => ({ ...one, score: scoreOf(one.message) }))
    .sort((a, b) => b.score - a.score || a.place - b.place)
    .slice(0, most)
    .sort((a, b) => a.place - b.place)
    .map(({ rule }) => rule);
}

/** Whether a text says what another one does. */
export function saysWithin(said: string, text: string): boolean {
  const [own, all] = [terms(said), terms(text)];
  return isWithin(own, all) && [...own].every((term) => all.has(term) || !/^\p{N}/u.test(term));
}

const union = (sets: readonly ReadonlySet<string>[]): ReadonlySet<string> => new Set(sets.flatMap((one) => [...one]));

/** Whether a rule contains enough of a statement to count as saying it. */
const isWithin = (said: ReadonlySet<string>, rule: ReadonlySet<string>): boolean =>
  said.size > 0 && [...said].filter((one) => rule.has(one)).length >= NAMES * said.size;

/** A rule names a service, or says what a lesson does, if it shares this much of its words. */
const NAMES = 0.6;

/** The rules, by their keys, that name a person, service, address or price of the organization, each with its present value. */
export function anchorsOf(rules: readonly string[], agent: Pick<Agent, "business">): Anchors {
  const facts = factsOf(agent);
  return Object.fromEntries(
    rules.flatMap((rule) => {
      const said = terms(rule);
      const named = facts.filter(({ text, isWhole }) => {
        if (isWhole) return fold(rule).includes(fold(text));
        const own = terms(text);
        return isWithin(own, said);
      });
      return named.length === 0 ? [] : [[ruleKey(rule), named.map(({ text }) => text)]];
    }),
  );
}

/** Whether something that a rule names has changed. */
export const isStale = (rule: string, anchors: Anchors, agent: Pick<Agent, "business">): boolean => {
  const now = new Set(factsOf(agent).map(({ text }) => text));
  return (anchors[ruleKey(rule)] ?? []).some((fact) => !now.has(fact));
};

function factsOf({
  business,
}: Pick<Agent, "business">): readonly { readonly text: string; readonly isWhole: boolean }[] {
  if (business === undefined) return [];
  const { services = [], contacts = {}, address, members = {}, lines = {} } = business;
  const whole = [
    ...Object.values(contacts),
    address ?? [],
    ...Object.values(members).map(({ name }) => name),
    ...Object.values(lines).flatMap(({ name, address: number }) => [name, number ?? []].flat()),
  ].flat();
  return [
    ...services.map((text) => ({ text, isWhole: false })),
    ...whole.filter((text) => text.length > 2).map((text) => ({ text, isWhole: true })),
  ];
}
