import { afterEach, describe, expect, it, vi } from "vitest";
import { layerId, type Message, type Request, trusted } from "../protocol/index.ts";
import { type Access, openModel, wireBody } from "./index.ts";
import { eventFrame, localServer, ownHeaders, refused, streamed } from "./local-server.contract.ts";
import { eventsOf, failureOf, messagesWithCall, modelContract, replyOf, sampleRequest } from "./model.contract.ts";
import { KEY, keyNeverLeaks, wireFailures } from "./wire-failures.contract.ts";

const MODEL = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0";
const REF = `bedrock:${MODEL}`;
const PATH = "/v1/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream";
const request = sampleRequest("Hello");

/** Speaks the Converse API, which streams AWS's frames. */
const server = await localServer();
const access = (url = server.url): Access => ({ key: KEY, url, region: "eu-central-1" });
const open = (url?: string) => openModel(REF, () => access(url), { retry: false });

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A frame as Bedrock sends it. It pads payloads with `p`, so that their length tells nothing. */
const event = (type: string, payload: object): Buffer =>
  eventFrame(
    { ":event-type": type, ":content-type": "application/json", ":message-type": "event" },
    { ...payload, p: "abcdefgh" },
  );
const exception = (type: string, payload: object): Buffer =>
  eventFrame({ ":exception-type": type, ":content-type": "application/json", ":message-type": "exception" }, payload);

const start = event("messageStart", { role: "assistant" });
const delta = (contentBlockIndex: number, one: object): Buffer =>
  event("contentBlockDelta", { contentBlockIndex, delta: one });
const stop = (contentBlockIndex: number): Buffer => event("contentBlockStop", { contentBlockIndex });
const words = (index: number, ...texts: string[]): Buffer[] => [
  ...texts.map((text) => delta(index, { text })),
  stop(index),
];
const thought = (index: number, text: string, signature: string): Buffer[] => [
  delta(index, { reasoningContent: { text: text.slice(0, 2) } }),
  delta(index, { reasoningContent: { text: text.slice(2) } }),
  delta(index, { reasoningContent: { signature } }),
  stop(index),
];
const call = (index: number, toolUseId: string, ...inputs: string[]): Buffer[] => [
  event("contentBlockStart", { contentBlockIndex: index, start: { toolUse: { toolUseId, name: "look_up" } } }),
  ...inputs.map((input) => delta(index, { toolUse: { input } })),
  stop(index),
];
const usage = {
  inputTokens: 11,
  outputTokens: 42,
  totalTokens: 9_053,
  cacheReadInputTokens: 7_000,
  cacheWriteInputTokens: 2_000,
  cacheDetails: [
    { inputTokens: 500, ttl: "5m" },
    { inputTokens: 1_500, ttl: "1h" },
  ],
};
const end = (stopReason: string): Buffer[] => [
  event("messageStop", { stopReason }),
  event("metadata", { usage, metrics: { latencyMs: 12 } }),
];

const whole: readonly Buffer[] = [
  start,
  ...thought(0, "I should look.", "c2ln"),
  ...words(1, "One ", "moment."),
  ...call(2, "tooluse_1", '{"wo', 'rd":"sun"}'),
  ...call(3, "tooluse_2"),
  ...end("tool_use"),
];

describe("bedrock over HTTP", () => {
  modelContract(() => {
    server.say(streamed(...whole));
    return open();
  });
});

describe("Bedrock's answers", () => {
  it("become a reply with its reasoning's signature, its calls and what was cached", async () => {
    server.say(streamed(...whole));
    const { parts, ...rest } = await replyOf(open(), request);
    expect(parts).toMatchObject([
      { type: "reasoning", text: "I should look.", metadata: { bedrock: { signature: "c2ln" } } },
      { type: "text", text: "One moment." },
      { type: "call", id: "tooluse_1", tool: "look_up", input: { word: "sun" } },
      { type: "call", id: "tooluse_2", tool: "look_up", input: {} },
    ]);
    expect(parts).toHaveLength(4);
    expect(rest).toEqual({
      finish: "calls",
      usage: { input: 9_011, cacheRead: 7_000, cacheWrite: 2_000, cacheWriteLong: 1_500, output: 42 },
    });
  });

  it("go back as they came", async () => {
    server.say(streamed(...whole));
    const { parts } = await replyOf(open(), request);
    const user = request.messages[0];
    if (user === undefined) throw new Error("the sample has a message");
    const said: Message = { role: "assistant", parts: JSON.parse(JSON.stringify(parts)) };
    const body = JSON.parse(await wireBody({ ...request, messages: [user, said, user] }, REF));
    expect(body.messages[1]).toEqual({
      role: "assistant",
      content: [
        { reasoningContent: { reasoningText: { text: "I should look.", signature: "c2ln" } } },
        { text: "One moment." },
        { toolUse: { toolUseId: "tooluse_1", name: "look_up", input: { word: "sun" } } },
        { toolUse: { toolUseId: "tooluse_2", name: "look_up", input: {} } },
      ],
    });
  });

  it("are the same however their bytes are cut", async () => {
    const bytes = Buffer.concat(whole);
    server.say((response) => {
      response.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" });
      for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
      response.end();
    });
    expect((await replyOf(open(), request)).parts).toHaveLength(4);
  });

  it.each([
    ["end_turn", "stop"],
    ["max_tokens", "length"],
    ["guardrail_intervened", "refused"],
    ["something_new", "other"],
  ])("end with %s as %s", async (reason, finish) => {
    server.say(streamed(start, ...words(0, "Well."), ...end(reason)));
    expect((await replyOf(open(), request)).finish).toBe(finish);
  });
});

describe("a request to Bedrock", () => {
  const hello = () => server.say(streamed(start, ...words(0, "Hello."), ...end("end_turn")));

  it("has the very body that wireBody shows, the same each time", async () => {
    hello();
    await eventsOf(open(), request);
    await eventsOf(open(), request);
    const body = await wireBody(request, REF);
    expect(server.received.map((one) => one.body)).toEqual([body, body]);
    expect(server.received[0]?.url).toBe(PATH);
    expect(ownHeaders(server.received[0])).toEqual({
      authorization: `Bearer ${KEY}`,
      "content-type": "application/json",
    });
  });

  it("is marked by a block of its own, before the tail; only Claude is", async () => {
    const tail = [{ layer: layerId("state"), text: trusted("It is Saturday.") }];
    const breakpoints: Request["breakpoints"] = [
      { after: { zone: "system", block: 0 }, lifetime: "1h" },
      { after: { zone: "message", index: 0 }, lifetime: "5m" },
    ];
    const marked = sampleRequest("Hello", { tail, breakpoints });
    const body = JSON.parse(await wireBody(marked, REF));
    expect(body.system).toEqual([{ text: "Be brief." }, { cachePoint: { type: "default", ttl: "1h" } }]);
    expect(body.messages[0].content.slice(1)).toEqual([
      { cachePoint: { type: "default" } },
      { text: "It is Saturday." },
    ]);
    expect(await wireBody(marked, "bedrock:amazon.nova-pro-v1:0")).not.toContain("cachePoint");
  });

  it("is signed where an access key is given, and then carries no key", async () => {
    hello();
    const signed: Access = { ...access(), signing: { id: "AKIDEXAMPLE", session: "session-token-0123456789" } };
    const model = openModel(REF, () => signed, { retry: false });
    expect(JSON.stringify(await eventsOf(model, request))).not.toContain(KEY);
    const headers = ownHeaders(server.received[0]);
    expect(headers).toMatchObject({ "x-amz-security-token": "session-token-0123456789" });
    expect(headers["authorization"]).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=[a-z0-9;-]+, Signature=[0-9a-f]{64}$/,
    );
    expect(JSON.stringify(server.received)).not.toContain(KEY);
    expect(server.received[0]?.body).toBe(await wireBody(request, REF));
    server.say(refused(403, { message: "no session-token-0123456789 today" }));
    expect((await failureOf(model, request)).message).toContain("no … today");
  });

  it("keeps the calls of earlier turns where the agent has no tools any more", async () => {
    const messages = messagesWithCall(request);
    const prefix = { tools: [], system: [] };
    const body = JSON.parse(await wireBody({ ...request, prefix, messages }, REF));
    expect(body.messages[2].content).toMatchObject([{ toolResult: { toolUseId: "c1" } }]);
    expect(body.toolConfig.tools).toMatchObject([{ toolSpec: { name: "unavailable" } }]);
    expect(await wireBody({ ...request, prefix }, REF)).not.toContain("toolConfig");
  });

  it("asks for an answer that fits a schema", async () => {
    const output = { type: "object", properties: { mood: { type: "string" } }, required: ["mood"] };
    const asked = sampleRequest("Hello", { parameters: { maxTokens: 9, output } });
    const native = JSON.parse(await wireBody(asked, REF));
    expect(native.additionalModelRequestFields.output_config.format).toMatchObject({
      type: "json_schema",
      schema: { properties: { mood: { type: "string" } }, required: ["mood"] },
    });
    // A model that cannot is made to call a tool whose input the answer is.
    const other = "bedrock:amazon.nova-pro-v1:0";
    const { toolConfig } = JSON.parse(await wireBody(asked, other));
    expect(toolConfig.toolChoice).toEqual({ any: {} });
    expect(toolConfig.tools.at(-1).toolSpec).toMatchObject({ name: "json", inputSchema: { json: output } });
    const answer = { type: "text", text: '{"mood":"good"}' };
    server.say(
      streamed(
        start,
        event("contentBlockStart", { contentBlockIndex: 0, start: { toolUse: { toolUseId: "t1", name: "json" } } }),
        delta(0, { toolUse: { input: answer.text } }),
        stop(0),
        ...end("tool_use"),
      ),
    );
    const reply = await replyOf(
      openModel(other, () => access(), { retry: false }),
      asked,
    );
    expect(reply).toMatchObject({ parts: [answer], finish: "stop" });
  });

  it("uses the given address, whatever the environment says", async () => {
    vi.stubEnv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "http://127.0.0.1:1/elsewhere");
    vi.stubEnv("AWS_BEARER_TOKEN_BEDROCK", "other-0123456");
    vi.stubEnv("AWS_REGION", "us-west-2");
    hello();
    await keyNeverLeaks(open());
    expect(server.received[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    const signed: Access = { ...access(), signing: { id: "AKIDEXAMPLE" } };
    vi.stubEnv("AWS_SESSION_TOKEN", "other-session");
    await eventsOf(
      openModel(REF, () => signed),
      request,
    );
    expect(server.received[1]?.headers.authorization).toContain("/eu-central-1/bedrock/");
    expect(server.received[1]?.headers["x-amz-security-token"]).toBeUndefined();
  });

  it("needs a key and a region, which tells its address", async () => {
    expect(() => openModel(REF, () => ({ region: "eu-central-1" }))).toThrow("needs a key for bedrock");
    expect(() => openModel(REF, () => ({ key: KEY }))).toThrow("bedrock needs a region");
    for (const [region, address] of [
      ["eu-central-1", "https://bedrock-runtime.eu-central-1.amazonaws.com/"],
      ["cn-north-1", "https://bedrock-runtime.cn-north-1.amazonaws.com.cn/"],
    ] as const) {
      const fetch = vi.spyOn(globalThis, "fetch").mockRejectedValue(new TypeError("fetch failed"));
      await failureOf(
        openModel(REF, () => ({ key: KEY, region }), { retry: false }),
        request,
      );
      expect(String(fetch.mock.calls[0]?.[0])).toContain(address);
      fetch.mockRestore();
    }
  });
});

describe("Bedrock's failures", () => {
  wireFailures({
    provider: "bedrock",
    model: MODEL,
    server,
    open,
    refusal: (message) => ({ message }),
    begun: [start, delta(0, { text: "Hel" })],
    path: PATH,
  });

  it.each([
    ["throttlingException", "rate_limited", 429],
    ["validationException", "model_refused", 400],
    ["internalServerException", "model_failed", 500],
    ["serviceUnavailableException", "model_failed", 503],
    ["modelStreamErrorException", "model_failed", 424],
  ])("inside a stream are judged by their kind: %s", async (type, code, status) => {
    for (const before of [[start], [start, delta(0, { text: "Hel" })]]) {
      server.say(streamed(...before, exception(type, { message: "sorry" })));
      const failure = await failureOf(open(), request);
      expect(failure).toMatchObject({ code, details: { status } });
      expect(failure.message).toContain("sorry");
    }
  });

  it("are reported if a frame's checksum is wrong", async () => {
    const broken = Buffer.from(delta(0, { text: "private" }));
    broken.writeUInt32BE(1, broken.length - 4);
    server.say(streamed(start, broken));
    const failure = await failureOf(open(), request);
    expect(failure.code).toBe("model_failed");
    expect(failure.message).not.toContain("private");
  });
});
