import { digestOf } from "../../protocol/index.ts";
import type { Bill, CacheRules, SeenBlock, SeenRequest } from "./seen.ts";
import { simulate } from "./simulate.ts";

/** The ways of laying a thread out that can be compared, the most usual first. */
export const LAYOUTS = ["none", "seed000", "seed004", "last-message", "automatic", "plan"] as const;
export type Layout = (typeof LAYOUTS)[number];

/** What each layout does, for people. */
export const LAYOUT_SAYS: Readonly<Record<Layout, string>> = {
  none: "no caching",
  seed000: "the turn's context inside the system text, one mark after it",
  seed004: "one mark after the system text, the turn's context in the user's message",
  "last-message": "as seed004, and a mark on the last message, behind the turn's context",
  automatic: "one mark of the provider's own on the last block",
  plan: "as the requests were made",
};

/** What a thread's requests would be billed, were they laid out so. The thread has the cache for itself. Pure. */
export function layoutBills(requests: readonly SeenRequest[], layout: Layout, rules: CacheRules): readonly Bill[] {
  if (layout === "none") return requests.map(({ blocks }) => plain(blocks));
  return simulate(
    withTails(requests).map((request) => laidOut(request, layout)),
    rules,
  );
}

function plain(blocks: readonly SeenBlock[]): Bill {
  const input = blocks.reduce((sum, { tokens }) => sum + tokens, 0);
  return { input, read: 0, write5m: 0, write1h: 0, cost: input, problems: [] };
}

/** The same content in another order and under other marks. Pure. */
export function laidOut(request: SeenRequest, layout: Layout): SeenRequest {
  if (layout === "plan") return request;
  const parts = apart(request.blocks);
  const { tools, system, messages, tail } = parts;
  const mode = layout === "automatic" ? "implicit" : "explicit";
  const told = [...tools, ...markedLast(system), ...besideUser(parts)];
  switch (layout) {
    case "none":
      return { ...request, mode, blocks: [...tools, ...system, ...messages, ...tail] };
    case "automatic":
      return { ...request, mode, blocks: markedLast([...tools, ...system, ...messages, ...tail]) };
    case "seed000":
      return { ...request, mode, blocks: [...tools, ...markedLast(joined([...system, ...tail])), ...messages] };
    case "seed004":
      return { ...request, mode, blocks: told };
    case "last-message":
      return { ...request, mode, blocks: markedLast(told) };
  }
}

interface Apart {
  readonly tools: readonly SeenBlock[];
  readonly system: readonly SeenBlock[];
  readonly messages: readonly SeenBlock[];
  readonly tail: readonly SeenBlock[];
}

function apart(blocks: readonly SeenBlock[]): Apart {
  const bare = blocks.map(({ mark: _, ...block }): SeenBlock => block);
  const kept = bare.filter(({ tail }) => tail !== true);
  return {
    tools: kept.filter(({ kind }) => kind === "tool"),
    system: kept.filter(({ kind }) => kind === "system"),
    messages: kept.filter(({ kind }) => kind !== "tool" && kind !== "system"),
    tail: bare.filter(({ tail }) => tail === true),
  };
}

/** The tail stays in the user's message while tools are called, as nobody but Strata moves it. */
function besideUser({ messages, tail }: Apart): readonly SeenBlock[] {
  const user = messages.findLastIndex(({ role, kind }) => role === "user" && kind !== "tool-result") + 1;
  return [...messages.slice(0, user), ...tail, ...messages.slice(user)];
}

function markedLast(blocks: readonly SeenBlock[]): readonly SeenBlock[] {
  const at = blocks.findLastIndex(({ kind }) => kind !== "reasoning");
  return blocks.map((block, index) => (index === at ? { ...block, mark: "5m" } : block));
}

/** One text made of several: any change in it changes all of it. */
function joined(blocks: readonly SeenBlock[]): readonly SeenBlock[] {
  if (blocks.length === 0) return [];
  const key = digestOf(blocks.map((block) => block.key).join("\n"));
  const tokens = blocks.reduce((sum, block) => sum + block.tokens, 0);
  return [{ key, tokens, kind: "system" }];
}

/** A tail is so many blocks at most; more that are missing in the next request are an edit. */
const LONGEST_TAIL = 8;

/** Tells the tail of requests that somebody else made: the last blocks, where the next request has what stands before them and not them. */
function withTails(requests: readonly SeenRequest[]): readonly SeenRequest[] {
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
