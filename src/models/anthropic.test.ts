import { afterEach, describe, expect, it, vi } from "vitest";
import { layerId, trusted } from "../protocol/index.ts";
import { openModel, SHOWN_WIRE, wireBody } from "./index.ts";
import { type Answer, localServer, ownHeaders, streamed } from "./local-server.contract.ts";
import { eventsOf, failureOf, modelContract, replyOf, sampleRequest } from "./model.contract.ts";
import { KEY, keyNeverLeaks, wireFailures } from "./wire-failures.contract.ts";

const REF = "anthropic:claude-sonnet-4-5";
const request = sampleRequest("Hello");

/** Speaks the Messages API. */
const server = await localServer();
const { received, say } = server;
const open = (url = server.url) => openModel(REF, () => ({ key: KEY, url }), { retry: false });

afterEach(() => {
  vi.unstubAllEnvs();
});

type Wire = { readonly type: string; readonly [key: string]: unknown };

const start: Wire = {
  type: "message_start",
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: 11,
      cache_creation_input_tokens: 2_000,
      cache_read_input_tokens: 7_000,
      cache_creation: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 1_500 },
      output_tokens: 1,
    },
  },
};

/** One content block: its start, its deltas, its stop. */
const block = (index: number, content_block: Wire, ...deltas: Wire[]): Wire[] => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];

const words = (index: number, ...texts: string[]): Wire[] =>
  block(index, { type: "text", text: "" }, ...texts.map((text) => ({ type: "text_delta", text })));

const end = (stop_reason: string): Wire[] => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 42 } },
  { type: "message_stop" },
];

const written = (...events: readonly Wire[]): string[] =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
const stream = (...events: Wire[]): Answer => streamed(...written(...events));

describe("anthropic over HTTP", () => {
  modelContract(() => {
    say(
      stream(
        start,
        ...block(
          0,
          { type: "thinking", thinking: "", signature: "" },
          { type: "thinking_delta", thinking: "Hm." },
          { type: "signature_delta", signature: "c2ln" },
        ),
        ...words(1, "Let me ", "look."),
        ...block(
          2,
          { type: "tool_use", id: "toolu_1", name: "look_up", input: {} },
          { type: "input_json_delta", partial_json: '{"word": ' },
          { type: "input_json_delta", partial_json: '"sun"}' },
        ),
        ...end("tool_use"),
      ),
    );
    return open();
  });
});

describe("Anthropic's answers", () => {
  it("become a reply with its reasoning's signature, its calls and what was cached", async () => {
    say(
      stream(
        start,
        ...block(
          0,
          { type: "thinking", thinking: "", signature: "" },
          { type: "thinking_delta", thinking: "I should " },
          { type: "thinking_delta", thinking: "look." },
          { type: "signature_delta", signature: "c2ln" },
        ),
        ...block(1, { type: "redacted_thinking", data: "aGlk" }),
        ...words(2, "\n\n"),
        ...words(3, "One ", "moment."),
        ...block(
          4,
          { type: "tool_use", id: "toolu_1", name: "look_up", input: {} },
          { type: "input_json_delta", partial_json: '{"word":"sun"}' },
        ),
        ...block(5, { type: "tool_use", id: "toolu_2", name: "look_up", input: {} }),
        ...end("tool_use"),
      ),
    );
    expect(await replyOf(open(), request)).toEqual({
      parts: [
        { type: "reasoning", text: "I should look.", metadata: { anthropic: { signature: "c2ln" } } },
        { type: "reasoning", text: "", metadata: { anthropic: { redactedData: "aGlk" } } },
        { type: "text", text: "One moment." },
        { type: "call", id: "toolu_1", tool: "look_up", input: { word: "sun" } },
        { type: "call", id: "toolu_2", tool: "look_up", input: {} },
      ],
      finish: "calls",
      usage: { input: 9_011, cacheRead: 7_000, cacheWrite: 2_000, cacheWriteLong: 1_500, output: 42 },
    });
  });

  it("go back as they came", async () => {
    say(
      stream(
        start,
        ...block(
          0,
          { type: "thinking", thinking: "", signature: "" },
          { type: "thinking_delta", thinking: "Hm." },
          { type: "signature_delta", signature: "c2ln" },
        ),
        ...block(1, { type: "redacted_thinking", data: "aGlk" }),
        ...words(2, " One moment. "),
        ...block(
          3,
          { type: "tool_use", id: "toolu_1", name: "look_up", input: {}, caller: { type: "direct" } },
          { type: "input_json_delta", partial_json: '{"b":1,"a":2}' },
        ),
        ...end("tool_use"),
      ),
    );
    const { parts } = await replyOf(open(), request);
    const kept = JSON.parse(JSON.stringify(parts));
    const user = request.messages[0];
    if (user === undefined) throw new Error("the sample has a message");
    const next = { ...request, messages: [user, { role: "assistant", parts: kept } as const, user] };
    expect(JSON.parse(await wireBody(next, REF)).messages[1].content).toEqual([
      { type: "thinking", thinking: "Hm.", signature: "c2ln" },
      { type: "redacted_thinking", data: "aGlk" },
      { type: "text", text: " One moment. " },
      { type: "tool_use", id: "toolu_1", name: "look_up", input: { b: 1, a: 2 }, caller: { type: "direct" } },
    ]);
    expect(await wireBody(next, REF)).toContain('"input":{"b":1,"a":2}');
  });

  it.each([
    ["end_turn", "stop"],
    ["max_tokens", "length"],
    ["refusal", "refused"],
    ["something_new", "other"],
  ])("end with %s as %s", async (reason, finish) => {
    say(stream(start, ...words(0, "Well."), ...end(reason)));
    expect((await replyOf(open(), request)).finish).toBe(finish);
  });
});

describe("a request to Anthropic", () => {
  it("has the very body that wireBody shows, the same each time", async () => {
    say(stream(start, ...words(0, "Hello."), ...end("end_turn")));
    await eventsOf(open(), request);
    await eventsOf(open(), request);
    const body = await wireBody(request, REF);
    expect(received.map((one) => one.body)).toEqual([body, body]);
    expect(received[0]?.url).toBe("/v1/messages");
    expect(ownHeaders(received[0])).toEqual({
      // With tools only.
      "anthropic-beta": "structured-outputs-2025-11-13",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": KEY,
    });
  });

  it("says in a message that clears itself what is only for now, and asks for the betas that it takes", async () => {
    say(stream(start, ...words(0, "Hello."), ...end("end_turn")));
    const opus = openModel("anthropic:claude-opus-5-5", () => ({ key: KEY, url: server.url }), { retry: false });
    const state = { layer: layerId("state"), text: trusted("It is Saturday."), way: "turn-scoped" } as const;
    const breakpoints = [{ after: { zone: "message", index: 0 }, lifetime: "5m" }] as const;
    await eventsOf(opus, { ...request, tail: [state], breakpoints });
    expect(JSON.parse(received[0]?.body ?? "").messages).toEqual([
      { role: "user", content: [{ type: "text", text: expect.any(String), cache_control: { type: "ephemeral" } }] },
      { role: "system", content: [{ type: "text", text: "It is Saturday." }], clear_at: "next_user_message" },
    ]);
    expect(String(received[0]?.headers["anthropic-beta"]).split(",").toSorted()).toEqual([
      "mid-conversation-system-2026-04-07",
      "mid-conversation-system-clear-at-2026-08-21",
      "structured-outputs-2025-11-13",
    ]);
  });

  it("uses the given address, whatever the environment says", async () => {
    vi.stubEnv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1/elsewhere");
    vi.stubEnv("ANTHROPIC_API_KEY", "sk-other");
    say(stream(start, ...words(0, "Hello."), ...end("end_turn")));
    await keyNeverLeaks(open());
    expect(received[0]?.headers["x-api-key"]).toBe(KEY);
  });
});

describe("Anthropic's failures", () => {
  wireFailures({
    provider: "anthropic",
    model: "claude-sonnet-4-5",
    server,
    open,
    refusal: (message) => ({ type: "error", error: { type: "some_error", message } }),
    begun: written(start, ...words(0, "Hel").slice(0, 2)),
    path: "/v1/messages",
  });

  it("inside a stream are judged by their kind", async () => {
    const error = (type: string): Wire => ({ type: "error", error: { type, message: "sorry" } });
    say(stream(start, ...words(0, "Hel"), error("overloaded_error")));
    expect(await failureOf(open(), request)).toMatchObject({ code: "model_failed", details: { status: 529 } });
    say(stream(start, error("invalid_request_error")));
    expect(await failureOf(open(), request)).toMatchObject({ code: "model_refused", details: { status: 400 } });
    say(stream(start, ...words(0, "Hel"), error("rate_limit_error")));
    expect(await failureOf(open(), request)).toMatchObject({ code: "rate_limited", details: { status: 429 } });
  });

  it("keep their words where a key is none that anybody would have to keep secret", async () => {
    say((response) =>
      response.writeHead(400).end(
        JSON.stringify({
          type: "error",
          error: { type: "invalid_request_error", message: "max_tokens: next example" },
        }),
      ),
    );
    const model = openModel(REF, () => ({ key: "x", url: server.url }), { retry: false });
    expect((await failureOf(model, request)).message).toContain("max_tokens: next example");
  });

  it("say so when an answer cannot be read", async () => {
    say(streamed(...written(start, ...words(0, "Hel")), "data: {private words\n\n"));
    expect((await failureOf(open(), request)).message).toContain("its answer could not be read");
  });
});

describe("openModel", () => {
  const none = () => undefined;

  it("needs no key for the rehearsal", () => {
    expect(openModel("rehearsal", none)).toMatchObject({ ref: "rehearsal", wire: SHOWN_WIRE });
    expect(open()).toMatchObject({ ref: REF, wire: REF });
  });

  it.each(["mistral:small", "anthropic", "anthropic:", "openai", "openai:", "gpt", "", "recording"])(
    "does not know %j",
    (ref) => {
      expect(() => openModel(ref, () => ({ key: KEY }))).toThrow(
        `no model is known as ${JSON.stringify(ref)}; name anthropic:NAME, openai:NAME, openrouter:MAKER/NAME, bedrock:NAME, PROVIDER:NAME with`,
      );
    },
  );

  it.each([
    ["antropic:claude-sonnet-4-5", '"anthropic:claude-sonnet-4-5"'],
    ["opnai:gpt-5", '"openai:gpt-5"'],
  ])("names the provider that %j most likely means", (ref, meant) => {
    expect(() => openModel(ref, none)).toThrow(`${JSON.stringify(ref)}; did you mean ${meant}? Or name anthropic:NAME`);
  });

  it("says what is missing", () => {
    expect(() => openModel(REF, none)).toThrow(expect.objectContaining({ code: "secret_missing" }));
    expect(() => openModel(REF, () => ({ key: "" }))).toThrow("needs a key for anthropic");
    expect(() => openModel(REF, () => ({ key: KEY, url: "here" }))).toThrow(
      '"here" is not a valid address for anthropic',
    );
  });
});
