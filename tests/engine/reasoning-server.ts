import { createServer, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";

/** What is answered to one request after the other; the last goes on. */
export type Answers = readonly (
  | "reasons"
  | "calls"
  | { readonly refuses: string /** Words that come before. */; readonly after?: string }
)[];

/** A server in Anthropic's place whose model thinks before it says yes, or calls; and that may refuse. */
export async function reasoningServer(answers: Answers) {
  const received: string[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    received.push(Buffer.concat(pieces).toString("utf8"));
    answer(response, received.length, answers[received.length - 1] ?? answers.at(-1));
  });
  await new Promise<void>((listens) => server.listen(0, "127.0.0.1", listens));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return { received, url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/v1` };
}

function answer(response: ServerResponse, n: number, how: Answers[number] | undefined): void {
  if (typeof how !== "object") {
    stream(response, n, how === "calls" ? CALL : text("Yes."));
    return;
  }
  const refusal = { type: "error", error: { type: "invalid_request_error", message: how.refuses } };
  if (how.after !== undefined) {
    stream(response, n, [...text(how.after).slice(0, 2), refusal]);
    return;
  }
  response.writeHead(400, { "content-type": "application/json" });
  response.end(JSON.stringify(refusal));
}

const text = (words: string): readonly object[] => [
  { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: words } },
  { type: "content_block_stop", index: 1 },
];

const CALL: readonly object[] = [
  {
    type: "content_block_start",
    index: 1,
    content_block: { type: "tool_use", id: "toolu_1", name: "memory_search", input: {} },
  },
  { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"query":"tea"}' } },
  { type: "content_block_stop", index: 1 },
];

const THINKING: readonly object[] = [
  { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "They want a yes." } },
  { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "c2lnbmVk" } },
  { type: "content_block_stop", index: 0 },
];

function stream(response: ServerResponse, n: number, content: readonly object[]): void {
  const usage = { input_tokens: 10, output_tokens: 1 };
  const message = { id: `msg_${n}`, type: "message", role: "assistant", model: "claude-opus-5-5", content: [], usage };
  const calls = content === CALL;
  const events = [
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } },
    ...THINKING,
    ...content,
    {
      type: "message_delta",
      delta: { stop_reason: calls ? "tool_use" : "end_turn", stop_sequence: null },
      usage: { output_tokens: 9 },
    },
    { type: "message_stop" },
  ];
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events)
    response.write(`event: ${Reflect.get(event, "type")}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
}
