import { describe, expect, it } from "vitest";
import {
  cardBook,
  cardOf,
  openaiExactRules,
  openaiRules,
  rulesOf,
  type SeenBlock,
  serverRules,
  simulate,
} from "../index.ts";
import { block, blocks, MINUTE, request } from "./thread.contract.ts";

const sized = (...tokens: readonly number[]): readonly SeenBlock[] =>
  tokens.map((size, at) => block(`${at}`, { tokens: size }));

describe("OpenAI's cache before GPT-5.6", () => {
  const second = (before: readonly SeenBlock[], after: readonly SeenBlock[], at = 0) =>
    simulate([request(before), request(after, { at })], openaiRules())[1];

  it("reads the longest common beginning in steps of 128 tokens", () => {
    expect(second(sized(1_280, 10), [...sized(1_280), block("other", { tokens: 20 })])?.read).toBe(1_280);
    expect(second(sized(1_500), [...sized(1_500), block("new", { tokens: 50 })])).toMatchObject({
      read: 1_408,
      input: 142,
    });
  });

  it("reads from 1,024 tokens on", () => {
    expect(second(sized(1_023), sized(1_023))?.read).toBe(0);
    expect(second(sized(1_024), sized(1_024))?.read).toBe(1_024);
  });

  it("asks no more for writing, and needs no breakpoint", () => {
    expect(simulate([request(sized(5_000))], openaiRules())[0]).toMatchObject({
      input: 5_000,
      write5m: 0,
      cost: 5_000,
    });
  });

  it("forgets what lay idle", () => {
    expect(second(sized(2_048), sized(2_048), 5 * MINUTE - 1)?.read).toBe(2_048);
    expect(second(sized(2_048), sized(2_048), 5 * MINUTE)?.read).toBe(0);
  });

  it("falls back to a shorter beginning", () => {
    expect(second([...sized(2_048), block("d1")], [...sized(2_048), block("d2")])?.read).toBe(2_048);
  });
});

describe("OpenAI's cache from GPT-5.6 on", () => {
  const rules = openaiExactRules();
  const tail = (n: number) => block(`d${n}`, { tokens: 300 });

  it("does not fall back to a shorter beginning: a tail that is not kept costs a write each time", () => {
    const bills = simulate([request([...blocks(3, []), tail(1)]), request([...blocks(3, []), tail(2)])], rules);
    expect(bills.map(({ read, write5m, cost }) => [read, write5m, cost])).toEqual([
      [0, 3_300, 4_125],
      [0, 3_300, 4_125],
    ]);
  });

  it("finds the end of the message before where all is kept", () => {
    const [, next] = simulate([request(blocks(3, [])), request(blocks(5, []))], rules);
    expect(next).toMatchObject({ read: 3_000, write5m: 2_000, cost: 300 + 2_500 });
  });

  it("reads at an explicit breakpoint, and leaves what stands behind it alone", () => {
    const asked = (n: number) => request([...blocks(3, [3]), tail(n)], { mode: "explicit" });
    expect(simulate([asked(1), asked(2)], rules)[1]).toMatchObject({ read: 3_000, write5m: 0, input: 300 });
  });

  it("finds a breakpoint only where one stands now", () => {
    const requests = [request(blocks(3, [3]), { mode: "explicit" }), request(blocks(5, [5]), { mode: "explicit" })];
    expect(simulate(requests, rules)[1]?.read).toBe(0);
    const kept = [requests[0] ?? request([]), request(blocks(5, [3, 5]), { mode: "explicit" })];
    expect(simulate(kept, rules)[1]).toMatchObject({ read: 3_000, write5m: 2_000 });
  });

  it("caches nothing where the request is explicit and has no breakpoint", () => {
    const bare = request(blocks(3, []), { mode: "explicit" });
    expect(simulate([bare, bare], rules)[1]).toMatchObject({ input: 3_000, read: 0, write5m: 0 });
  });

  it("writes at the last four breakpoints, of which its own is one", () => {
    const probe = (n: number, mode: "explicit" | "implicit") =>
      simulate([request(blocks(9, [2, 3, 4, 5, 6]), { mode }), request(blocks(n), { mode: "explicit" })], rules)[1]
        ?.read;
    expect([2, 3, 6].map((n) => probe(n, "explicit"))).toEqual([0, 3_000, 6_000]);
    expect([3, 4, 9].map((n) => probe(n, "implicit"))).toEqual([0, 4_000, 9_000]);
  });

  it("looks at the last fifty breakpoints", () => {
    const breakpoints = Array.from({ length: 60 }, (_, at) => at + 1);
    const probe = (n: number) =>
      simulate(
        [request(blocks(n), { mode: "explicit" }), request(blocks(60, breakpoints), { mode: "explicit" })],
        rules,
      )[1]?.read;
    expect([probe(10), probe(11)]).toEqual([0, 11_000]);
  });

  it("keeps for twelve hours, at its own price, what a breakpoint with the long lifetime writes", () => {
    const lasting = { ...rules, idleLong: 12 * 60 * MINUTE, multipliers: { read: 0.05, write5m: 1.25, write1h: 2.5 } };
    const marked = (n: number, minutes: number) =>
      request(
        blocks(n, [2, n]).map((one, at) => (at === 1 && one.breakpoint ? { ...one, breakpoint: "1h" as const } : one)),
        { at: minutes * MINUTE, mode: "explicit" },
      );
    const bills = simulate([marked(3, 0), marked(4, 12 * 60 - 1), marked(4, 24 * 60)], lasting);
    expect(bills.map(({ read, write1h, write5m }) => [read, write1h, write5m])).toEqual([
      [0, 2_000, 1_000],
      [2_000, 0, 2_000],
      [0, 2_000, 2_000],
    ]);
    expect(bills[0]?.cost).toBe(2.5 * 2_000 + 1.25 * 1_000);
    // Without a long lifetime its name changes nothing.
    expect(simulate([marked(3, 0), marked(4, 31)], rules)[1]).toMatchObject({ read: 0, write1h: 0, write5m: 4_000 });
  });

  it("keeps for half an hour, longer each time it is used", () => {
    const at = (minutes: number) => request(blocks(3), { at: minutes * MINUTE });
    expect(simulate([at(0), at(29), at(58), at(88)], rules).map(({ read }) => read)).toEqual([0, 3_000, 3_000, 0]);
  });
});

describe("the prefix cache of a server of one's own", () => {
  it("reads full blocks of 16 tokens for nothing", () => {
    const [, next] = simulate(
      [request(sized(100)), request([...sized(100), block("new", { tokens: 50 })])],
      serverRules(),
    );
    expect(next).toMatchObject({ read: 96, input: 54, cost: 54 });
  });
});

describe("the rules of a model", () => {
  const of = (model: string) => rulesOf(cardOf(model));

  it.each([
    ["anthropic:claude-sonnet-4-5", { kind: "lookback", most: 4, lookback: 20, minimum: 1_024 }, [0.1, 1.25, 2]],
    ["anthropic:claude-fable-5-1", { kind: "lookback", minimum: 512 }, [0.025, 1.25, 2]],
    ["openai:gpt-5.4", { kind: "longest", step: 128, idle: 5 * MINUTE }, [0.1, 1, 1]],
    ["openai:gpt-4o", { kind: "longest", step: 128 }, [0.5, 1, 1]],
    ["openai:gpt-5.6-sol", { kind: "exact", writes: 4, reads: 80, idle: 30 * MINUTE }, [0.1, 1.25, 1.25]],
    ["openai:gpt-6.1-sol", { kind: "exact" }, [0.05, 1.25, 1.25]],
    ["google:gemini-2.5-flash", { kind: "longest", minimum: 2_048, step: 1, idle: 3 * MINUTE }, [0.1, 1, 1]],
    ["deepseek:deepseek-v4-flash", { kind: "longest", step: 64, idle: 60 * MINUTE }, [0.02, 1, 1]],
    ["openrouter:anthropic/claude-sonnet-4.5", { kind: "lookback", lookback: 20 }, [0.1, 1.25, 2]],
    ["openai:gpt-6.2-sol", { kind: "exact", idle: 30 * MINUTE, idleLong: 720 * MINUTE }, [0.05, 1.25, 2.5]],
    ["openrouter:openai/gpt-6.2-sol", { kind: "exact", idle: 30 * MINUTE }, [0.05, 1.25, 1.25]],
    ["openrouter:openai/gpt-5.6-sol", { kind: "exact", idle: 30 * MINUTE }, [0.1, 1.25, 1.25]],
    ["bedrock:global.anthropic.claude-opus-4-7", { kind: "lookback", minimum: 4_096 }, [0.1, 1.25, 2]],
    ["openai-compatible:llama3", { kind: "longest", step: 16 }, [0, 1, 1]],
  ])("%s come from its card", (model, rules, shares) => {
    const { multipliers, ...found } = of(model);
    expect(found).toMatchObject(rules);
    expect(Object.values(multipliers)).toEqual(shares);
  });

  it("have the lifetimes of the card: where there is no long one, an hour is as short as the other", () => {
    const lifetimes = (model: string) => of(model).kind === "lookback" && of(model);
    expect(lifetimes("bedrock:anthropic.claude-opus-4-7")).toMatchObject({
      lifetimes: { "5m": 5 * MINUTE, "1h": 60 * MINUTE },
    });
    expect(lifetimes("bedrock:anthropic.claude-3-5-haiku")).toMatchObject({
      lifetimes: { "5m": 5 * MINUTE, "1h": 5 * MINUTE },
      multipliers: { write1h: 1.25 },
    });
  });

  it("are those of a declaration where it says otherwise", () => {
    const card = cardBook({
      "mine:llama": {
        cache: "exact",
        breakpoints: 2,
        lookback: 9,
        lifetimes: { short: 60 },
        price: { input: 4, output: 8, cacheRead: 1 },
      },
    })("mine:llama");
    expect(rulesOf(card)).toMatchObject({
      kind: "exact",
      writes: 2,
      reads: 9,
      idle: MINUTE,
      multipliers: { read: 0.25, write5m: 1, write1h: 1 },
    });
  });

  it.each(["nobody:knows", "bedrock:amazon.nova-pro-v1:0"])(
    "%s keep nothing where the card knows of no cache",
    (model) => {
      const [, next] = simulate([request(sized(50_000)), request(sized(50_000))], of(model));
      expect(next).toMatchObject({ input: 50_000, read: 0 });
    },
  );
});
