import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  anthropicRules,
  attribute,
  attributionTotals,
  type CacheRules,
  type Cause,
  openaiExactRules,
  openaiRules,
  optimum,
  prewarming,
  type RequestFacts,
  type SeenBlock,
  type SeenRequest,
  serverRules,
  simulate,
} from "../index.ts";
import { block, blocks, MINUTE, request, SECOND } from "./thread.contract.ts";

const tail = (n: number): SeenBlock => block(`tail ${n}`, { tokens: 200, section: "clock", tail: true });

/** Cause and tokens of a request, the dearest first. */
const causes = (
  requests: readonly SeenRequest[],
  n: number,
  rules: CacheRules = anthropicRules(),
  known?: RequestFacts,
) => attribute(requests, rules, known)[n]?.causes.map(({ cause, tokens }): [Cause, number] => [cause, tokens]);

/** A thread that grows by two blocks a request, marked at its newest one, with a tail behind it. */
const chat = (requests: number, gap = 45 * SECOND): readonly SeenRequest[] =>
  Array.from({ length: requests }, (_, n) => request([...blocks(2 * n + 2), tail(n)], { at: n * gap }));

describe("why tokens were not read", () => {
  it("the first time, nothing was there to read, and a tail is the turn's own", () => {
    expect(causes(chat(2), 0)).toEqual([
      ["first", 2_000],
      ["tail", 200],
    ]);
    const [one, two] = attribute(chat(2), anthropicRules());
    expect([one?.base, two?.base]).toEqual([undefined, { n: 0, gap: 45 * SECOND }]);
    expect(two).toMatchObject({
      predicted: { read: 2_000, write: 2_000, input: 200 },
      efficiency: expect.closeTo(0.85, 1),
    });
    expect(two?.differs).toBeUndefined();
  });

  it("a prediction made before the call counts, and is computed now only if there is none", () => {
    const told = { read: 500, write: 400, writeLong: 0, input: 100 };
    const billed = [undefined, { input: 8_400, cacheRead: 4_000, cacheWrite: 4_000, output: 1 }];
    const [one, two] = attribute(chat(2), anthropicRules(), { predicted: [undefined, told], billed });
    expect(one?.predicted).toEqual({ read: 0, write: 2_000, input: 200 });
    expect(two?.predicted).toEqual({ read: 4_200, write: 3_360, input: 840 });
    expect(two?.agreement).toBeCloseTo(1 - 200 / 8_400);
  });

  it("without a bill, what was predicted of a turn that did not know all that was kept makes nothing cold", () => {
    const told = { read: 0, write: 4_000, writeLong: 0, input: 200 };
    const known = { predicted: [undefined, told] };
    expect(attribute(chat(2), anthropicRules(), known)[1]?.predicted).toEqual({
      read: 2_000,
      write: 2_000,
      input: 200,
    });
    expect(causes(chat(2), 1, anthropicRules(), known)).toEqual(causes(chat(2), 1));
  });

  it("what was written for an hour costs what it costs, as the bill tells lifetimes apart or else as predicted", () => {
    const bill = { input: 2_200, cacheRead: 0, cacheWrite: 2_000, output: 1 };
    const told = { read: 0, write: 2_000, writeLong: 1_000, input: 200 };
    const cost = (known: RequestFacts) => attribute(chat(1), anthropicRules(), known)[0]?.cost;
    expect(cost({ billed: [bill] })).toBe(2_000 * 1.25 + 200);
    expect(cost({ billed: [bill], predicted: [told] })).toBe(1_000 * 1.25 + 1_000 * 2 + 200);
    expect(cost({ billed: [{ ...bill, cacheWriteLong: 2_000 }] })).toBe(2_000 * 2 + 200);
    expect(cost({ billed: [{ ...bill, cacheWriteLong: 0 }], predicted: [told] })).toBe(2_000 * 1.25 + 200);
  });

  it("cold: the entry's time was over", () => {
    const [, two] = attribute(chat(2, 10 * MINUTE), anthropicRules());
    expect(two?.causes[0]).toMatchObject({
      cause: "cold",
      tokens: 2_000,
      cost: 2_000 * 1.15,
      begins: { block: 0, token: 0 },
    });
    expect(two?.base).toEqual({ n: 0, gap: 10 * MINUTE });
  });

  it("trim: a new epoch by a cut; what stays of the conversation stands elsewhere", () => {
    const system = block("rules", { kind: "system", section: "rules", breakpoint: "5m", tokens: 2_000 });
    const said = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) =>
        block(`said ${from + at}`, { section: "transcript", ...(from + at === to - 1 && { breakpoint: "5m" }) }),
      );
    const requests = [
      request([system, ...said(0, 6)]),
      request([system, block("cut", { tokens: 50, section: "transcript" }), ...said(4, 7)], { at: SECOND }),
    ];
    const epochs = [
      { n: 1, reason: "first" },
      { n: 2, reason: "cut" },
    ] as const;
    expect(causes(requests, 1, anthropicRules(), { epochs })?.[0]).toEqual(["trim", 2_000]);
    const [, after] = attribute(requests, anthropicRules(), { epochs });
    expect(after?.differs).toEqual({ block: 1, section: "transcript", token: 2_000 });
    expect(after?.causes[0]?.begins).toEqual(after?.differs);
    expect(after?.predicted.read).toBe(2_000);
    // The same bytes without a cut are an edit.
    const same = epochs.map(() => epochs[0]);
    expect(causes(requests, 1, anthropicRules(), { epochs: same })?.[0]).toEqual(["prefix edit", 2_000]);
  });

  it.each<[Cause, NonNullable<RequestFacts["epochs"]>]>([
    [
      "forgotten",
      [
        { n: 1, reason: "first" },
        { n: 2, reason: "forgotten" },
      ],
    ],
    [
      "refused",
      [
        { n: 1, reason: "first" },
        { n: 2, reason: "refused" },
      ],
    ],
    // A text of the prefix was edited, and the report of the edit is gone from the conversation.
    [
      "prefix edit",
      [
        { n: 1, reason: "first" },
        { n: 2, reason: "edited" },
      ],
    ],
    // An epoch continues without reasoning whatever ends it after that.
    [
      "forgotten",
      [
        { n: 2, reason: "refused", cut: 0 },
        { n: 3, reason: "refused", cut: 0 },
      ],
    ],
    [
      "trim",
      [
        { n: 1, reason: "first", cut: 0 },
        { n: 2, reason: "refused", cut: 4 },
      ],
    ],
  ])("%s: a new epoch in which what was sent is another", (cause, epochs) => {
    const system = block("rules", { kind: "system", section: "rules", breakpoint: "5m", tokens: 2_000 });
    const said = blocks(4).map((one) => ({ ...one, section: "transcript" }));
    const told = block("told", { section: "transcript", tokens: 100 });
    const requests = [request([system, told, ...said]), request([system, ...said], { at: SECOND })];
    const [, after] = attribute(requests, anthropicRules(), { epochs });
    expect(after?.causes[0]).toMatchObject({ cause, begins: { block: 1, section: "transcript", token: 2_000 } });
  });

  it("first: what a turn that stands alone says once more; an edit of the prefix that its senders share is one", () => {
    const rules = block("rules", { kind: "system", section: "rules", breakpoint: "5m", tokens: 2_000 });
    const said = (n: number) => block(`said ${n}`, { section: "message", tokens: 100 });
    const epochs = [1, 2, 3, 4].map((n) => ({ n, reason: "alone", cut: 0 }) as const);
    const edited = block("edited", { kind: "system", section: "rules", breakpoint: "5m", tokens: 2_000 });
    const requests = [
      request([rules, said(1), said(2)]),
      request([rules, said(2)], { at: SECOND }),
      request([edited, said(3)], { at: 2 * SECOND }),
      request([rules, said(4)], { at: 3 * SECOND }),
    ];
    const known = { epochs };
    expect(causes(requests, 1, anthropicRules(), known)).toEqual([["first", 100]]);
    expect(attribute(requests, anthropicRules(), known)[1]?.predicted.read).toBe(2_000);
    expect(causes(requests, 2, anthropicRules(), known)).toEqual([["first", 2_100]]);
    expect(attribute(requests, anthropicRules(), known)[3]?.predicted.read).toBe(2_000);
  });

  it("prefix edit: a changed layer, by its name and where it begins; its own new text is not avoidable", () => {
    const with_ = (key: string) => [
      block("tool", { kind: "tool", section: "look" }),
      block(key, { kind: "system", section: "identity", tokens: 300 }),
      block("said", { tokens: 3_000, section: "transcript", breakpoint: "5m" }),
    ];
    const [, two] = attribute([request(with_("one")), request(with_("two"), { at: SECOND })], anthropicRules());
    expect(two?.causes.map(({ cause, tokens, begins }) => [cause, tokens, begins])).toEqual([
      ["prefix edit", 3_000, { block: 1, section: "identity", token: 1_000 }],
      ["below minimum", 1_000, { block: 0, section: "look", token: 0 }],
      ["first", 300, { block: 1, section: "identity", token: 1_000 }],
    ]);
  });

  it("reasoning: the effort was raised, and the cache keeps such messages apart", () => {
    const said = (n: number, setting: string) =>
      request(
        [
          { key: "s", tokens: 2_000, kind: "system", breakpoint: "5m" },
          block("u", { role: "user" }),
          block(`v${n}`, { role: "user", breakpoint: "5m" }),
        ],
        {
          ...{ at: n * MINUTE, setting },
        },
      );
    expect(causes([said(0, "low"), said(1, "low")], 1)?.map(([cause]) => cause)).not.toContain("reasoning");
    expect(causes([said(0, "low"), said(1, "high")], 1)?.[0]).toEqual(["reasoning", 1_000]);
  });

  it("tools: one that is added, moved or gone", () => {
    const tool = (name: string) => block(name, { kind: "tool", section: name });
    const rest = block("rules", { kind: "system", tokens: 4_000, breakpoint: "5m" });
    for (const tools of [[tool("a"), tool("b")], [tool("b"), tool("a"), tool("c")], [tool("c")]]) {
      const requests = [request([tool("a"), tool("c"), rest]), request([...tools, rest], { at: SECOND })];
      const found = attribute(requests, anthropicRules())[1];
      expect(found?.causes[0]).toMatchObject({ cause: "tools", begins: { block: tools[0]?.key === "a" ? 1 : 0 } });
    }
  });

  it("lookback: written, but too far from every breakpoint", () => {
    const requests = [request(blocks(2)), request(blocks(40), { at: SECOND })];
    expect(causes(requests, 1)?.[0]).toEqual(["lookback", 2_000]);
    expect(causes([request(blocks(2)), request(blocks(21, [2, 21]), { at: SECOND })], 1)?.[0]?.[0]).toBe("first");
  });

  it("below minimum: what stays the same is too short for the model", () => {
    expect(causes(chat(2), 1, anthropicRules({ minimum: 4_096 }))?.[0]).toEqual(["below minimum", 2_000]);
  });

  it("not written: sent before, and no breakpoint stood behind it; or no whole step of an automatic cache", () => {
    const requests = [request(blocks(4, [2])), request(blocks(6), { at: SECOND })];
    expect(causes(requests, 1)?.[0]).toEqual(["not written", 2_000]);
    const automatic = [request(blocks(2, [])), request(blocks(4, []), { at: SECOND })];
    expect(causes(automatic, 1, openaiRules())?.[0]).toEqual(["not written", 2_000 - 15 * 128]);
  });

  it("unknown: a request that began before the answer to the one that writes", () => {
    const requests = [request(blocks(2), { took: MINUTE }), request(blocks(3), { at: SECOND })];
    expect(causes(requests, 1)?.[0]).toEqual(["unknown", 2_000]);
  });

  it("gateway: nothing changed, the rules promise a read, and the bill has none", () => {
    const usage = { input: 4_200, cacheRead: 0, cacheWrite: 0, output: 9 };
    const billed = [undefined, usage];
    const found = attribute(chat(2), anthropicRules(), { billed, inputPrice: 3 })[1];
    expect(found?.causes[0]).toMatchObject({ cause: "gateway", tokens: 2_000, dollars: expect.closeTo(0.0054) });
    expect(found?.agreement).toBeCloseTo(1 - 2_000 / 4_200);
    // If it was written again, another party had kept it before.
    const anew = [undefined, { ...usage, cacheWrite: 4_000 }];
    expect(causes(chat(2), 1, anthropicRules(), { billed: anew })?.[0]).toEqual(["gateway", 2_000]);
  });

  it("a few tokens that are counted otherwise accuse nobody", () => {
    const billed = [undefined, { input: 4_200, cacheRead: 1_950, cacheWrite: 2_050, output: 9 }];
    expect(causes(chat(2), 1, anthropicRules(), { billed })?.map(([cause]) => cause)).not.toContain("gateway");
    expect(causes(chat(2), 1, anthropicRules(), { billed })).toContainEqual(["unknown", 50]);
  });

  it("a line that is said again at another place is new there", () => {
    const requests = [
      request([...blocks(2)]),
      request([...blocks(3, []), block("1", { breakpoint: "5m" })], { at: SECOND }),
    ];
    expect(causes(requests, 1)).toEqual([["first", 2_000]]);
  });
});

describe("a thread's sums", () => {
  const bills = (requests: readonly SeenRequest[], factor = 1): RequestFacts => ({
    billed: simulate(requests, anthropicRules()).map(({ input, read, write5m }) => ({
      input: (input + read + write5m) * factor,
      cacheRead: read * factor,
      cacheWrite: write5m * factor,
      output: 5,
    })),
  });
  const totals = (requests: readonly SeenRequest[], known?: RequestFacts) =>
    attributionTotals(attribute(requests, anthropicRules(), { ...known, inputPrice: 3 }));

  it("are near the optimum where the breakpoints stand well, and tell what was saved", () => {
    const found = totals(chat(50), bills(chat(50)));
    expect(found).toMatchObject({ requests: 50, billed: 50, agreement: 1, avoidable: { tokens: 0, cost: 0 } });
    expect(found.efficiency).toBeGreaterThan(0.98);
    expect(found.saved?.share).toBeGreaterThan(0.8);
    expect(found.saved?.dollars).toBeCloseTo(((found.tokens - found.cost) * 3) / 1_000_000);
  });

  it("agree also with a provider that counts more tokens than we do", () => {
    expect(totals(chat(20), bills(chat(20), 1.3))).toMatchObject({ agreement: 1, avoidable: { tokens: 0 } });
  });

  it("say what writing ahead would have cost: a read of what cold requests wrote, and all of it if no request follows", () => {
    const talk = chat(6).map((request, n) => ({ ...request, at: request.at + (n < 3 ? 0 : 20 * 60_000) }));
    const bills = simulate(talk, anthropicRules());
    const cold = (bills[0]?.write5m ?? 0) + (bills[3]?.write5m ?? 0);
    const would = prewarming(attribute(talk, anthropicRules()), anthropicRules());
    expect(would).toEqual({ starts: 2, tokens: cold, cost: cold * 0.1, unused: cold * 1.25 });
    expect(cold).toBeGreaterThan(1_000);
    // Billed counts are rounded otherwise than ours: a token or two of them is no cold start.
    const [first, second] = attribute(chat(2), anthropicRules());
    const cause = second?.causes[0];
    if (first === undefined || second === undefined || cause === undefined) throw new Error("two requests were sent");
    const rounded = { ...second, causes: [{ ...cause, cause: "cold", tokens: 1 } as const] };
    expect(prewarming([first, rounded], anthropicRules())).toMatchObject({ starts: 1 });
    expect(prewarming(attribute(talk, openaiRules()), openaiRules())).toBeUndefined();
    expect(prewarming([], anthropicRules())).toBeUndefined();
  });

  it("claim nothing where the bill is another than the prediction, or there is none", () => {
    const stripped = { billed: chat(9).map(() => ({ input: 5_000, cacheRead: 0, cacheWrite: 0, output: 5 })) };
    const found = totals(chat(9), stripped);
    expect(found.agreement).toBeLessThan(0.95);
    expect(found.saved).toBeUndefined();
    expect(found.causes[0]?.cause).toBe("gateway");
    const predicted = totals(chat(9));
    expect([predicted.saved, predicted.agreement, predicted.billed]).toEqual([undefined, undefined, 0]);
    expect(predicted.readShare).toBeGreaterThan(0.5);
  });

  it("are of what was billed only, where some of it was", () => {
    const { billed = [] } = bills(chat(5));
    const found = totals(chat(5), { billed: [undefined, ...billed.slice(1)] });
    const whole = totals(chat(5), { billed });
    expect(found).toMatchObject({ requests: 5, billed: 4, agreement: 1 });
    expect(found.tokens).toBe(whole.tokens - 2_200);
  });

  it("put the dearest cause first, by section, and what could not be avoided last", () => {
    const { causes: found, avoidable } = totals(chat(4, 10 * MINUTE));
    expect(found.map(({ cause, requests }) => [cause, requests])).toEqual([
      ["cold", 3],
      ["first", 4],
      ["tail", 4],
    ]);
    expect(avoidable.tokens).toBe(2_000 + 4_000 + 6_000);
  });
});

const anyBlock: fc.Arbitrary<SeenBlock> = fc
  .record({
    key: fc.constantFrom("a", "b", "c", "d"),
    kind: fc.constantFrom("text", "tool-use", "system", "tool"),
    breakpoint: fc.option(fc.constantFrom("5m" as const, "1h" as const), { freq: 4 }),
    isTail: fc.boolean(),
  })
  .map(({ key, kind, breakpoint, isTail }) => ({
    key: `${kind} ${key}`,
    tokens: 300 + key.charCodeAt(0) * 7,
    kind,
    ...(breakpoint !== null && { breakpoint }),
    ...(isTail && kind === "text" && { tail: true as const }),
  }));

const anyUsage = fc.record({
  input: fc.nat({ max: 40_000 }),
  cacheRead: fc.nat({ max: 40_000 }),
  cacheWrite: fc.nat({ max: 40_000 }),
  output: fc.nat({ max: 10 }),
});

const anyThread = fc
  .record({
    base: fc.array(anyBlock, { minLength: 1, maxLength: 30 }),
    requests: fc.array(
      fc.record({
        length: fc.nat({ max: 30 }),
        more: fc.array(anyBlock, { maxLength: 4 }),
        gap: fc.constantFrom(0, 45_000, 400_000, 4_000_000),
        took: fc.option(fc.nat({ max: 200_000 }), { nil: undefined }),
        usage: fc.option(anyUsage, { nil: undefined }),
        epoch: fc.nat({ max: 2 }),
      }),
      { minLength: 1, maxLength: 12 },
    ),
  })
  .map(({ base, requests }) => {
    let at = 0;
    const seen = requests.map(({ length, more, gap, took }) => {
      at += gap;
      return request([...base.slice(0, length), ...more], { at, ...(took !== undefined && { took }) });
    });
    const epochs = requests.map(({ epoch: n }) => ({ n, reason: n === 0 ? ("first" as const) : ("cut" as const) }));
    return { requests: seen, known: { billed: requests.map(({ usage }) => usage), epochs } };
  });

const anyRules = fc.constantFrom<CacheRules>(anthropicRules(), openaiRules(), openaiExactRules(), serverRules());

describe("any thread under any bill", () => {
  it("has every token accounted for exactly once: read, or under one cause", () => {
    fc.assert(
      fc.property(anyThread, anyRules, ({ requests, known }, rules) => {
        for (const one of attribute(requests, rules, known)) {
          const { read } = one.billed ?? one.predicted;
          expect(one.causes.reduce((sum, { tokens }) => sum + tokens, read)).toBe(one.tokens);
          for (const taken of [one.predicted, one.billed ?? one.predicted]) {
            expect(taken.read + taken.write + taken.input).toBe(one.tokens);
            expect(Math.min(taken.read, taken.write, taken.input)).toBeGreaterThanOrEqual(0);
          }
          expect(new Set(one.causes.map(({ cause }) => cause)).size).toBe(one.causes.length);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("has as its optimum what the comparison of layouts has, and every cost above it under a cause", () => {
    fc.assert(
      fc.property(anyThread, anyRules, ({ requests }, rules) => {
        const { read: r, write5m: w } = rules.multipliers;
        const best = optimum(requests, { r, w });
        const bills = simulate(requests, rules);
        for (const [n, one] of attribute(requests, rules).entries()) {
          expect(one.optimum).toBeCloseTo(best[n] ?? -1, 5);
          expect(one.cost).toBeCloseTo(bills[n]?.cost ?? -1, 5);
          expect(one.causes.reduce((sum, { cost }) => sum + cost, one.optimum)).toBeCloseTo(one.cost, 5);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("blames nobody but us where the provider bills by its rules", () => {
    fc.assert(
      fc.property(anyThread, anyRules, ({ requests }, rules) => {
        for (const { causes: found } of attribute(requests, rules))
          expect(found.map(({ cause }) => cause)).not.toContain("gateway");
      }),
    );
  });
});
