import { describe, expect, it, vi } from "vitest";
import type { Message, Request } from "../protocol/index.ts";
import { type Access, openModel, wireBody } from "./index.ts";
import { localServer, ownHeaders, streamed } from "./local-server.contract.ts";
import { eventsOf, failureOf, messagesWithCall, modelContract, replyOf, sampleRequest } from "./model.contract.ts";
import { KEY, keyNeverLeaks, wireFailures } from "./wire-failures.contract.ts";

const MODEL = "anthropic/claude-sonnet-4.5";
const REF = `openrouter:${MODEL}`;
const request = sampleRequest("Hello");

/** Speaks Chat Completions as OpenRouter does. */
const server = await localServer();
const access = (url = server.url): Access => ({ key: KEY, url });
const open = (url?: string) => openModel(REF, () => access(url), { retry: false });

const line = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
const frame = {
  id: "gen-1",
  provider: "Anthropic",
  object: "chat.completion.chunk",
  created: 1_795_253_400,
  model: MODEL,
};
const chunk = (delta: object, finish_reason: string | null = null): string =>
  line({
    ...frame,
    choices: [{ index: 0, delta, finish_reason, native_finish_reason: finish_reason, logprobs: null }],
  });
const used = (usage: unknown): string =>
  line({ ...frame, choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }], usage });
/** OpenRouter counts what was read and what was written as parts of the prompt. */
const usage = {
  prompt_tokens: 9_011,
  prompt_tokens_details: { cached_tokens: 7_000, cache_write_tokens: 2_000 },
  completion_tokens: 42,
  total_tokens: 9_053,
  cost: 0.0123,
};
const DONE = "data: [DONE]\n\n";
const begun = chunk({ role: "assistant", content: "" });
const thought = (text: string, signature?: string): string =>
  chunk({
    role: "assistant",
    content: "",
    reasoning: text,
    reasoning_details: [
      { type: "reasoning.text", text, ...(signature && { signature }), format: "anthropic-claude-v1", index: 0 },
    ],
  });
const call = (index: number, id: string | undefined, text: string): string =>
  chunk({
    tool_calls: [
      {
        index,
        ...(id !== undefined && { id, type: "function" }),
        function: { ...(id !== undefined && { name: "look_up" }), arguments: text },
      },
    ],
  });

const whole: readonly string[] = [
  ": OPENROUTER PROCESSING\n\n",
  begun,
  thought("I should "),
  thought("look."),
  thought("", "c2ln"),
  chunk({ content: "One " }),
  chunk({ content: "moment." }),
  call(0, "toolu_1", '{"wo'),
  call(0, undefined, 'rd":"sun"}'),
  call(1, "toolu_2", '{"word":"moon"}'),
  chunk({}, "tool_calls"),
  used(usage),
  DONE,
];

describe("openrouter over HTTP", () => {
  modelContract(() => {
    server.say(streamed(...whole));
    return open();
  });
});

/** The request that follows a reply. */
async function next(parts: readonly unknown[]): Promise<Request> {
  const user = request.messages[0];
  if (user === undefined) throw new Error("the sample has a message");
  const said: Message = { role: "assistant", parts: JSON.parse(JSON.stringify(parts)) };
  return { ...request, messages: [user, said, user] };
}

describe("OpenRouter's answers", () => {
  it("become a reply with its reasoning, its calls and what was cached", async () => {
    server.say(streamed(...whole));
    const { parts, ...rest } = await replyOf(open(), request);
    expect(parts).toMatchObject([
      { type: "reasoning", text: "I should look." },
      { type: "text", text: "One moment." },
      { type: "call", id: "toolu_1", tool: "look_up", input: { word: "sun" } },
      { type: "call", id: "toolu_2", tool: "look_up", input: { word: "moon" } },
    ]);
    expect(parts).toHaveLength(4);
    expect(rest).toEqual({
      finish: "calls",
      usage: { input: 9_011, cacheRead: 7_000, cacheWrite: 2_000, output: 42 },
    });
  });

  it("go back as they came, with the signature of their reasoning", async () => {
    server.say(streamed(...whole));
    const { parts } = await replyOf(open(), request);
    const body = JSON.parse(await wireBody(await next(parts), REF));
    expect(body.messages[2]).toMatchObject({
      role: "assistant",
      content: [{ type: "text", text: "One moment." }],
      reasoning: "I should look.",
      reasoning_details: [{ type: "reasoning.text", text: "I should look.", signature: "c2ln" }],
      tool_calls: [
        { id: "toolu_1", function: { name: "look_up", arguments: '{"word":"sun"}' } },
        { id: "toolu_2", function: { name: "look_up", arguments: '{"word":"moon"}' } },
      ],
    });
  });

  it.each([
    ["stop", "stop"],
    ["length", "length"],
    ["content_filter", "refused"],
    ["something_new", "other"],
  ])("end with %s as %s", async (reason, finish) => {
    server.say(streamed(begun, chunk({ content: "Well." }), chunk({}, reason), used(usage), DONE));
    expect((await replyOf(open(), request)).finish).toBe(finish);
  });
});

describe("a request to OpenRouter", () => {
  const hello = () => server.say(streamed(begun, chunk({ content: "Hello." }), chunk({}, "stop"), used(usage), DONE));

  it("has the very body that wireBody shows, the same each time", async () => {
    hello();
    await eventsOf(open(), request);
    await eventsOf(open(), request);
    const body = await wireBody(request, REF);
    expect(server.received.map((one) => one.body)).toEqual([body, body]);
    expect(server.received[0]?.url).toBe("/v1/chat/completions");
    expect(ownHeaders(server.received[0])).toEqual({
      authorization: `Bearer ${KEY}`,
      "content-type": "application/json",
    });
    expect(JSON.parse(body)).toMatchObject({
      model: MODEL,
      stream: true,
      stream_options: { include_usage: true },
      usage: { include: true },
    });
  });

  it("is led to where requests with its prefix were led, and to no other place", async () => {
    const session = async (changed: Request) => JSON.parse(await wireBody(changed, REF)).session_id;
    const mine = await session(request);
    expect(mine).toMatch(/^[0-9a-f]{32}$/);
    expect(await session(sampleRequest("Another message", { tail: [] }))).toBe(mine);
    expect(await session({ ...request, prefix: { tools: [], system: request.prefix.system } })).not.toBe(mine);
  });

  it("is marked on blocks, also after results and replies, and a breakpoint changes no other byte", async () => {
    const messages = messagesWithCall(request);
    const breakpoints = [0, 1, 2].map((index) => ({ after: { zone: "message", index }, lifetime: "5m" }) as const);
    const [marked, plain] = [
      await wireBody({ ...request, messages, breakpoints }, REF),
      await wireBody({ ...request, messages }, REF),
    ];
    const breakpoint = { cache_control: { type: "ephemeral" } };
    expect(JSON.parse(marked).messages.slice(2)).toMatchObject([
      { role: "assistant", content: [{ type: "text", text: "Looking.", ...breakpoint }] },
      { role: "tool", content: [{ type: "text", text: "A star.", ...breakpoint }] },
    ]);
    expect(marked.replaceAll(',"cache_control":{"type":"ephemeral"}', "")).toBe(plain);
  });

  it.each([
    [MODEL, '{"type":"ephemeral","ttl":"1h"}'],
    // OpenRouter makes a breakpoint of OpenAI's of it, which has one lifetime.
    ["openai/gpt-6.1-sol", '{"type":"ephemeral"}'],
    // No card of a model so old plans one: this one is of a card that was overridden.
    ["openai/gpt-5-mini", '{"type":"ephemeral"}'],
    ["google/gemini-3.5-flash", undefined],
    ["deepseek/deepseek-v4-pro", undefined],
  ])("to %s is marked as %s", async (model, breakpoint) => {
    const marked = sampleRequest("Hello", { breakpoints: [{ after: { zone: "message", index: 0 }, lifetime: "1h" }] });
    const body = await wireBody(marked, `openrouter:${model}`);
    const found = /"cache_control":(\{[^}]*\})/.exec(body)?.[1];
    expect(found).toBe(breakpoint);
  });

  it("asks for an answer that fits a schema", async () => {
    const output = { type: "object", properties: { mood: { type: "string" } }, required: ["mood"] };
    const body = JSON.parse(await wireBody(sampleRequest("Hello", { parameters: { maxTokens: 9, output } }), REF));
    expect(body.response_format).toMatchObject({
      type: "json_schema",
      json_schema: { name: "answer", schema: output },
    });
  });

  it("uses the given address, whatever the environment says", async () => {
    vi.stubEnv("OPENROUTER_API_KEY", "sk-or-other-0123456");
    vi.stubEnv("OPENROUTER_BASE_URL", "http://127.0.0.1:1/elsewhere");
    hello();
    await keyNeverLeaks(open());
    expect(server.received[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    vi.unstubAllEnvs();
    expect(() => openModel(REF, () => ({ url: server.url }))).toThrow("needs a key for openrouter");
  });
});

describe("OpenRouter's failures", () => {
  wireFailures({
    provider: "openrouter",
    model: MODEL,
    server,
    open,
    refusal: (message) => ({ error: { message, code: 400 } }),
    begun: [begun, chunk({ content: "Hel" })],
    path: "/v1/chat/completions",
  });

  it.each([
    [{ error: { code: 429, message: "sorry" } }, "rate_limited"],
    [{ error: { code: 400, message: "sorry" } }, "model_refused"],
    [{ error: { code: 402, message: "sorry" } }, "model_refused"],
    [{ error: { code: 502, message: "sorry", metadata: { provider_name: "Anthropic" } } }, "model_failed"],
  ])("inside a stream are judged by their code: %j", async (told, code) => {
    for (const before of [[], [begun, chunk({ content: "Hel" })]]) {
      server.say(streamed(...before, line({ ...frame, ...told })));
      const failure = await failureOf(open(), request);
      expect(failure.code).toBe(code);
      expect(failure.message).toContain("sorry");
    }
  });
});
