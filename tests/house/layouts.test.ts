import { describe, expect, it } from "vitest";
import { LAYOUTS, type Layout, layoutBills, layoutContent } from "../../checks/bench/layouts.ts";
import { anthropicRules, optimum, type SeenBlock, type SeenRequest } from "../../src/wire/index.ts";

const request = (blocks: readonly SeenBlock[], rest: Partial<SeenRequest> = {}): SeenRequest => ({
  at: 0,
  model: "claude",
  ...rest,
  blocks,
});

const block = (key: string, rest: Partial<SeenBlock> = {}): SeenBlock => ({
  key,
  tokens: 1_000,
  kind: "text",
  role: "user",
  ...rest,
});

const RULES = anthropicRules();
const tokensOf = ({ blocks }: SeenRequest) => blocks.reduce((sum, { tokens }) => sum + tokens, 0);
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** What one turn adds: what is said, and the turn's own context. */
interface Turn {
  readonly said: (turn: number, last: boolean) => readonly SeenBlock[];
  readonly tail: (turn: number) => readonly SeenBlock[];
}

/** 30 tokens of each side, and 290 tokens of context that are others each time. */
const CHAT: Turn = {
  said: (turn, last) => [
    block(`q${turn}`, { tokens: 30, ...(last && { breakpoint: "5m" as const }) }),
    ...(last ? [] : [block(`a${turn}`, { tokens: 30, role: "assistant" })]),
  ],
  tail: (turn) => [block(`d${turn}`, { tokens: 290, tail: true, section: "clock" })],
};

/** The same where of the context 50 tokens change at a time. */
const LITTLE_CHANGES: Turn = {
  ...CHAT,
  tail: (turn) => [
    block(`d${turn}`, { tokens: 50, tail: true, section: "clock" }),
    block("state", { tokens: 240, tail: true, section: "state" }),
  ],
};

function thread(turns: number, { said, tail }: Turn = CHAT): readonly SeenRequest[] {
  return Array.from({ length: turns }, (_, turn) => {
    const messages = Array.from({ length: turn + 1 }, (__, at) => said(at, at === turn)).flat();
    const prefix = [
      block("tools", { kind: "tool", tokens: 4_531 }),
      block("policy", { kind: "system", tokens: 3_062, breakpoint: "5m" }),
    ];
    return request([...prefix, ...messages, ...tail(turn)], { at: turn * 45_000 });
  });
}

/** Cost, where the least that the layout's content could cost is 1. */
function ratio(layout: Layout, requests: readonly SeenRequest[]): number {
  const best = sum(optimum(layoutContent(requests, layout), { r: 0.1, w: 1.25 }));
  return sum(layoutBills(requests, layout, RULES).map(({ cost }) => cost)) / best;
}

const WINDOWS: readonly Layout[] = ["plan-sliding", "plan-halving"];

describe("layouts", () => {
  // Measured on real threads of 50 and 200 turns with this prefix, these lengths and these gaps.
  it.each<[Layout, number, number]>([
    ["none", 6.48, 7.86],
    ["seed000", 7.84, 8.97],
    ["seed000-last", 8.1, 9.83],
    ["seed000-tools", 4.32, 6.05],
    ["seed004", 1.89, 4.04],
    ["last-message", 2.2, 4.94],
    ["kept", 1.55, 2.7],
    ["last-two", 1.08, 1.06],
    ["plan", 1, 1],
  ])("cost about what was measured: %s", (layout, short, long) => {
    expect(ratio(layout, thread(50)) / short).toBeCloseTo(1, 1);
    expect(ratio(layout, thread(200)) / long).toBeCloseTo(1, 1);
  });

  it("keep only what changed of the context for little, in threads that are not too long", () => {
    expect(ratio("plan-changes", thread(50, LITTLE_CHANGES))).toBeCloseTo(1.07, 1);
    expect(ratio("plan-changes", thread(200, LITTLE_CHANGES))).toBeCloseTo(1.29, 1);
    // Where all of it changes, it costs what keeping all costs.
    expect(ratio("plan-changes", thread(50))).toBeCloseTo(ratio("kept", thread(50)), 1);
  });

  it("slide a window at a price from when it is full, and halve it for almost none", () => {
    expect(ratio("plan-sliding", thread(50))).toBeCloseTo(1, 1);
    expect(ratio("plan-sliding", thread(200))).toBeGreaterThan(2);
    expect(ratio("plan-halving", thread(200))).toBeLessThan(1.06);
    const shown = layoutContent(thread(200), "plan-sliding").map((one) => tokensOf(one) - 4_531 - 3_062 - 290);
    expect(Math.max(...shown)).toBeLessThanOrEqual(4_000);
  });

  it("show whole turns in a window, and the running turn whatever its size", () => {
    const long = thread(3, {
      ...CHAT,
      said: (turn, last) => CHAT.said(turn, last).map((one) => ({ ...one, tokens: 9_000 })),
    });
    for (const layout of WINDOWS) {
      const kept = layoutContent(long, layout).map(({ blocks }) =>
        blocks.flatMap(({ key }) => (/^[qa]/.test(key) ? [key] : [])),
      );
      expect(kept).toEqual([["q0"], ["q1"], ["q2"]]);
    }
  });

  it("hold the same content, whatever the order, unless they keep the context or show a window", () => {
    const requests = thread(12);
    for (const layout of LAYOUTS) {
      const billed = layoutBills(requests, layout, RULES).map((b) => b.input + b.read + b.write5m + b.write1h);
      if (layout === "kept" || layout === "plan-changes")
        expect(billed.at(-1)).toBe(tokensOf(requests.at(-1) ?? request([])) + 11 * 290);
      else expect(billed, layout).toEqual(layoutContent(requests, layout).map(tokensOf));
    }
  });

  it("are never refused: four breakpoints are the most", () => {
    for (const layout of LAYOUTS)
      expect(layoutBills(thread(12), layout, RULES).flatMap(({ problems }) => problems)).toEqual([]);
  });

  it("find the tail of requests that do not tell it", () => {
    const untold = thread(20).map((one) => ({ ...one, blocks: one.blocks.map(({ tail: _, ...rest }) => rest) }));
    for (const layout of LAYOUTS)
      expect(layoutBills(untold, layout, RULES), layout).toEqual(layoutBills(thread(20), layout, RULES));
  });

  it("forget what was kept where a transcript was cut", () => {
    const cut = [...thread(5), request([block("anew"), block("d9", { tail: true })], { at: 300_000 })];
    const billed = layoutBills(cut, "kept", RULES).at(-1);
    expect((billed?.input ?? 0) + (billed?.write5m ?? 0)).toBe(2_000);
  });
});

describe("layouts of a turn that calls tools", () => {
  const tail = block("d", { tail: true });
  const call = block("c", { kind: "tool-use", role: "assistant" });
  const result = block("r", { kind: "tool-result" });
  const rounds = [request([block("q"), tail]), request([block("q"), call, result, tail])];

  it("leave the context in the user's message, as others do", () => {
    const [, round] = layoutBills(rounds, "last-message", RULES);
    expect(round).toMatchObject({ read: 2_000, write5m: 2_000 });
  });

  it("keep it there once, and not for each request", () => {
    const [, round] = layoutBills(rounds, "kept", RULES);
    expect(round).toMatchObject({ read: 2_000, write5m: 2_000, input: 0 });
  });
});
