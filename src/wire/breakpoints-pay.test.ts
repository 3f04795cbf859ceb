import { expect, it } from "vitest";
import { type Breakpoint, type Message, type Request, spoken, trusted } from "../protocol/index.ts";
import { anthropicRules, planBreakpoints, seenOf, simulate } from "./index.ts";

const RULES = anthropicRules();
const count = (text: string): number => text.length;
const card = { minimumPrefix: 1_024, cache: "lookback", breakpoints: 4 } as const;

const text = (what: string, tokens: number): string => what.padEnd(tokens, " x");
const user = (what: string): Message => ({ role: "user", parts: [{ type: "text", text: trusted(text(what, 60)) }] });
const answer = (what: string): Message => ({
  role: "assistant",
  parts: [{ type: "text", text: spoken(text(what, 60)) }],
});

/** What all contacts share, what the agent's share, and what is one contact's own. */
const prefixOf = (contact: string): Request["prefix"] => ({
  tools: [],
  system: [
    { scope: "all", text: trusted(text("all", 2_000)), layers: [] },
    { scope: "agent", text: trusted(text("agent", 2_000)), layers: [] },
    { scope: "thread", text: trusted(text(contact, 2_000)), layers: [] },
  ],
});

interface Asked {
  readonly contact: string;
  readonly messages: readonly Message[];
}

type Change = (breakpoints: readonly Breakpoint[]) => readonly Breakpoint[];

/** The cost of the requests in one cache, 45 seconds apart, under the plan's breakpoints after the change. */
function cost(asked: readonly Asked[], change: Change = (breakpoints) => breakpoints): number {
  const seen = asked.map(({ contact, messages }, n) => {
    const bare = { prefix: prefixOf(contact), messages, tail: [], parameters: { maxTokens: 100 } };
    const breakpoints = change(planBreakpoints(bare, { card, count }));
    return seenOf({ ...bare, breakpoints }, count, { at: n * 45_000, model: "claude" });
  });
  return simulate(seen, RULES).reduce((sum, bill) => sum + bill.cost, 0);
}

const without =
  (which: (after: Breakpoint["after"]) => boolean): Change =>
  (breakpoints) =>
    breakpoints.filter(({ after }) => !which(after));

const moved =
  (which: (after: Breakpoint["after"]) => boolean): Change =>
  (breakpoints) =>
    breakpoints.map((breakpoint) => {
      if (!which(breakpoint.after)) return breakpoint;
      const { after } = breakpoint;
      return {
        ...breakpoint,
        after: after.zone === "system" ? { ...after, block: after.block - 1 } : { ...after, index: after.index - 1 },
      };
    });

const isBlock = (block: number) => (after: Breakpoint["after"]) => after.zone === "system" && after.block === block;
/** The first or the last of the breakpoints on messages: the anchor, and the newest. */
const onMessage = (breakpoints: readonly Breakpoint[], nth: 0 | -1) => {
  const places = breakpoints.flatMap(({ after }) => (after.zone === "message" ? [after.index] : []));
  return (after: Breakpoint["after"]) =>
    after.zone === "message" && places.length > 1 && after.index === places.at(nth);
};

const firstOnMessage = (breakpoints: readonly Breakpoint[]): Breakpoint["after"] | undefined =>
  breakpoints.find(({ after }) => after.zone === "message")?.after;

/** Turns of which each asks so much at once. */
const turns = (n: number, atOnce: number): readonly Asked[] =>
  Array.from({ length: n }, (_, turn) => ({
    contact: "ann",
    messages: Array.from({ length: turn + 1 }, (__, at) => [
      ...Array.from({ length: atOnce }, (___, one) => user(`q${at}.${one}`)),
      ...(at < turn ? [answer(`a${at}`)] : []),
    ]).flat(),
  }));

/** A conversation that was cut as often, with some turns after each cut: what each has left is its own message, before the mark. */
const cuts = (n: number): readonly Asked[] =>
  Array.from({ length: n }, (_, cut) => {
    const left = Array.from({ length: cut + 1 }, (__, at) =>
      user(text(`[earlier contact 2026-11-21]\n|> ${at}`, 1_500)),
    );
    const start = [...left, user(`(The first ${4 * (cut + 1)} messages are shown only in short.)`)];
    return turns(3, 1).map(({ contact, messages }) => ({
      contact,
      messages: [...start, user(`cut ${cut}`), ...messages],
    }));
  }).flat();

/** Where a breakpoint pays, and which one it is. */
const PAYS: readonly (readonly [string, readonly Asked[], (change: typeof without) => Change])[] = [
  [
    "the shared end, for another contact's thread",
    ["ann", "bob", "cleo"].map((contact) => ({ contact, messages: [user(`Hello from ${contact}`)] })),
    (change) => change(isBlock(1)),
  ],
  [
    "the thread's end, for another thread of the same contact",
    ["one", "two", "three"].map((thread) => ({ contact: "ann", messages: [user(`In thread ${thread}`)] })),
    (change) => change(isBlock(2)),
  ],
  [
    "the anchor, where more came at once than a provider looks back",
    turns(6, 24),
    (change) => (breakpoints) => change(onMessage(breakpoints, 0))(breakpoints),
  ],
  [
    "what cuts have left, for the next cut",
    cuts(6),
    (change) => (breakpoints) => change((after) => after === firstOnMessage(breakpoints))(breakpoints),
  ],
  [
    "the newest message, for the next turn",
    turns(12, 1),
    (change) => (breakpoints) => change(onMessage(breakpoints, -1))(breakpoints),
  ],
];

it.each(PAYS)("a breakpoint pays on %s: moved or left out, the same requests cost more", (_, asked, which) => {
  const planned = cost(asked);
  expect(cost(asked, which(without))).toBeGreaterThan(planned * 1.02);
  expect(cost(asked, which(moved))).toBeGreaterThan(planned * 1.001);
});
