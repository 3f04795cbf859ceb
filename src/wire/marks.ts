import type { CountTokens, Mark, Message, Request } from "../protocol/index.ts";
import type { ModelCard } from "./cards.ts";
import { longer, type PlannedLifetimes, SHORT } from "./lifetimes.ts";

/** What the planner must know beside the request. */
export interface Planning {
  readonly card: Pick<ModelCard, "minimumPrefix" | "cache" | "marks">;
  readonly count: CountTokens;
  /** How long what is marked shall be kept; left out, all of it for the short lifetime. */
  readonly lifetimes?: PlannedLifetimes;
}

/** What a plan is made from: all but the answer's form. */
type Planned = Pick<Request, "prefix" | "messages"> & Partial<Pick<Request, "tail">>;

/** A place that may carry a mark, in the order of the request. */
type Place = Mark["after"];

/**
 * Where a provider may keep the request's beginning, at most four places in the order of the request:
 *
 * 1. the shared end: the last system block that other contacts of the agent send, too;
 * 2. the thread's end: the last system block, where the thread has one of its own;
 * 3. the anchor: exactly where the thread's previous request ended. A provider looks for what it keeps only some blocks back
 *    from a mark, so without it a turn with many calls would not find what the turn before had written;
 * 4. the newest message, so that the next request reads all of this one.
 *
 * Never after the tail: it is gone in the next request, and a mark behind it would keep what nobody asks for again. Places with
 * fewer tokens before them than the model keeps are left out, and so is every mark for a cache that takes none. What is kept
 * longer stands before what is kept shorter, as providers want it. Pure.
 */
export function planMarks(request: Planned, planning: Planning): readonly Mark[] {
  const { cache, marks: most } = planning.card;
  if (cache !== "marks" && cache !== "breakpoints") return [];
  const { system } = request.prefix;
  const shared = system.findLastIndex(({ scope }) => scope !== "thread");
  const { lifetimes = SHORT } = planning;
  const places: readonly (readonly [Place | undefined, Mark["lifetime"]])[] = [
    [blockAt(shared), longer(lifetimes.shared, lifetimes.thread)],
    [blockAt(system.length - 1), lifetimes.thread],
    [messageAt(previousEnd(request.messages)), lifetimes.thread],
    [messageAt(newestKept(request, cache)), lifetimes.thread],
  ];
  const kept = keeping(request, planning);
  const marks = new Map<string, Mark>();
  for (const [after, lifetime] of places) {
    const name = JSON.stringify(after);
    if (after !== undefined && kept(after) && !marks.has(name)) marks.set(name, { after, lifetime });
  }
  // Where fewer may stand, those that the thread's next request reads go before those that other threads read.
  return [...marks.values()].slice(-most);
}

const blockAt = (block: number): Place | undefined => (block < 0 ? undefined : { zone: "system", block });
const messageAt = (index: number): Place | undefined => (index < 0 ? undefined : { zone: "message", index });

/** The last message of the thread's previous request: what was asked before the newest thing that the model said. */
function previousEnd(messages: readonly Message[]): number {
  const answer = messages.findLastIndex(({ role }) => role === "assistant");
  return messages.findLastIndex(({ role }, at) => at < answer && isAsking(role));
}

/** What was asked, by a person or with the results of a tool. A message that the provider has cleared can hold no mark. */
const isAsking = (role: Message["role"]): boolean => role === "user" || role === "tool";

/** The last message that stands before the tail, and can carry a mark: where only our own can, an answer cannot. */
function newestKept({ messages, tail = [] }: Planned, cache: ModelCard["cache"]): number {
  const last = messages.length - 1;
  if (messages[last]?.role !== "user" || tail.every(({ way }) => way !== "before-events")) return last;
  return cache === "marks" ? last - 1 : messages.findLastIndex(({ role }, at) => at < last && isAsking(role));
}

/** Tells whether enough stands before a place to be kept. Counts from the beginning, and no further than it must. */
function keeping({ prefix, messages }: Pick<Request, "prefix" | "messages">, { card, count }: Planning) {
  let tokens = prefix.tools.reduce((sum, tool) => sum + count(tool.description) + count(JSON.stringify(tool.input)), 0);
  const enough = (): boolean => tokens >= card.minimumPrefix;
  const firstBlock = prefix.system.findIndex(({ text }) => {
    tokens += count(text);
    return enough();
  });
  const firstMessage =
    firstBlock >= 0
      ? 0
      : messages.findIndex((message) => {
          tokens += sizeOf(message, count);
          return enough();
        });
  return (place: Place): boolean =>
    place.zone === "system"
      ? firstBlock >= 0 && place.block >= firstBlock
      : firstMessage >= 0 && place.index >= firstMessage;
}

/** Tokens of a message's words; what is no text is not counted, nor what is cleared, so that less is promised than is there. */
function sizeOf(message: Message, count: CountTokens): number {
  if (message.role === "system") return 0;
  const texts: readonly string[] = message.parts.flatMap((part) =>
    "text" in part ? [part.text] : part.type === "call" ? [JSON.stringify(part.input)] : [],
  );
  return texts.reduce((sum, text) => sum + count(text), 0);
}
