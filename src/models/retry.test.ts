import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import type { ModelEvent } from "../protocol/index.ts";
import { openModel, RETRY, type Retry } from "./index.ts";
import { broken, instantRetry, localServer, refused, stalled, streamed } from "./local-server.contract.ts";
import { eventsOf, failureOf, replyOf, sampleRequest } from "./model.contract.ts";

const { url, received, say } = await localServer();
const request = sampleRequest("Hello");
const KEY = "sk-test-0123456789";
const open = (retry: Retry | false, at = url) =>
  openModel("anthropic:claude-x", () => ({ key: KEY, url: at }), { retry });

const event = (data: { readonly type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const usage = { input_tokens: 5, output_tokens: 1 };
const start = event({ type: "message_start", message: { id: "m", model: "x", role: "assistant", usage } } as never);
const word = (text: string) =>
  [
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    { type: "content_block_stop", index: 0 },
  ]
    .map(event)
    .join("");
const end = [{ type: "message_delta", delta: { stop_reason: "end_turn" }, usage }, { type: "message_stop" }]
  .map(event)
  .join("");
const hello = streamed(start, word("Hello."), end);
const error = (type: string, message = "sorry") => ({ type: "error", error: { type, message } });
const busy = (status: number, headers: Record<string, string> = {}) =>
  refused(status, error("overloaded_error", `busy, ${KEY}`), headers);
const retriesIn = (events: readonly ModelEvent[]) => events.filter((one) => one.type === "retry");

describe("a call that fails before its first word", () => {
  it.each([408, 424, 429, 500, 502, 503, 504, 529])("with status %i is repeated until it answers", async (status) => {
    const retry = instantRetry();
    say(busy(status), busy(status), hello);
    const events = await eventsOf(open(retry), request);
    expect(retry.pauses).toEqual([500, 1_000]);
    expect(events.map((one) => one.type)).toEqual(["retry", "retry", "text-delta", "reply"]);
    expect(events[1]).toEqual({
      type: "retry",
      attempt: 2,
      milliseconds: 1_000,
      because: `status ${status}: busy, …`,
    });
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  });

  it.each([400, 401, 402, 403, 404, 409, 413, 422])("with status %i is not repeated", async (status) => {
    const retry = instantRetry();
    say(busy(status));
    await failureOf(open(retry), request);
    expect(retry.pauses).toEqual([]);
    expect(received).toHaveLength(1);
  });

  it("is given up after four repetitions, in one sentence", async () => {
    const retry = instantRetry();
    say(busy(529));
    const failure = await failureOf(open(retry), request);
    expect(retry.pauses).toEqual([500, 1_000, 2_000, 4_000]);
    expect(received).toHaveLength(5);
    expect(failure.message).toBe(
      "anthropic did not answer for claude-x (status 529: busy, …; tried 5 times); wait a little and run the turn again",
    );
    expect(failure).toMatchObject({ code: "model_failed", details: { status: 529, tries: 5 } });
  });

  it("waits half a minute at most, and at least half of its time", async () => {
    const retry = { ...instantRetry(9), random: () => 0 };
    say(busy(500));
    await failureOf(open(retry), request);
    expect(retry.pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
  });

  it("says rate_limited when it was asked too often to the end", async () => {
    say(busy(429));
    expect(await failureOf(open(instantRetry()), request)).toMatchObject({
      code: "rate_limited",
      message: expect.stringContaining("or raise the account's limits"),
      traits: { status: 429, exit: 12, retry: true },
    });
  });

  it.each([401, 403])("says key_refused for status %i", async (status) => {
    say(busy(status));
    expect(await failureOf(open(instantRetry()), request)).toMatchObject({
      code: "key_refused",
      message: `anthropic refused the key for claude-x (status ${status}: busy, …); check the key, and that it may use this model`,
      traits: { exit: 12, retry: false },
    });
  });

  it("is not repeated when the account is empty, whatever the status says", async () => {
    const retry = instantRetry();
    say(refused(429, { type: "error", error: { type: "insufficient_quota", message: "no money" } }));
    expect(await failureOf(open(retry), request)).toMatchObject({
      code: "model_refused",
      message: expect.stringContaining("check the account's balance"),
    });
    expect(retry.pauses).toEqual([]);
  });

  it("is repeated when the connection breaks before a word, or an error comes first", async () => {
    for (const first of [broken(), broken(start), streamed(start, event(error("overloaded_error")))]) {
      const retry = instantRetry();
      say(first, hello);
      expect((await replyOf(open(retry), request)).parts).toEqual([{ type: "text", text: "Hello." }]);
      expect(retry.pauses).toEqual([500]);
    }
  });

  it("is repeated when nobody is reached", async () => {
    const retry = instantRetry();
    const failure = await failureOf(open(retry, await deadAddress()), request);
    expect(retry.pauses).toHaveLength(4);
    expect(failure).toMatchObject({
      code: "model_failed",
      message: expect.stringContaining("tried 5 times); check the network and the provider's address"),
    });
  });

  it("is not repeated without retries", async () => {
    say(busy(529));
    const events = failureOf(open(false), request);
    expect(await events).toMatchObject({ code: "model_failed" });
    expect(received).toHaveLength(1);
  });
});

describe("a call that fails after its first word", () => {
  it("is not repeated: words cannot be taken back", async () => {
    const retry = instantRetry();
    for (const first of [
      broken(start, word("Hel")),
      streamed(start, word("Hel"), event(error("overloaded_error"))),
      streamed(start, word(" ")),
    ]) {
      say(first);
      expect(await failureOf(open(retry), request)).toMatchObject({ code: "model_failed" });
    }
    expect(retry.pauses).toEqual([]);
    expect(received).toHaveLength(3);
  });

  it("is not repeated where the first word was of a call's input: it is paid for", async () => {
    const retry = instantRetry();
    const input = [
      { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "t1", name: "look", input: {} } },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"at":"the se' } },
    ].map(event);
    say(streamed(start, ...input, event(error("overloaded_error"))), hello);
    expect(await failureOf(open(retry), request)).toMatchObject({ code: "model_failed" });
    expect(retry.pauses).toEqual([]);
    expect(received).toHaveLength(1);
  });
});

describe("Retry-After", () => {
  it.each([
    [{ "retry-after": "7" }, 7_000],
    [{ "retry-after": "0" }, 500],
    [{ "retry-after": "0.2" }, 500],
    [{ "retry-after": "60" }, 60_000],
    [{ "retry-after-ms": "1234.5" }, 1_235],
    [{ "retry-after-ms": "9000", "retry-after": "2" }, 9_000],
    [{ "retry-after": "Sat, 21 Nov 2026 09:30:12 GMT" }, 12_000],
    [{ "retry-after": "Sat, 21 Nov 2026 09:29:00 GMT" }, 500],
    [{ "retry-after": "soon", "retry-after-ms": "-5" }, 500],
  ])("%j waits %i milliseconds", async (headers, milliseconds) => {
    const retry = instantRetry();
    say(busy(503, headers), hello);
    await replyOf(open(retry), request);
    expect(retry.pauses).toEqual([milliseconds]);
  });

  it.each([
    [429, "rate_limited", "900"],
    [503, "model_failed", "Sat, 21 Nov 2026 09:45:00 GMT"],
  ])("of more than a minute is told and not waited for (status %i)", async (status, code, after) => {
    const retry = instantRetry();
    say(busy(status, { "retry-after": after }));
    expect(await failureOf(open(retry), request)).toMatchObject({
      code,
      message: expect.stringMatching(/; it accepts no request before 2026-11-21T09:45:00\.000Z; run the turn then$/),
      details: { until: "2026-11-21T09:45:00.000Z" },
    });
    expect(retry.pauses).toEqual([]);
  });
});

describe("a pause", () => {
  it("ends at once when the turn is stopped", async () => {
    say(busy(503, { "retry-after": "59" }));
    const stop = new AbortController();
    const told: ModelEvent[] = [];
    const sending = async () => {
      for await (const one of open(RETRY).send(request, { signal: stop.signal })) {
        told.push(one);
        // The pause begins when the next event is asked for.
        setImmediate(() => stop.abort());
      }
    };
    await expect(sending()).rejects.toMatchObject({ code: "turn_cancelled" });
    expect(retriesIn(told)).toHaveLength(1);
    expect(received).toHaveLength(1);
  });

  it("is no pause of a provider that accepts and says nothing: that ends by the signal", async () => {
    const gone = Promise.withResolvers<void>();
    const stop = new AbortController();
    say((response) => {
      stalled(gone.resolve)(response);
      stop.abort();
    });
    expect(await failureOf(open(instantRetry()), request, stop.signal)).toMatchObject({ code: "turn_cancelled" });
    await gone.promise;
    expect(received).toHaveLength(1);
  });
});

/** An address of this machine where nothing listens. */
async function deadAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  if (address === null || typeof address === "string") throw new Error("a server that listens has a port");
  return `http://127.0.0.1:${address.port}/v1`;
}
