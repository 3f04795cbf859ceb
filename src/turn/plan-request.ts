import type { Compilation } from "../compiler/index.ts";
import type { Prediction, Request } from "../protocol/index.ts";
import type { RequestStart } from "../store/index.ts";
import {
  hasLifetimes,
  type PlannedLifetimes,
  paceOf,
  planMarks,
  predict,
  rulesOf,
  sharedLifetime,
  threadLifetime,
} from "../wire/index.ts";
import { earlierRequests, sharedRequests, type Underway } from "./earlier.ts";

/** A request with its marks, and what it is expected to be billed. */
export interface PlannedRequest {
  readonly request: Request;
  readonly prediction: Prediction;
}

/** Sets the marks of a request that is about to be sent at this time, and says what it will be billed. Pure. */
export function planRequest(
  underway: Underway,
  compilation: Compilation,
  { bare, at }: { readonly bare: Omit<Request, "marks">; readonly at: number },
): PlannedRequest {
  const { card, count } = underway.setup;
  const earlier = earlierRequests(underway, compilation);
  const plan = (lifetimes?: PlannedLifetimes): PlannedRequest => {
    const planned = planMarks(bare, { card, count, ...(lifetimes && { lifetimes }) });
    const marks = planned.filter(({ after }) => after.zone === "system" || isReadAgain(underway));
    const request: Request = { ...bare, marks };
    const others = sharedRequests(underway, marks);
    const before = others.length === 0 ? earlier : [...others, ...earlier].sort((a, b) => a.at - b.at);
    return { request, prediction: predict(request, before, { card, count, at }) };
  };
  const short = plan();
  if (!hasLifetimes(card) || short.request.marks.length === 0) return short;
  const lifetimes = lifetimesFor(underway, short.prediction, [...earlier.map((one) => one.at), at]);
  return lifetimes.shared === "5m" && lifetimes.thread === "5m" ? short : plan(lifetimes);
}

/** Whether anything behind the prefix is sent again: of a turn that stands alone only where its model may call a tool. */
const isReadAgain = ({ setup: { agent } }: Underway): boolean => agent.history !== "log" || agent.tools.length > 0;

/** How long the marks shall keep, by the pace of the thread and of all the agent's threads. */
function lifetimesFor(
  { setup: { card, agent }, past }: Underway,
  { read, write }: Prediction,
  starts: readonly number[],
): PlannedLifetimes {
  const { multipliers } = rulesOf(card);
  const byThread = [...Map.groupBy(past.starts, ({ thread }) => thread).values()];
  const timesOf = (of: readonly RequestStart[]): readonly number[] => of.map(({ at }) => at);
  const prior = paceOf(byThread.map(timesOf), card.lifetimes);
  return {
    shared: sharedLifetime(paceOf([timesOf(past.starts)], card.lifetimes), multipliers),
    // What comes after the shared prefix is read by the same turn or by none.
    thread:
      agent.history === "log"
        ? "5m"
        : threadLifetime(
            { prefix: read + write, fresh: write },
            { pace: paceOf([starts], card.lifetimes, prior), multipliers },
          ),
  };
}
