import { describe, expect, it } from "vitest";
import { bindModel, scripted, scriptedModel } from "./index.ts";
import { contactText, eventsOf, failureOf, modelContract, replyOf, sampleRequest } from "./model.contract.ts";

const request = sampleRequest("Hello");
const bind = (model: ReturnType<typeof scriptedModel>) =>
  bindModel(model, { ref: "scripted", wire: "anthropic:claude-sonnet-4-5" });

describe("scripted", () => {
  modelContract(
    () =>
      scripted([
        {
          parts: [
            { reasoning: "Let me think.", metadata: { anthropic: { signature: "sig" } } },
            { text: ["\n", "Hel", "lo", " there."] },
            { text: ["", " "] },
            { call: "look_up", input: { word: "there" } },
            { text: "Done." },
          ],
        },
      ]).model,
  );
});

describe("a bound model's reply", () => {
  it("holds its parts in order, without empty texts, with their metadata", async () => {
    const metadata = { anthropic: { signature: "sig", note: null } };
    const { model } = scripted([
      {
        parts: [
          { reasoning: "Let me think.", metadata },
          { text: " \n" },
          { text: ["Look", "ing."] },
          { reasoning: "", metadata: { anthropic: { redactedData: "xyz" } } },
          { reasoning: "" },
          { call: "look_up", id: "c1", input: { word: "sun", 2: [1] } },
        ],
        usage: { input: 50, cacheRead: 30, cacheWrite: 15, output: 7 },
      },
    ]);
    expect(await replyOf(model, request)).toEqual({
      parts: [
        { type: "reasoning", text: "Let me think.", metadata },
        { type: "text", text: "Looking." },
        { type: "reasoning", text: "", metadata: { anthropic: { redactedData: "xyz" } } },
        { type: "call", id: "c1", tool: "look_up", input: { word: "sun", 2: [1] } },
      ],
      finish: "calls",
      usage: { input: 50, cacheRead: 30, cacheWrite: 15, output: 7 },
    });
  });

  it("keeps a call's input that is not JSON as the text it is, for the argument check to refuse", async () => {
    const { model } = scripted([
      {
        parts: [
          { call: "look_up", raw: '{"word": "su' },
          { call: "look_up", raw: "" },
        ],
      },
    ]);
    const { parts } = await replyOf(model, request);
    expect(parts).toMatchObject([{ input: '{"word": "su' }, { input: {} }]);
  });

  it.each(["stop", "length", "refused", "other"] as const)("tells that the model stopped: %s", async (finish) => {
    const { model } = scripted([{ parts: [{ text: "Well" }], end: { finish } }]);
    expect((await replyOf(model, request)).finish).toBe(finish);
  });

  it("says calls when there are calls, whatever the provider calls it", async () => {
    const { model } = scripted([
      { parts: [{ call: "look_up" }], end: { finish: "stop" } },
      { parts: [{ text: "Well" }], end: { finish: "calls" } },
    ]);
    expect((await replyOf(model, request)).finish).toBe("calls");
    expect((await replyOf(model, request)).finish).toBe("stop");
  });

  it("adds up usage that comes in pieces, and counts nothing as nothing", async () => {
    const pieces = { total: undefined, noCache: 5, cacheRead: 7, cacheWrite: undefined };
    const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
    for (const [inputTokens, input] of [
      [pieces, 12],
      [none, 0],
    ] as const) {
      const usage = { inputTokens, outputTokens: { total: undefined, text: undefined, reasoning: undefined } };
      const base = scriptedModel([]);
      const finish = { type: "finish", usage, finishReason: { unified: "stop", raw: undefined } } as const;
      const model = bind({ ...base, doStream: async () => ({ stream: ReadableStream.from([finish]) }) });
      expect((await replyOf(model, request)).usage).toMatchObject({ input, cacheWrite: 0, output: 0 });
    }
  });

  it("passes over parts of a kind that nobody knows, and calls that the provider answers itself", async () => {
    const base = scriptedModel(["Hello."]);
    const { stream } = await base.doStream({ prompt: [] });
    const parts = [
      { type: "raw", rawValue: 1 } as const,
      { type: "custom", kind: "new.kind" } as const,
      { type: "tool-call", toolCallId: "s1", toolName: "web search", input: "{}", providerExecuted: true } as const,
    ];
    const mixed = new ReadableStream({
      async start(controller) {
        for (const part of parts) controller.enqueue(part);
        for await (const part of stream) controller.enqueue(part);
        controller.close();
      },
    });
    const model = bind({ ...base, doStream: async () => ({ stream: mixed }) });
    expect((await replyOf(model, request)).parts).toEqual([{ type: "text", text: "Hello." }]);
  });
});

describe("a bound model's failure", () => {
  it("is model_failed when the stream breaks off, even after words", async () => {
    const { model } = scripted([{ parts: [{ text: "Hel" }], end: "half-way" }]);
    const failure = await failureOf(model, request);
    expect(failure).toMatchObject({
      code: "model_failed",
      message: expect.stringContaining("ended before it was complete"),
    });
  });

  it("is model_failed when the stream tells an error", async () => {
    const { model } = scripted([
      { parts: [{ text: "Hel" }], end: { error: { message: "overloaded", statusCode: 529 } } },
    ]);
    const failure = await failureOf(model, request);
    expect(failure).toMatchObject({ code: "model_failed", details: { status: 529 } });
    expect(failure.message).toBe(
      "scripted did not answer (status 529: overloaded); wait a little and run the turn again",
    );
  });

  it("is model_failed when the model throws, and the sentence repeats no key", async () => {
    const { model } = scripted([
      new Error("bad sk-ant-api03-abcdef with Authorization: Bearer abc.def.ghi.jkl\nx-api-key=zzz"),
    ]);
    const failure = await failureOf(model, request);
    expect(failure.code).toBe("model_failed");
    for (const secret of ["sk-ant", "abc.def", "zzz", "\n"]) expect(failure.message).not.toContain(secret);
    expect(failure.cause).toBeUndefined();
  });

  it("is model_failed when the model calls what no tool can be named", async () => {
    const { model } = scripted([{ parts: [{ call: "rm -rf /" }] }]);
    expect(await failureOf(model, request)).toMatchObject({
      code: "model_failed",
      message: expect.stringContaining("rm -rf"),
    });
  });

  it("names the n-th call when the script has run out", async () => {
    const { model, sent } = scripted(["One."]);
    await eventsOf(model, request);
    expect((await failureOf(model, request)).message).toContain("no reply for call 2");
    expect(sent).toEqual([request, request]);
  });

  it.each(["polite", "deaf"])("is turn_cancelled at once when a %s model hangs", async (kind) => {
    const stop = new AbortController();
    const polite = scriptedModel([{ parts: [{ text: "Hel" }], end: "hang" }]);
    const deaf = { ...polite, doStream: () => new Promise<never>(() => {}) };
    setTimeout(() => stop.abort(new Error("enough")), 20);
    const before = performance.now();
    const failure = await failureOf(bind(kind === "deaf" ? deaf : polite), request, stop.signal);
    expect(failure).toMatchObject({ code: "turn_cancelled", cause: new Error("enough") });
    expect(performance.now() - before).toBeLessThan(1_000);
  });

  it("is turn_cancelled when a stream that has begun never continues", async () => {
    const stop = new AbortController();
    const silent = { ...scriptedModel([]), doStream: async () => ({ stream: new ReadableStream({}) }) };
    setTimeout(() => stop.abort(), 20);
    expect((await failureOf(bind(silent), request, stop.signal)).code).toBe("turn_cancelled");
  });

  it("leaves no stream behind that begins after the stop", async () => {
    const stop = new AbortController();
    const late = Promise.withResolvers<{ stream: ReadableStream }>();
    const over = Promise.withResolvers<void>();
    const failing = failureOf(bind({ ...scriptedModel([]), doStream: () => late.promise }), request, stop.signal);
    stop.abort();
    expect((await failing).code).toBe("turn_cancelled");
    late.resolve({ stream: new ReadableStream({ cancel: () => over.resolve() }) });
    await over.promise;
  });
});

describe("a script", () => {
  it("keeps what was sent and may answer to it", async () => {
    const { model, sent } = scripted([
      (asked) => `You sent ${asked.messages.length} messages.`,
      (asked) => ({ parts: [{ text: [`Now ${asked.messages.length}.`] }] }),
    ]);
    const longer = {
      ...request,
      messages: [...request.messages, { role: "user", parts: [contactText("More")] } as const],
    };
    expect((await replyOf(model, request)).parts).toMatchObject([{ text: "You sent 1 messages." }]);
    expect((await replyOf(model, longer)).parts).toMatchObject([{ text: "Now 2." }]);
    expect(sent).toEqual([request, longer]);
  });

  it("gives its calls ids of their own, send after send", async () => {
    const twice = { parts: [{ call: "look_up" }, { call: "look_up" }] };
    const { model } = scripted([twice, twice]);
    const replies = [await replyOf(model, request), await replyOf(model, request)];
    const ids = replies.flatMap((reply) => reply.parts.map((part) => (part.type === "call" ? part.id : "")));
    expect(new Set(ids).size).toBe(4);
  });

  it("shows the provider's side of it too", async () => {
    const model = scriptedModel([({ prompt }) => `${prompt.length} messages`]);
    expect((await replyOf(bind(model), request)).parts).toMatchObject([{ text: "2 messages" }]);
    expect(model.sent[0]).toMatchObject({ maxOutputTokens: 1_000, prompt: [{ role: "system" }, { role: "user" }] });
  });
});
