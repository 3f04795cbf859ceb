import { describe, expect, it } from "vitest";
import { openModel } from "./index.ts";
import { localServer, refused, streamed } from "./local-server.contract.ts";
import { failureOf, sampleRequest } from "./model.contract.ts";

const server = await localServer();
const request = sampleRequest("Hello");
const codeOf = async (ref: string): Promise<string> => {
  const access = { key: "sk-test-0123456789", url: server.url, region: "eu-central-1" };
  return (
    await failureOf(
      openModel(ref, () => access, { retry: false }),
      request,
    )
  ).code;
};

const anthropic = (message: string) => ({ type: "error", error: { type: "invalid_request_error", message } });
const openai = (message: string, code: string | null = null) => ({
  error: { message, type: "invalid_request_error", param: "input", code },
});

/** As they were seen, in reports to the providers and to those who build on them. */
const SEEN: readonly (readonly [string, string, unknown])[] = [
  [
    "a changed signature",
    "anthropic:claude-opus-4-8",
    anthropic("messages.1.content.0: Invalid `signature` in `thinking` block"),
  ],
  [
    "a block that was changed",
    "anthropic:claude-opus-4-8",
    anthropic(
      "messages.5.content.3: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
    ),
  ],
  [
    "a block behind a changed beginning",
    "anthropic:claude-opus-5-5",
    anthropic(
      "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. The `system` prompt differs from the one this block was created with.",
    ),
  ],
  [
    "reasoning without what followed it",
    "openai:gpt-5.4",
    openai("Item 'rs_06a20bd0' of type 'reasoning' was provided without its required following item."),
  ],
  [
    "a message without its reasoning",
    "openai:gpt-5.4",
    openai("Item 'msg_0ce2' of type 'message' was provided without its required 'reasoning' item: 'rs_0ce2'."),
  ],
  [
    "reasoning that cannot be read",
    "openai:gpt-5.4",
    openai("The encrypted content gAAA...DQ== could not be verified.", "invalid_encrypted_content"),
  ],
  [
    "an item that is not kept",
    "openai:gpt-5.4",
    openai("Item with id 'rs_0a18' not found. Items are not persisted when `store` is set to false."),
  ],
  [
    "the same through a gateway",
    "openrouter:anthropic/claude-opus-4.8",
    {
      error: {
        code: 400,
        message: "Provider returned error",
        metadata: { raw: JSON.stringify(anthropic("messages.1.content.0: Invalid `signature` in `thinking` block")) },
      },
    },
  ],
  [
    "the same from Bedrock",
    "bedrock:eu.anthropic.claude-opus-4-8-v1:0",
    { message: "messages.1.content.0: Invalid `signature` in `thinking` block" },
  ],
];

describe("a provider that rejects the model's earlier reasoning", () => {
  it.each(SEEN)("is known by its words: %s", async (_, ref, body) => {
    server.say(refused(400, body));
    expect(await codeOf(ref)).toBe("reasoning_refused");
  });

  it("is known in a stream that has said nothing yet, and not in one that has", async () => {
    const error = `event: error\ndata: ${JSON.stringify(anthropic("messages.1.content.0: Invalid `signature` in `thinking` block"))}\n\n`;
    server.say(streamed(error));
    expect(await codeOf("anthropic:claude-opus-4-8")).toBe("reasoning_refused");
    const begun = [
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Well" } },
    ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    server.say(streamed(...begun, error));
    expect(await codeOf("anthropic:claude-opus-4-8")).not.toBe("reasoning_refused");
  });

  it("is not taken for another refusal: of another status, or about something else", async () => {
    server.say(refused(403, anthropic("Invalid `signature` in `thinking` block")));
    expect(await codeOf("anthropic:claude-opus-4-8")).toBe("key_refused");
    server.say(refused(400, anthropic("messages.129.content.0.type: Expected `thinking`, but found `text`.")));
    expect(await codeOf("anthropic:claude-opus-4-8")).toBe("model_refused");
    server.say(refused(400, openai("Item 'fc_1' was provided without its output.")));
    expect(await codeOf("openai:gpt-5.4")).toBe("model_refused");
  });
});
