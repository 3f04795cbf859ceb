import { describe, expect, it, vi } from "vitest";
import type { Message, Request } from "../protocol/index.ts";
import { openModel, wireBody } from "./index.ts";
import { localServer, ownHeaders, streamed } from "./local-server.contract.ts";
import { eventsOf, failureOf, modelContract, replyOf, sampleRequest } from "./model.contract.ts";
import { KEY, keyNeverLeaks, wireFailures } from "./wire-failures.contract.ts";

const REF = "openai:gpt-5-mini";
const request = sampleRequest("Hello");

/** Speaks the Responses API. */
const server = await localServer();
const open = (url = server.url) => openModel(REF, () => ({ key: KEY, url }), { retry: false });

type Wire = { readonly type: string; readonly [key: string]: unknown };

const written = (...events: readonly Wire[]): string[] =>
  events.map(
    (event, sequence_number) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
  );
const say = (...events: readonly Wire[]) => server.say(streamed(...written(...events)));

const response = { id: "resp_1", object: "response", created_at: 1_795_253_400, model: "gpt-5-mini", output: [] };
const start: readonly Wire[] = [
  { type: "response.created", response: { ...response, status: "in_progress" } },
  { type: "response.in_progress", response: { ...response, status: "in_progress" } },
];
const usage = {
  input_tokens: 9_011,
  input_tokens_details: { cached_tokens: 7_000, cache_write_tokens: 2_000 },
  output_tokens: 42,
  output_tokens_details: { reasoning_tokens: 30 },
  total_tokens: 9_053,
};
const end = (reason?: string): Wire => ({
  type: reason === undefined ? "response.completed" : "response.incomplete",
  response: {
    ...response,
    status: reason === undefined ? "completed" : "incomplete",
    incomplete_details: reason === undefined ? null : { reason },
    usage,
  },
});

const item = (output_index: number, begun: Wire, done: Wire, ...between: Wire[]): Wire[] => [
  { type: "response.output_item.added", output_index, item: begun },
  ...between.map((one) => ({ ...one, output_index, item_id: begun["id"] })),
  { type: "response.output_item.done", output_index, item: done },
];
const words = (index: number, ...texts: string[]): Wire[] => {
  const message = { type: "message", id: `msg_${index}`, role: "assistant", status: "in_progress", content: [] };
  const deltas = texts.map((delta) => ({ type: "response.output_text.delta", content_index: 0, delta }));
  const text = { type: "output_text", text: texts.join(""), annotations: [] };
  return item(index, message, { ...message, status: "completed", content: [text] }, ...deltas);
};
const thought = (index: number, text: string, encrypted_content: string): Wire[] => {
  const reasoning = { type: "reasoning", id: `rs_${index}`, summary: [] };
  const part = { summary_index: 0, part: { type: "summary_text", text } };
  return item(
    index,
    { ...reasoning, encrypted_content: "" },
    { ...reasoning, encrypted_content, summary: [{ type: "summary_text", text }] },
    { type: "response.reasoning_summary_part.added", ...part },
    { type: "response.reasoning_summary_text.delta", summary_index: 0, delta: text.slice(0, 2) },
    { type: "response.reasoning_summary_text.delta", summary_index: 0, delta: text.slice(2) },
    { type: "response.reasoning_summary_part.done", ...part },
  );
};
const callBegun = (index: number): Wire => ({
  type: "response.output_item.added",
  output_index: index,
  item: { type: "function_call", id: `fc_${index}`, call_id: `call_${index}`, name: "look_up", arguments: "" },
});
const callPiece = (index: number, delta: string): Wire => ({
  type: "response.function_call_arguments.delta",
  output_index: index,
  item_id: `fc_${index}`,
  delta,
});
const callDone = (index: number, input: string): Wire => ({
  type: "response.output_item.done",
  output_index: index,
  item: {
    type: "function_call",
    id: `fc_${index}`,
    call_id: `call_${index}`,
    name: "look_up",
    arguments: input,
    status: "completed",
  },
});

const whole: readonly Wire[] = [
  ...start,
  ...thought(0, "I should look.", "c2ln"),
  ...words(1, "One ", "moment."),
  // Two calls at once: their pieces come mixed.
  callBegun(2),
  callBegun(3),
  callPiece(2, '{"wo'),
  callPiece(3, '{"word":'),
  callPiece(2, 'rd":"sun"}'),
  callPiece(3, '"moon"}'),
  callDone(2, '{"word":"sun"}'),
  callDone(3, '{"word":"moon"}'),
  end(),
];

describe("openai over HTTP", () => {
  modelContract(() => {
    say(...whole);
    return open();
  });
});

describe("OpenAI's answers", () => {
  it("become a reply with its encrypted reasoning, its calls and what was cached", async () => {
    say(...whole);
    const { parts, ...rest } = await replyOf(open(), request);
    expect(parts).toMatchObject([
      { type: "reasoning", text: "I should look.", metadata: { openai: { reasoningEncryptedContent: "c2ln" } } },
      { type: "text", text: "One moment." },
      { type: "call", id: "call_2", tool: "look_up", input: { word: "sun" } },
      { type: "call", id: "call_3", tool: "look_up", input: { word: "moon" } },
    ]);
    expect(parts).toHaveLength(4);
    expect(rest).toEqual({
      finish: "calls",
      usage: { input: 9_011, cacheRead: 7_000, cacheWrite: 2_000, output: 42 },
    });
  });

  it("go back as they came: the encrypted reasoning, not a reference to what OpenAI did not keep", async () => {
    say(...whole);
    const { parts } = await replyOf(open(), request);
    const user = request.messages[0];
    if (user === undefined) throw new Error("the sample has a message");
    const said: Message = { role: "assistant", parts: JSON.parse(JSON.stringify(parts)) };
    const body = JSON.parse(await wireBody({ ...request, messages: [user, said, user] }, REF));
    expect(body.input.slice(2, 6)).toMatchObject([
      { type: "reasoning", encrypted_content: "c2ln", summary: [{ type: "summary_text", text: "I should look." }] },
      { role: "assistant" },
      { type: "function_call", call_id: "call_2", arguments: '{"word":"sun"}' },
      { type: "function_call", call_id: "call_3", arguments: '{"word":"moon"}' },
    ]);
    expect(JSON.stringify(body)).not.toContain("item_reference");
  });

  it.each([
    [undefined, "stop"],
    ["max_output_tokens", "length"],
    ["content_filter", "refused"],
    ["something_new", "other"],
  ])("end with %s as %s", async (reason, finish) => {
    say(...start, ...words(0, "Well."), end(reason));
    expect((await replyOf(open(), request)).finish).toBe(finish);
  });
});

describe("a request to OpenAI", () => {
  it("has the very body that wireBody shows, the same each time", async () => {
    say(...start, ...words(0, "Hello."), end());
    await eventsOf(open(), request);
    await eventsOf(open(), request);
    const body = await wireBody(request, REF);
    expect(server.received.map((one) => one.body)).toEqual([body, body]);
    expect(server.received[0]?.url).toBe("/v1/responses");
    expect(ownHeaders(server.received[0])).toEqual({
      authorization: `Bearer ${KEY}`,
      "content-type": "application/json",
    });
    // Nothing is kept there, and no reply of another conversation is referred to.
    expect(JSON.parse(body)).toMatchObject({ store: false, stream: true, include: ["reasoning.encrypted_content"] });
  });

  it("uses the given address, whatever the environment says", async () => {
    vi.stubEnv("OPENAI_BASE_URL", "http://127.0.0.1:1/elsewhere");
    vi.stubEnv("OPENAI_API_KEY", "sk-other-0123456");
    say(...start, ...words(0, "Hello."), end());
    await keyNeverLeaks(open());
    expect(server.received[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    vi.unstubAllEnvs();
  });
});

describe("OpenAI's failures", () => {
  wireFailures({
    provider: "openai",
    model: "gpt-5-mini",
    server,
    open,
    refusal: (message) => ({ error: { message, type: "some_error", param: null, code: "some_code" } }),
    begun: written(...start, ...words(0, "Hel").slice(0, 2)),
    path: "/v1/responses",
  });

  const failed = (code: string): Wire => ({
    type: "response.failed",
    response: { ...response, status: "failed", error: { code, message: "sorry" } },
  });
  const error = (code: string): Wire => ({ type: "error", code, message: "sorry", param: null });

  it.each([
    ["rate_limit_exceeded", "rate_limited", 429],
    ["server_error", "model_failed", 500],
    ["invalid_prompt", "model_refused", 400],
    ["insufficient_quota", "model_refused", 429],
  ])("inside a stream are judged by their code: %s", async (code, expected, status) => {
    for (const told of [failed, error]) {
      for (const before of [start, [...start, ...words(0, "Hel")]]) {
        say(...before, told(code));
        expect(await failureOf(open(), request)).toMatchObject({ code: expected, details: { status } });
      }
    }
  });
});

describe("a cache that is written at breakpoints (GPT-5.6 and later)", () => {
  const optionsOf = async (breakpoints: Request["breakpoints"]): Promise<unknown> =>
    JSON.parse(await wireBody(sampleRequest("Hello", { breakpoints }), "openai:gpt-6.1-sol")).prompt_cache_options;

  it("is told to set no breakpoint of its own, which would write the tail each time", async () => {
    expect(await optionsOf([{ after: { zone: "message", index: 0 }, lifetime: "5m" }])).toEqual({ mode: "explicit" });
  });

  it("names twelve hours at the breakpoints that are to be kept longer, and nothing at the others", async () => {
    const breakpoints: Request["breakpoints"] = [
      { after: { zone: "system", block: 0 }, lifetime: "1h" },
      { after: { zone: "message", index: 0 }, lifetime: "5m" },
    ];
    const { input } = JSON.parse(await wireBody(sampleRequest("Hello", { breakpoints }), "openai:gpt-6.2-sol"));
    expect(input.map(({ content }: { content: readonly object[] }) => content.at(-1))).toMatchObject([
      { prompt_cache_breakpoint: { mode: "explicit", ttl: "12h" } },
      { prompt_cache_breakpoint: { mode: "explicit" } },
    ]);
    expect(input[1].content.at(-1).prompt_cache_breakpoint).toEqual({ mode: "explicit" });
  });

  it("gets no cache option if no breakpoint is planned: `explicit` alone would mean no cache", async () => {
    expect(await optionsOf([])).toBeUndefined();
  });
});
