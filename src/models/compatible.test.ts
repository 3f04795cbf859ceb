import { describe, expect, it, vi } from "vitest";
import type { Message } from "../protocol/index.ts";
import { type Access, openModel, wireBody } from "./index.ts";
import { localServer, ownHeaders, streamed } from "./local-server.contract.ts";
import { eventsOf, failureOf, modelContract, replyOf, sampleRequest } from "./model.contract.ts";
import { KEY, keyNeverLeaks, wireFailures } from "./wire-failures.contract.ts";

const REF = "local:llama3.1:8b";
const request = sampleRequest("Hello");

/** Speaks Chat Completions, as Ollama, vLLM and llama.cpp do. */
const server = await localServer();
const access = (url = server.url): Access => ({ kind: "openai-compatible", key: KEY, url });
const open = (url?: string) => openModel(REF, () => access(url), { retry: false });

interface Delta {
  readonly role?: "assistant";
  readonly content?: string | null;
  readonly reasoning?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly object[];
}

const line = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
const frame = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_795_253_400, model: "llama3.1:8b" };
const chunk = (delta: Delta, finish_reason: string | null = null): string =>
  line({ ...frame, choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
const used = (usage: unknown): string => line({ ...frame, choices: [], usage });
const usage = { prompt_tokens: 900, completion_tokens: 42, total_tokens: 942 };
const DONE = "data: [DONE]\n\n";
const begun = chunk({ role: "assistant", content: "" });

const call = (index: number, id: string | undefined, name: string | undefined, text: string) => ({
  index,
  ...(id !== undefined && { id, type: "function" }),
  function: { ...(name !== undefined && { name }), arguments: text },
});
const calls = (...tool_calls: object[]): string => chunk({ tool_calls });

const whole: readonly string[] = [
  begun,
  chunk({ reasoning_content: "I should " }),
  chunk({ reasoning_content: "look." }),
  chunk({ content: "One " }),
  chunk({ content: "moment." }),
  calls(call(0, "call_a", "look_up", "")),
  calls(call(0, undefined, undefined, '{"wo')),
  calls(call(1, "call_b", "look_up", '{"word":')),
  calls(call(0, undefined, undefined, 'rd":"sun"}')),
  calls(call(1, undefined, undefined, '"moon"}')),
  chunk({}, "tool_calls"),
  used({ ...usage, prompt_tokens_details: { cached_tokens: 512 } }),
  DONE,
];

describe("an OpenAI-compatible server over HTTP", () => {
  modelContract(() => {
    server.say(streamed(...whole));
    return open();
  });
});

/** The usage if a server reports nothing about a cache. */
const UNTOLD = { cacheRead: 0, cacheWrite: 0, cacheUnknown: true };

describe("a compatible server's answers", () => {
  it("become a reply with its reasoning, its calls in pieces and what was cached", async () => {
    server.say(streamed(...whole));
    expect(await replyOf(open(), request)).toEqual({
      parts: [
        { type: "reasoning", text: "I should look." },
        { type: "text", text: "One moment." },
        { type: "call", id: "call_a", tool: "look_up", input: { word: "sun" } },
        { type: "call", id: "call_b", tool: "look_up", input: { word: "moon" } },
      ],
      finish: "calls",
      usage: { input: 900, cacheRead: 512, cacheWrite: 0, output: 42 },
    });
  });

  it("are understood in the words of each server", async () => {
    // Ollama names reasoning so, sends a call in one piece, and says `stop` beside it.
    server.say(
      streamed(
        chunk({ role: "assistant", content: "", reasoning: "Hm." }),
        calls(call(0, "call_1", "look_up", '{"word":"sun"}')),
        chunk({ content: "" }, "stop"),
        used(usage),
        DONE,
      ),
    );
    expect(await replyOf(open(), request)).toMatchObject({
      parts: [
        { type: "reasoning", text: "Hm." },
        { type: "call", input: { word: "sun" } },
      ],
      finish: "calls",
    });
    // llama.cpp and vLLM give the usage beside the last choice, and may say nothing of a cache.
    const last = { ...frame, choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage };
    server.say(streamed(begun, chunk({ content: "Hi." }), line({ ...last, timings: { prompt_n: 3 } }), DONE));
    expect((await replyOf(open(), request)).usage).toEqual({ input: 900, ...UNTOLD, output: 42 });
  });

  it.each([
    [
      { prompt_tokens: 900, completion_tokens: 42, prompt_cache_hit_tokens: 800, prompt_cache_miss_tokens: 100 },
      800,
      0,
    ],
    [{ ...usage, prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 200 } }, 600, 200],
    [{ ...usage, prompt_tokens_details: null }, 0, 0],
  ])("tell their cache in figures of their own: %j", async (figures, cacheRead, cacheWrite) => {
    server.say(streamed(begun, chunk({ content: "Hi." }), chunk({}, "stop"), used(figures), DONE));
    const told = cacheRead > 0 ? { cacheRead, cacheWrite } : UNTOLD;
    expect((await replyOf(open(), request)).usage).toEqual({ input: 900, ...told, output: 42 });
  });

  it("without any usage stand all the same", async () => {
    server.say(streamed(begun, chunk({ content: "Hi." }), chunk({}, "stop"), DONE));
    expect((await replyOf(open(), request)).usage).toEqual({ input: 0, ...UNTOLD, output: 0 });
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

  it("go back as they came", async () => {
    server.say(streamed(...whole));
    const { parts } = await replyOf(open(), request);
    const user = request.messages[0];
    if (user === undefined) throw new Error("the sample has a message");
    const said: Message = { role: "assistant", parts: JSON.parse(JSON.stringify(parts)) };
    const body = JSON.parse(await wireBody({ ...request, messages: [user, said, user] }, REF, () => access()));
    expect(body.messages[2]).toMatchObject({
      role: "assistant",
      content: "One moment.",
      tool_calls: [
        { id: "call_a", function: { name: "look_up", arguments: '{"word":"sun"}' } },
        { id: "call_b", function: { name: "look_up", arguments: '{"word":"moon"}' } },
      ],
    });
  });
});

describe("a request to a compatible server", () => {
  const hello = () => server.say(streamed(begun, chunk({ content: "Hello." }), chunk({}, "stop"), used(usage), DONE));

  it("has the very body that wireBody shows, the same each time", async () => {
    hello();
    await eventsOf(open(), request);
    await eventsOf(open(), request);
    const body = await wireBody(request, REF, () => access());
    expect(server.received.map((one) => one.body)).toEqual([body, body]);
    expect(server.received[0]?.url).toBe("/v1/chat/completions");
    expect(ownHeaders(server.received[0])).toEqual({
      authorization: `Bearer ${KEY}`,
      "content-type": "application/json",
    });
    expect(JSON.parse(body)).toMatchObject({
      model: "llama3.1:8b",
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it("carries no key where none was given, whatever the environment says", async () => {
    vi.stubEnv("OPENAI_API_KEY", "sk-other-0123456");
    vi.stubEnv("LOCAL_API_KEY", "sk-other-0123456");
    hello();
    await eventsOf(
      openModel(REF, () => ({ kind: "openai-compatible", url: server.url })),
      request,
    );
    expect(server.received[0]?.headers.authorization).toBeUndefined();
    expect(JSON.stringify(server.received)).not.toContain("sk-");
    vi.unstubAllEnvs();
  });

  it("keeps its key out of all that it tells", async () => {
    hello();
    await keyNeverLeaks(open());
  });
});

describe("a compatible server's failures", () => {
  wireFailures({
    provider: "local",
    model: "llama3.1:8b",
    server,
    open,
    refusal: (message) => ({ error: { message, type: "some_error", param: null, code: null } }),
    begun: [begun, chunk({ content: "Hel" })],
    path: "/v1/chat/completions",
  });

  it.each([
    // llama.cpp and vLLM put the status into the error, OpenRouter too; Ollama tells its words alone.
    [{ error: { code: 429, message: "sorry", type: "rate_limit_error" } }, "rate_limited"],
    [{ error: { code: 400, message: "sorry", type: "BadRequestError" } }, "model_refused"],
    [{ error: { code: "503", message: "sorry", type: "unavailable_error" } }, "model_failed"],
    [{ error: { message: "sorry", type: "api_error" } }, "model_failed"],
  ])("inside a stream are judged by their status: %j", async (told, code) => {
    for (const before of [[], [begun, chunk({ content: "Hel" })]]) {
      server.say(streamed(...before, line(told)));
      const failure = await failureOf(open(), request);
      expect(failure.code).toBe(code);
      expect(failure.message).toContain("sorry");
    }
  });

  it("are recognised from servers that word them differently", async () => {
    server.say((response) => {
      response.writeHead(404, { "content-type": "application/json" });
      response.end(JSON.stringify({ object: "error", message: "no such model", code: 404 }));
    });
    expect(await failureOf(open(), request)).toMatchObject({ code: "model_refused", details: { status: 404 } });
  });

  it("are found before anything is sent: a server without an address", () => {
    expect(() => openModel(REF, () => ({ kind: "openai-compatible" }))).toThrow(
      '"" is not a valid address for local; it must be a URL such as',
    );
  });
});

it("no error repeats the password in the provider's address", async () => {
  const failed = await failureOf(open("http://ann:correct-horse@127.0.0.1:9/v1"), request);
  expect(failed.message).toContain("127.0.0.1");
  expect(`${failed.message} ${JSON.stringify(failed.details)}`).not.toContain("correct-horse");
});
