import type { ContactScope } from "../../protocol/index.ts";
import type { Parts } from "../../turn/index.ts";
import { formsOf, judgeOf } from "./cases.ts";
import { contentTerms, type Fit } from "./evidence.ts";
import { knownOf, lessonsIn } from "./known.ts";
import { lessonsFrom, taughtIn } from "./lessons.ts";
import type { LessonSource } from "./store.ts";

/** A correction of a draft, as it may be shown with a message of the same contact. */
export type Correction = Pick<
  LessonSource,
  "origin" | "place" | "lesson" | "situation" | "wrong" | "instead" | "at"
> & {
  /** Made whatever the message was about. */
  readonly general: boolean;
  /** Whether people made it for similar messages of this contact. */
  readonly fit: Fit;
};

/** How many corrections of a contact are searched. */
export const MOST_CORRECTIONS = 50;

/** People's changes to drafts for this contact, the newest of each lesson, without what a contact dictated and what no longer holds. */
export async function correctionsFor(
  parts: Pick<Parts, "store">,
  scope: ContactScope,
  message: string,
): Promise<readonly Correction[]> {
  const taught = await taughtIn(parts, scope, { most: MOST_CORRECTIONS, kind: "edit" });
  const good = new Map(
    lessonsFrom(taught)
      .filter(({ state, trust }) => state === "open" && trust !== "contact")
      .map((one) => [one.id, one]),
  );
  const [all, own] = [judgeOf(taught.cases), judgeOf(taught.own)];
  const asked = { message, contact: scope.contact };
  const { lessons: ofAll } = await knownOf(parts, scope);
  return [...lessonsIn(taught.sources)].flatMap(([id, sources]) => {
    const lesson = good.get(id);
    if (lesson === undefined) return [];
    const { general, instead } = lesson;
    const forms = formsOf(ofAll.get(id) ?? sources);
    const mine = own.fit(forms, asked);
    // Other contacts' messages decide if nothing is known about this contact.
    const fit = mine === "unknown" && all.isForOthers(forms, scope.contact) ? all.fit(forms, asked) : mine;
    return sources.map((source) => ({ ...source, general, instead, fit }));
  });
}

/** From here on, two messages are about the same. */
const ALIKE = 0.3;

/**
 * The corrections that help with this message, best first, each lesson once: those of similar messages, and those that people made for any
 * message. Often empty. Pure.
 */
export function chosenFor(message: string, all: readonly Correction[], most: number): readonly Correction[] {
  const lessons = [...Map.groupBy(all, ({ lesson }) => lesson).values()].map((same) => ({
    same,
    abouts: same.map(({ situation, wrong }) => contentTerms(`${situation} ${wrong}`)),
  }));
  // Words common to all messages of a contact do not show which of them are similar. One draft may have taught several lessons.
  const count = new Map<string, number>();
  const counted = new Set<string>();
  for (const { same, abouts } of lessons) {
    if (same.some(({ origin }) => counted.has(origin))) continue;
    for (const { origin } of same) counted.add(origin);
    for (const term of new Set(abouts.flatMap((one) => [...one]))) count.set(term, (count.get(term) ?? 0) + 1);
  }
  const weight = (terms: readonly string[]): number => terms.reduce((sum, term) => sum + 1 / (count.get(term) ?? 1), 0);
  const likeness = (one: ReadonlySet<string>, other: ReadonlySet<string>): number => {
    const shared = [...one].filter((term) => other.has(term));
    return shared.length === 0 ? 0 : weight(shared) / Math.min(weight([...one]), weight([...other]));
  };
  const asked = contentTerms(message);
  const found = lessons.flatMap(({ same, abouts }) => {
    const [newest] = same;
    if (newest === undefined || (newest.fit === "not" && !newest.general)) return [];
    const least = newest.general || newest.fit === "fits" ? ALIKE : 0;
    const alike = abouts.map((about) => likeness(asked, about));
    const best = alike.indexOf(Math.max(...alike));
    const score = Math.max(least, alike[best] ?? 0);
    // With the message that is most like this one.
    return score < ALIKE ? [] : [{ newest: same[best] ?? newest, score }];
  });
  return found
    .sort((a, b) => b.score - a.score || b.newest.at - a.newest.at || a.newest.place - b.newest.place)
    .slice(0, most)
    .map(({ newest }) => newest);
}
