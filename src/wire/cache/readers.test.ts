import { describe, expect, it } from "vitest";
import { digestOf, layerId, type Request, spoken, toolName, trusted } from "../../protocol/index.ts";
import { seenOf, seenOfBody } from "../index.ts";

/** A token a word. */
const count = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length;
const when = { at: 7, model: "anthropic:claude-sonnet-4-5" };

const text = (words: string) => ({ type: "text", text: trusted(words) }) as const;

const REQUEST: Request = {
  prefix: {
    tools: [{ name: toolName("look"), description: "Looks.", input: { type: "object" } }],
    system: [
      { scope: "all", text: trusted("Be kind."), layers: [{ layer: layerId("safety"), digest: digestOf("a") }] },
      {
        scope: "agent",
        text: trusted("Be brief now."),
        layers: [{ layer: layerId("conduct"), digest: digestOf("b") }],
      },
    ],
  },
  messages: [
    { role: "user", parts: [text("hello there")] },
    { role: "user", parts: [text("more"), text("and more")] },
  ],
  tail: [{ layer: layerId("clock"), text: trusted("# Layer 50 · clock\nIt is noon.") }],
  breakpoints: [
    { after: { zone: "system", block: 1 }, lifetime: "1h" },
    { after: { zone: "message", index: 1 }, lifetime: "5m" },
  ],
  parameters: { maxTokens: 1 },
};

describe("a request as a cache sees it", () => {
  it("is a block for each part, with breakpoints, sections and the tail last", () => {
    const { blocks, at, model } = seenOf(REQUEST, count, when);
    expect([at, model]).toEqual([7, when.model]);
    expect(blocks.map(({ kind, section, breakpoint, tail }) => [kind, section, breakpoint, tail])).toEqual([
      ["tool", "look", undefined, undefined],
      ["system", "safety", undefined, undefined],
      ["system", "conduct", "1h", undefined],
      ["text", "transcript", undefined, undefined],
      ["text", "transcript", undefined, undefined],
      ["text", "transcript", "5m", undefined],
      ["text", "clock", undefined, true],
    ]);
    expect(blocks.slice(1).map(({ tokens }) => tokens)).toEqual([2, 3, 2, 1, 2, 8]);
  });

  it("has nothing of what the provider has cleared, and is marked behind it as before it", () => {
    const cleared = { role: "system", parts: [text("It was eleven.")] } as const;
    const [one, two] = REQUEST.messages;
    const messages = one && two ? [one, cleared, two] : [];
    const breakpoints = [{ after: { zone: "message", index: 2 }, lifetime: "5m" }] as const;
    const tail = REQUEST.tail.map((part) => ({ ...part, way: "turn-scoped" as const }));
    const { blocks } = seenOf({ ...REQUEST, messages, tail, breakpoints }, count, when);
    const without = seenOf(
      { ...REQUEST, breakpoints: [{ after: { zone: "message", index: 1 }, lifetime: "5m" }] },
      count,
      when,
    );
    expect(blocks).toEqual(without.blocks);
  });

  it("has a tail before the events before the newest message, unless that is no message of the user's", () => {
    const tail = REQUEST.tail.map((part) => ({ ...part, way: "before-events" as const }));
    const early = seenOf({ ...REQUEST, tail }, count, when).blocks;
    expect(early.map(({ tail: isTail }) => isTail === true).indexOf(true)).toBe(4);
    const said = { role: "assistant", parts: [{ type: "text", text: spoken("hello there") }] } as const;
    const late = seenOf({ ...REQUEST, messages: [...REQUEST.messages, said], tail }, count, when).blocks;
    expect(late.at(-1)?.tail).toBe(true);
  });

  it("names the live layer of which a kept text tells", () => {
    const told = { ...text("# Layer 50 · clock: Noon."), told: { layer: layerId("clock"), as: "whole" } } as const;
    const { blocks } = seenOf(
      { ...REQUEST, messages: [{ role: "user", parts: [text("hi"), told] }], tail: [], breakpoints: [] },
      count,
      when,
    );
    expect(blocks.slice(-2).map(({ section, tail }) => [section, tail])).toEqual([
      ["transcript", undefined],
      ["clock", undefined],
    ]);
  });

  it("has the same key for the same bytes from the same speaker, whatever the breakpoints", () => {
    const keys = (request: Request) => seenOf(request, count, when).blocks.map(({ key }) => key);
    expect(keys({ ...REQUEST, breakpoints: [] })).toEqual(keys(REQUEST));
    const said = { role: "assistant", parts: [{ type: "text", text: spoken("hello there") }] } as const;
    const [, , , other] = keys({ ...REQUEST, messages: [said] });
    expect(other).not.toBe(keys(REQUEST)[3]);
  });

  it("sets its breakpoints itself, where it has any: then the provider adds none of its own", () => {
    expect(seenOf(REQUEST, count, when).mode).toBe("explicit");
    expect(seenOf({ ...REQUEST, breakpoints: [] }, count, when).mode).toBeUndefined();
  });

  it("carries a message's breakpoint on the last part that may have one", () => {
    const thought = { type: "reasoning", text: spoken("hm") } as const;
    const call = { type: "call", id: "c", tool: toolName("look"), input: { at: "sky" } } as const;
    const messages = [
      { role: "assistant", parts: [thought, call, thought] },
      {
        role: "tool",
        parts: [{ type: "result", id: "c", tool: toolName("look"), text: trusted("blue"), failed: false }],
      },
    ] as const;
    const breakpoints = [{ after: { zone: "message", index: 0 }, lifetime: "5m" }] as const;
    const { blocks } = seenOf({ ...REQUEST, messages, breakpoints }, count, when);
    expect(blocks.slice(3, 7).map(({ kind, role, breakpoint }) => [kind, role, breakpoint])).toEqual([
      ["reasoning", "assistant", undefined],
      ["tool-use", "assistant", "5m"],
      ["reasoning", "assistant", undefined],
      ["tool-result", "user", undefined],
    ]);
  });
});

const EPHEMERAL = { type: "ephemeral" };

describe("a dumped body of Anthropic's", () => {
  const body = {
    model: "claude-sonnet-4-5",
    tools: [{ name: "look", input_schema: {} }],
    system: [
      { type: "text", text: "# Layer 10 · safety\nBe kind.\n\n# Layer 20 · identity\nYou are one." },
      { type: "text", text: "Be brief.", cache_control: { ...EPHEMERAL, ttl: "1h" } },
    ],
    messages: [
      { role: "user", content: "hello" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "so so" },
          { type: "tool_use", id: "c", name: "look", input: { at: "sky" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c", content: "blue sky", cache_control: EPHEMERAL },
          { type: "text", text: "# Layer 50 · clock\nIt is noon." },
        ],
      },
    ],
  };

  it("is read in the order of the wire, with its breakpoints and its tail", () => {
    const { blocks, model, at } = seenOfBody(body, count, { at: 5 });
    expect([model, at]).toEqual(["claude-sonnet-4-5", 5]);
    expect(blocks.map(({ kind, section, breakpoint, tail }) => [kind, section, breakpoint, tail])).toEqual([
      ["tool", "look", undefined, undefined],
      ["system", "safety + identity", undefined, undefined],
      ["system", "system", "1h", undefined],
      ["text", "transcript", undefined, undefined],
      ["reasoning", "transcript", undefined, undefined],
      ["tool-use", "transcript", undefined, undefined],
      ["tool-result", "transcript", "5m", undefined],
      ["text", "transcript", undefined, true],
    ]);
    expect(blocks[6]).toMatchObject({ tokens: 2, role: "user" });
  });

  it("has the same keys without its breakpoints, and others when a byte differs", () => {
    const keys = (of: unknown) => seenOfBody(of, count).blocks.map(({ key }) => key);
    const unmarked: unknown = JSON.parse(
      JSON.stringify(body, (name, value) => (name === "cache_control" ? undefined : value)),
    );
    expect(keys(unmarked)).toEqual(keys(body));
    const other: unknown = JSON.parse(JSON.stringify(body).replace("blue sky", "blue  sky"));
    expect(keys(other)[6]).not.toBe(keys(body)[6]);
    expect(keys(other).toSpliced(6, 1)).toEqual(keys(body).toSpliced(6, 1));
  });

  it("has the provider's own breakpoint on its last block where it asks for one", () => {
    const messages = [{ role: "user", content: "hello" }];
    const { blocks } = seenOfBody({ messages, cache_control: EPHEMERAL }, count);
    expect(blocks.map(({ breakpoint }) => breakpoint)).toEqual(["5m"]);
  });

  it("has no system messages of a turn that is over, and the newest as its tail", () => {
    const scoped = (words: string) => ({ role: "system", clear_at: "next_user_message", content: words });
    const messages = [
      { role: "user", content: "one" },
      scoped("past"),
      { role: "assistant", content: "yes" },
      { role: "user", content: "two" },
      scoped("now now"),
    ];
    const { blocks } = seenOfBody({ messages }, count);
    expect(blocks.map(({ tokens, tail }) => [tokens, tail])).toEqual([
      [1, undefined],
      [1, undefined],
      [1, undefined],
      [2, true],
    ]);
  });

  it("has its tail before the events, too, and none where a breakpoint stands behind what the live layers say", () => {
    const clock = { type: "text", text: "# Layer 50 · clock\nIt is noon." };
    const said = { type: "text", text: "[message · contact · 2026-11-21T09:30:00Z]\n| hello" };
    const tails = (...content: readonly object[]) =>
      seenOfBody({ ...body, messages: [{ role: "user", content }] }, count)
        .blocks.slice(3)
        .map(({ tail }) => tail === true);
    expect(tails(clock, said)).toEqual([true, false]);
    expect(tails(said, clock)).toEqual([false, true]);
    expect(tails(said, { ...clock, cache_control: EPHEMERAL })).toEqual([false, false]);
    expect(tails({ type: "text", text: `${clock.text}\n\n${said.text}` })).toEqual([true, false]);
  });

  it("takes words of somebody else for no tail, however they look", () => {
    const content = [
      { type: "text", text: "| # Layer 50 · clock" },
      { type: "text", text: "# Layer of cake" },
    ];
    const { blocks } = seenOfBody({ messages: [{ role: "user", content }] }, count);
    expect(blocks.every(({ tail }) => tail === undefined)).toBe(true);
  });
});

describe("a dumped body of OpenAI's", () => {
  it("is read as Responses", () => {
    const body = {
      model: "gpt-5.6-sol",
      prompt_cache_options: { mode: "explicit" },
      tools: [{ type: "function", name: "look", parameters: {} }],
      input: [
        { role: "system", content: "Be kind." },
        {
          role: "user",
          content: [{ type: "input_text", text: "hello", prompt_cache_breakpoint: { mode: "explicit" } }],
        },
        { type: "function_call", call_id: "c", name: "look", arguments: '{"at":"sky"}' },
        { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "blue sky" }] },
      ],
    };
    const { blocks, mode } = seenOfBody(body, count);
    expect(mode).toBe("explicit");
    expect(blocks.map(({ kind, tokens, breakpoint }) => [kind, tokens, breakpoint]).slice(1)).toEqual([
      ["system", 2, undefined],
      ["text", 1, "5m"],
      ["tool-use", 2, undefined],
      ["tool-result", 2, undefined],
    ]);
  });

  it("has the same key for a result whose breakpoint was taken away, wherever it stood", () => {
    const result = (breakpoint: object) => ({
      input: [
        { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "blue", ...breakpoint }] },
      ],
    });
    const key = (breakpoint: object) => seenOfBody(result(breakpoint), count).blocks[0]?.key;
    expect(key({ prompt_cache_breakpoint: { mode: "explicit" } })).toBe(key({}));
  });

  it("is read as Chat Completions, where a tail that was joined to the newest text is apart again", () => {
    const body = {
      model: "llama",
      messages: [
        { role: "system", content: "Be kind." },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c", type: "function", function: { name: "look", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "c", content: "blue sky" },
        { role: "user", content: "| hello you\n\n# Layer 50 · clock\nIt is noon." },
      ],
    };
    const { blocks } = seenOfBody(body, count);
    expect(blocks.map(({ kind, tokens, tail }) => [kind, tokens, tail])).toEqual([
      ["system", 2, undefined],
      ["tool-use", 2, undefined],
      ["tool-result", 2, undefined],
      ["text", 3, undefined],
      ["text", 8, true],
    ]);
  });
});

describe("what is no body", () => {
  it.each([null, 5, "text", [], {}, { messages: {} }])("%j is refused with what it needs", (body) => {
    expect(() => seenOfBody(body, count)).toThrow(
      /this is not the body of a request to a model: it needs a list `messages`/,
    );
  });
});
