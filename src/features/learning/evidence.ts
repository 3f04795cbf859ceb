/**
 * What several edits mean together: the intention, whether it holds for all messages, and whether two messages are about one matter. Pure.
 */

import { foldedWords, STOP_WORDS } from "../../memory/index.ts";
import type { LessonSource } from "./store.ts";

/**
 * Whether a lesson fits a message. `fits`: people apply it to similar messages. `not`: they do not. `unknown`: there was no similar
 * message.
 */
export type Fit = "fits" | "not" | "unknown";

/**
 * What these sources teach, newest first: what people wrote most often, so that a single slip is not taught on. If half of them only added
 * it, the text that the others replaced was a coincidence.
 */
export function meantBy(sources: readonly Pick<LessonSource, "wrong" | "instead">[]) {
  const added = sources.filter(({ wrong }) => wrong === "").length;
  const instead = mostOften(sources.map((one) => one.instead));
  const isAdded = instead !== "" && 2 * added >= sources.length;
  return { wrong: isAdded ? "" : (sources.find(({ wrong }) => wrong !== "")?.wrong ?? ""), instead };
}

/** The text that is there most often; of several, the first. */
function mostOften(texts: readonly string[]): string {
  const count = new Map<string, number>();
  for (const text of texts) count.set(text, (count.get(text) ?? 0) + 1);
  return [...count].reduce(([best, most], [text, n]) => (n > most ? [text, n] : [best, most]), ["", 0])[0];
}

/** Whether two messages have nothing to do with each other; of an empty one, that is not known. */
export const isApart = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size > 0 && other.size > 0 && ![...one].some((term) => other.has(term));

/**
 * Two messages that share this much are certainly about the same matter; a shared word is not enough to say that a text holds nothing else.
 */
export const SAME_MATTER = 2 / 3;

/** Whether two messages share words about their subject: at least one, and this share of the shorter message. Unknown for an empty one. */
export function isSameMatter(one: string, other: string, least: number): boolean {
  const [here, there] = [contentTerms(one), contentTerms(other)];
  const shared = [...here].filter((term) => there.has(term)).length;
  const shorter = Math.min(here.size, there.size);
  return shorter === 0 || (shared > 0 && shared >= least * shorter);
}

/** The words of a message that say what it is about. */
export const contentTerms = (text: string): ReadonlySet<string> =>
  new Set(foldedWords(text, 400).flatMap(({ word, terms }) => (STOP_WORDS.has(word) || word.length < 2 ? [] : terms)));
