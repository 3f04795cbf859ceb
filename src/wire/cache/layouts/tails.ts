import type { SeenBlock, SeenRequest } from "../seen.ts";
import { type Apart, apart, goesOn, userEnd } from "./apart.ts";

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
