/** The text of a learning version, rule by rule. Pure. */

import { fold, foldedWords, STOP_WORDS } from "../../memory/index.ts";
import type { Agent } from "../../protocol/index.ts";
import type { Anchors } from "./candidate-store.ts";

/** So many rules a version may have, and so many are sent with one request (004.23). */
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

/** Those that are sent: all, or of more than may be sent those that fit the message, in their order. */
export function rulesFor(message: string, rules: readonly string[]): readonly string[] {
  if (rules.length <= MOST_SENT) return rules;
  const asked = terms(message);
  const fit = rules.map((rule, place) => ({
    rule,
    place,
    shared: [...terms(rule)].filter((one) => asked.has(one)).length,
  }));
  return fit
    .sort((a, b) => b.shared - a.shared || a.place - b.place)
    .slice(0, MOST_SENT)
    .sort((a, b) => a.place - b.place)
    .map(({ rule }) => rule);
}

/** A rule names a service if it shares so much of its words. */
const NAMES = 0.6;

/** The rules, by their keys, that name a person, a service, an address or a price of the organization, each as it is now. */
export function anchorsOf(rules: readonly string[], agent: Pick<Agent, "business">): Anchors {
  const facts = factsOf(agent);
  return Object.fromEntries(
    rules.flatMap((rule) => {
      const said = terms(rule);
      const named = facts.filter(({ text, isWhole }) => {
        if (isWhole) return fold(rule).includes(fold(text));
        const own = [...terms(text)];
        return own.length > 0 && own.filter((one) => said.has(one)).length >= NAMES * own.length;
      });
      return named.length === 0 ? [] : [[ruleKey(rule), named.map(({ text }) => text)]];
    }),
  );
}

/** Whether what a rule names is no longer so. */
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
