import {
  type Breakpoint,
  type CountTokens,
  hasEarlier,
  type Message,
  type Request,
  shownTools,
} from "../protocol/index.ts";
import type { ModelCard } from "./cards.ts";
import { longer, type PlannedLifetimes, SHORT } from "./lifetimes.ts";

/** The planner's input in addition to the request. */
export interface Planning {
  readonly card: Pick<ModelCard, "minimumPrefix" | "cache" | "breakpoints">;
  readonly count: CountTokens;
  /** How long each marked part should be kept; if omitted, all of it for the short lifetime. */
  readonly lifetimes?: PlannedLifetimes;
  /** Set if the next request will not begin with all of this one. */
  readonly isLast?: boolean;
}

/** The input of a plan: everything but the form of the answer. */
type PlanInput = Pick<Request, "prefix" | "messages"> & Partial<Pick<Request, "tail">>;

/** A place that may carry a breakpoint, in the order of the request. */
type BreakpointPlace = Breakpoint["after"];

/**
 * The places up to which a provider may cache the request, at most four, in the order of the request:
 *
 * 1. the shared end: the last system block that the agent also sends for other contacts;
 * 2. the thread's beginning: what cuts have left of earlier messages, which the next cut leaves unchanged; if there is none, the last
 *    system block, if the thread has its own;
 * 3. the anchor: exactly where the thread's previous request ended. A provider looks back only some blocks from a breakpoint, so
 *    without the anchor a turn with many calls would not find what the previous turn has cached;
 * 4. the newest message, so that the next request reads all of this one, if it will begin with it.
 *
 * Never after the tail: the next request does not contain it, so a breakpoint after it would cache something that is never read. Places
 * with too few tokens for the model's cache are left out, and so is every breakpoint for a cache without breakpoints. Longer lifetimes come
 * before shorter ones, as providers require. Pure.
 */
export function planBreakpoints(request: PlanInput, planning: Planning): readonly Breakpoint[] {
  const { cache, breakpoints: most } = planning.card;
  if (cache !== "lookback" && cache !== "exact") return [];
  const { system } = request.prefix;
  const shared = system.findLastIndex(({ scope }) => scope !== "thread");
  const { lifetimes = SHORT, isLast = false } = planning;
  const places: readonly (readonly [BreakpointPlace | undefined, Breakpoint["lifetime"]])[] = [
    [blockAt(shared), longer(lifetimes.shared, lifetimes.thread)],
    [messageAt(earlierEnd(request.messages)) ?? blockAt(system.length - 1), lifetimes.thread],
    [messageAt(previousEnd(request.messages)), lifetimes.thread],
    [isLast ? undefined : messageAt(newestKept(request, cache)), lifetimes.thread],
  ];
  const kept = keeping(request, planning);
  const breakpoints = new Map<string, Breakpoint>();
  for (const [after, lifetime] of places) {
    const name = JSON.stringify(after);
    if (after !== undefined && kept(after) && !breakpoints.has(name)) breakpoints.set(name, { after, lifetime });
  }
  // If fewer are allowed, those that the thread's next request reads go before those that other threads read.
  return [...breakpoints.values()].slice(-most);
}

const blockAt = (block: number): BreakpointPlace | undefined => (block < 0 ? undefined : { zone: "system", block });
const messageAt = (index: number): BreakpointPlace | undefined => (index < 0 ? undefined : { zone: "message", index });

/** The last message with what cuts have left of earlier ones. */
function earlierEnd(messages: readonly Message[]): number {
  const start = messages.findIndex(({ role }) => role !== "user");
  return messages.findLastIndex(
    ({ parts }, at) => (start < 0 || at < start) && parts.some((part) => part.type === "text" && hasEarlier(part.text)),
  );
}

/** The last message of the thread's previous request: the one before the model's newest answer. */
function previousEnd(messages: readonly Message[]): number {
  const answer = messages.findLastIndex(({ role }) => role === "assistant");
  return messages.findLastIndex(({ role }, at) => at < answer && isAsking(role));
}

/** Whether it is a user message, with text or tool results. A message that the provider has cleared cannot have a breakpoint. */
const isAsking = (role: Message["role"]): boolean => role === "user" || role === "tool";

/** The last message before the tail that can carry a breakpoint: if only our own can, an answer cannot. */
function newestKept({ messages, tail = [] }: PlanInput, cache: ModelCard["cache"]): number {
  const last = messages.length - 1;
  if (messages[last]?.role !== "user" || tail.every(({ way }) => way !== "before-events")) return last;
  return cache === "lookback" ? last - 1 : messages.findLastIndex(({ role }, at) => at < last && isAsking(role));
}

/** Whether enough tokens precede a place for it to be cached. Counts from the beginning, and only as far as needed. */
function keeping({ prefix, messages }: Pick<Request, "prefix" | "messages">, { card, count }: Planning) {
  let tokens = shownTools(prefix.tools).reduce(
    (sum, tool) => sum + count(tool.description) + count(JSON.stringify(tool.input)),
    0,
  );
  const enough = (): boolean => tokens >= card.minimumPrefix;
  const firstBlock = prefix.system.findIndex(({ text }) => {
    tokens += count(text);
    return enough();
  });
  const firstMessage =
    firstBlock >= 0
      ? 0
      : messages.findIndex((message) => {
          tokens += countWords(message, count);
          return enough();
        });
  return (place: BreakpointPlace): boolean =>
    place.zone === "system"
      ? firstBlock >= 0 && place.block >= firstBlock
      : firstMessage >= 0 && place.index >= firstMessage;
}

/** Tokens of a message's words; non-text and cleared parts are not counted, so that the estimate is never too high. */
function countWords(message: Message, count: CountTokens): number {
  if (message.role === "system") return 0;
  const texts: readonly string[] = message.parts.flatMap((part) =>
    "text" in part ? [part.text] : part.type === "call" ? [JSON.stringify(part.input)] : [],
  );
  return texts.reduce((sum, text) => sum + count(text), 0);
}
