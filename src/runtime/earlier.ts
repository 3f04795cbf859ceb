import type { Compilation } from "../compiler/index.ts";
import { type EarlierRequest, tailPlanOf } from "../wire/index.ts";
import type { Work } from "./work.ts";

/**
 * The thread's answered requests to this model before the one that is made now, and how many of its messages each had sent
 * already. Within an epoch what was sent is sent again, but for what a turn that failed had added; another epoch has the prefix
 * in common and nothing after it.
 */
export function earlierRequests(work: Work, { epoch }: Compilation): readonly EarlierRequest[] {
  const { before, requests, cast } = work;
  const { framed, place } = tailPlanOf(cast.card, cast.agent.tail);
  // Its first request has the events behind what is gone in the next one.
  const moved = (own: number): number => (place === "before-events" && framed !== "delta" && own === 1 ? 1 : 0);
  const stored = before.filter(({ wire }) => wire === cast.model.wire);
  const own = requests.filter(({ reply }) => reply !== null).map((one) => ({ ...one, kept: true }));
  return [...stored, ...own].map(({ at, marks, kept, ...sent }) => {
    const same = kept ? sent.base + sent.own - moved(sent.own) : sent.base;
    return { at, marks, same: sent.epoch === epoch.n ? same : 0 };
  });
}
