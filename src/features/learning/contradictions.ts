/** Lessons that may contradict each other. Whether two answers of people do is not decided by words: an operator sees both, and ends one. */

import type { AgentOwner } from "../../store/index.ts";
import type { Parts } from "../../turn/index.ts";
import { saysAlike, termsOf } from "./changes.ts";
import { contentTerms, SAME_MATTER } from "./evidence.ts";
import { type Lesson, lessonsOf, questionIn } from "./lessons.ts";
import { LEARNING_STORE } from "./store.ts";

/** How many of the newest lessons are compared, and how many others each names. */
const MOST_COMPARED = 300;
const MOST_NAMED = 3;

/** This share of a question's words about its subject makes another one suspect. */
const HALF = 1 / 2;

/** A word that stands in more than this share of all matters, of so many at least, is the business's own: it does not tell them apart. */
const COMMON = { share: 1 / 4, matters: 8 };

/** The others that each of these lessons may contradict, by their ids; both of a pair name each other. Only open lessons count. */
export function contradictionsIn(lessons: readonly Lesson[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const compared = withoutCommon(
    lessons
      .filter(({ state, kind, instead }) => state === "open" && kind !== "failure" && instead !== "")
      .slice(0, MOST_COMPARED)
      .map((lesson) => ({ lesson, about: contentTerms(matterOf(lesson)), says: termsOf(lesson.instead) })),
  );
  for (const [n, one] of compared.entries())
    for (const other of compared.slice(n + 1)) {
      if (!isSuspect(one, other)) continue;
      for (const [own, its] of [
        [one.lesson.id, other.lesson.id],
        [other.lesson.id, one.lesson.id],
      ] as const)
        found.set(own, [...(found.get(own) ?? []), its].slice(0, MOST_NAMED));
    }
  return found;
}

/** How many lessons of an agent may contradict another one. */
export async function contradictingLessons({ store }: Pick<Parts, "store">, owner: AgentOwner): Promise<number> {
  const scope = { ...owner, contact: null };
  const answers = await store.part(LEARNING_STORE).sources(scope, { kind: "answer" }, 1);
  return answers.length === 0 ? 0 : contradictionsIn(await lessonsOf({ store }, scope)).size;
}

interface Told {
  readonly lesson: Lesson;
  readonly about: ReadonlySet<string>;
  readonly says: ReadonlySet<string>;
}

const matterOf = ({ kind, situation, wrong }: Lesson): string => (kind === "answer" ? questionIn(wrong) : situation);

function withoutCommon(all: readonly Told[]): readonly Told[] {
  if (all.length < COMMON.matters) return all;
  const count = new Map<string, number>();
  for (const { about } of all) for (const term of about) count.set(term, (count.get(term) ?? 0) + 1);
  const isRare = (term: string): boolean => (count.get(term) ?? 0) <= COMMON.share * all.length;
  return all.map((one) => ({ ...one, about: new Set([...one.about].filter(isRare)) }));
}

/** What edits say of each other is known from what was sent; an answer is suspect where it says otherwise of the same matter. */
function isSuspect(one: Told, other: Told): boolean {
  const answers = [one, other].filter(({ lesson }) => lesson.kind === "answer").length;
  if (answers === 0 || saysAlike(one.says, other.says)) return false;
  const shared = [...one.about].filter((term) => other.about.has(term)).length;
  const shorter = Math.min(one.about.size, other.about.size);
  return shared >= Math.min(2, shorter) && shared > 0 && shared >= (answers === 2 ? HALF : SAME_MATTER) * shorter;
}
