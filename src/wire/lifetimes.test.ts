import { describe, expect, it } from "vitest";
import { type Message, type Request, spoken, trusted } from "../protocol/index.ts";
import {
  cardOf,
  hasLifetimes,
  keepingCost,
  type Pace,
  type PlannedLifetimes,
  paceOf,
  planBreakpoints,
  predict,
  rulesOf,
  type SeenRequest,
  seenOf,
  sharedLifetime,
  simulate,
  threadLifetime,
  USUAL_PACE,
} from "./index.ts";

const card = cardOf("anthropic:claude-sonnet-4-5");
const { multipliers } = rulesOf(card);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Starts with these pauses between them. */
const starts = (gaps: readonly number[]): readonly number[] =>
  [0, ...gaps].map((_, n) => gaps.slice(0, n).reduce((sum, gap) => sum + gap, 0));

/** The share of pauses from 5 to 60 minutes from which on the long lifetime is chosen. */
function threshold(prefix: number, fresh: number, shares = multipliers): number {
  for (let short = 0; short < 1; short += 0.0001)
    if (threadLifetime({ prefix, fresh }, { pace: { short, long: 0 }, multipliers: shares }) === "1h") return short;
  return 1;
}

describe("the lifetime of a thread's beginning", () => {
  it("is the one that costs less: an hour from 3.3% of pauses on where a twentieth is new, below 1% in a short chat", () => {
    expect(threshold(10_000, 500)).toBeCloseTo((0.75 * 500) / (1.15 * 10_000), 3);
    expect(threshold(10_000, 500)).toBeCloseTo(0.033, 3);
    expect(threshold(10_000, 60)).toBeLessThan(0.01);
    expect(threshold(10_000, 500, rulesOf(cardOf("anthropic:claude-opus-5-5")).multipliers)).toBeCloseTo(0.031, 3);
  });

  it("is weighed by what the write and the next request cost", () => {
    const beginning = { prefix: 10_000, fresh: 500 };
    const pace = { short: 0.1, long: 0.02 };
    const cost = (lifetime: "5m" | "1h") => keepingCost(lifetime, beginning, { pace, multipliers });
    expect(cost("5m")).toBeCloseTo(1.25 * 500 + 0.9 * 1_000 + 0.1 * 12_500);
    expect(cost("1h")).toBeCloseTo(2 * 500 + 0.98 * 1_000 + 0.02 * 20_000);
  });

  it("stays short where pauses outlast the hour, too, and before all of it is written again", () => {
    const days: Pace = { short: 0.1, long: 0.1 };
    expect(threadLifetime({ prefix: 10_000, fresh: 60 }, { pace: days, multipliers })).toBe("5m");
    const breaks: Pace = { short: 0.3, long: 0 };
    expect(threadLifetime({ prefix: 10_000, fresh: 60 }, { pace: breaks, multipliers })).toBe("1h");
    expect(threadLifetime({ prefix: 10_000, fresh: 10_000 }, { pace: breaks, multipliers })).toBe("5m");
  });

  it("is short for a thread that nothing is known of", () => {
    for (const fresh of [1, 500, 10_000])
      expect(threadLifetime({ prefix: 10_000, fresh }, { pace: USUAL_PACE, multipliers })).toBe("5m");
    expect(sharedLifetime(USUAL_PACE, multipliers)).toBe("5m");
  });

  it("is asked only of a model whose breakpoints may say it", () => {
    expect(hasLifetimes(card)).toBe(true);
    expect(hasLifetimes(cardOf("openrouter:anthropic/claude-sonnet-4.5"))).toBe(true);
    expect(hasLifetimes(cardOf("bedrock:anthropic.claude-sonnet-4-5-v1:0"))).toBe(true);
    expect(hasLifetimes(cardOf("bedrock:anthropic.claude-3-5-haiku-v1:0"))).toBe(false);
    for (const ref of ["openai:gpt-5", "openai:gpt-5.6-sol", "google:gemini-3.5-flash", "nobody:knows"])
      expect(hasLifetimes(cardOf(ref)), ref).toBe(false);
  });
});

describe("the pace of requests", () => {
  const gaps = [...Array.from({ length: 8 }, () => MINUTE), 10 * MINUTE, 2 * HOUR];

  it("is what was seen, and what is believed as if ten pauses had been seen", () => {
    expect(paceOf([starts(gaps)], card.lifetimes)).toEqual({ short: (2 + 0.5) / 20, long: (1 + 0.4) / 20 });
    expect(paceOf([], card.lifetimes)).toEqual(USUAL_PACE);
    expect(paceOf([starts(gaps).toReversed()], card.lifetimes, { short: 1, long: 1 })).toEqual({
      short: 12 / 20,
      long: 11 / 20,
    });
  });

  it("counts a pause from start to start as over at its end, and none between two lists", () => {
    const short = (...lists: number[][]) => paceOf(lists, card.lifetimes, { short: 0, long: 0 }).short;
    expect(short([0, 5 * MINUTE])).toBeCloseTo(1 / 11);
    expect(short([0, 5 * MINUTE - 1])).toBe(0);
    expect(short([0], [HOUR])).toBe(0);
  });
});

describe("a cache with a lifetime of twelve hours", () => {
  const sol = cardOf("openai:gpt-6.2-sol");
  const { multipliers: prices } = rulesOf(sol);
  const chosen = (gaps: readonly number[]) =>
    threadLifetime(
      { prefix: 20_000, fresh: 400 },
      { pace: paceOf([starts(gaps)], sol.lifetimes), multipliers: prices },
    );

  it("is used where pauses of hours are many, and not where there are none", () => {
    expect(hasLifetimes(sol)).toBe(true);
    expect(chosen(Array.from({ length: 30 }, () => 4 * HOUR))).toBe("1h");
    expect(chosen(Array.from({ length: 200 }, () => 10 * MINUTE))).toBe("5m");
    expect(chosen(Array.from({ length: 60 }, () => 40 * HOUR))).toBe("5m");
  });

  it("is not assumed of a model that nobody names its price of, nor behind OpenRouter", () => {
    for (const model of ["openai:gpt-6.2-astra", "openai:gpt-6.1-sol", "openrouter:openai/gpt-6.2-sol"])
      expect([model, hasLifetimes(cardOf(model))]).toEqual([model, false]);
  });
});

describe("the lifetime of the end that all threads share", () => {
  it("is an hour where that spares more new writes than the dearer one costs, whatever is new now", () => {
    // 1.9 for each pause over an hour against 1.15 for each over five minutes.
    expect(sharedLifetime({ short: 0.17, long: 0.1 }, multipliers)).toBe("1h");
    expect(sharedLifetime({ short: 0.16, long: 0.1 }, multipliers)).toBe("5m");
  });

  it("stands before the thread's own, which never outlasts it", () => {
    const prefix: Request["prefix"] = {
      tools: [],
      system: [
        { scope: "agent", text: trusted("Be kind. ".repeat(900)), layers: [] },
        { scope: "thread", text: trusted("Speak with Ann."), layers: [] },
      ],
    };
    const messages: readonly Message[] = [{ role: "user", parts: [{ type: "text", text: trusted("Hi") }] }];
    const marked = (lifetimes?: PlannedLifetimes): readonly string[] =>
      planBreakpoints(
        { prefix, messages },
        { card, count: (text) => text.length, ...(lifetimes && { lifetimes }) },
      ).map(({ lifetime }) => lifetime);
    expect(marked()).toEqual(["5m", "5m", "5m"]);
    expect(marked({ shared: "1h", thread: "5m" })).toEqual(["1h", "5m", "5m"]);
    expect(marked({ shared: "5m", thread: "1h" })).toEqual(["1h", "1h", "1h"]);
    const alone = { prefix: { ...prefix, system: prefix.system.slice(0, 1) }, messages };
    const lifetimes = { shared: "1h", thread: "5m" } as const;
    expect(
      planBreakpoints(alone, { card, count: (text) => text.length, lifetimes }).map(
        (breakpoint) => breakpoint.lifetime,
      ),
    ).toEqual(["1h", "5m"]);
  });
});

describe("a thread whose lifetimes follow its pace", () => {
  const count = (text: string): number => Math.ceil(text.length / 4);
  const SYSTEM = [{ scope: "agent", text: trusted("Be kind. ".repeat(4_400)), layers: [] }] as const;

  /** The cost of a thread of some 10,000 tokens with these pauses, under a lifetime that is fixed or follows. */
  function cost(gaps: readonly number[], lifetime?: "5m" | "1h"): number {
    const messages: Message[] = [];
    const times = starts(gaps);
    const seen: SeenRequest[] = [];
    const sent: Request[] = [];
    for (const [n, at] of times.entries()) {
      messages.push({ role: "user", parts: [{ type: "text", text: trusted(`${n} `.padEnd(120, "why ")) }] });
      const bare = {
        prefix: { tools: [], system: SYSTEM },
        messages: [...messages],
        tail: [],
        parameters: { maxTokens: 9 },
      };
      const earlier = sent.map((one, i) => ({
        at: times[i] ?? 0,
        breakpoints: one.breakpoints,
        same: one.messages.length,
      }));
      const planned = (thread: "5m" | "1h"): Request => ({
        ...bare,
        breakpoints: planBreakpoints(bare, { card, count, lifetimes: { shared: "5m", thread } }),
      });
      const { read, write } = predict(planned("5m"), earlier, { card, count, at });
      const pace = paceOf([times.slice(0, n + 1)], card.lifetimes);
      const chosen = lifetime ?? threadLifetime({ prefix: read + write, fresh: write }, { pace, multipliers });
      sent.push(planned(chosen));
      seen.push(seenOf(planned(chosen), count, { at, model: "m" }));
      messages.push({ role: "assistant", parts: [{ type: "text", text: spoken(`${n} `.padEnd(120, "so ")) }] });
    }
    return simulate(seen, rulesOf(card)).reduce((sum, bill) => sum + bill.cost, 0);
  }

  /** A hundred turns, of which that many come after a pause. */
  const talk = (pauses: number, pause: number): readonly number[] =>
    Array.from({ length: 99 }, (_, n) => (pauses > 0 && n % (100 / pauses) === 4 ? pause : 45_000));

  it("costs what the short one does without pauses, and with pauses of days", () => {
    expect(cost(talk(0, 0))).toBe(cost(talk(0, 0), "5m"));
    expect(cost(talk(10, 40 * HOUR))).toBe(cost(talk(10, 40 * HOUR), "5m"));
    expect(cost(talk(10, 40 * HOUR), "1h")).toBeGreaterThan(1.2 * cost(talk(10, 40 * HOUR)));
  });

  it("is near the better of both at every share of pauses, and far from the worse", () => {
    for (const pauses of [1, 2, 5, 10, 20]) {
      const gaps = talk(pauses, 20 * MINUTE);
      const best = Math.min(cost(gaps, "5m"), cost(gaps, "1h"));
      expect(cost(gaps) / best, `${pauses}%`).toBeLessThan(1.05);
    }
    expect(cost(talk(20, 20 * MINUTE)) / cost(talk(20, 20 * MINUTE), "5m")).toBeLessThan(0.5);
  });
});
