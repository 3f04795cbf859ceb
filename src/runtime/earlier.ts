import type { Compilation } from "../compiler/index.ts";
import type { ContactScope, ThreadId } from "../protocol/index.ts";
import type { RequestRecord, RequestStart, SentRequest } from "../stores/index.ts";
import { type EarlierRequest, hasLifetimes, tailPlanOf } from "../wire/index.ts";
import type { Cast } from "./cast.ts";
import { CONSOLIDATION } from "./consolidate-thread.ts";
import type { Parts } from "./parts.ts";

/** What was sent before a turn: what a provider's cache may still hold, and at which pace it is asked. */
export interface Past {
  /** By the thread. */
  readonly sent: readonly SentRequest[];
  /** By all threads of the agent that people talk on; looked up only where it changes something. */
  readonly starts: readonly RequestStart[];
}

export const NO_PAST: Past = { sent: [], starts: [] };

/** What the record says of a thread's past; where there is no thread yet, of what its agent's others did. */
export async function pastOf(
  { store }: Parts,
  { agent, card }: Cast,
  { scope, thread }: { readonly scope: ContactScope; readonly thread: ThreadId | undefined },
): Promise<Past> {
  return {
    sent: thread === undefined ? [] : await store.sent(scope, thread),
    starts: hasLifetimes(card) ? await store.starts(agent.org, agent.name, CONSOLIDATION) : [],
  };
}

/** A turn as far as it has come. */
export interface Underway {
  readonly cast: Cast;
  readonly past: Past;
  /** What the turn itself has sent. */
  readonly requests: readonly RequestRecord[];
}

/**
 * The thread's answered requests to this model before the one that is made now, and how many of its messages each had sent
 * already. Within an epoch what was sent is sent again, but for what a turn that failed had added; another epoch has the prefix
 * in common and nothing after it.
 */
export function earlierRequests({ cast, past, requests }: Underway, { epoch }: Compilation): readonly EarlierRequest[] {
  const { framed, place } = tailPlanOf(cast.card, cast.agent.tail);
  // Its first request has the events behind what is gone in the next one.
  const moved = (own: number): number => (place === "before-events" && framed !== "delta" && own === 1 ? 1 : 0);
  const stored = past.sent.filter(({ wire }) => wire === cast.model.wire);
  const own = requests.filter(({ reply }) => reply !== null).map((one) => ({ ...one, kept: true }));
  return [...stored, ...own].map(({ at, marks, kept, ...sent }) => {
    const same = kept ? sent.base + sent.own - moved(sent.own) : sent.base;
    return { at, marks, same: sent.epoch === epoch.n ? same : 0 };
  });
}
