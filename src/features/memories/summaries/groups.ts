import type { SummaryBy } from "../../../compiler/index.ts";
import type { ContactScope, Memory, Scope } from "../../../protocol/index.ts";
import type { Parts } from "../../../turn/index.ts";
import { everyMemory } from "../every-memory.ts";
import { type Due, inPieces, stretches } from "./stretches.ts";

/** What one summary is made from, oldest first: a stretch of talk, or what is remembered of a subject. */
export type Group = { readonly memories: readonly Memory[] } & (
  | { readonly session: string }
  | { readonly topic: string }
);

export const byOf = (group: Group): SummaryBy => ("session" in group ? "session" : "topic");

/** What ended before a time and is in no summary of its sort yet. */
export async function* groups(
  parts: Parts,
  scope: ContactScope,
  { by, ended }: { readonly by: SummaryBy; readonly ended: number },
): AsyncGenerator<Group> {
  const done = await summedUp(parts, scope, by);
  yield* by === "session" ? stretches(parts, scope, { done, ended }) : topics(parts, scope, { done, ended });
}

/** What the summaries of that sort stand for, also those that were superseded. A summary of a stretch names it, one of a subject does not. */
export async function summedUp({ store }: Parts, scope: Scope, by: SummaryBy): Promise<ReadonlySet<string>> {
  const done = new Set<string>();
  for await (const { session, sources = [] } of everyMemory(store, scope, { kinds: ["summary"], superseded: true })) {
    if ((session === undefined) !== (by === "topic")) continue;
    for (const source of sources) done.add(source);
  }
  return done;
}

/** Fewer memories are as short as their summary would be. */
const LEAST = 4;

/** What is remembered of one subject, oldest first. */
export interface Subject {
  readonly topic: string;
  readonly memories: readonly Memory[];
}

/**
 * What was said and saved about the same things, whenever it was, as far as it is older than a time and in no summary of a subject.
 * Grouped by words alone, without a model. What people and the agent said and saved, and no summary (law 12).
 */
export async function* topics({ store, clock }: Parts, scope: Scope, { done, ended }: Due): AsyncGenerator<Subject> {
  const kinds = ["message", "fact", "block"] as const;
  const wish = { kinds, before: ended + 1, validAt: clock(), least: LEAST, except: done };
  for (const { topic, memories } of await store.memoryTopics(scope, wish)) {
    for (const piece of inPieces(memories)) yield { topic, memories: piece };
  }
}
