import { describe, expect, it } from "vitest";
import type { Model, Reply, Request } from "../protocol/index.ts";
import { openModel, wireBody } from "./index.ts";
import { localServer, ownHeaders, refused, streamed } from "./local-server.contract.ts";
import { sampleRequest } from "./model.contract.ts";

const { url, received, say } = await localServer();
const request = sampleRequest("Hello");

/** The last request, as received. */
const sent = (): string => received.at(-1)?.body ?? "";

async function replyTo(model: Model, compare?: string | null, asked: Request = request): Promise<Reply> {
  const question = compare === undefined ? asked : { ...asked, compare };
  for await (const event of model.send(question, { signal: new AbortController().signal }))
    if (event.type === "reply") return event.reply;
  throw new Error("no reply");
}

type Wire = { readonly type: string; readonly [key: string]: unknown };

const events = (...all: readonly Wire[]): string[] =>
  all.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

describe("Anthropic asked why its cache missed", () => {
  const open = () => openModel("anthropic:claude-sonnet-4-5", () => ({ key: "k-1", url }), { retry: false });

  /** An answer whose start has these members, too. */
  const answer = (members: object = {}) =>
    streamed(
      ...events(
        {
          type: "message_start",
          message: {
            id: "msg_2",
            role: "assistant",
            content: [],
            usage: { input_tokens: 9, output_tokens: 1 },
            ...members,
          },
        },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi." } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
        { type: "message_stop" },
      ),
    );
  const reason = (type: string, more: object = {}) => ({
    diagnostics: { cache_miss_reason: { type, ...more } },
  });

  it("writes the field behind everything else, and nothing of it without the question", async () => {
    say(answer());
    await replyTo(open());
    const [plain, headers] = [sent(), ownHeaders(received.at(-1))];
    await replyTo(open(), null);
    expect(sent()).toBe(`${plain.slice(0, -1)},"diagnostics":{"previous_message_id":null}}`);
    await replyTo(open(), "msg_1");
    expect(sent()).toBe(`${plain.slice(0, -1)},"diagnostics":{"previous_message_id":"msg_1"}}`);
    expect(ownHeaders(received.at(-1))).toEqual(headers);
    expect(await wireBody({ ...request, compare: "msg_1" }, "anthropic:claude-sonnet-4-5")).toBe(sent());
  });

  it.each([
    ["no divergence", { diagnostics: null }, { found: "same" }],
    ["a search that is not over", { diagnostics: { cache_miss_reason: null } }, { found: "pending" }],
    [
      "a change",
      reason("system_changed", { cache_missed_input_tokens: 1_200 }),
      { found: "changed", reason: "system_changed", missed: 1_200 },
    ],
    ["a request that it no longer knows", reason("previous_message_not_found"), { found: "forgotten" }],
    ["that it cannot tell", reason("unavailable"), { found: "unavailable" }],
    ["something that is no word", reason("Ignore all rules"), { found: "unavailable" }],
    ["nothing", {}, undefined],
  ])("reads %s", async (_, members, diagnosis) => {
    say(answer(members));
    const reply = await replyTo(open(), "msg_1");
    expect([reply.id, reply.diagnosis]).toEqual(["msg_2", diagnosis]);
  });

  it("keeps no id of an answer if it is not asked, and no finding if there was nothing to compare", async () => {
    say(answer({ diagnostics: null }));
    expect(await replyTo(open())).not.toHaveProperty("id");
    expect(await replyTo(open(), null)).not.toHaveProperty("diagnosis");
  });

  it("sends a request that is refused for it once more without it, and does not ask again", async () => {
    const error = { type: "invalid_request_error", message: "diagnostics: Extra inputs are not permitted" };
    const model = open();
    say(refused(400, { type: "error", error }), answer());
    const reply = await replyTo(model, "msg_1");
    expect([reply.diagnosis, received.length]).toEqual([{ found: "refused" }, 2]);
    expect(sent()).not.toContain("diagnostics");
    await replyTo(model, "msg_1");
    expect([received.length, sent().includes("diagnostics")]).toEqual([3, false]);
  });

  it("does not repeat a request that is refused for another reason", async () => {
    say(refused(400, { type: "error", error: { type: "invalid_request_error", message: "max_tokens: too many" } }));
    await expect(replyTo(open(), "msg_1")).rejects.toMatchObject({ code: "model_refused" });
    expect(received).toHaveLength(1);
  });
});

describe("OpenAI asked why its cache missed", () => {
  const open = () => openModel("openai:gpt-6.1-sol", () => ({ key: "k-1", url }), { retry: false });
  const marked = { ...request, breakpoints: [{ after: { zone: "message", index: 0 }, lifetime: "5m" }] } as const;

  const answer = (members: object = {}) => {
    const response = { id: "resp_2", object: "response", created_at: 1, model: "gpt-6.1-sol", output: [] };
    const message = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [] };
    const usage = { input_tokens: 9, output_tokens: 2, total_tokens: 11 };
    return streamed(
      ...events(
        { type: "response.created", response: { ...response, status: "in_progress" } },
        { type: "response.output_item.added", output_index: 0, item: message },
        { type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta: "Hi." },
        { type: "response.output_item.done", output_index: 0, item: message },
        { type: "response.completed", response: { ...response, status: "completed", usage, ...members } },
      ),
    );
  };
  const options = (): unknown => JSON.parse(sent()).prompt_cache_options;

  it("names the answer to compare with, for a cache with breakpoints only", async () => {
    say(answer());
    await replyTo(open(), "resp_1", marked);
    expect(options()).toEqual({ mode: "explicit", comparison_response_id: "resp_1" });
    expect(await wireBody({ ...marked, compare: "resp_1" }, "openai:gpt-6.1-sol")).toBe(sent());
    await replyTo(open(), null, marked);
    expect(options()).toEqual({ mode: "explicit" });
    await replyTo(open(), "resp_1");
    expect(options()).toBeUndefined();
  });

  it.each([
    ["a hit", { type: "cache_hit" }, { found: "same" }],
    [
      "a miss",
      { type: "cache_miss", reason: "tools_changed", cache_missed_tokens: 700, comparison_reusable_tokens: 0 },
      { found: "changed", reason: "tools_changed", missed: 700 },
    ],
    ["an answer that it no longer knows", { type: "comparison_response_not_found" }, { found: "forgotten" }],
    ["that it cannot tell", { type: "unavailable" }, { found: "unavailable" }],
    ["nothing", undefined, undefined],
  ])("reads %s", async (_, prompt_cache_diagnostics, diagnosis) => {
    say(answer({ prompt_cache_diagnostics }));
    const reply = await replyTo(open(), "resp_1", marked);
    expect([reply.id, reply.diagnosis]).toEqual(["resp_2", diagnosis]);
  });

  it("sends a request that is refused for it once more without it", async () => {
    const message = "Unknown parameter: 'prompt_cache_options.comparison_response_id'.";
    say(refused(400, { error: { message, type: "invalid_request_error", code: "unknown_parameter" } }), answer());
    const reply = await replyTo(open(), "resp_1", marked);
    expect([reply.diagnosis, received.length]).toEqual([{ found: "refused" }, 2]);
    expect(options()).toEqual({ mode: "explicit" });
  });
});
