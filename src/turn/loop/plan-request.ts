import type { Compilation } from "../../compiler/index.ts";
import {
  type Breakpoint,
  type ContactScope,
  type Epoch,
  type Message,
  type Prediction,
  type Prefix,
  type Request,
  shownTools,
  type ThreadId,
} from "../../protocol/index.ts";
import type { RequestRecord, RequestStart, SentRequest } from "../../store/index.ts";
import {
  type EarlierRequest,
  hasLifetimes,
  type PlannedLifetimes,
  paceOf,
  planBreakpoints,
  predict,
  rulesOf,
  sharedLifetime,
  tailPlanOf,
  threadLifetime,
} from "../../wire/index.ts";
import { closedChannels } from "../intake/own-channels.ts";
import type { Parts } from "../parts.ts";
import type { TurnSetup } from "./steps.ts";

/** What was sent before a turn: what a provider's cache may still hold, and how frequently it is asked. */
export interface Past {
  /** By the thread. */
  readonly sent: readonly SentRequest[];
  /** By all threads of the agent that people talk on; looked up only if it changes something. */
  readonly starts: readonly RequestStart[];
  /** Which thread it is, once there is one. */
  readonly thread?: ThreadId;
  /** The prefix that the thread sent last, and what followed it before the thread's own messages, in its last epoch. */
  readonly prefix?: Prefix;
  readonly start?: { readonly epoch: number; readonly messages: readonly Message[] };
  /** The provider's id of the thread's newest answer, if the model's provider compares requests. */
  readonly answer?: string;
  /** Since when the prefix says what it says now, as far as that is known. */
  readonly since?: number;
}

export const NO_PAST: Past = { sent: [], starts: [] };

/** When the turns of these requests began, in no order: of a turn's requests only the first comes after a pause. */
export const turnStarts = (sent: Past["sent"]): readonly number[] => [
  ...new Map(sent.toReversed().map(({ epoch, base, at }) => [`${epoch}/${base}`, at])).values(),
];

/** The record's view of a thread's past; if there is no thread yet, of the agent's other threads. */
export async function pastOf(
  parts: Parts,
  { agent, card, model }: TurnSetup,
  { scope, thread, turns, epoch }: Whose,
): Promise<Past> {
  const { store } = parts;
  // Threads with independent turns all start alike: what one wrote, the others read.
  const asksOthers = hasLifetimes(card) || agent.history === "log";
  const answer = thread && model.compares ? await store.lastAnswer(scope, thread, model.wire) : undefined;
  return {
    ...(answer !== undefined && { answer }),
    sent: thread === undefined ? [] : await store.sent(scope, thread, turns),
    starts: asksOthers ? await store.starts(agent.org, agent.name, closedChannels(parts)) : [],
    ...(thread !== undefined && { thread }),
    ...(epoch && { prefix: epoch.prefix, start: { epoch: epoch.n, messages: opening(epoch) } }),
  };
}

/** The messages before the thread's own: what was frozen, and what cuts have left. */
const opening = ({ transcript }: Pick<Epoch, "transcript">): readonly Message[] => {
  const own = transcript.findIndex(({ turn }) => turn !== null);
  return transcript.slice(0, own < 0 ? transcript.length : own).map(({ message }) => message);
};

/** Whose past, and its running epoch. */
interface Whose {
  readonly scope: ContactScope;
  readonly thread: ThreadId | undefined;
  /** How many turns have ended there, if no one else ends one in the meantime. */
  readonly turns?: number;
  readonly epoch: Epoch | undefined;
}

/** A turn as far as it has come. */
export interface Underway {
  readonly setup: TurnSetup;
  readonly past: Past;
  /** The requests that the turn itself has sent. */
  readonly requests: readonly RequestRecord[];
}

/**
 * The thread's answered requests to this model before the current one, and how many of its messages each had sent already. Within an epoch
 * everything sent is sent again, except what a failed turn had added; another epoch shares the prefix, as far as it was not edited, and
 * after a cut what the cuts before it have left.
 */
function earlierRequests({ setup, past, requests }: Underway, { epoch }: Compilation): readonly EarlierRequest[] {
  const { framed, place } = tailPlanOf(setup.card, setup.agent.liveLayers);
  // Its first request has the events behind what is gone in the next one.
  const moved = (own: number): number => (place === "before-events" && framed !== "delta" && own === 1 ? 1 : 0);
  const stored = past.sent.filter(({ wire }) => wire === setup.model.wire);
  const own = requests.filter(({ reply }) => reply !== null).map((one) => ({ ...one, kept: true }));
  let common: number | undefined;
  const blocksBefore = (): { readonly blocks?: number } => {
    common ??= past.prefix && blocksInCommon(past.prefix, epoch.prefix);
    return common === undefined ? {} : { blocks: common };
  };
  let commonStart: number | undefined;
  const startInCommon = (): number => {
    if (commonStart !== undefined) return commonStart;
    const [was, is] = [past.start?.messages ?? [], opening(epoch)].map((all) => all.map((one) => JSON.stringify(one)));
    const differs = is?.findIndex((one, i) => one !== was?.[i]) ?? 0;
    commonStart = differs < 0 ? (is?.length ?? 0) : differs;
    return commonStart;
  };
  return [...stored, ...own].map(({ at, breakpoints, kept, parameters, ...sent }) => {
    const reasoning = parameters.reasoning && { reasoning: parameters.reasoning };
    const same = kept ? sent.base + sent.own - moved(sent.own) : sent.base;
    if (sent.epoch === epoch.n) return { at, breakpoints, same, ...reasoning };
    return {
      at,
      breakpoints,
      same: sent.epoch === past.start?.epoch ? startInCommon() : 0,
      ...reasoning,
      ...blocksBefore(),
    };
  });
}

/** What other threads sent of the prefix that all of a log's senders share, with the current breakpoints. */
function sharedRequests(
  { setup: { agent }, past }: Underway,
  breakpoints: readonly Breakpoint[],
): readonly EarlierRequest[] {
  if (agent.history !== "log") return [];
  const shared = breakpoints.filter(({ after }) => after.zone === "system");
  return past.starts
    .filter(({ thread, at }) => thread !== past.thread && at > (past.since ?? 0))
    .map(({ at }) => ({ at, breakpoints: shared, same: 0 }));
}

/** Blocks of tools and system that are the same in both, from the first on. */
function blocksInCommon(one: Prefix, other: Prefix): number {
  const blocksOf = ({ tools, system }: Prefix): readonly string[] => [
    ...shownTools(tools).map((tool) => JSON.stringify(tool)),
    ...system.map(({ text }) => text),
  ];
  const [was, is] = [blocksOf(one), blocksOf(other)];
  const differs = is.findIndex((block, i) => block !== was[i]);
  return differs < 0 ? is.length : differs;
}

/** A request with its breakpoints, and what it is expected to be billed. */
export interface PlannedRequest {
  readonly request: Request;
  readonly prediction: Prediction;
}

/** Sets the breakpoints of a request that is about to be sent at this time, and says what it will be billed. Pure. */
export function planRequest(
  underway: Underway,
  compilation: Compilation,
  { bare, at }: { readonly bare: Omit<Request, "breakpoints">; readonly at: number },
): PlannedRequest {
  const { card, count } = underway.setup;
  const earlier = earlierRequests(underway, compilation);
  const isLast = compilation.ledger.cutting?.due === true && isOnly(underway);
  const plan = (lifetimes?: PlannedLifetimes): PlannedRequest => {
    const planned = planBreakpoints(bare, { card, count, isLast, ...(lifetimes && { lifetimes }) });
    const breakpoints = planned.filter(({ after }) => after.zone === "system" || isReadAgain(underway));
    const request: Request = { ...bare, breakpoints };
    const others = sharedRequests(underway, breakpoints);
    const before = others.length === 0 ? earlier : [...others, ...earlier].sort((a, b) => a.at - b.at);
    return { request, prediction: predict(request, before, { card, count, at }) };
  };
  const short = plan();
  if (!hasLifetimes(card) || short.request.breakpoints.length === 0) return short;
  const lifetimes = lifetimesFor(underway, short.prediction, [...earlier.map((one) => one.at), at]);
  return lifetimes.shared === "5m" && lifetimes.thread === "5m" ? short : plan(lifetimes);
}

/** Whether anything behind the prefix is sent again: in an independent turn, only if its model may call a tool. */
const isReadAgain = ({ setup: { agent } }: Underway): boolean => agent.history !== "log" || agent.tools.length > 0;

/**
 * Whether a turn's first request is so likely its only one that writing its end for a second one costs more than it saves. By the turns
 * of the thread so far; an agent without tools sends no second one.
 */
function isOnly({ setup: { agent, card }, past, requests }: Underway): boolean {
  if (requests.length > 0) return false;
  if (agent.tools.length === 0) return true;
  const turns = turnStarts(past.sent).length;
  // One more turn of each kind than there were, as long as there are few.
  const others = (past.sent.length - turns + 1) / (past.sent.length + 2);
  const { read, write5m } = rulesOf(card).multipliers;
  return others * (1 - read) < write5m - 1;
}

/** How long the breakpoints should last, by the pace of the thread and of all the agent's threads. */
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
    // Only the same turn can read what comes after the shared prefix.
    thread:
      agent.history === "log"
        ? "5m"
        : threadLifetime(
            { prefix: read + write, fresh: write },
            { pace: paceOf([starts], card.lifetimes, prior), multipliers },
          ),
  };
}
