import type { SeenBlock, SeenRequest } from "../../src/wire/index.ts";

/** A request's blocks without breakpoints, by what they are. */
export interface Apart {
  readonly tools: readonly SeenBlock[];
  readonly system: readonly SeenBlock[];
  readonly messages: readonly SeenBlock[];
  /** The turn's context. */
  readonly tail: readonly SeenBlock[];
}

export function apart({ blocks }: Pick<SeenRequest, "blocks">): Apart {
  const bare = blocks.map(({ breakpoint: _, ...block }): SeenBlock => block);
  const kept = bare.filter(({ tail }) => tail !== true);
  return {
    tools: kept.filter(({ kind }) => kind === "tool"),
    system: kept.filter(({ kind }) => kind === "system"),
    messages: kept.filter(({ kind }) => kind !== "tool" && kind !== "system"),
    tail: bare.filter(({ tail }) => tail === true),
  };
}

/** The same blocks with breakpoints behind those that are named; none where a place is -1. */
export const markedAt = (blocks: readonly SeenBlock[], places: readonly number[]): readonly SeenBlock[] =>
  blocks.map((block, at) => (places.includes(at) ? { ...block, breakpoint: "5m" } : block));

/** The last block that may carry a breakpoint, up to a place. */
export const carrierUpTo = (blocks: readonly SeenBlock[], end = blocks.length): number =>
  blocks.slice(0, end).findLastIndex(({ kind }) => kind !== "reasoning");

export const markedLast = (blocks: readonly SeenBlock[]): readonly SeenBlock[] =>
  markedAt(blocks, [carrierUpTo(blocks)]);

/** Where the newest thing that the user wrote ends. Results of tools are no words of theirs. */
export const userEnd = (messages: readonly SeenBlock[]): number =>
  messages.findLastIndex(({ role, kind }) => role === "user" && kind !== "tool-result") + 1;

/** Whether the first list is where the second begins. */
export const goesOn = (before: readonly SeenBlock[], now: readonly SeenBlock[]): boolean =>
  before.every(({ key }, at) => now[at]?.key === key);

/** A tail is so many blocks at most; more that are missing in the next request are an edit. */
const LONGEST_TAIL = 8;

/** Tells the tail of requests that somebody else made: the last blocks, where the next request has what stands before them and not them. */
export function withTails(requests: readonly SeenRequest[]): readonly SeenRequest[] {
  if (requests.some(({ blocks }) => blocks.some(({ tail }) => tail === true))) return requests;
  const lengths = requests.map((request, n) => tailLength(request, requests[n + 1]));
  const usual = lengths.findLast((length) => length !== undefined) ?? 0;
  return requests.map((request, n) => {
    const from = request.blocks.length - (lengths[n] ?? usual);
    return { ...request, blocks: request.blocks.map((block, at) => (at < from ? block : { ...block, tail: true })) };
  });
}

function tailLength({ blocks }: SeenRequest, next: SeenRequest | undefined): number | undefined {
  if (next === undefined) return undefined;
  const strange = blocks.findIndex(({ key }, at) => next.blocks[at]?.key !== key);
  if (strange < 0) return 0;
  const length = blocks.length - strange;
  const isTail = length <= LONGEST_TAIL && blocks.slice(strange).every(({ role }) => role === "user");
  return isTail ? length : undefined;
}

/** Which part of a turn's context is said, when an earlier one was said before. */
type Saying = (tail: readonly SeenBlock[], before: readonly SeenBlock[]) => readonly SeenBlock[];

/** All of it, each time. */
export const whole: Saying = (tail) => tail;

/** The blocks that are not as they were. */
export const changes: Saying = (tail, before) => {
  const known = new Set(before.map(({ key }) => key));
  return tail.filter(({ key }) => !known.has(key));
};

/**
 * Each turn's context stays behind the words that it came with: every later request holds it there. Where a transcript does not
 * go on, because it was cut, nothing was said yet.
 */
export function keeping(requests: readonly SeenRequest[], saying: Saying): readonly Apart[] {
  let told: readonly { readonly at: number; readonly tail: readonly SeenBlock[] }[] = [];
  let [said, known]: (readonly SeenBlock[])[] = [[], []];
  return requests.map((request) => {
    const { messages, tail, ...rest } = apart(request);
    if (!goesOn(said ?? [], messages)) [told, known] = [[], []];
    const at = userEnd(messages);
    if (!told.some((one) => one.at === at)) {
      const kept = saying(tail, known ?? []).map(({ tail: _, ...block }): SeenBlock => block);
      told = [...told, { at, tail: kept }];
      known = tail;
    }
    said = messages;
    return { ...rest, messages: woven(messages, told), tail: [] };
  });
}

function woven(
  messages: readonly SeenBlock[],
  told: readonly { readonly at: number; readonly tail: readonly SeenBlock[] }[],
): readonly SeenBlock[] {
  let from = 0;
  const parts = told.map(({ at, tail }) => {
    const before = messages.slice(from, at);
    from = at;
    return [...before, ...tail];
  });
  return [...parts.flat(), ...messages.slice(from)];
}

/** Tokens of history that a window shows. */
const WINDOW = 4_000;

/** How a full window gives way: turn by turn, or to its half at once. */
type Giving = "sliding" | "halving";

/** The same requests with the newest of their history only, beginning with a turn; the running turn is always shown. */
export function windowed(requests: readonly SeenRequest[], giving: Giving): readonly SeenRequest[] {
  let from = 0;
  let said: readonly SeenBlock[] = [];
  return requests.map((request) => {
    const { tools, system, messages, tail } = apart(request);
    if (!goesOn(said, messages)) from = 0;
    said = messages;
    if (sizeFrom(messages, from) > WINDOW)
      from = laterStart(messages, from, giving === "sliding" ? WINDOW : WINDOW / 2);
    return { ...request, blocks: [...tools, ...system, ...messages.slice(from), ...tail] };
  });
}

/** The first turn from which on the rest has room, else the last. */
function laterStart(messages: readonly SeenBlock[], from: number, room: number): number {
  const starts = messages.flatMap((block, at) => (at >= from && isStart(block, messages[at - 1]) ? [at] : []));
  return starts.find((start) => sizeFrom(messages, start) <= room) ?? starts.at(-1) ?? from;
}

/** What the user writes after somebody else spoke begins a turn. */
const isStart = ({ role, kind }: SeenBlock, before: SeenBlock | undefined): boolean =>
  role === "user" && kind !== "tool-result" && before?.role !== "user";

const sizeFrom = (messages: readonly SeenBlock[], from: number): number =>
  messages.slice(from).reduce((sum, { tokens }) => sum + tokens, 0);
