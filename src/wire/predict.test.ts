import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Breakpoint,
  type Message,
  type Prediction,
  type Request,
  spoken,
  toolName,
  trusted,
} from "../protocol/index.ts";
import { cardOf, type EarlierRequest, planBreakpoints, predict, rulesOf, seenOf, simulate } from "./index.ts";

const count = (text: string): number => text.length;
const MARKS = cardOf("anthropic:claude-sonnet-4-5");
const EXACT = cardOf("openai:gpt-5.6-sol");
const LONGEST = cardOf("openai:gpt-5");
const MINUTE = 60_000;

const user = (n: number): Message => ({
  role: "user",
  parts: [{ type: "text", text: trusted(`question ${n} `.repeat(20)) }],
});
const said = (n: number): Message => ({ role: "assistant", parts: [{ type: "text", text: spoken(`answer ${n}`) }] });
const called = (n: number): Message => ({
  role: "assistant",
  parts: [{ type: "call", id: `c${n}`, tool: toolName("look"), input: { at: n } }],
});
const found = (n: number): Message => ({
  role: "tool",
  parts: [{ type: "result", id: `c${n}`, tool: toolName("look"), text: trusted(`saw ${n}`), failed: false }],
});

const PREFIX: Request["prefix"] = {
  tools: [{ name: toolName("look"), description: "Looks.", input: { type: "object" } }],
  system: [{ scope: "agent", text: trusted("Be kind. ".repeat(200)), layers: [] }],
};

/** A request of a thread, with its planned breakpoints and a different tail. */
function requestOf(messages: readonly Message[], card = MARKS, tail = "12:00"): Request {
  const bare = { prefix: PREFIX, messages };
  const live = [{ layer: "clock" as Request["tail"][number]["layer"], text: trusted(tail) }];
  return { ...bare, tail: live, breakpoints: planBreakpoints(bare, { card, count }), parameters: { maxTokens: 9 } };
}

/** The same by the simulator alone, from the whole requests and their bytes. */
function simulated(sent: readonly { readonly request: Request; readonly at: number }[], card = MARKS): Prediction {
  const seen = sent.map(({ request, at }) => seenOf(request, count, { at, model: "m" }));
  const bill = simulate(seen, rulesOf(card)).at(-1);
  if (bill === undefined) throw new Error("nothing was sent");
  return { read: bill.read, write: bill.write5m + bill.write1h, writeLong: bill.write1h, input: bill.input };
}

const earlier = (at: number, { messages, breakpoints }: Request): EarlierRequest => ({
  at,
  breakpoints,
  same: messages.length,
});

describe("a prediction", () => {
  it.each([
    [MARKS, "reads tools and system alone"],
    [EXACT, "reads as much as ever"],
  ])("001.4 of a request whose reasoning was changed, %#: %s", (card) => {
    const first = requestOf([user(1), said(1)], card);
    const next = requestOf([user(1), said(1), user(2)], card);
    const asked = (level: "low" | "high") => ({ ...next, parameters: { maxTokens: 9, reasoning: { level } } });
    const before = [{ ...earlier(0, first), reasoning: { level: "low" as const } }];
    const [same, other, none] = [asked("low"), asked("high"), next].map((one) =>
      predict(one, before, { card, count, at: MINUTE }),
    );
    const prefix = count(PREFIX.system[0]?.text ?? "") + count(JSON.stringify(PREFIX.tools[0]));
    expect(same?.read).toBeGreaterThan(prefix);
    expect([other, none].map((one) => one?.read)).toEqual(card === MARKS ? [prefix, prefix] : [same?.read, same?.read]);
    // The unread part is written again: that is the price of the change.
    if (card === MARKS) expect((other?.write ?? 0) - (same?.write ?? 0)).toBe((same?.read ?? 0) - prefix);
  });

  it("of a thread's first request writes up to the last breakpoint, and reads nothing", () => {
    const first = requestOf([user(1)]);
    const { read, write, writeLong, input } = predict(first, [], { card: MARKS, count, at: 0 });
    expect([read, writeLong, input]).toEqual([0, 0, "12:00".length]);
    expect(write).toBeGreaterThan(1_800);
  });

  it("reads where the request before ended, and nothing once its time is over", () => {
    const [first, second] = [requestOf([user(1)]), requestOf([user(1), said(1), user(2)])];
    const at = (now: number) => predict(second, [earlier(0, first)], { card: MARKS, count, at: now });
    expect(at(45_000).read).toBe(predict(first, [], { card: MARKS, count, at: 0 }).write);
    expect(at(6 * MINUTE).read).toBe(0);
    const long = first.breakpoints.map((breakpoint): Breakpoint => ({ ...breakpoint, lifetime: "1h" }));
    const later = predict(second, [{ ...earlier(0, first), breakpoints: long }], {
      card: MARKS,
      count,
      at: 6 * MINUTE,
    });
    expect(later.read).toBe(at(45_000).read);
  });

  it("reads only the prefix where the messages are others: after a cut, or a turn that failed", () => {
    const next = requestOf([user(7), said(7), user(8)]);
    const before = { ...earlier(0, requestOf([user(1), said(1), user(2)])), same: 0 };
    const tokens = seenOf(next, count, { at: 0, model: "m" })
      .blocks.slice(0, 2)
      .reduce((sum, block) => sum + block.tokens, 0);
    expect(predict(next, [before], { card: MARKS, count, at: 1 }).read).toBe(tokens);
  });

  it("tells apart what is written for an hour", () => {
    const bare = requestOf([user(1)]);
    const [first = bare.breakpoints[0], ...rest] = bare.breakpoints;
    if (first === undefined) throw new Error("no breakpoint");
    const breakpoints = [{ ...first, lifetime: "1h" } as const, ...rest];
    const { write, writeLong } = predict({ ...bare, breakpoints }, [], { card: MARKS, count, at: 0 });
    expect(writeLong).toBeGreaterThan(1_700);
    expect(writeLong).toBeLessThan(write);
  });

  it("is what the simulator says of whole threads, for every kind of cache, any pauses and tool rounds", () => {
    const turn = fc.record({ gap: fc.integer({ min: 1_000, max: 10 * MINUTE }), calls: fc.nat(2) });
    fc.assert(
      fc.property(
        fc.array(turn, { minLength: 1, maxLength: 12 }),
        fc.constantFrom(MARKS, EXACT, LONGEST),
        (turns, card) => {
          const sent: { request: Request; at: number }[] = [];
          const messages: Message[] = [];
          let at = 0;
          const ask = (): void => {
            const request = requestOf([...messages], card, String(at));
            const before = sent.map((one) => earlier(one.at, one.request));
            sent.push({ request, at });
            expect(predict(request, before, { card, count, at })).toEqual(simulated(sent, card));
          };
          for (const [n, { gap, calls }] of turns.entries()) {
            at += gap;
            messages.push(user(n));
            ask();
            for (let call = 0; call < calls; call++) {
              at += 2_000;
              messages.push(called(n * 10 + call), found(n * 10 + call));
              ask();
            }
            messages.push(said(n));
          }
        },
      ),
    );
  });
});
