import type { Memory, Scope } from "../../protocol/index.ts";
import type { Parts } from "../parts.ts";
import { type Due, inPieces } from "../stretches.ts";

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
