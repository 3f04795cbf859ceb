import { digestOf, never } from "../../src/protocol/index.ts";
import { type Bill, type CacheRules, type SeenBlock, type SeenRequest, simulate } from "../../src/wire/index.ts";
import {
  type Apart,
  apart,
  carrierUpTo,
  changes,
  goesOn,
  keeping,
  markedAt,
  markedLast,
  userEnd,
  whole,
  windowed,
  withTails,
} from "./layout-parts.ts";

/** The ways of laying a thread out that can be compared: those that move or mark the turn's context first, the plan's kin last. */
export const LAYOUTS = [
  "none",
  "seed000",
  "seed000-last",
  "seed000-tools",
  "seed004",
  "last-message",
  "kept",
  "last-two",
  "automatic",
  "plan",
  "plan-changes",
  "plan-sliding",
  "plan-halving",
] as const;
export type Layout = (typeof LAYOUTS)[number];

/** What each layout does, for people. */
export const LAYOUT_SAYS: Readonly<Record<Layout, string>> = {
  none: "no caching",
  seed000: "the turn's context inside the system text, one breakpoint after it",
  "seed000-last": "as seed000, and a breakpoint on the last message",
  "seed000-tools": "as seed000, and a breakpoint on the last tool",
  seed004: "one breakpoint after the system text, the turn's context in the user's message",
  "last-message": "as seed004, and a breakpoint on the last message, behind the turn's context",
  kept: "as last-message, and each turn's context stays where it was said",
  "last-two": "breakpoints on the first two system texts and the last two messages",
  automatic: "one breakpoint of the provider's own on the last block",
  plan: "as the requests were made",
  "plan-changes": "the plan's breakpoints; of the turn's context only what changed, and that stays",
  "plan-sliding": "the plan's breakpoints on the newest 4,000 tokens of history; beside the same window's optimum",
  "plan-halving": "the same window, cut to its half whenever it is full; beside its own optimum",
};

/** What a thread's requests would be billed, were they laid out so. The thread has the cache for itself. Pure. */
export function layoutBills(requests: readonly SeenRequest[], layout: Layout, rules: CacheRules): readonly Bill[] {
  if (layout === "none") return requests.map(({ blocks }) => plain(blocks));
  return simulate(laidOut(withTails(requests), layout), rules);
}

/** What a layout is measured by: the content of the requests, of which a window shows a part. Pure. */
export function layoutContent(requests: readonly SeenRequest[], layout: Layout): readonly SeenRequest[] {
  switch (layout) {
    case "plan-sliding":
      return windowed(withTails(requests), "sliding");
    case "plan-halving":
      return windowed(withTails(requests), "halving");
    default:
      return requests;
  }
}

function plain(blocks: readonly SeenBlock[]): Bill {
  const input = blocks.reduce((sum, { tokens }) => sum + tokens, 0);
  return { input, read: 0, write5m: 0, write1h: 0, cost: input, problems: [] };
}

type Blocks = readonly SeenBlock[];

/** The same content in another order and under other breakpoints. */
function laidOut(requests: readonly SeenRequest[], layout: Exclude<Layout, "none">): readonly SeenRequest[] {
  const asSent = requests.map(apart);
  const each = (blocksOf: (parts: Apart) => Blocks, from: readonly Apart[] = asSent): readonly SeenRequest[] =>
    from.flatMap((parts, n) => {
      const request = requests[n];
      return request === undefined ? [] : [{ ...request, mode: "explicit", blocks: blocksOf(parts) }];
    });
  switch (layout) {
    case "plan":
      return requests;
    case "automatic":
      return each(inOrder).map((one) => ({ ...one, mode: "implicit", blocks: markedLast(one.blocks) }));
    case "seed000":
      return each((parts) => [...parts.tools, ...contextInside(parts), ...parts.messages]);
    case "seed000-last":
      return each((parts) => markedLast([...parts.tools, ...contextInside(parts), ...parts.messages]));
    case "seed000-tools":
      return each((parts) => [...markedLast(parts.tools), ...contextInside(parts), ...parts.messages]);
    case "seed004":
      return each(besideUser);
    case "last-message":
      return each((parts) => markedLast(besideUser(parts)));
    case "last-two":
      return each((parts) => lastTwo(besideUser(parts)));
    case "kept":
      return each((parts) => markedLast(besideUser(parts)), keeping(requests, whole));
    case "plan-changes":
      return planned(requests, keeping(requests, changes));
    case "plan-sliding":
    case "plan-halving":
      return planned(requests, layoutContent(requests, layout).map(apart));
    default:
      return never(layout);
  }
}

const inOrder = ({ tools, system, messages, tail }: Apart): Blocks => [...tools, ...system, ...messages, ...tail];

/** The turn's context in the system text: one text made of several, and any change in it changes all of it. */
function contextInside({ system, tail }: Apart): Blocks {
  const blocks = [...system, ...tail];
  if (blocks.length === 0) return [];
  const key = digestOf(blocks.map((block) => block.key).join("\n"));
  const tokens = blocks.reduce((sum, block) => sum + block.tokens, 0);
  return markedLast([{ key, tokens, kind: "system" }]);
}

/** The turn's context stays in the user's message while tools are called, as nobody but Strata moves it. One breakpoint, after the system text. */
function besideUser({ tools, system, messages, tail }: Apart): Blocks {
  const user = userEnd(messages);
  return [...tools, ...markedLast(system), ...messages.slice(0, user), ...tail, ...messages.slice(user)];
}

/** Breakpoints on the first two system texts and on the last two messages, whose blocks follow one another in one role. */
function lastTwo(blocks: Blocks): Blocks {
  const said = blocks.findIndex(({ kind }) => kind !== "tool" && kind !== "system");
  const texts = blocks.flatMap(({ kind }, at) => (kind === "system" ? [at] : []));
  if (said < 0) return markedAt(bare(blocks), texts.slice(0, 2));
  const newest = blocks.findLastIndex(({ role }) => role !== blocks.at(-1)?.role) + 1;
  const messages = [newest > said ? carrierUpTo(blocks, newest) : -1, carrierUpTo(blocks)];
  return markedAt(bare(blocks), [...texts.slice(0, 2), ...messages]);
}

const bare = (blocks: Blocks): Blocks => blocks.map(({ breakpoint: _, ...block }) => block);

/**
 * The breakpoints of a plan on blocks that were laid out again: after the system text, exactly where the request before ended, and on the
 * last block that stays. Where the beginning is not the same any more, there is no earlier end.
 */
function planned(requests: readonly SeenRequest[], partsOf: readonly Apart[]): readonly SeenRequest[] {
  let before: readonly SeenBlock[] = [];
  return requests.map((request, n): SeenRequest => {
    const { tools, system, messages, tail } = partsOf[n] ?? { tools: [], system: [], messages: [], tail: [] };
    const stable = [...tools, ...system, ...messages];
    const anchor = goesOn(before, stable) ? carrierUpTo(stable, before.length) : -1;
    before = stable;
    const places = [carrierUpTo(stable, tools.length + system.length), anchor, carrierUpTo(stable)];
    return { ...request, mode: "explicit", blocks: [...markedAt(stable, places), ...tail] };
  });
}
