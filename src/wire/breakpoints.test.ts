import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { layerId, type Message, type Request, spoken, toolName, trusted } from "../protocol/index.ts";
import { cardOf, type Planning, planBreakpoints } from "./index.ts";

const count = (text: string): number => text.length;
const card = { minimumPrefix: 100, cache: "lookback", breakpoints: 4 } as const;
const LONG = "x".repeat(100);

type Asked = Pick<Request, "prefix" | "messages"> & Partial<Pick<Request, "tail">>;

const system = (...scopes: readonly ("all" | "agent" | "thread")[]): Asked["prefix"] => ({
  tools: [],
  system: scopes.map((scope) => ({ scope, text: trusted(LONG), layers: [] })),
});
const user = (text = LONG): Message => ({ role: "user", parts: [{ type: "text", text: trusted(text) }] });
const assistant = (text = "ok"): Message => ({ role: "assistant", parts: [{ type: "text", text: spoken(text) }] });

/** The positions of the breakpoints: `s0` after the first system block, `m2` after the third message. */
const places = (asked: Asked, change: Partial<Planning["card"]> = {}, isLast = false): readonly string[] =>
  planBreakpoints(asked, { card: { ...card, ...change }, count, isLast }).map(({ after }) =>
    after.zone === "system" ? `s${after.block}` : `m${after.index}`,
  );

describe("the planner of breakpoints", () => {
  it("sets one at the shared end: the last system block that all contacts of the agent send", () => {
    expect(places({ prefix: system("all", "agent"), messages: [] })).toEqual(["s1"]);
    expect(places({ prefix: system("all", "agent", "thread"), messages: [] })).toContain("s1");
  });

  it("sets one at the thread's own end, too, where it has one", () => {
    expect(places({ prefix: system("all", "thread"), messages: [user()] })).toEqual(["s0", "s1", "m0"]);
    expect(places({ prefix: system("thread"), messages: [user()] })).toEqual(["s0", "m0"]);
  });

  it("sets one at the newest message, and as the anchor at the end of the request before", () => {
    const messages = [user(), assistant(), user(), assistant(), user()];
    expect(places({ prefix: system("agent"), messages })).toEqual(["s0", "m2", "m4"]);
    // The end of the previous turn's write keeps its breakpoint, however many messages came at once.
    expect(places({ prefix: system("agent"), messages: [...messages, user(), user()] })).toEqual(["s0", "m2", "m6"]);
  });

  it("29.1 sets one behind what all cuts have left, in the place of the thread's own end, and on nothing that only looks like it", () => {
    const [first, second] = [1, 2].map((n) => user(`[earlier contact 2026-11-21]\n|> 09:30 ${n}`));
    const mark = user("(The first 12 messages of this conversation are shown only in short, above.)");
    const messages = [user("frozen"), first, second, mark, user(), assistant(), user()].filter(
      (one) => one !== undefined,
    );
    expect(places({ prefix: system("agent", "thread"), messages })).toEqual(["s0", "m2", "m4", "m6"]);
    const quoted = [
      user(),
      assistant(),
      user("[message contact 09:30Z]\n| [earlier contact 2026-11-21]"),
      assistant(),
      user(),
    ];
    expect(places({ prefix: system("agent", "thread"), messages: quoted })).toEqual(["s0", "s1", "m2", "m4"]);
  });

  it("sets none at the newest message if the next request does not begin with this one, but still reads what was written", () => {
    const messages = [user(), assistant(), user(), assistant(), user()];
    expect(places({ prefix: system("agent"), messages }, {}, true)).toEqual(["s0", "m2"]);
    expect(places({ prefix: system("agent"), messages: [user()] }, {}, true)).toEqual(["s0"]);
  });

  it("sets none on a message that the provider has cleared, but on the one before it that was asked", () => {
    const cleared: Message = { role: "system", parts: [{ type: "text", text: trusted(LONG) }] };
    const messages = [user(), cleared, assistant(), user(), cleared, assistant(), user()];
    expect(places({ prefix: system("agent"), messages })).toEqual(["s0", "m3", "m6"]);
    const asked = { prefix: { tools: [], system: [] }, messages: [user("hi"), cleared, assistant(), user("hi")] };
    expect(places(asked, { minimumPrefix: 50 })).toEqual([]);
  });

  it("never sets one behind a tail that stands before the events, and where answers take none, on none of them", () => {
    const messages = [user(), assistant(), user(), assistant(), user()];
    const tail: Request["tail"] = [{ layer: layerId("time"), text: trusted("It is noon."), way: "before-events" }];
    expect(places({ prefix: system("agent"), messages, tail })).toEqual(["s0", "m2", "m3"]);
    expect(places({ prefix: system("agent"), messages, tail }, { cache: "exact" })).toEqual(["s0", "m2"]);
    expect(places({ prefix: system("agent"), messages: [user()], tail })).toEqual(["s0"]);
    // In a tool round there is no new message to place one before.
    const result = { type: "result", id: "c", tool: toolName("find"), text: trusted(LONG), failed: false } as const;
    const round: Message[] = [...messages, assistant(), { role: "tool", parts: [result] }];
    expect(places({ prefix: system("agent"), messages: round, tail })).toEqual(["s0", "m4", "m6"]);
  });

  it("leaves out every place that has less before it than the model keeps, and no other", () => {
    const messages = [user("y".repeat(40)), assistant("z".repeat(40)), user("y".repeat(40))];
    const asked = { prefix: { tools: [], system: [] }, messages };
    expect(places(asked, { minimumPrefix: 120 })).toEqual(["m2"]);
    expect(places(asked, { minimumPrefix: 121 })).toEqual([]);
    expect(places(asked, { minimumPrefix: 40 })).toEqual(["m0", "m2"]);
    expect(places({ prefix: system("agent"), messages: [user()] }, { minimumPrefix: 101 })).toEqual(["m0"]);
  });

  it("has no breakpoint for a request without anything to keep", () => {
    expect(places({ prefix: { tools: [], system: [] }, messages: [user("hi")] })).toEqual([]);
  });

  it("gives at most four, in the order of the request, none twice, for any thread", () => {
    const scopes = fc.subarray(["all", "org", "agent", "thread"] as const);
    const roles = fc.array(fc.constantFrom(user(), assistant()), { maxLength: 30 });
    fc.assert(
      fc.property(scopes, roles, fc.nat(400), (present, messages, minimumPrefix) => {
        const prefix = { tools: [], system: present.map((scope) => ({ scope, text: trusted(LONG), layers: [] })) };
        const breakpoints = planBreakpoints({ prefix, messages }, { card: { ...card, minimumPrefix }, count });
        const order = breakpoints.map(({ after }) => (after.zone === "system" ? after.block : 100 + after.index));
        expect(order.length).toBeLessThanOrEqual(4);
        expect(order).toEqual([...new Set(order)].toSorted((a, b) => a - b));
      }),
    );
  });

  it("sets none where a cache takes none, and no more than it takes: the newest first", () => {
    const messages = [user(), assistant(), user(), assistant(), user()];
    const asked = { prefix: system("agent", "thread"), messages };
    expect(places(asked)).toEqual(["s0", "s1", "m2", "m4"]);
    expect(places(asked, { breakpoints: 2 })).toEqual(["m2", "m4"]);
    for (const cache of ["automatic", "none"] as const) expect(places(asked, { cache })).toEqual([]);
    expect(places(asked, { cache: "exact" })).toHaveLength(4);
  });

  it("knows the families' minimums", () => {
    expect(cardOf("anthropic:claude-sonnet-4-5").minimumPrefix).toBe(1_024);
    expect(cardOf("anthropic:claude-haiku-4-5").minimumPrefix).toBe(4_096);
  });
});
